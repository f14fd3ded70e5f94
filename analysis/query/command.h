/* The command line of a process as text. */
#pragma once

#include <stdbool.h>

#include "common/store/rows.h"

/* The command line of a process in shell syntax, from NUL-terminated arguments, quoted where necessary;
 * "(PROGRAM)" if they are unknown. `whole` keeps the directory in the first argument. Truncated to
 * `capacity`. The bytes come from the traced system: the caller must sanitize them before printing.
 * Returns `text`. */
const char *command_text(const struct row_blob *arguments, const char *program, bool whole, char *text,
			 size_t capacity);
