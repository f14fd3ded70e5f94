/* See cause.h. */
#include "correlator/model/cause.h"

#include <stdlib.h>
#include <string.h>

struct cause *cause_ref(struct cause *cause)
{
	cause->references++;
	return cause;
}

void cause_unref(struct cause *cause)
{
	if (!cause || --cause->references > 0)
		return;
	free(cause->what);
	free(cause->why);
	free(cause);
}

void endings_free(struct endings *endings)
{
	struct ending *ending;

	ENDINGS_FOREACH (endings, ending)
		cause_unref(ending->cause);
	free(endings);
}

const struct ending *ending_before(const struct endings *endings, uint64_t end_boot_ns)
{
	const struct ending *ending, *found = NULL;

	ENDINGS_FOREACH (endings, ending)
		if (ending->kind == ENDING_FAILED && ending->followed == FOLLOWED_BY_NOTHING &&
		    end_boot_ns <= ending->end_boot_ns + CAUSE_AT_ONCE_NS &&
		    (!found || ending->end_boot_ns >= found->end_boot_ns))
			found = ending;
	return found;
}

static bool is_like(const struct ending *ending, const struct ending *other)
{
	return ending->wait_status == other->wait_status && ending->kind == other->kind &&
	       ending->is_task == other->is_task;
}

static void endings_remove(struct endings *endings, unsigned index)
{
	cause_unref(endings->item[index].cause);
	endings->count--;
	memmove(&endings->item[index], &endings->item[index + 1], (endings->count - index) * sizeof(endings->item[0]));
}

void endings_push(struct endings *endings, const struct ending *ending)
{
	unsigned gone = 1;

	while (gone < endings->count && !is_like(&endings->item[gone], ending))
		gone++;
	if (gone >= endings->count)
		gone = endings->count == ENDINGS_MAX ? 1 : 0;
	if (gone > 0)
		endings_remove(endings, gone);
	endings->item[endings->count++] = *ending;
	cause_ref(ending->cause);
}
