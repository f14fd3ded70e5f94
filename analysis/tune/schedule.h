/* Where the wall time of a run went, and what a change of its tasks would save.
 *
 * Which task waited for which is not observed. A task is assumed to have waited for the last one that ended before
 * it began; walking back from the last end gives the critical path. (On 13 real pipelines this recovered 85 to 94 %
 * of the true path's time, see docs/tune.md; whatever is shown says that it is inferred from times.)
 *
 * Times are on one clock, in ns; no I/O.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct schedule_task {
	int64_t begin_ns, end_ns; /* begin <= end; in a schedule: begin < end */
};

#define SCHEDULE_NO_TASK SIZE_MAX

/* S(NAME, "name"): who owns a moment of the run. */
#define SCHEDULE_OWNERS(S) \
	S(TASK, "task")     /* a task on the critical path */ \
	S(GAP, "gap")       /* nothing ran: the engine had not begun the next task */ \
	S(QUEUE, "queue")   /* the next task on the path had not begun, while others ran */ \
	S(DRIVER, "driver") /* before the first task and after the last */

enum schedule_owner {
#define S(NAME, name) SCHEDULE_##NAME,
	SCHEDULE_OWNERS(S)
#undef S
		SCHEDULE_OWNER_COUNT,
};

struct schedule_span {
	int64_t begin_ns, end_ns;
	enum schedule_owner owner;
	size_t task; /* the task, or the one that had not begun; SCHEDULE_NO_TASK: the driver */
};

struct schedule {
	struct schedule_task *tasks;
	size_t count;
	int64_t begin_ns, end_ns;
	size_t *by_begin, *by_end; /* indexes into tasks */
	size_t *causes;            /* by task: the one that it waited for; SCHEDULE_NO_TASK, or NULL: the last to end */
	struct schedule_span *spans; /* in order; together they cover the run */
	size_t span_count;
	int64_t owned_ns[SCHEDULE_OWNER_COUNT];
};

/* The end of a task includes the time in which the kernel frees its last process, but a process that waited for it
 * goes on before: a task that begins so shortly before the end of another one has waited for it. */
#define SCHEDULE_TEARDOWN_NS INT64_C(20000000)
#define SCHEDULE_TEARDOWN_PART 10 /* and at most this part of the task */

/* Copies the tasks. They are cut to the run's time, and last 1 ns at least. Returns 0, -EINVAL if the run ends before it begins, or -ENOMEM. */
int schedule_init(struct schedule *schedule, const struct schedule_task *tasks, size_t count, int64_t begin_ns,
		  int64_t end_ns);
void schedule_deinit(struct schedule *schedule);

/* A task is taken to begin at most so long after it can, or as long as the run's longest time between tasks. */
#define SCHEDULE_LAUNCH_NS INT64_C(1000000000)

/* How long after a task has ended another one that waited for it may begin, if its engine looks now and then: as long as the
 * run's longest time between tasks, at least SCHEDULE_LAUNCH_NS. Such an engine starts many tasks at one moment. */
int64_t schedule_launch_ns(const struct schedule *schedule);
/* Sets which tasks, in the order of their ends, had ended at most `window_ns` before a task began. */
void schedule_ended_before(const struct schedule *schedule, size_t task, int64_t window_ns, size_t *ret_begin,
			   size_t *ret_end);
/* Takes over causes that are known from elsewhere, each of which ended before its task began, and finds the path again.
 * Returns 0 or -ENOMEM, when nothing has changed. */
int schedule_take_causes(struct schedule *schedule, size_t *causes);
/* Counts the tasks on the path, and those of them before which several others had ended at most `window_ns` ago, and no
 * cause is known: times cannot tell which of these they waited for. */
void schedule_count_path(const struct schedule *schedule, int64_t window_ns, size_t *ret_count,
			 size_t *ret_unsure_count);

/* How much shorter the run would be if each task were shorter by `saved_ns` (at most its duration). Whatever the true
 * order of its tasks is, it is between the two, if each begins as long after the last one that it waits for as it
 * did, or when one of a fixed number of slots is free and no task waits for another. */
struct schedule_saving {
	int64_t low_ns;  /* if each task waits for all that can have delayed it */
	int64_t high_ns; /* if the last one to end waits for whatever would end earliest */
};
int schedule_what_if(const struct schedule *schedule, const int64_t *saved_ns, struct schedule_saving *ret_saving);
