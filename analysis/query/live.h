/* What is known about runs while they run: warnings, which are the findings of kind "top" (question.h), when they are
 * expected to end, and how far their processes have read. Only of runs whose host was heard of recently.
 */
#pragma once

#include "analysis/query/rows.h"

struct live_warning {
	int64_t host_id, run_id, user_id;
	char *run, *sentence; /* not yet safe to print; run: NULL if unknown */
	json_t *object;       /* docs/json.md */
};

struct live {
	struct live_warning *warnings;
	size_t warning_count, warning_capacity;
	struct rows ends;     /* row_expected_end */
	struct rows progress; /* row_file_progress */
};

/* Returns 0, -ENOMEM or the store's error. Free it either way. */
int live_load(struct live *live, struct store *store);
void live_free(struct live *live);
/* Keeps only what is about these runs. */
typedef bool live_wanted(int64_t host_id, int64_t run_id, int64_t user_id, const void *data);
void live_keep(struct live *live, live_wanted *wanted, const void *data);

/* Returns when a run is expected to end, or NULL if that is unknown. */
const struct row_expected_end *live_end_of(const struct live *live, int64_t run_id);

/* Returns how far the processes of a tool have read, the one that is expected to go on longest, or NULL. */
const struct row_file_progress *live_progress_of(const struct live *live, int64_t tool_id);

/* All of them, as arrays (docs/json.md, tracer top), and one end as in tracer runs: null if it is unknown (NULL). */
json_t *live_warnings_to_json(const struct live *live);
json_t *live_ends_to_json(const struct live *live);
json_t *live_progress_to_json(const struct live *live);
json_t *live_end_to_json(const struct row_expected_end *end);
