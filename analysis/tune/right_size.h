/* The memory and the cores to request for tasks of one name, from what such tasks needed.
 *
 * Memory: the largest need x 1.01 + 4 x the standard error of the mean need + 16 MiB, at least 1.25 x the limit at which
 * the last one was killed for lack of memory; rounded up. The deviation of few tasks says little: 10 % of the largest need
 * counts as the squared deviation of one task more. docs/right-sizing.md has the measurements.
 *
 * A task that still runs has needed what it has used so far, and may need more: it raises the memory, as one that failed.
 * Until one of the name has succeeded, such tasks are all that is known (right_size_is_so_far()).
 *
 * Cores: in 95 % of all seconds no task used more (KRR: 95th percentile). Never the mean: two cores at work for half of
 * the time are a mean of one.
 *
 * No I/O: right_sizes.h reads tasks from a store. ROW_NULL is unknown.
 */
#pragma once

#include <stdbool.h>

#include "analysis/tune/right_size_input.h"
#include "common/store/rows.h"

struct right_size_task {
	int64_t run_id, wall_ns;
	int64_t memory_bytes;       /* needed: see right_size_need() */
	bool is_peak_rss;           /* it is the peak of the largest process */
	int64_t unattributed_bytes; /* in it: memory of its cgroup that may be its own or others', files in memory */
	int64_t oom_bytes;          /* at which it was killed by the OOM killer; ROW_NULL: it was not */
	int64_t limit_bytes;        /* requested by it alone; ROW_NULL: unknown */
	int64_t input_bytes;        /* read-like calls */
	double cores;               /* 95th percentile; NAN: unknown */
	bool has_samples;           /* else `cores` is a lower bound */
	bool has_waited;            /* for CPU, so that `cores` is one, too: see right_size_has_waited() */
	bool has_succeeded;
	bool is_running; /* its figures are those so far */
};

struct right_size {
	size_t task_count; /* N: succeeded, with known memory */
	size_t failed_count, oom_count, running_count, run_count;
	int64_t used_bytes; /* largest need */
	int64_t oom_bytes;  /* at which the last task was killed that was */
	bool is_peak_rss;
	int64_t unattributed_bytes;    /* of that; 0: none */
	int64_t memory_bytes;          /* to request */
	double fail_share;             /* 1/(N+1): how often the next task needs more than any of N */
	int64_t left_out_failed_count; /* of N, those that would have failed with the request that the others
					* give; ROW_NULL if there are no others */
	double cores_used;             /* NAN: unknown */
	int64_t cores;                 /* to request */
	bool cores_are_least;          /* those of the task that used most are a lower bound */
	int64_t limit_bytes;           /* requested by the last task that requested memory for itself */
	int64_t saved_byte_seconds;    /* a run, on average; negative if more must be requested */
	int64_t largest_input_bytes;
	int64_t input_memory_bytes; /* to request for the given input; ROW_NULL: unknown, see `input` */
	struct right_size_for_input input;
};

/* `tasks` in order of their start. `input_bytes` is the size of an input to request for, or ROW_NULL. Returns 0 or
 * -ENOMEM. */
int right_size_find(const struct right_size_task *tasks, size_t count, int64_t input_bytes,
		    struct right_size *ret_size);

/* Whether the request is only from what tasks that still run have used so far. */
bool right_size_is_so_far(const struct right_size *size);

/* The larger of what all processes held at one time and the peak of one process, which has file pages in it, too;
 * `*ret_is_peak_rss` says which. What others in its cgroup may have held in files counts as its own: a request without it
 * could kill it. */
int64_t right_size_need(int64_t concurrent_bytes, int64_t unattributed_bytes, int64_t peak_rss_bytes,
			bool *ret_is_peak_rss);

/* The rule: needs of `count` tasks, whose deviations have a sum of squares, in bytes; `error` is the standard error of what
 * is known of their mean, in standard deviations. Returns bytes, not rounded. */
double right_size_request(double most_bytes, double squares, double count, double error);
/* Rounds up to a 64th of the power of two below it, but to 4 MiB at least and 1 GiB at most. */
int64_t right_size_round(double bytes);
/* Rounds up, except for what is negligible; at least 1. */
int64_t right_size_cores(double used);

/* Sorts the ids, each of which is kept once. Returns their number. */
size_t right_size_ids_unique(int64_t *ids, size_t count);

/* Whether a task was runnable without a processor for so long that it would have used more cores. Unknown is no. */
bool right_size_has_waited(int64_t cpu_ns, int64_t run_delay_ns);

/* CPU use of one task over time, in windows of equal length of at least a second, or of its life if that is shorter. */
struct right_size_windows {
	int64_t begin_ns, end_ns;
	double *cpu_ns;
	size_t count;
};

#define RIGHT_SIZE_WINDOW_NS INT64_C(1000000000)
#define RIGHT_SIZE_WINDOWS_MAX (1 << 20) /* 12 days; windows of longer tasks are longer */

/* Returns 0 or -ENOMEM. */
int right_size_windows_init(struct right_size_windows *windows, int64_t begin_ns, int64_t end_ns);
void right_size_windows_deinit(struct right_size_windows *windows);
/* Adds CPU time that a process used between two times, evenly. */
void right_size_windows_add(struct right_size_windows *windows, int64_t begin_ns, int64_t end_ns, int64_t cpu_ns);
/* Returns the 95th percentile of the cores in use (nearest rank). Sorts the windows: call it once. */
double right_size_windows_cores(struct right_size_windows *windows);
