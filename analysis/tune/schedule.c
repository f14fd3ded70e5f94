/* Where the wall time of a run went. See schedule.h. */
#include "analysis/tune/schedule.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/query/rows.h"

static int64_t begin_of(const struct schedule *schedule, size_t task)
{
	return schedule->tasks[task].begin_ns;
}

static int64_t end_of(const struct schedule *schedule, size_t task)
{
	return schedule->tasks[task].end_ns;
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

/* Returns the task that this one waited for: if it is not known otherwise, the last one to end before it began. */
static size_t predecessor_of(const struct schedule *schedule, size_t task)
{
	size_t count = ended_by(schedule, begin_of(schedule, task));

	if (schedule->causes && schedule->causes[task] != SCHEDULE_NO_TASK)
		return schedule->causes[task];

	return count > 0 ? schedule->by_end[count - 1] : SCHEDULE_NO_TASK;
}

/* ---- preparation ------------------------------------------------------------------- */

/* Every task lasts 1 ns at least, and lies in the run's time: so whatever ended before it began, also began before. */
static struct schedule_task task_cut(const struct schedule *schedule, struct schedule_task task)
{
	task.begin_ns = row_least(row_most(task.begin_ns, schedule->begin_ns), schedule->end_ns - 1);
	task.end_ns = row_least(row_most(task.end_ns, task.begin_ns + 1), schedule->end_ns);
	return task;
}

/* Lets a task end where the next one begins, if that is during its teardown. */
static void teardowns_cut(struct schedule *schedule)
{
	for (size_t i = 0; i < schedule->count; i++) {
		struct schedule_task *task = &schedule->tasks[i];
		int64_t end = end_of(schedule, i), duration = end - begin_of(schedule, i);
		int64_t least = end - row_least(SCHEDULE_TEARDOWN_NS, duration / SCHEDULE_TEARDOWN_PART);
		size_t low = 0, high = schedule->count;

		while (low < high) {
			size_t middle = low + (high - low) / 2;

			if (begin_of(schedule, schedule->by_begin[middle]) < least)
				low = middle + 1;
			else
				high = middle;
		}
		if (low < schedule->count)
			task->end_ns = row_least(end, begin_of(schedule, schedule->by_begin[low]));
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
			busy->spans[busy->count - 1].end_ns = row_most(busy->spans[busy->count - 1].end_ns, end);
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
		span_add(schedule, row_most(begin_ns, busy->spans[*at - 1].begin_ns), end_ns, SCHEDULE_QUEUE, task);
		end_ns = row_most(begin_ns, busy->spans[*at - 1].begin_ns);
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
	for (size_t i = 0; i < schedule->count; i++)
		schedule->tasks[i] = task_cut(schedule, tasks[i]);
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

int schedule_take_causes(struct schedule *schedule, size_t *causes)
{
	struct busy busy;
	int error = busy_init(&busy, schedule);

	if (error < 0)
		return error;
	free(schedule->causes);
	schedule->causes = causes;
	schedule->span_count = 0;
	for (size_t i = 0; i < SCHEDULE_OWNER_COUNT; i++)
		schedule->owned_ns[i] = 0;
	path_walk(schedule, &busy);
	free(busy.spans);
	return 0;
}

void schedule_deinit(struct schedule *schedule)
{
	free(schedule->causes);
	free(schedule->tasks);
	free(schedule->by_begin);
	free(schedule->by_end);
	free(schedule->spans);
	*schedule = (struct schedule){0};
}

/* ---- what if ----------------------------------------------------------------------- */

int64_t schedule_launch_ns(const struct schedule *schedule)
{
	int64_t longest = SCHEDULE_LAUNCH_NS, ended = schedule->end_ns;

	for (size_t i = 0; i < schedule->count; i++) {
		size_t task = schedule->by_begin[i];

		longest = row_most(longest, begin_of(schedule, task) - ended);
		ended = i > 0 ? row_most(ended, end_of(schedule, task)) : end_of(schedule, task);
	}
	return longest;
}

void schedule_ended_before(const struct schedule *schedule, size_t task, int64_t window_ns, size_t *ret_begin,
			   size_t *ret_end)
{
	int64_t begin_ns = begin_of(schedule, task);

	*ret_begin = ended_by(schedule, begin_ns - window_ns - 1);
	*ret_end = ended_by(schedule, begin_ns);
}

void schedule_count_path(const struct schedule *schedule, int64_t window_ns, size_t *ret_count,
			 size_t *ret_unsure_count)
{
	*ret_count = *ret_unsure_count = 0;
	for (size_t i = 0; i < schedule->span_count; i++) {
		size_t task = schedule->spans[i].task, begin, end;

		if (schedule->spans[i].owner != SCHEDULE_TASK)
			continue;
		schedule_ended_before(schedule, task, window_ns, &begin, &end);
		++*ret_count;
		*ret_unsure_count +=
			end - begin > 1 && !(schedule->causes && schedule->causes[task] != SCHEDULE_NO_TASK);
	}
}

/* The most tasks that ran at the same time. */
static size_t slots_of(const struct schedule *schedule)
{
	size_t most = 0;

	for (size_t i = 0; i < schedule->count; i++) {
		size_t running = i + 1 - ended_by(schedule, begin_of(schedule, schedule->by_begin[i]));

		most = running > most ? running : most;
	}
	return most;
}

/* The run with shorter tasks, in the order of begins: all that a task can have waited for is replayed before it. */
struct replay {
	const struct schedule *schedule;
	int64_t launch_ns;
	int64_t *ends;    /* by task: when it would end at the latest */
	int64_t *chains;  /* by task: the most by which it would end earlier */
	int64_t *ended;   /* when the first i tasks, in the order of their ends, would all have ended */
	int64_t *chained; /* the most of their chains */
	size_t filled;    /* of the two */
	/* Of those that ended so shortly before that the next task can have waited for them, the ones by which it can
	 * be earlier, the least first; positions in the order of ends. */
	size_t *window, window_begin, window_end;
	size_t slot_count;              /* the most tasks at the same time */
	size_t *running, running_count; /* tasks that began and, when last looked at, had not ended */
};

/* By how much the task at this place in the order of ends would end earlier. */
static int64_t shift_of(const struct replay *replay, size_t place)
{
	size_t task = replay->schedule->by_end[place];

	return end_of(replay->schedule, task) - replay->ends[task];
}

/* Takes in all tasks that had ended by then. */
static void replay_fill(struct replay *replay, int64_t ns)
{
	const struct schedule *schedule = replay->schedule;

	for (size_t count = ended_by(schedule, ns); replay->filled < count; replay->filled++) {
		size_t place = replay->filled, task = schedule->by_end[place];

		replay->ended[place + 1] = row_most(replay->ended[place], replay->ends[task]);
		replay->chained[place + 1] = row_most(replay->chained[place], replay->chains[task]);
		while (replay->window_end > replay->window_begin &&
		       shift_of(replay, replay->window[replay->window_end - 1]) >= shift_of(replay, place))
			replay->window_end--;
		replay->window[replay->window_end++] = place;
	}
	while (replay->window_begin < replay->window_end &&
	       end_of(schedule, schedule->by_end[replay->window[replay->window_begin]]) < ns - replay->launch_ns)
		replay->window_begin++;
}

/* Returns when a task would begin at the latest. One that began with the first may have waited for none. */
static int64_t replay_begin(const struct replay *replay, int64_t begin_ns)
{
	const struct schedule *schedule = replay->schedule;
	size_t earlier = ended_by(schedule, begin_ns - replay->launch_ns - 1);

	if (replay->window_begin == replay->window_end ||
	    begin_ns <= begin_of(schedule, schedule->by_begin[0]) + replay->launch_ns)
		return begin_ns;
	return row_least(begin_ns, row_most(begin_ns - shift_of(replay, replay->window[replay->window_begin]),
					    earlier > 0 ? replay->ended[earlier] + replay->launch_ns : INT64_MIN));
}

/* Returns the most by which a task would begin earlier: as much as any that had ended. If it may have waited for a
 * slot, as early as any that still ran would free one. */
static int64_t replay_chain(struct replay *replay, size_t place, int64_t begin_ns)
{
	int64_t chain = replay->chained[replay->filled];
	size_t kept = 0;

	if (place - replay->filled + 1 < replay->slot_count)
		return chain;
	for (size_t i = 0; i < replay->running_count; i++) {
		size_t task = replay->running[i];
		int64_t left = end_of(replay->schedule, task) - begin_ns;

		if (left <= 0)
			continue;
		replay->running[kept++] = task;
		chain = row_most(chain, replay->chains[task] - left);
	}
	replay->running_count = kept;
	return chain;
}

static void replay_run(struct replay *replay, const int64_t *saved_ns, struct schedule_saving *ret_saving)
{
	const struct schedule *schedule = replay->schedule;
	size_t last = schedule->by_end[schedule->count - 1];
	int64_t ended = INT64_MIN;

	for (size_t i = 0; i < schedule->count; i++) {
		size_t task = schedule->by_begin[i];
		int64_t begin = begin_of(schedule, task), duration = end_of(schedule, task) - begin;
		int64_t saved = row_least(row_most(0, saved_ns[task]), duration);

		replay_fill(replay, begin);
		replay->ends[task] = replay_begin(replay, begin) + duration - saved;
		replay->chains[task] = replay_chain(replay, i, begin) + saved;
		replay->running[replay->running_count++] = task;
		ended = row_most(ended, replay->ends[task]);
	}
	*ret_saving = (struct schedule_saving){end_of(schedule, last) - ended, replay->chains[last]};
}

int schedule_what_if(const struct schedule *schedule, const int64_t *saved_ns, struct schedule_saving *ret_saving)
{
	size_t count = schedule->count + 1;
	struct replay replay = {
		.schedule = schedule,
		.launch_ns = schedule_launch_ns(schedule),
		.ends = calloc(4 * count, sizeof(*replay.ends)),
		.window = calloc(2 * count, sizeof(*replay.window)),
		.slot_count = slots_of(schedule),
	};
	int error = replay.ends && replay.window ? 0 : -ENOMEM;

	*ret_saving = (struct schedule_saving){0};
	if (error == 0 && schedule->count > 0) {
		replay.chains = replay.ends + count;
		replay.ended = replay.chains + count;
		replay.chained = replay.ended + count;
		replay.running = replay.window + count;
		replay.ended[0] = INT64_MIN;
		replay_run(&replay, saved_ns, ret_saving);
	}
	free(replay.ends);
	free(replay.window);
	return error;
}
