/* Text that comes from traced processes, made safe to show.
 *
 * Names may hold newlines, tabs, escape sequences and invalid UTF-8. They are
 * stored as they are and pass through here before a terminal, a log or JSON.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Length in bytes (1..4) of the well-formed UTF-8 character at `data`, 0 if there
 * is none (overlong forms, surrogates and code points past U+10FFFF are none). */
size_t text_utf8_size(const char *data, size_t size);

/* Copy with control characters (C0, DEL, C1), line separators, bidirectional and
 * other invisible characters and bytes that are not UTF-8 written as \n, \t, \e,
 * \xHH or \u{HHHH}; a backslash stays as it is. Always ends with NUL; cut between
 * characters where `capacity` is short (4 * size + 1 always suffices). Returns the
 * length. */
size_t text_escape(const char *data, size_t size, char *ret_text, size_t capacity);

/* Columns that well-formed text takes on a terminal (wcwidth; other bytes 1). */
size_t text_width(const char *text);
