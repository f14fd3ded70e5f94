/* One failure of a run: an incident with its consequence, its task and the command line at fault. */
#pragma once

#include "analysis/query/report.h"

struct failure {
	enum report_effect effect;
	size_t index; /* of its task in the report; REPORT_NO_TASK if it has none */
	struct rows tasks, processes;
	const struct row_task *task; /* NULL if it has none */
	const struct row_process
		*process; /* with arguments: the process, or its nearest ancestor with a command line, which a
					    * fork shares; NULL if none is known */
};

/* Returns 0 or -errno; free the failure either way. */
int failure_load(const struct report *report, const struct row_incident *incident, struct failure *ret_failure);
void failure_free(struct failure *failure);

/* All failures of a run, as `tracer failed --json` prints them (docs/json.md).
 * Returns 0 or -errno. */
int failures_to_json(const struct report *report, json_t **ret_failures);
/* What each of them has, as an object. */
json_t *failure_columns(bool with_engine_names);

/* The sentence of an incident without its task. */
const char *failure_sentence(const struct row_incident *incident);
/* How a run failed; "" if that is unknown or it did not fail. */
const char *failure_result(const struct row_run *run);
/* "snakemake ended with exit 1; of 9 tasks that began, 2 failed". Returns `text`. */
const char *failure_effect(const struct report *report, char *text, size_t capacity);
/* The runs of the same work just before a run that failed, too. */
struct failure_streak {
	size_t count;
	bool is_more;          /* there may be more, and earlier ones */
	int64_t begin_unix_ns; /* of the first, ROW_NULL if there is none */
};

/* Returns 0 or -errno. */
int failure_streak_load(struct store *store, const struct row_run *run, struct failure_streak *ret_streak);
/* How many attempts at the same work failed before it. */
size_t failure_attempts_before(const struct report *report, const struct failure *failure);
