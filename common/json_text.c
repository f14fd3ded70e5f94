/* JSON as a growing text. See json_text.h. */
#include "common/json_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/grow.h"
#include "common/text.h"

#define DIGITS_MAX 20 /* of a 64-bit number, including the sign */

void json_text_deinit(struct json_text *text)
{
	free(text->data);
	*text = (struct json_text){0};
}

void json_text_clear(struct json_text *text)
{
	text->size = 0;
	text->failed = false;
}

static bool reserve(struct json_text *text, size_t size)
{
	char *data = text->failed ? NULL : grow(text->data, &text->capacity, text->size + size, 1);

	text->failed = !data;
	if (data)
		text->data = data;
	return data;
}

void json_text_raw_bytes(struct json_text *text, const char *data, size_t size)
{
	if (!reserve(text, size))
		return;
	memcpy(text->data + text->size, data, size);
	text->size += size;
}

void json_text_raw(struct json_text *text, const char *word)
{
	json_text_raw_bytes(text, word, strlen(word));
}

/* ---- strings ------------------------------------------------------------------- */

static uint32_t utf8_code(const char *data, size_t size)
{
	static const unsigned char masks[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
	uint32_t code = (unsigned char)data[0] & masks[size];

	for (size_t i = 1; i < size; i++)
		code = code << 6 | ((unsigned char)data[i] & 0x3f);
	return code;
}

static void code_add(struct json_text *text, uint32_t code)
{
	char escape[16];

	if (code >= 0x10000) {
		code -= 0x10000;
		snprintf(escape, sizeof(escape), "\\u%04x\\u%04x", 0xd800 + (code >> 10), 0xdc00 + (code & 0x3ff));
	} else {
		snprintf(escape, sizeof(escape), "\\u%04x", code);
	}
	json_text_raw(text, escape);
}

static bool is_plain(unsigned char byte)
{
	return byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\';
}

/* Escapes one character; returns its size in bytes. */
static size_t escaped_add(struct json_text *text, const char *data, size_t left)
{
	size_t size = text_utf8_size(data, left);
	char escape[8];

	if (size == 0) {
		snprintf(escape, sizeof(escape), "\\\\x%02x", (unsigned char)*data);
		json_text_raw(text, escape);
		return 1;
	}
	if (*data == '"' || *data == '\\') {
		json_text_raw_bytes(text, "\\", 1);
		json_text_raw_bytes(text, data, 1);
	} else {
		code_add(text, utf8_code(data, size));
	}
	return size;
}

void json_text_string(struct json_text *text, const char *data, size_t size)
{
	size_t i = 0, plain;

	json_text_raw_bytes(text, "\"", 1);
	while (i < size) {
		for (plain = i; plain < size && is_plain((unsigned char)data[plain]);)
			plain++;
		json_text_raw_bytes(text, data + i, plain - i);
		i = plain;
		if (i < size)
			i += escaped_add(text, data + i, size - i);
	}
	json_text_raw_bytes(text, "\"", 1);
}

void json_text_list(struct json_text *text, const char *data, size_t size)
{
	json_text_raw_bytes(text, "[", 1);
	for (size_t begin = 0; begin < size;) {
		size_t length = strnlen(data + begin, size - begin);

		if (begin > 0)
			json_text_raw_bytes(text, ",", 1);
		json_text_string(text, data + begin, length);
		begin += length + 1;
	}
	json_text_raw_bytes(text, "]", 1);
}

/* ---- numbers ------------------------------------------------------------------- */

/* Most values are numbers, and snprintf() took a third of the shipper's time. */
static void number_add(struct json_text *text, uint64_t number, bool is_negative)
{
	char digits[DIGITS_MAX];
	size_t begin = sizeof(digits);

	do {
		digits[--begin] = (char)('0' + number % 10);
		number /= 10;
	} while (number > 0);
	if (is_negative)
		digits[--begin] = '-';
	json_text_raw_bytes(text, digits + begin, sizeof(digits) - begin);
}

void json_text_integer(struct json_text *text, int64_t number)
{
	number_add(text, number < 0 ? -(uint64_t)number : (uint64_t)number, number < 0);
}

void json_text_unsigned(struct json_text *text, uint64_t number)
{
	number_add(text, number, false);
}
