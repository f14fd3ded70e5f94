/* Which task another one waited for, where times cannot tell: unless exactly one had just ended when it began.
 *
 * Of those that had ended, it is one whose command lines name a file that its own name, too: of the file that the fewest
 * tasks name, the last to end. Names are compared without their folders, since engines stage files. The reference that all
 * tasks name tells nothing. On simulated pipelines: docs/tune.md.
 */
#pragma once

#include "analysis/query/report.h"
#include "analysis/tune/schedule.h"

/* Names of files of a task, as numbers below the edges' `name_count`, each once. */
struct edges_task {
	size_t first, count; /* in the edges' `names` */
};

struct edges {
	struct edges_task *tasks; /* by index in the schedule */
	size_t *names, used, capacity;
	size_t *task_counts; /* by name: tasks that have it */
	size_t name_count, name_capacity;
};

/* Finds the names of files in the report's lines. `index_of` gives the index in the schedule by that in the report. Returns
 * 0 or -ENOMEM. Free the edges either way. */
int edges_load(struct edges *edges, const struct report *report, const struct schedule *schedule,
	       const size_t *index_of);
void edges_free(struct edges *edges);

/* Sets for each task the one that names show; SCHEDULE_NO_TASK if they show none, or exactly one had ended at most
 * `window_ns` ago (negative: times never tell). Returns 0 or -ENOMEM. */
int edges_find(const struct edges *edges, const struct schedule *schedule, int64_t window_ns, size_t *ret_causes);
