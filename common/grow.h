/* Arrays that grow as they fill. */
#pragma once

#include <errno.h>
#include <stdlib.h>

/* Room for at least `count` items of `size` bytes where there is room for `*capacity` of them: twice as
 * much, if need be more. NULL: out of memory, and `items` is what it was. */
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
