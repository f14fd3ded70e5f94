/* "Did you mean ...?" for a word that is not among the known ones. */
#pragma once

#include <stddef.h>

/* `names` ends with NULL. `ret_hint` becomes ": did you mean X?" or, where no name is
 * near, "". */
void suggest_nearest(const char *word, const char *const *names, char *ret_hint, size_t capacity);
