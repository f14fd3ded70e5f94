/* The steps of a pipeline over several runs: tasks of the same name, and one value for each run.
 *
 * Tasks of one run share its machine and its moment, so the run is the unit of statistics: a step has one value a run,
 * the median of the logarithms of its tasks' wall times. If wall times grow with what the tasks read (rchar_bytes),
 * that part is removed first: other inputs are no reason to call a step slower.
 * No I/O.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* F(NAME, name of its JSON keys): what is known of a task; in the store's units. */
#define STEPS_FIGURES(F) \
	F(WALL, "wall_ns") \
	F(CPU, "cpu_ns") \
	F(PEAK_RSS, "peak_rss_bytes") \
	F(READ, "read_bytes") \
	F(GPU, "gpu_busy_ns")

enum steps_figure {
#define F(NAME, name) STEPS_##NAME,
	STEPS_FIGURES(F)
#undef F
		STEPS_FIGURE_COUNT,
};

struct steps_task {
	const char *name;
	const char *label;                   /* what it worked on, or NULL */
	const char *sample;                  /* on which alone it worked, or NULL */
	size_t run;                          /* index */
	int64_t figures[STEPS_FIGURE_COUNT]; /* ROW_NULL if unknown, except the wall time */
	int64_t rchar_bytes;
};

struct step {
	const char *name;                      /* borrowed from its tasks */
	const struct steps_task *const *tasks; /* by run, then label */
	const double *residuals;               /* of each: log wall time without the part that its input explains */
	size_t count;
	double slope;         /* of log wall time over log input; 0 if none was found */
	const double *values; /* of each run: median of its residuals, or NAN if it has no such task */
};

struct steps {
	struct step *items; /* by name */
	size_t count, run_count;
	const struct steps_task **tasks;
	double *residuals, *values;
};

/* `groups` has the group of each run: the slope is that within groups, so that a difference between them remains. NULL:
 * there is one. Tasks are borrowed. Returns 0 or -ENOMEM. */
int steps_init(struct steps *steps, const struct steps_task *tasks, size_t count, const int *groups, size_t run_count);
void steps_deinit(struct steps *steps);

/* Sets the median of a step's tasks in each run, NAN if unknown. Returns 0 or -ENOMEM. */
int step_medians(const struct steps *steps, const struct step *step, enum steps_figure figure, double *ret_medians);

/* The logarithm of a wall time; times below 1 ns do not exist. */
double steps_log_wall(const struct steps_task *task);
