/* Formats a row of the store as one line of JSON.
 *
 * The output is ASCII: control characters and everything beyond ASCII are \uXXXX, so a
 * row is one line and safe on a terminal. Bytes that are not UTF-8 become the four
 * characters \xHH, as `tracer` shows them. NULL is null. A blob, a list of NUL-terminated
 * strings, becomes an array.
 */
#pragma once

#include "common/store/store.h"

/* A growable buffer; if out of memory, `failed` is set and the rest of the row is dropped. */
struct row_text {
	char *data;
	size_t size, capacity;
	bool failed;
};

void row_text_deinit(struct row_text *text);

/* {"NAME":VALUE,...: row_begin() discards the previous row and its errors. `name` is
 * plain ASCII. */
void row_begin(struct row_text *text);
void row_add_value(struct row_text *text, const char *name, const struct store_value *value);
void row_add_unsigned(struct row_text *text, const char *name, uint64_t number);
void row_add_string(struct row_text *text, const char *name, const char *string);
/* Adds the closing brace and a newline. Returns 0 or -ENOMEM. */
int row_end(struct row_text *text);
