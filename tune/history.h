/* Earlier runs of a pipeline and their tasks, read from a store or a lake for comparison.
 *
 * A run that several hosts share is one run. The run itself is a step, too, named HISTORY_WHOLE. Only tasks and runs
 * that succeeded and whose processes were all seen to the end are comparable; the others are counted.
 */
#pragma once

#include "query/rows.h"
#include "tune/steps.h"

#define HISTORY_WHOLE "(whole run)"

struct history_run {
	int64_t id;
	int64_t begin_unix_ns, end_unix_ns;
	size_t first, part_count; /* in `parts` */
	bool is_comparable;       /* as a whole: it succeeded */
};

struct history {
	struct rows parts, tasks; /* own the texts */
	struct history_run *runs; /* in time order */
	size_t run_count;
	size_t omitted_run_count; /* earlier than the last ones */
	struct steps_task *steps; /* comparable tasks, with `run` an index into runs */
	size_t step_count;
	size_t omitted_task_count; /* failed, or incompletely recorded */
};

/* Which runs: one, or the last of a name. Running ones are left out. */
struct history_request {
	int64_t run_id;     /* 0: by name */
	const char *name;   /* NULL: by id */
	size_t last;        /* 0: all */
	int64_t without_id; /* leave out the run with a part of this id; 0: none */
};

/* Returns 0, -ENOMEM or the store's error. Free the history either way. */
int history_load(struct store *store, const struct history_request *request, struct history *ret_history);
void history_free(struct history *history);
