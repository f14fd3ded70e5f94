/* Escaping of text that comes from traced processes.
 *
 * Names may hold newlines, tabs, escape sequences and invalid UTF-8. They are
 * stored unchanged and escaped here before they reach a terminal, a log or JSON.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* For a list whose entries are X(NAME, "text"): their texts. */
#define TEXT_OF(NAME, text, ...) text,

/* Returns the length in bytes (1..4) of the UTF-8 character at `data`, or 0 if it is
 * not well-formed (overlong form, surrogate, or code point above U+10FFFF). */
size_t text_utf8_size(const char *data, size_t size);

/* Copies text; writes control characters (C0, DEL, C1), line separators, bidirectional
 * and other invisible characters, and bytes that are not UTF-8, as \n, \t, \r, \e,
 * \xHH or \u{HHHH}; a backslash is kept as it is. The result is always NUL-terminated
 * and truncated between characters if `capacity` is too small (4 * size + 1 always
 * suffices). Returns its length. */
size_t text_escape(const char *data, size_t size, char *ret_text, size_t capacity);

/* Returns the number of terminal columns of `text` (wcwidth; 1 for bytes that are not UTF-8). */
size_t text_width(const char *text);
