/* JSON as a growing text.
 *
 * It is ASCII: control characters and everything beyond ASCII are \uXXXX, so it is one line and safe on a terminal.
 * Bytes that are not UTF-8 become the four characters \xHH, as `tracer` shows them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* If out of memory, `failed` is set and the rest is dropped. */
struct json_text {
	char *data;
	size_t size, capacity;
	bool failed;
};

void json_text_deinit(struct json_text *text);
/* Discards what was written before, and its errors. */
void json_text_clear(struct json_text *text);

/* What is JSON already. */
void json_text_raw(struct json_text *text, const char *words);
void json_text_raw_bytes(struct json_text *text, const char *data, size_t size);
void json_text_string(struct json_text *text, const char *data, size_t size);
/* An array of strings, each of which a NUL ends. */
void json_text_list(struct json_text *text, const char *data, size_t size);
void json_text_integer(struct json_text *text, int64_t number);
void json_text_unsigned(struct json_text *text, uint64_t number);
