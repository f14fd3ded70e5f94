/* Greedy packing of spans. See lanes.h. */
#include "analysis/export/lanes.h"

#include "common/grow.h"

static size_t find(const struct lanes *lanes, int64_t begin, size_t width)
{
	size_t first = 0;

	for (size_t i = 0; i < lanes->count && i - first < width; i++)
		if (lanes->free_from[i] > begin)
			first = i + 1;
	return first;
}

size_t lanes_take(struct lanes *lanes, int64_t begin, int64_t end, size_t width)
{
	size_t first = find(lanes, begin, width), past = first + width;
	int64_t *free_from;

	free_from = grow(lanes->free_from, &lanes->capacity, past, sizeof(*free_from));
	if (!free_from)
		return SIZE_MAX;
	lanes->free_from = free_from;
	for (size_t i = first; i < past; i++)
		lanes->free_from[i] = end;
	if (past > lanes->count)
		lanes->count = past;
	return first;
}

void lanes_free(struct lanes *lanes)
{
	free(lanes->free_from);
	*lanes = (struct lanes){0};
}
