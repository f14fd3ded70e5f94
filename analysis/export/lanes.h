/* Lanes of a timeline: what overlaps in time lies on different lanes. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct lanes {
	int64_t *free_from; /* one per lane */
	size_t count, capacity;
};

/* Occupies `width` neighbouring lanes from `begin` to `end`, the lowest that are free; add spans in order of begin.
 * Returns the first of them, or SIZE_MAX if out of memory. */
size_t lanes_take(struct lanes *lanes, int64_t begin, int64_t end, size_t width);
void lanes_free(struct lanes *lanes);
