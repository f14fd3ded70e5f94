/* One row of the store as one line of JSON.
 *
 * Only ASCII comes out: control characters and everything beyond ASCII are \uXXXX, so a
 * line is a line and safe on a terminal. Bytes that are no UTF-8 become the four
 * characters \xHH, as `tracer` shows them. NULL is null. A blob is a list of strings, each
 * ended by NUL, and becomes an array.
 */
#pragma once

#include "common/store/store.h"

/* Grows; what does not fit into memory is remembered in `failed` and drops the rest of the row. */
struct row_text {
	char *data;
	size_t size, capacity;
	bool failed;
};

void row_text_deinit(struct row_text *text);

/* {"NAME":VALUE,...: a row begins in place of the one before, whatever came of that. `name` is
 * plain ASCII. */
void row_begin(struct row_text *text);
void row_add_value(struct row_text *text, const char *name, const struct store_value *value);
void row_add_unsigned(struct row_text *text, const char *name, uint64_t number);
void row_add_string(struct row_text *text, const char *name, const char *string);
/* The closing brace and a newline. 0 or -ENOMEM. */
int row_end(struct row_text *text);
