/* See cause.h. */
#include "correlator/model/cause.h"

#include <stdlib.h>

#include <utlist.h>

struct cause *cause_ref(struct cause *cause)
{
	cause->references++;
	return cause;
}

void cause_unref(struct cause *cause)
{
	if (!cause || cause->references-- > 0)
		return;
	free(cause->what);
	free(cause->why);
	free(cause);
}

void endings_free(struct ending **endings)
{
	struct ending *ending, *next;

	DL_FOREACH_SAFE (*endings, ending, next) {
		cause_unref(ending->cause);
		free(ending);
	}
	*endings = NULL;
}

const struct ending *ending_before(const struct ending *endings, uint64_t end_boot_ns)
{
	const struct ending *ending, *found = NULL;

	DL_FOREACH (endings, ending)
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

bool endings_push(struct ending **endings, const struct ending *ending)
{
	struct ending *slot = *endings ? (*endings)->next : NULL, *other;
	int count;

	DL_COUNT(*endings, other, count);
	while (slot && !is_like(slot, ending))
		slot = slot->next;
	if (!slot && count == ENDINGS_MAX)
		slot = (*endings)->next;
	if (slot) {
		DL_DELETE(*endings, slot);
		cause_unref(slot->cause);
	} else {
		slot = malloc(sizeof(*slot));
	}
	if (!slot)
		return false;
	*slot = *ending;
	cause_ref(slot->cause);
	DL_APPEND(*endings, slot);
	return true;
}
