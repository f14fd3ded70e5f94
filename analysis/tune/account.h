/* Where the wall time of a run and its processors went: its schedule, and what its tasks did, by name or sample.
 *
 * Figures are those of docs/model.md, summed over all hosts of the run. Unknown waits (no delay accounting) are
 * ROW_NULL, and count as nothing in a sum.
 */
#pragma once

#include "analysis/query/report.h"
#include "analysis/tune/schedule.h"

/* B(NAME, "name"): what bounds the speed of tasks, by what their threads mostly did. */
#define ACCOUNT_BOUNDS(B) \
	B(UNKNOWN, "unknown") /* or a bit of all */ \
	B(SLEEP, "sleep")     /* for a pipe, a lock, a socket, a timer */ \
	B(COMPUTE, "compute") /* perhaps memory bandwidth: only hardware counters tell */ \
	B(GPU, "gpu")         /* devices that worked nearly all the time */ \
	B(STORAGE, "storage") \
	B(NETWORK_FILESYSTEM, "network filesystem") /* in uninterruptible sleep, neither for disks nor for memory */ \
	B(MEMORY, "memory")                         /* reclaim, swap */ \
	B(PROCESSORS, "processor wait")             /* runnable, but waiting for a processor */

enum account_bound {
#define B(NAME, name) ACCOUNT_BOUND_##NAME,
	ACCOUNT_BOUNDS(B)
#undef B
};

/* What threads did, summed. ROW_NULL: unknown. */
#define ACCOUNT_TIMES(I) \
	I(wall_ns) \
	I(cpu_ns) \
	I(run_delay_ns) \
	I(block_io_ns) \
	I(memory_ns) \
	I(uninterruptible_ns) \
	I(system_ns) \
	I(gpu_held_ns) /* these two: 0 if not certain (gpu_times.h) */ \
	I(gpu_busy_ns)

struct account_times {
#define I(name) int64_t name;
	ACCOUNT_TIMES(I)
#undef I
};

/* The same as states that exclude each other; what is unknown is 0. */
struct account_states {
	double cpu_ns;   /* without reclaim */
	double queue_ns; /* runnable, but waiting for a processor */
	double storage_ns, memory_ns, network_ns;
	double active_ns;  /* their sum */
	double reclaim_ns; /* CPU time in which the kernel freed memory for them: part of memory_ns */
};
struct account_states account_states_of(const struct account_times *times);
/* 0 if unknown or negative. */
double account_known(int64_t ns);

/* What a task did, and how many processors it was allowed: on these figures stand all answers about tasks. */
struct account_task {
	size_t index; /* in the report */
	size_t name;  /* in the account's task_names, whatever its names are */
	struct account_times times;
	int64_t gpu_count;                        /* devices, as certain as their times */
	int64_t gpu_peak_bytes, gpu_device_bytes; /* see struct gpu_times */
	int64_t gpu_ns; /* in which GPUs may have worked for it: all of its time if it held some and that is unknown */
	int64_t throttled_ns, read_bytes, write_bytes; /* ROW_NULL: unknown */
	int64_t memory_bytes;                          /* that it needed: right_size_need() */
	int64_t memory_limit_bytes;
	bool limit_is_own;   /* not that of the whole run, which it shares */
	int64_t cores_milli; /* allowed, in thousandths of a processor; ROW_NULL: unknown */
};

struct account_task_name {
	const char *text; /* report_task_name() */
	size_t task_count;
};

struct account_text; /* a text, kept once */

struct account_name {
	const char *name;
	size_t task_count;
	int64_t path_ns; /* on the critical path */
	struct account_times times;
	enum account_bound bound;
};

struct account {
	struct schedule schedule;
	struct account_task *tasks;      /* by index in the schedule */
	size_t path_count, unsure_count; /* schedule_count_path() */
	size_t *index_of;                /* in the schedule, by index in the report; SCHEDULE_NO_TASK */
	struct account_name *names;      /* the longest on the path first */
	size_t name_count, name_capacity;
	struct account_task_name *task_names;
	size_t task_name_count, task_name_capacity;
	struct account_text *texts;
	/* Of the engine or script itself, if it is no task of the schedule; ROW_NULL: unknown. */
	int64_t driver_cpu_ns, driver_queue_ns; /* queue: runnable, but waiting for a processor */
	int64_t driver_bytes;                   /* memory that it needed */

	/* Time of processors: what was held is the sum of the rest; ROW_NULL if their number is unknown. What threads
	 * waited is counted at most until nothing is left, in this order. */
	int64_t held_ns, used_ns, waiting_storage_ns, waiting_memory_ns, waiting_processor_ns, idle_ns;
};

/* `key` says what the names are: report_task_name or report_task_sample. Returns 0 or -errno; free the account only if it
 * is 0. */
int account_make(const struct report *report, report_key *key, struct account *ret_account);
void account_free(struct account *account);

/* Whether each task of the run begins as soon as it can: its engine, if it has one, waits for processes. Others look now and
 * then, and what is certain for these is not for them. */
bool account_is_prompt(const struct row_run *run);

/* By sample: returns the one whose tasks ran longest, with the median of all samples, or NULL if fewer than two samples
 * have a known time. Of an even number of samples, the median is the lower of the middle ones. */
const struct account_name *account_longest(const struct account *account, int64_t *ret_median_ns);

const char *account_bound_name(enum account_bound bound);
/* Whether GPUs worked nearly all the time in which tasks held them, and these held them nearly all the time. Then more
 * processors, faster storage and the like change nothing. */
bool account_is_gpu_bound(const struct account_times *times);
/* What bounds tasks that did this; thresholds and sources are in docs/tune.md. */
enum account_bound account_bound_of(const struct account_times *times);
