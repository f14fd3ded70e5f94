/* The rules that the program carries: rules/ of the source, in byte order of names. */
#pragma once

#include <stddef.h>

struct rules_shipped {
	const char *name; /* "genomics.yaml" */
	const char *text;
	size_t size;
};

extern const struct rules_shipped rules_shipped[];
extern const size_t rules_shipped_count;
