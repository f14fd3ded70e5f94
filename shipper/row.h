/* Formats a row of the store as one line of JSON (common/json_text.h). NULL is null. A blob, a list of NUL-terminated
 * strings, becomes an array.
 */
#pragma once

#include "common/json_text.h"
#include "common/store/store.h"

/* {"NAME":VALUE,...: row_begin() discards the previous row and its errors. `name` is
 * plain ASCII. */
void row_begin(struct json_text *text);
void row_add_value(struct json_text *text, const char *name, const struct store_value *value);
void row_add_unsigned(struct json_text *text, const char *name, uint64_t number);
void row_add_string(struct json_text *text, const char *name, const char *string);
/* Adds the closing brace and a newline. Returns 0 or -ENOMEM. */
int row_end(struct json_text *text);
