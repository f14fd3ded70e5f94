/* Prints the answer to a question as a table, JSON, CSV or JSON lines.
 *
 * A table shows the columns that the question declares; the other formats have all columns, and are
 * printed row by row as the rows arrive.
 */
#pragma once

#include "analysis/query/question.h"
#include "cli/screen/document.h"
#include "cli/screen/output.h"

struct answer {
	const struct question *question;
	const struct store_parameter *parameters; /* as bound */
	struct store_result *result;
	enum format format;
	bool raw; /* table only: whole nanoseconds and bytes */
};

#define ANSWER_TABLE_ROWS_MAX 100000 /* buffered before the first is printed */

/* Returns 0 and the number of rows; -EFBIG if a table would have too many; or -errno of the store or of
 * the output. */
int answer_print(const struct answer *answer, const struct output *output, size_t *ret_row_count);
