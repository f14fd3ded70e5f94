/* The command line of a process as a shell would read it back. */
#ifndef TRACER_CLI_COMMAND_TEXT_H
#define TRACER_CLI_COMMAND_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "common/store/rows.h"

/* Arguments ended by NUL, quoted where they need it; "(PROGRAM)" where they are not
 * known. `whole`: with the folder that the first of them names. Cut at `capacity`. The bytes are still the traced system's: what shows
 * them must make them safe. Returns `text`. */
const char *command_text(const struct row_blob *arguments, const char *program, bool whole,
			 char *text, size_t capacity);

#endif
