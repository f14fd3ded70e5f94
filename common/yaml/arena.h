/* Arena allocator: memory that is freed all at once, for rule sets and YAML trees. */
#pragma once

#include <stddef.h>

struct arena {
	struct arena_chunk *chunks;
};

/* Returns zeroed memory, aligned for any object; NULL if out of memory. */
void *arena_alloc(struct arena *arena, size_t size);

/* Returns a NUL-terminated copy of `size` bytes; NULL if out of memory. */
char *arena_copy(struct arena *arena, const char *data, size_t size);

/* Frees all of it, but keeps memory for what follows. */
void arena_clear(struct arena *arena);
void arena_deinit(struct arena *arena);
