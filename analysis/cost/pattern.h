/* Patterns in a site's lists: a text, or one with * ? [ ] as in a shell; empty or *: anything. */
#pragma once

#include <stdbool.h>

#include "common/yaml/arena.h"

/* Most are plain texts: comparing these is much faster than fnmatch(). */
struct pattern {
	const char *text; /* NULL: any */
	bool has_wildcard;
};

/* Copies the text into the arena. Returns 0 or -ENOMEM. */
int pattern_make(struct arena *arena, const char *text, struct pattern *ret_pattern);

/* `text` is NULL if it is unknown: only a pattern for anything matches that. */
bool pattern_matches(const struct pattern *pattern, const char *text);
