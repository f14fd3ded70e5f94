/* Growable arrays. */
#pragma once

#include <errno.h>
#include <stdlib.h>

/* Returns `items`, reallocated if it has room for fewer than `count` items of `size` bytes: to twice `*capacity`,
 * or to `count` if that is more. Returns NULL if out of memory; `items` is then unchanged. */
static inline void *grow(void *items, size_t *capacity, size_t count, size_t size)
{
	size_t more = 2 * *capacity > count ? 2 * *capacity : count;
	void *grown;

	if (count <= *capacity && items)
		return items;
	grown = reallocarray(items, more, size);
	if (grown)
		*capacity = more;
	return grown;
}
