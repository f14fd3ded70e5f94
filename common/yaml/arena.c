/* Arena allocator. See arena.h. */
#include "common/yaml/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_BYTES (32 * 1024)

struct arena_chunk {
	struct arena_chunk *next;
	size_t used;
	size_t capacity;
	_Alignas(max_align_t) char data[];
};

static struct arena_chunk *arena_add_chunk(struct arena *arena, size_t size)
{
	size_t capacity = size > CHUNK_BYTES ? size : CHUNK_BYTES;
	struct arena_chunk *chunk = calloc(1, sizeof(*chunk) + capacity);

	if (!chunk)
		return NULL;
	chunk->capacity = capacity;
	chunk->next = arena->chunks;
	arena->chunks = chunk;
	return chunk;
}

void *arena_alloc(struct arena *arena, size_t size)
{
	struct arena_chunk *chunk = arena->chunks;
	size_t unit = _Alignof(max_align_t);

	if (size > SIZE_MAX / 2)
		return NULL;
	size = (size + unit - 1) / unit * unit;
	if (!chunk || chunk->capacity - chunk->used < size)
		chunk = arena_add_chunk(arena, size);
	if (!chunk)
		return NULL;
	chunk->used += size;
	return chunk->data + chunk->used - size;
}

char *arena_copy(struct arena *arena, const char *data, size_t size)
{
	char *copy = arena_alloc(arena, size + 1);

	if (copy)
		memcpy(copy, data, size);
	return copy;
}

void arena_clear(struct arena *arena)
{
	struct arena_chunk *last = arena->chunks;
	struct arena older = {last ? last->next : NULL};

	arena_deinit(&older);
	if (!last)
		return;
	memset(last->data, 0, last->used);
	last->next = NULL;
	last->used = 0;
}

void arena_deinit(struct arena *arena)
{
	while (arena->chunks) {
		struct arena_chunk *next = arena->chunks->next;

		free(arena->chunks);
		arena->chunks = next;
	}
}
