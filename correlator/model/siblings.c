/* See siblings.h. */
#include "correlator/model/siblings.h"

#include <utlist.h>

#include "correlator/model/model.h"
#include "correlator/model/run.h"

struct siblings *siblings_find(const struct run *run, uint64_t kind)
{
	struct siblings *siblings;

	DL_SEARCH_SCALAR(run->siblings, siblings, kind, kind);
	return siblings;
}

struct siblings *siblings_new(struct model *model, struct run *run, uint64_t kind)
{
	struct siblings *siblings = run->siblings;

	if (run->siblings_count < SIBLINGS_MAX) {
		siblings = model_alloc(model, sizeof(*siblings));
		if (!siblings)
			return NULL;
		run->siblings_count++;
	} else {
		DL_DELETE(run->siblings, siblings);
		*siblings = (struct siblings){0};
	}
	siblings->kind = kind;
	DL_APPEND(run->siblings, siblings);
	return siblings;
}

void siblings_free(struct run *run)
{
	struct siblings *siblings, *next;

	DL_FOREACH_SAFE (run->siblings, siblings, next)
		free(siblings);
	run->siblings = NULL;
	run->siblings_count = 0;
}
