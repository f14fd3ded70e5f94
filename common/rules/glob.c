/* Globs. See glob.h. */
#include "common/rules/glob.h"

#include <string.h>

bool glob_is(const char *pattern)
{
	return strpbrk(pattern, "*?[\\") != NULL && strcmp(pattern, "[") != 0;
}

/* Returns the ] that ends the set beginning at `set`, or NULL. A ] right after [ or [!
 * is a member of the set. */
static const char *set_end(const char *set)
{
	set += set[1] == '!' ? 2 : 1;
	return *set == '\0' ? NULL : strchr(set + 1, ']');
}

static bool set_match(const char *set, const char *end, unsigned char byte)
{
	bool negated = set[1] == '!';

	for (set += negated ? 2 : 1; set < end; set++) {
		unsigned char first = (unsigned char)set[0], last = first;

		if (set[1] == '-' && set + 2 < end) {
			last = (unsigned char)set[2];
			set += 2;
		}
		if (byte >= first && byte <= last)
			return !negated;
	}
	return negated;
}

/* Returns the end of the pattern element if it matches `byte`, otherwise NULL. */
static const char *element_match(const char *element, char byte)
{
	const char *end;

	switch (*element) {
	case '\0': return NULL;
	case '?': return element + 1;
	case '\\': return element[1] == byte ? element + 2 : NULL;
	case '[': end = set_end(element); return end && set_match(element, end, (unsigned char)byte) ? end + 1 : NULL;
	default: return *element == byte ? element + 1 : NULL;
	}
}

bool glob_match(const char *pattern, const char *text)
{
	const char *star = NULL, *star_text = NULL;

	while (*text) {
		const char *after;

		if (*pattern == '*') {
			star = ++pattern;
			star_text = text;
			continue;
		}
		after = element_match(pattern, *text);
		if (after) {
			pattern = after;
			text++;
		} else if (star) {
			pattern = star;
			text = ++star_text;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return *pattern == '\0';
}

bool glob_is_valid(const char *pattern)
{
	while (*pattern) {
		if (*pattern == '[') {
			pattern = set_end(pattern);
			if (!pattern)
				return false;
		} else if (*pattern == '\\' && *++pattern == '\0') {
			return false;
		}
		pattern++;
	}
	return true;
}
