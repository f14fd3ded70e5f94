/* Patterns in a site's lists. See pattern.h. */
#include "analysis/cost/pattern.h"

#include <errno.h>
#include <fnmatch.h>
#include <string.h>

int pattern_make(struct arena *arena, const char *text, struct pattern *ret_pattern)
{
	*ret_pattern = (struct pattern){0};
	if (!*text || strcmp(text, "*") == 0)
		return 0;
	ret_pattern->text = arena_copy(arena, text, strlen(text));
	ret_pattern->has_wildcard = strpbrk(text, "*?[\\");
	return ret_pattern->text ? 0 : -ENOMEM;
}

bool pattern_matches(const struct pattern *pattern, const char *text)
{
	if (!pattern->text || !text)
		return !pattern->text;
	return pattern->has_wildcard ? fnmatch(pattern->text, text, 0) == 0 : strcmp(pattern->text, text) == 0;
}
