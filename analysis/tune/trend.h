/* Where in a series of runs the wall time of a step changed.
 *
 * At most one change is looked for: the split of the series at which the ranks of the runs' values (analysis/tune/steps.h)
 * differ most. Its p-value is that of random orders of the same values, always the same ones.
 * No I/O.
 */
#pragma once

#include "analysis/tune/history.h"

#define TREND_RUNS_LEAST 8
#define TREND_SIDE_LEAST 4
#define TREND_NO_RUN SIZE_MAX

struct trend_step {
	const char *name; /* borrowed */
	size_t run_count; /* with such a task */
	size_t missing_runs;
	double slope;
	size_t changed_run;      /* the first after the change, TREND_NO_RUN if none was found */
	double ratio, low, high; /* after to before, if it changed */
	double p, adjusted_p;    /* NAN with too few runs */
};

struct trend {
	struct steps values;
	struct trend_step *steps; /* of the same index */
	size_t count;
};

/* Tasks are in runs 0 to run_count - 1, in time order. Returns 0 or -ENOMEM. */
int trend_init(struct trend *trend, const struct steps_task *tasks, size_t count, size_t run_count);
void trend_deinit(struct trend *trend);

/* Sets the wall time of each run relative to their median, NAN if unknown, as an array to be freed. Returns 0 or -ENOMEM. */
int trend_relative(const struct trend *trend, size_t run_count, double **ret_values);
/* The object of `tracer tune --trend --json` (docs/json.md). */
json_t *trend_to_json(const char *name, const struct history *history, const struct trend *trend,
		      const double *relative);
/* What each step has, as an object. */
json_t *trend_columns(void);
