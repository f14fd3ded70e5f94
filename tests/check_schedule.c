/* Where the wall time of a run went, and what a change would save. */
#include "analysis/tune/schedule.h"

#include <string.h>

#include "tests/suite.h"

#define TASKS_MAX 40

static const char *const owners[] = {
#define S(NAME, name) [SCHEDULE_##NAME] = name,
	SCHEDULE_OWNERS(S)
#undef S
};

/* Runs from 0 to 100, the begins and ends of their tasks, and the owner of each moment. */
static const struct {
	const char *tasks, *spans;
} cases[] = {
	{"", "0-100 driver"},
	{"0-100", "0-100 task 0"},
	{"10-90", "0-10 driver, 10-90 task 0, 90-100 driver"},
	{"0-50 50-100", "0-50 task 0, 50-100 task 1"},
	{"0-40 60-100", "0-40 task 0, 40-60 gap 1, 60-100 task 1"},
	/* the longer of two is on the path */
	{"0-40 0-60 60-100", "0-60 task 1, 60-100 task 2"},
	/* while the next task on the path waits, others run */
	{"0-40 0-70 50-100", "0-40 task 0, 40-50 queue 2, 50-100 task 2"},
	{"0-20 10-30 40-50 60-100",
	 "0-10 queue 1, 10-30 task 1, 30-40 gap 2, 40-50 task 2, 50-60 gap 3, 60-100 task 3"},
	{"20-60 10-70 30-100", "0-10 driver, 10-30 queue 2, 30-100 task 2"},
	/* outside the run's time, without duration, backwards */
	{"-50-150", "0-100 task 0"},
	{"0-50 50-50 50-100", "0-50 task 0, 50-100 task 2"},
	/* the teardown of a task is cut where the next one begins, if that is short enough */
	{"0-52 50-100", "0-50 task 0, 50-100 task 1"},
	{"0-56 50-100", "0-50 queue 1, 50-100 task 1"},
	{"50-20", "0-50 driver, 50-51 task 0, 51-100 driver"},
};

static size_t tasks_read(const char *text, struct schedule_task *ret_tasks)
{
	size_t count = 0;
	int size, begin, end;

	for (; sscanf(text, "%d-%d %n", &begin, &end, &size) == 2; text += size)
		ret_tasks[count++] = (struct schedule_task){begin, end};
	return count;
}

static void spans_write(const struct schedule *schedule, char *text, size_t capacity)
{
	size_t used = 0;

	*text = '\0';
	for (size_t i = 0; i < schedule->span_count; i++) {
		const struct schedule_span *span = &schedule->spans[i];

		used += (size_t)snprintf(text + used, capacity - used, "%s%d-%d %s", i ? ", " : "", (int)span->begin_ns,
					 (int)span->end_ns, owners[span->owner]);
		if (span->task != SCHEDULE_NO_TASK)
			used += (size_t)snprintf(text + used, capacity - used, " %zu", span->task);
	}
}

TEST_EACH(spans_are, cases)
{
	struct schedule_task tasks[TASKS_MAX];
	struct schedule schedule;
	char text[512];

	ck_assert_int_eq(schedule_init(&schedule, tasks, tasks_read(cases[_i].tasks, tasks), 0, 100), 0);
	spans_write(&schedule, text, sizeof(text));
	ck_assert_str_eq(text, cases[_i].spans);
	schedule_deinit(&schedule);
}

/* Tasks on the path, and those before which several ended within 20. */
static const struct {
	const char *tasks;
	size_t count, unsure_count;
} paths[] = {
	{"", 0, 0},
	{"0-100", 1, 0},
	{"0-50 50-100", 2, 0},
	{"0-40 0-50 50-100", 2, 1},
	{"0-29 0-50 50-100", 2, 0},
	{"0-30 0-50 50-100", 2, 1}, /* within 20 */
	{"0-40 0-50 50-100 60-90", 2, 1},
	{"0-20 0-20 20-60 20-60 60-100", 3, 2},
};

TEST_EACH(path_is_counted, paths)
{
	struct schedule_task tasks[TASKS_MAX];
	struct schedule schedule;
	size_t count, unsure_count;

	ck_assert_int_eq(schedule_init(&schedule, tasks, tasks_read(paths[_i].tasks, tasks), 0, 100), 0);
	schedule_count_path(&schedule, 20, &count, &unsure_count);
	ck_assert_uint_eq(count, paths[_i].count);
	ck_assert_uint_eq(unsure_count, paths[_i].unsure_count);
	schedule_deinit(&schedule);
}

/* In seconds: a run from 0 to 100, what is saved of each task, and then of the run. */
static const struct {
	const char *tasks;
	int64_t saved[4];
	int low, high;
} what_ifs[] = {
	{"0-100", {40}, 40, 40},
	{"0-100", {400}, 100, 100},
	{"0-100", {-5}, 0, 0},
	{"0-40 40-100", {10, 10}, 20, 20},
	{"0-40 60-100", {10, 10}, 20, 20},
	/* what ended long before can only be what a task waited for, until the other one takes its place */
	{"0-40 0-60 60-100", {30, 0, 0}, 0, 30},
	{"0-40 0-60 60-100", {0, 50, 0}, 19, 50},
	{"0-40 0-60 60-100", {30, 50, 0}, 49, 50},
	/* of two that ended at one moment, either */
	{"0-60 0-60 60-100", {30, 0, 0}, 0, 30},
	/* what runs beside the last task delays nothing */
	{"0-90 0-100", {50, 0}, 0, 0},
	/* why a task began while others ran is unknown */
	{"0-40 0-70 50-100", {20, 0, 0}, 0, 20},
	/* the driver's part stays */
	{"10-90", {80}, 80, 80},
	{"", {0}, 0, 0},
};

#define SECOND INT64_C(1000000000)

static void seconds_read(struct schedule *schedule, const char *text, struct schedule_task *tasks)
{
	size_t count = tasks_read(text, tasks);

	for (size_t i = 0; i < count; i++)
		tasks[i] = (struct schedule_task){tasks[i].begin_ns * SECOND, tasks[i].end_ns * SECOND};
	ck_assert_int_eq(schedule_init(schedule, tasks, count, 0, 100 * SECOND), 0);
}

TEST_EACH(saving_is, what_ifs)
{
	struct schedule_task tasks[TASKS_MAX];
	int64_t saved[4];
	struct schedule_saving saving;
	struct schedule schedule;

	for (size_t i = 0; i < 4; i++)
		saved[i] = what_ifs[_i].saved[i] * SECOND;
	seconds_read(&schedule, what_ifs[_i].tasks, tasks);
	ck_assert_int_eq(schedule_what_if(&schedule, saved, &saving), 0);
	ck_assert_int_eq(saving.low_ns, what_ifs[_i].low * SECOND);
	ck_assert_int_eq(saving.high_ns, what_ifs[_i].high * SECOND);
	schedule_deinit(&schedule);
}

/* A pipeline whose dependencies the schedule does not know. A task begins when all that it needs have ended, after a
 * delay of its own, and one of the slots is free; with `poll_ns`, when the engine looks next. */
struct pipeline {
	size_t count, slots;
	int64_t poll_ns;
	int64_t durations[TASKS_MAX], delays[TASKS_MAX], saved[TASKS_MAX];
	uint64_t needs[TASKS_MAX];
};

static int64_t drawn(unsigned *seed, int64_t most)
{
	return (int64_t)((double)rand_r(seed) / RAND_MAX * (double)most);
}

static void pipeline_draw(struct pipeline *pipeline, bool has_needs, bool has_slots, int64_t poll_ns, unsigned *seed)
{
	int some = rand_r(seed) % 4 + 1;

	*pipeline = (struct pipeline){.count = (size_t)(rand_r(seed) % TASKS_MAX) + 1, .poll_ns = poll_ns};
	pipeline->slots = has_slots ? (size_t)(rand_r(seed) % 4) + 1 : TASKS_MAX;
	for (size_t i = 0; i < pipeline->count; i++) {
		pipeline->durations[i] = SECOND / 5 + drawn(seed, 20 * SECOND);
		pipeline->delays[i] = has_slots || poll_ns ? 0 : drawn(seed, SCHEDULE_LAUNCH_NS);
		pipeline->saved[i] = rand_r(seed) % some ? 0 : drawn(seed, pipeline->durations[i]);
		for (size_t j = 0; j < i && has_needs; j++)
			pipeline->needs[i] |= (uint64_t)(rand_r(seed) % 6 == 0) << j;
	}
}

struct progress {
	const struct pipeline *pipeline;
	struct schedule_task *tasks;
	bool shorter;
	int64_t ready_ns[TASKS_MAX];
	uint64_t begun, ended;
	size_t running;
	int64_t now_ns;
};

static void begin_ready(struct progress *progress)
{
	const struct pipeline *pipeline = progress->pipeline;

	for (size_t i = 0; i < pipeline->count && progress->running < pipeline->slots; i++) {
		if (progress->begun >> i & 1 || pipeline->needs[i] & ~progress->ended ||
		    progress->ready_ns[i] + pipeline->delays[i] > progress->now_ns)
			continue;
		progress->begun |= UINT64_C(1) << i;
		progress->running++;
		progress->tasks[i].begin_ns = progress->now_ns;
		progress->tasks[i].end_ns =
			progress->now_ns + pipeline->durations[i] - (progress->shorter ? pipeline->saved[i] : 0);
	}
}

/* Returns when something happens next. */
static int64_t next_ns(const struct progress *progress)
{
	const struct pipeline *pipeline = progress->pipeline;
	int64_t next = INT64_MAX, at;

	for (size_t i = 0; i < pipeline->count; i++) {
		if (progress->ended >> i & 1)
			continue;
		if (progress->begun >> i & 1)
			at = progress->tasks[i].end_ns;
		else if (pipeline->needs[i] & ~progress->ended)
			continue;
		else
			at = progress->ready_ns[i] + pipeline->delays[i];
		next = at < next && at > progress->now_ns ? at : next;
	}
	return next;
}

static void end_until(struct progress *progress)
{
	for (size_t i = 0; i < progress->pipeline->count; i++) {
		int64_t end = progress->tasks[i].end_ns;

		if (!(progress->begun >> i & 1) || progress->ended >> i & 1 || end > progress->now_ns)
			continue;
		progress->ended |= UINT64_C(1) << i;
		progress->running--;
		for (size_t j = i + 1; j < progress->pipeline->count; j++)
			if (progress->pipeline->needs[j] >> i & 1 && progress->ready_ns[j] < end)
				progress->ready_ns[j] = end;
	}
}

/* Writes the tasks; returns the end of the last one. */
static int64_t pipeline_run(const struct pipeline *pipeline, bool shorter, struct schedule_task *tasks)
{
	const uint64_t all = (UINT64_C(1) << pipeline->count) - 1;
	struct progress progress = {.pipeline = pipeline, .tasks = tasks, .shorter = shorter};
	int64_t end = 0;

	for (begin_ready(&progress); progress.begun != all; begin_ready(&progress)) {
		progress.now_ns = next_ns(&progress);
		if (pipeline->poll_ns)
			progress.now_ns += pipeline->poll_ns - 1 - (progress.now_ns - 1) % pipeline->poll_ns;
		end_until(&progress);
	}
	for (size_t i = 0; i < pipeline->count; i++)
		end = tasks[i].end_ns > end ? tasks[i].end_ns : end;
	return end;
}

/* Adds how often what is saved is less than the lower end, and more than the upper one. */
static void pipeline_try(const struct pipeline *pipeline, int *less, int *more)
{
	struct schedule_task tasks[TASKS_MAX], shorter[TASKS_MAX];
	struct schedule_saving saving;
	struct schedule schedule;
	int64_t end = pipeline_run(pipeline, false, tasks);
	int64_t gain = end - pipeline_run(pipeline, true, shorter);

	ck_assert_int_eq(schedule_init(&schedule, tasks, pipeline->count, 0, end), 0);
	ck_assert_int_eq(schedule_what_if(&schedule, pipeline->saved, &saving), 0);
	*less += gain < saving.low_ns;
	*more += gain > saving.high_ns;
	schedule_deinit(&schedule);
}

/* Where either end can be wrong, it is in at most so many of 10,000 pipelines. */
static const struct {
	bool needs, slots;
	int64_t poll_ns;
	int less, more;
} kinds[] = {
	{true, false, 0, 0, 0},
	{false, true, 0, 0, 0},
	{true, true, 0, 100, 100},
	/* an engine that looks every 5 s */
	{true, false, 5 * SECOND, 1200, 300},
	{true, true, 5 * SECOND, 2400, 800},
};

TEST_EACH(savings_hold, kinds)
{
	unsigned seed = (unsigned)_i;
	int less = 0, more = 0;

	for (int i = 0; i < 10000; i++) {
		struct pipeline pipeline;

		pipeline_draw(&pipeline, kinds[_i].needs, kinds[_i].slots, kinds[_i].poll_ns, &seed);
		pipeline_try(&pipeline, &less, &more);
	}
	ck_assert_int_le(less, kinds[_i].less);
	ck_assert_int_le(more, kinds[_i].more);
}

TEST_TIMES(every_moment_has_one_owner, 500)
{
	struct schedule_task tasks[TASKS_MAX];
	int64_t saved[TASKS_MAX], at = 0, owned = 0;
	struct schedule_saving saving;
	struct schedule schedule;
	unsigned seed = (unsigned)_i;
	size_t count = (size_t)(rand_r(&seed) % TASKS_MAX);

	for (size_t i = 0; i < count; i++) {
		tasks[i].begin_ns = rand_r(&seed) % 110 - 5;
		tasks[i].end_ns = tasks[i].begin_ns + rand_r(&seed) % 20;
		saved[i] = rand_r(&seed) % 3 ? 0 : rand_r(&seed) % 20;
	}
	ck_assert_int_eq(schedule_init(&schedule, tasks, count, 0, 100), 0);
	for (size_t i = 0; i < schedule.span_count; i++) {
		ck_assert_int_eq(schedule.spans[i].begin_ns, at);
		at = schedule.spans[i].end_ns;
	}
	ck_assert_int_eq(at, 100);
	for (size_t i = 0; i < SCHEDULE_OWNER_COUNT; i++)
		owned += schedule.owned_ns[i];
	ck_assert_int_eq(owned, 100);
	ck_assert_int_eq(schedule_what_if(&schedule, saved, &saving), 0);
	ck_assert_int_ge(saving.low_ns, 0);
	ck_assert_int_le(saving.low_ns, saving.high_ns);
	schedule_deinit(&schedule);
}

TEST(a_run_that_ends_before_it_begins)
{
	struct schedule schedule;

	ck_assert_int_lt(schedule_init(&schedule, NULL, 0, 5, 4), 0);
	ck_assert_int_eq(schedule_init(&schedule, NULL, 0, 5, 5), 0);
	ck_assert_uint_eq(schedule.span_count, 0);
	schedule_deinit(&schedule);
}

int main(void)
{
	return suite_run("schedule", NULL, NULL);
}
