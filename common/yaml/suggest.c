/* "Did you mean ...?". See suggest.h. */
#include "common/yaml/suggest.h"

#include <stdio.h>
#include <string.h>

#define WORD_MAX 63
#define DISTANCE_MAX 3 /* edits: more is a different word, not a typo */

static unsigned minimum(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* Levenshtein distance, one row at a time. Both words have at most WORD_MAX bytes. */
static unsigned word_distance(const char *a, const char *b)
{
	size_t b_size = strlen(b);
	unsigned row[WORD_MAX + 1];

	for (size_t j = 0; j <= b_size; j++)
		row[j] = (unsigned)j;
	for (size_t i = 0; a[i] != '\0'; i++) {
		unsigned diagonal = row[0];

		row[0] = (unsigned)i + 1;
		for (size_t j = 0; j < b_size; j++) {
			unsigned replaced = diagonal + (a[i] != b[j]);

			diagonal = row[j + 1];
			row[j + 1] = minimum(replaced, minimum(row[j], row[j + 1]) + 1);
		}
	}
	return row[b_size];
}

void suggest_nearest(const char *word, const char *const *names, char *ret_hint, size_t capacity)
{
	const char *nearest = NULL;
	unsigned best = DISTANCE_MAX + 1;

	ret_hint[0] = '\0';
	if (strlen(word) > WORD_MAX)
		return;
	for (; *names; names++) {
		unsigned distance = strlen(*names) > WORD_MAX ? best : word_distance(word, *names);

		if (distance < best && distance < strlen(word)) {
			best = distance;
			nearest = *names;
		}
	}
	if (nearest)
		snprintf(ret_hint, capacity, ": did you mean \"%s\"?", nearest);
}
