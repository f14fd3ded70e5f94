/* Earlier runs of a pipeline and their tasks, read from a store or a lake for comparison.
 *
 * A run that several hosts share is one run. The run itself is a step, too, named HISTORY_WHOLE. Only tasks and runs
 * that succeeded and whose processes were all seen to the end are comparable; the others are counted.
 */
#pragma once

#include "analysis/query/labels.h"
#include "analysis/query/run_samples.h"
#include "analysis/tune/steps.h"

#define HISTORY_WHOLE "(whole run)"

struct history_run {
	int64_t id;
	int64_t begin_unix_ns, end_unix_ns;
	size_t first, part_count; /* in `parts` */
	bool is_comparable;       /* as a whole: it succeeded */
	struct run_samples samples;
	struct labels labels; /* of tasks without one in the store */
};

struct history {
	struct rows parts, tasks; /* own the texts */
	struct history_run *runs; /* in time order */
	size_t run_count;
	size_t omitted_run_count; /* earlier than the last ones */
	struct steps_task *steps; /* comparable tasks, with `run` an index into runs */
	int64_t *task_ids;        /* of each; 0: of a run itself */
	size_t step_count;
	size_t omitted_task_count; /* failed, or incompletely recorded */
	size_t sampled_count;      /* runs whose samples are known, once they are loaded */
	const char *misfit;        /* why one of the others has none, or NULL */
};

/* Which runs: one, or the last of a name. Running ones are left out. */
struct history_request {
	int64_t run_id;                       /* 0: by name */
	const char *name;                     /* NULL: by id */
	size_t last;                          /* 0: all */
	int64_t without_id;                   /* leave out the run with a part of this id; 0: none */
	const struct store_parameter *filter; /* of a name: only those of :host and :user_id; NULL: all */
};

/* Returns 0, -ENOMEM or the store's error. Free the history either way. */
int history_load(struct store *store, const struct history_request *request, struct history *ret_history);
/* Sets the samples of tasks. `names` is NULL to infer them. Returns as above. */
int history_load_samples(struct store *store, const struct sample_names *names, struct history *history);
/* Makes the labels of tasks that have none in the store. Returns as above. */
int history_load_labels(struct store *store, struct history *history);
void history_free(struct history *history);
