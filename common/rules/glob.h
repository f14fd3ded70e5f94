/* Globs. Matching takes at most time proportional to pattern times text: that of fnmatch() may be
 * exponential in the number of stars, and the text may come from any process on the host.
 * PCRE2, which could convert globs, makes [^sa] of [!a] in all releases up to 10.48. */
#pragma once

#include <stdbool.h>

/* Returns true if the pattern contains *, ?, [ or a backslash; "[" alone is the program of that name. */
bool glob_is(const char *pattern);

/* Returns true if each [ has its ] and no backslash is last. */
bool glob_is_valid(const char *pattern);

/* * matches any bytes (including slashes), ? one byte, [a-z] or [!a-z] one of a set, \x an x. */
bool glob_match(const char *pattern, const char *text);
