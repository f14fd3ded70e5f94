/* Where the wall time of a run went. See schedule.h. */
#include "tune/schedule.h"

#include <errno.h>
#include <stdlib.h>

static int64_t least_of(int64_t left, int64_t right)
{
	return left < right ? left : right;
}

static int64_t most_of(int64_t left, int64_t right)
{
	return left > right ? left : right;
}

/* Every task lasts 1 ns at least, and lies in the run's time: so whatever ended before it began, also began before. */
static int64_t begin_of(const struct schedule *schedule, size_t task)
{
	return least_of(most_of(schedule->tasks[task].begin_ns, schedule->begin_ns), schedule->end_ns - 1);
}

static int64_t end_of(const struct schedule *schedule, size_t task)
{
	return least_of(most_of(schedule->tasks[task].end_ns, begin_of(schedule, task) + 1), schedule->end_ns);
}

struct moment {
	int64_t ns;
	size_t task;
};

static int compare_moments(const void *left, const void *right)
{
	const struct moment *a = left, *b = right;

	if (a->ns != b->ns)
		return a->ns < b->ns ? -1 : 1;
	return a->task < b->task ? -1 : a->task > b->task;
}

/* Returns the indexes of all tasks in the order of these times; NULL if out of memory. */
static size_t *order_by(const struct schedule *schedule, int64_t (*time_of)(const struct schedule *, size_t))
{
	struct moment *moments = calloc(schedule->count + 1, sizeof(*moments));
	size_t *order = calloc(schedule->count + 1, sizeof(*order));

	for (size_t i = 0; moments && i < schedule->count; i++)
		moments[i] = (struct moment){time_of(schedule, i), i};
	if (moments)
		qsort(moments, schedule->count, sizeof(*moments), compare_moments);
	for (size_t i = 0; moments && order && i < schedule->count; i++)
		order[i] = moments[i].task;
	if (!moments) {
		free(order);
		order = NULL;
	}
	free(moments);
	return order;
}

/* Returns how many tasks, in the order of their ends, had ended by then. */
static size_t ended_by(const struct schedule *schedule, int64_t ns)
{
	size_t low = 0, high = schedule->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (end_of(schedule, schedule->by_end[middle]) <= ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Returns the last task to end before this one began. */
static size_t predecessor_of(const struct schedule *schedule, size_t task)
{
	size_t count = ended_by(schedule, begin_of(schedule, task));

	return count > 0 ? schedule->by_end[count - 1] : SCHEDULE_NO_TASK;
}

/* ---- preparation ------------------------------------------------------------------- */

/* Lets a task end where the next one begins, if that is during its teardown. */
static void teardowns_cut(struct schedule *schedule)
{
	for (size_t i = 0; i < schedule->count; i++) {
		struct schedule_task *task = &schedule->tasks[i];
		int64_t end = end_of(schedule, i), duration = end - begin_of(schedule, i);
		int64_t least = end - least_of(SCHEDULE_TEARDOWN_NS, duration / SCHEDULE_TEARDOWN_PART);
		size_t low = 0, high = schedule->count;

		while (low < high) {
			size_t middle = low + (high - low) / 2;

			if (begin_of(schedule, schedule->by_begin[middle]) < least)
				low = middle + 1;
			else
				high = middle;
		}
		if (low < schedule->count)
			task->end_ns = least_of(end, begin_of(schedule, schedule->by_begin[low]));
	}
}

/* ---- the critical path ------------------------------------------------------------- */

/* Spans are added from the last to the first. */
static void span_add(struct schedule *schedule, int64_t begin_ns, int64_t end_ns, enum schedule_owner owner,
		     size_t task)
{
	if (begin_ns >= end_ns)
		return;
	schedule->spans[schedule->span_count++] = (struct schedule_span){begin_ns, end_ns, owner, task};
	schedule->owned_ns[owner] += end_ns - begin_ns;
}

/* The times in which any task ran, merged. */
struct busy {
	struct schedule_task *spans;
	size_t count;
};

static int busy_init(struct busy *busy, const struct schedule *schedule)
{
	busy->count = 0;
	busy->spans = calloc(schedule->count + 1, sizeof(*busy->spans));
	for (size_t i = 0; busy->spans && i < schedule->count; i++) {
		int64_t begin = begin_of(schedule, schedule->by_begin[i]),
			end = end_of(schedule, schedule->by_begin[i]);

		if (busy->count > 0 && begin <= busy->spans[busy->count - 1].end_ns)
			busy->spans[busy->count - 1].end_ns = most_of(busy->spans[busy->count - 1].end_ns, end);
		else
			busy->spans[busy->count++] = (struct schedule_task){begin, end};
	}
	return busy->spans ? 0 : -ENOMEM;
}

/* Adds the time before a task on the path began: queue while others ran, gap while nothing did. The search goes
 * backwards, as the spans do. */
static void wait_add(struct schedule *schedule, const struct busy *busy, size_t *at, int64_t begin_ns, int64_t end_ns,
		     size_t task)
{
	while (end_ns > begin_ns) {
		while (*at > 0 && busy->spans[*at - 1].begin_ns >= end_ns)
			--*at;
		if (*at == 0 || busy->spans[*at - 1].end_ns <= begin_ns) {
			span_add(schedule, begin_ns, end_ns, SCHEDULE_GAP, task);
			return;
		}
		if (busy->spans[*at - 1].end_ns < end_ns) {
			span_add(schedule, busy->spans[*at - 1].end_ns, end_ns, SCHEDULE_GAP, task);
			end_ns = busy->spans[*at - 1].end_ns;
		}
		span_add(schedule, most_of(begin_ns, busy->spans[*at - 1].begin_ns), end_ns, SCHEDULE_QUEUE, task);
		end_ns = most_of(begin_ns, busy->spans[*at - 1].begin_ns);
	}
}

static void path_walk(struct schedule *schedule, const struct busy *busy)
{
	size_t task = schedule->count > 0 ? schedule->by_end[schedule->count - 1] : SCHEDULE_NO_TASK;
	size_t at = busy->count, before;
	int64_t end = schedule->end_ns;

	if (task != SCHEDULE_NO_TASK) {
		span_add(schedule, end_of(schedule, task), end, SCHEDULE_DRIVER, SCHEDULE_NO_TASK);
		end = end_of(schedule, task);
	}
	for (; task != SCHEDULE_NO_TASK; task = before) {
		span_add(schedule, begin_of(schedule, task), end, SCHEDULE_TASK, task);
		before = predecessor_of(schedule, task);
		end = begin_of(schedule, task);
		if (before == SCHEDULE_NO_TASK)
			break;
		wait_add(schedule, busy, &at, end_of(schedule, before), end, task);
		end = end_of(schedule, before);
	}
	/* Before the first task on the path, another may have run already: that is a wait, too. */
	if (busy->count > 0 && busy->spans[0].begin_ns < end) {
		wait_add(schedule, busy, &at, busy->spans[0].begin_ns, end, task);
		end = busy->spans[0].begin_ns;
	}
	span_add(schedule, schedule->begin_ns, end, SCHEDULE_DRIVER, SCHEDULE_NO_TASK);
	for (size_t i = 0; i < schedule->span_count / 2; i++) {
		struct schedule_span span = schedule->spans[i];

		schedule->spans[i] = schedule->spans[schedule->span_count - 1 - i];
		schedule->spans[schedule->span_count - 1 - i] = span;
	}
}

int schedule_init(struct schedule *schedule, const struct schedule_task *tasks, size_t count, int64_t begin_ns,
		  int64_t end_ns)
{
	struct busy busy = {0};
	int error = -ENOMEM;

	if (end_ns < begin_ns)
		return -EINVAL;
	*schedule = (struct schedule){
		.tasks = malloc((count + 1) * sizeof(*tasks)),
		.count = end_ns > begin_ns ? count : 0,
		.begin_ns = begin_ns,
		.end_ns = end_ns,
	};
	if (!schedule->tasks)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		schedule->tasks[i] = tasks[i];
	schedule->by_begin = order_by(schedule, begin_of);
	if (schedule->by_begin)
		teardowns_cut(schedule);
	schedule->by_end = order_by(schedule, end_of);
	/* A task on the path, and the waits before it, which end where other tasks begin and end. */
	schedule->spans = calloc(3 * count + 3, sizeof(*schedule->spans));
	if (schedule->by_begin && schedule->by_end && schedule->spans)
		error = busy_init(&busy, schedule);
	if (error == 0)
		path_walk(schedule, &busy);
	else
		schedule_deinit(schedule);
	free(busy.spans);
	return error;
}

void schedule_deinit(struct schedule *schedule)
{
	free(schedule->tasks);
	free(schedule->by_begin);
	free(schedule->by_end);
	free(schedule->spans);
	*schedule = (struct schedule){0};
}

/* ---- what if ----------------------------------------------------------------------- */

int schedule_what_if(const struct schedule *schedule, const int64_t *saved_ns, struct schedule_saving *ret_saving)
{
	/* When the first i tasks, in the order of their ends, would all have ended. */
	int64_t *ended = calloc(schedule->count + 1, sizeof(*ended)),
		*ends = calloc(schedule->count + 1, sizeof(*ends));
	struct schedule_saving saving = {0};

	if (!ended || !ends) {
		free(ended);
		free(ends);
		return -ENOMEM;
	}
	ended[0] = schedule->begin_ns;
	/* In the order of begins, all that a task waits for have been replayed before it. */
	for (size_t i = 0, filled = 0; i < schedule->count; i++) {
		size_t task = schedule->by_begin[i];
		int64_t begin = begin_of(schedule, task), end = end_of(schedule, task), before = schedule->begin_ns;
		size_t count = ended_by(schedule, begin);

		for (; filled < count; filled++)
			ended[filled + 1] = most_of(ended[filled], ends[schedule->by_end[filled]]);
		if (count > 0)
			before = end_of(schedule, schedule->by_end[count - 1]);
		ends[task] = ended[count] + (begin - before) + most_of(0, end - begin - most_of(0, saved_ns[task]));
	}
	for (size_t i = 0; i < schedule->count; i++)
		ended[0] = most_of(ended[0], ends[i]);
	if (schedule->count > 0)
		saving.low_ns = end_of(schedule, schedule->by_end[schedule->count - 1]) - ended[0];
	for (size_t i = 0; i < schedule->span_count; i++) {
		const struct schedule_span *span = &schedule->spans[i];

		if (span->owner == SCHEDULE_TASK)
			saving.high_ns += least_of(most_of(0, saved_ns[span->task]), span->end_ns - span->begin_ns);
	}
	free(ended);
	free(ends);
	*ret_saving = saving;
	return 0;
}

size_t schedule_concurrency(const struct schedule *schedule)
{
	size_t ended = 0, most = 0;

	for (size_t i = 0; i < schedule->count; i++) {
		int64_t begin = begin_of(schedule, schedule->by_begin[i]);

		while (ended < schedule->count && end_of(schedule, schedule->by_end[ended]) <= begin)
			ended++;
		if (i + 1 > ended && i + 1 - ended > most)
			most = i + 1 - ended;
	}
	return most;
}
