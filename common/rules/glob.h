/* Globs in time bounded by pattern times text: fnmatch's may grow exponentially with
 * the stars, and the text comes from any process on the host. */
#pragma once

#include <stdbool.h>

/* Holds *, ?, [ or a backslash; "[" alone is the program of that name. */
bool glob_is(const char *pattern);

/* Every [ has its ] and the last backslash something to escape. */
bool glob_is_valid(const char *pattern);

/* * is any bytes (slashes too), ? one byte, [a-z] or [!a-z] one of a set, \x is x. */
bool glob_match(const char *pattern, const char *text);
