/* Words of shell code, for all that look into what follows `sh -c`. */
#pragma once

#include <stddef.h>

/* Returns the size of the word at the beginning of `code`, with its quotes and escapes; 0 before a blank or an
 * operator. A quote that is not closed reaches to the end. `size` may be SIZE_MAX if a NUL ends the code. */
size_t shell_word_size(const char *code, size_t size);
