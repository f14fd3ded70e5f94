/* "Did you mean ...?" for an unknown word. */
#pragma once

#include <stddef.h>

/* `names` is NULL-terminated. Sets `ret_hint` to ": did you mean X?", or to "" if no name is
 * similar. */
void suggest_nearest(const char *word, const char *const *names, char *ret_hint, size_t capacity);
