/* What a question is answered with, printed: as a table, JSON, CSV or JSON lines.
 *
 * A table shows the columns that the question declares; the others have all there are. All but the
 * table are printed row by row, as they come.
 */
#pragma once

#include "cli/output.h"

enum answer_form { ANSWER_TABLE, ANSWER_JSON, ANSWER_NDJSON, ANSWER_CSV };

struct answer {
	const struct question *question;
	const struct store_parameter *parameters; /* as bound */
	struct store_result *result;
	enum answer_form form;
	bool raw; /* of the table: whole nanoseconds and bytes */
};

#define ANSWER_TABLE_ROWS_MAX 100000 /* which are all in memory before the first is printed */

/* 0 and how many rows there were; -EFBIG: more than a table may have; -errno of the store or of what
 * is printed to. */
int answer_print(const struct answer *answer, const struct output *output, size_t *ret_row_count);
