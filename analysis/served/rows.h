/* Rows of a query as bytes: for two programs of one host and release, which exchange no more than this.
 *
 * A head: magic, schema version, whether the reader is restricted to a user, names of the columns. Then rows, each value
 * with its type, and an end with the number of rows, without which an answer is incomplete. Numbers are in the host's
 * byte order.
 */
#pragma once

#include <stdio.h>

#include "common/store/store.h"

#define SERVED_COLUMNS_MAX 512

struct served_head {
	uint32_t schema_version;
	bool is_restricted;
	uint32_t width;
	const char *names[SERVED_COLUMNS_MAX];
};

/* Writing; errors are those of the stream. */
void served_head_encode(FILE *out, const struct served_head *head);
void served_row_encode(FILE *out, const struct store_value *values, uint32_t width);
void served_end_encode(FILE *out, uint64_t row_count);

/* What is left of an answer in memory. */
struct served_rows {
	const char *next, *end;
	uint64_t row_count; /* decoded so far */
};

/* Names and values are borrowed from the answer. Return -EPROTO if it is damaged or cut. */
int served_head_decode(struct served_rows *rows, struct served_head *ret_head);
/* Returns 1 for a row; 0 at the end, behind which another answer may follow. */
int served_row_decode(struct served_rows *rows, struct store_value *ret_values, uint32_t width);
/* Finds the end of the answer that begins at `rows->next`. Returns 0 or -EPROTO. */
int served_rows_skip(struct served_rows *rows);
