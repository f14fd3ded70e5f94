/* The rules built into the program: rules/ of the source tree, in byte order of names. */
#pragma once

#include <stddef.h>

struct rules_shipped {
	const char *name; /* "genomics.yaml" */
	const char *text;
	size_t size;
};

extern const struct rules_shipped rules_shipped[];
extern const size_t rules_shipped_count;
