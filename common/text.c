/* Escaping of untrusted text. See text.h. */
#include "common/text.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

static uint32_t utf8_decode(const char *data, size_t size, size_t *ret_size)
{
	const unsigned char *p = (const unsigned char *)data;
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t count;
	uint32_t code;

	*ret_size = 0;
	if (size == 0)
		return 0;
	if (p[0] < 0x80) {
		*ret_size = 1;
		return p[0];
	}
	if ((p[0] & 0xe0) == 0xc0) {
		count = 2;
		code = p[0] & 0x1f;
	} else if ((p[0] & 0xf0) == 0xe0) {
		count = 3;
		code = p[0] & 0x0f;
	} else if ((p[0] & 0xf8) == 0xf0) {
		count = 4;
		code = p[0] & 0x07;
	} else {
		return 0;
	}
	if (size < count)
		return 0;
	for (size_t i = 1; i < count; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (p[i] & 0x3f);
	}
	if (code < least[count] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
		return 0;
	*ret_size = count;
	return code;
}

size_t text_utf8_size(const char *data, size_t size)
{
	size_t count;

	utf8_decode(data, size, &count);
	return count;
}

/* Characters that could move the cursor, break a line, reorder text, or be hidden in it: control characters, and
 * Unicode characters with no glyph (bidirectional controls, zero width, fillers, tags, variation selectors). */
static const struct {
	uint32_t first, last;
} unsafe[] = {
	/* clang-format off */
	{0x0000, 0x001f}, {0x007f, 0x009f}, {0x00ad, 0x00ad}, {0x034f, 0x034f}, {0x061c, 0x061c}, {0x115f, 0x1160},
	{0x17b4, 0x17b5}, {0x180b, 0x180f}, {0x200b, 0x200f}, {0x2028, 0x202e}, {0x2060, 0x206f}, {0x3164, 0x3164},
	{0xfe00, 0xfe0f}, {0xfeff, 0xfeff}, {0xffa0, 0xffa0}, {0xfff9, 0xfffb}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a},
	{0xe0000, 0xe0fff},
	/* clang-format on */
};

static bool is_unsafe(uint32_t code)
{
	if (code >= 0x20 && code < 0x7f)
		return false; /* the usual case */
	for (size_t i = 0; i < sizeof(unsafe) / sizeof(unsafe[0]); i++)
		if (code >= unsafe[i].first && code <= unsafe[i].last)
			return true;
	return false;
}

size_t text_escape(const char *data, size_t size, char *ret_text, size_t capacity)
{
	size_t length = 0;

	if (capacity == 0)
		return 0;
	for (size_t i = 0; i < size;) {
		char piece[16];
		size_t count, piece_size;
		uint32_t code;

		if (data[i] >= 0x20 && data[i] < 0x7f && length + 1 < capacity) { /* nearly always */
			ret_text[length++] = data[i++];
			continue;
		}
		code = utf8_decode(data + i, size - i, &count);
		if (count == 0) {
			piece_size = (size_t)snprintf(piece, sizeof(piece), "\\x%02x", (unsigned char)data[i]);
			count = 1;
		} else if (!is_unsafe(code)) {
			memcpy(piece, data + i, count);
			piece_size = count;
		} else if (code == '\n' || code == '\t' || code == '\r' || code == 0x1b) {
			piece[0] = '\\';
			piece[1] = code == '\n' ? 'n' : code == '\t' ? 't' : code == '\r' ? 'r' : 'e';
			piece_size = 2;
		} else {
			const char *format = code < 0x100 ? "\\x%02x" : "\\u{%04x}";

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
			piece_size = (size_t)snprintf(piece, sizeof(piece), format, code);
#pragma GCC diagnostic pop
		}
		if (length + piece_size >= capacity)
			break;
		memcpy(ret_text + length, piece, piece_size);
		length += piece_size;
		i += count;
	}
	ret_text[length] = '\0';
	return length;
}

size_t text_width(const char *text)
{
	size_t width = 0, size = strlen(text);

	for (size_t i = 0; i < size;) {
		size_t count;
		uint32_t code = utf8_decode(text + i, size - i, &count);
		int columns = !count || (code >= 0x20 && code < 0x7f) ? 1 : wcwidth((wchar_t)code);

		width += columns < 0 ? 1u : (unsigned)columns;
		i += count ? count : 1;
	}
	return width;
}
