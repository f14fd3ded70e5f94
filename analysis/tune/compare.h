/* Whether the steps of a pipeline took longer in some runs (B) than in others (A), and by how much.
 *
 * Statistics and thresholds: docs/tune.md. Values are those of runs. Where samples are known and runs of both sides
 * worked on the same, apart from all others, these are compared in pairs. One run against one run shows a difference,
 * never its cause: then tasks are compared, in pairs if their labels or samples tell which worked on the same.
 * No I/O.
 */
#pragma once

#include "analysis/tune/steps.h"

#define COMPARE_RUNS_LEAST 5   /* of each side, for a result */
#define COMPARE_TESTED_LEAST 4 /* for a test: with 3, no p is below 0.1 */
#define COMPARE_PAIRS_LEAST 6  /* with 5, no p is below 0.0625 */
#define COMPARE_P_MOST 0.05
#define COMPARE_EFFECT_LEAST 0.05 /* smaller ratios are not worth a report */

enum { COMPARE_A, COMPARE_B, COMPARE_SIDES };

/* V(NAME, "text"): B against A. */
#define COMPARE_RESULTS(V) \
	V(SLOWER, "slower") \
	V(FASTER, "faster") \
	V(DIFFERENT, "difference, cause unknown") \
	V(SAME, "no difference found") \
	V(INSUFFICIENT, "insufficient") \
	V(ONLY_A, "only in A") \
	V(ONLY_B, "only in B")

/* U(NAME, "text"): what a test compared. */
#define COMPARE_UNITS(U) \
	U(RUNS, "runs") \
	U(SAMPLES_OF_RUNS, "pairs of runs by sample") \
	U(TASKS, "tasks") \
	U(LABELS, "pairs of tasks by label") \
	U(SAMPLES, "pairs of tasks by sample")

enum compare_unit {
#define U(NAME, text) COMPARE_##NAME,
	COMPARE_UNITS(U)
#undef U
};

enum compare_result {
#define V(NAME, text) COMPARE_##NAME,
	COMPARE_RESULTS(V)
#undef V
};

struct compare_step {
	const char *name; /* borrowed */
	size_t task_counts[COMPARE_SIDES], run_counts[COMPARE_SIDES];
	double medians[COMPARE_SIDES][STEPS_FIGURE_COUNT]; /* of the runs' medians; NAN if unknown */
	double ratio, low, high; /* of wall times, B to A, after what the input explains; NAN or infinite if unknown */
	double p, adjusted_p;    /* NAN without a test */
	double slope;            /* see steps.h */
	enum compare_unit unit;  /* of the test */
	size_t pair_count;       /* 0 unless the test used pairs */
	size_t missing_runs;     /* for a result, both sides together */
	enum compare_result result;
};

struct compare {
	struct compare_step *steps; /* differences first, then the longest */
	size_t count;
};

/* `sides` has the side of each run. Returns 0 or -ENOMEM. */
int compare_init(struct compare *compare, const struct steps_task *tasks, size_t count, const int *sides,
		 size_t run_count);
void compare_deinit(struct compare *compare);
