/* Memory that is given back all at once: what a rule set is made of. */
#pragma once

#include <stddef.h>

struct arena {
	struct arena_chunk *chunks;
};

/* Zeroed and aligned for any object; NULL when memory is short. */
void *arena_alloc(struct arena *arena, size_t size);

/* NUL-terminated copy of `size` bytes; NULL when memory is short. */
char *arena_copy(struct arena *arena, const char *data, size_t size);

void arena_deinit(struct arena *arena);
