/* Rows as JSON. See row.h. */
#include "shipper/row.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/grow.h"
#include "common/text.h"

#define DIGITS_MAX 20 /* of a 64-bit number, including the sign */

void row_text_deinit(struct row_text *text)
{
	free(text->data);
	*text = (struct row_text){0};
}

static bool text_reserve(struct row_text *text, size_t size)
{
	char *data = text->failed ? NULL : grow(text->data, &text->capacity, text->size + size, 1);

	text->failed = !data;
	if (data)
		text->data = data;
	return data;
}

static void text_add(struct row_text *text, const char *data, size_t size)
{
	if (!text_reserve(text, size))
		return;
	memcpy(text->data + text->size, data, size);
	text->size += size;
}

static void text_add_word(struct row_text *text, const char *word)
{
	text_add(text, word, strlen(word));
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

static void text_add_code(struct row_text *text, uint32_t code)
{
	char escape[16];

	if (code >= 0x10000) {
		code -= 0x10000;
		snprintf(escape, sizeof(escape), "\\u%04x\\u%04x", 0xd800 + (code >> 10), 0xdc00 + (code & 0x3ff));
	} else {
		snprintf(escape, sizeof(escape), "\\u%04x", code);
	}
	text_add_word(text, escape);
}

static bool is_plain(unsigned char byte)
{
	return byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\';
}

/* Escapes one character; returns its size in bytes. */
static size_t text_add_escaped(struct row_text *text, const char *data, size_t left)
{
	size_t size = text_utf8_size(data, left);
	char escape[8];

	if (size == 0) {
		snprintf(escape, sizeof(escape), "\\\\x%02x", (unsigned char)*data);
		text_add_word(text, escape);
		return 1;
	}
	if (*data == '"' || *data == '\\') {
		text_add(text, "\\", 1);
		text_add(text, data, 1);
	} else {
		text_add_code(text, utf8_code(data, size));
	}
	return size;
}

static void text_add_string(struct row_text *text, const char *data, size_t size)
{
	size_t i = 0, plain;

	text_add(text, "\"", 1);
	while (i < size) {
		for (plain = i; plain < size && is_plain((unsigned char)data[plain]);)
			plain++;
		text_add(text, data + i, plain - i);
		i = plain;
		if (i < size)
			i += text_add_escaped(text, data + i, size - i);
	}
	text_add(text, "\"", 1);
}

static void text_add_list(struct row_text *text, const char *data, size_t size)
{
	text_add(text, "[", 1);
	for (size_t begin = 0; begin < size;) {
		size_t length = strnlen(data + begin, size - begin);

		if (begin > 0)
			text_add(text, ",", 1);
		text_add_string(text, data + begin, length);
		begin += length + 1;
	}
	text_add(text, "]", 1);
}

/* ---- members ------------------------------------------------------------------- */

void row_begin(struct row_text *text)
{
	text->size = 0;
	text->failed = false;
	text_add(text, "{", 1);
}

static void add_name(struct row_text *text, const char *name)
{
	if (!text->failed && text->data[text->size - 1] != '{')
		text_add(text, ",", 1);
	text_add(text, "\"", 1);
	text_add_word(text, name);
	text_add(text, "\":", 2);
}

/* Most values are numbers, and snprintf() took a third of the shipper's time. */
static void text_add_number(struct row_text *text, uint64_t number, bool is_negative)
{
	char digits[DIGITS_MAX];
	size_t begin = sizeof(digits);

	do {
		digits[--begin] = (char)('0' + number % 10);
		number /= 10;
	} while (number > 0);
	if (is_negative)
		digits[--begin] = '-';
	text_add(text, digits + begin, sizeof(digits) - begin);
}

static void text_add_integer(struct row_text *text, int64_t number)
{
	text_add_number(text, number < 0 ? -(uint64_t)number : (uint64_t)number, number < 0);
}

void row_add_unsigned(struct row_text *text, const char *name, uint64_t number)
{
	add_name(text, name);
	text_add_number(text, number, false);
}

void row_add_string(struct row_text *text, const char *name, const char *string)
{
	add_name(text, name);
	text_add_string(text, string, strlen(string));
}

void row_add_value(struct row_text *text, const char *name, const struct store_value *value)
{
	char digits[40];

	add_name(text, name);
	switch (value->type) {
	case STORE_VALUE_INTEGER: text_add_integer(text, value->integer); break;
	case STORE_VALUE_REAL:
		snprintf(digits, sizeof(digits), "%.17g", value->real);
		text_add_word(text, isfinite(value->real) ? digits : "null");
		break;
	case STORE_VALUE_TEXT: text_add_string(text, value->data, value->size); break;
	case STORE_VALUE_BLOB: text_add_list(text, value->data, value->size); break;
	default: text_add_word(text, "null"); break;
	}
}

int row_end(struct row_text *text)
{
	text_add(text, "}\n", 2);
	return text->failed ? -ENOMEM : 0;
}
