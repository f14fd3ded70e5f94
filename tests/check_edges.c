/* Which task another one waited for, by the files that both name: simulated pipelines whose dependencies are known. */
#include "analysis/tune/edges.h"

#include <stdlib.h>

#include "tests/suite.h"

#define SAMPLES 12
#define STEPS 5
#define COUNT (SAMPLES * STEPS + 1) /* and a report over all samples */
#define NAME_COUNT (1 + COUNT + SAMPLES)
#define SECOND INT64_C(1000000000)
#define NONE SCHEDULE_NO_TASK
#define TRIALS 300

/* Of each sample: trim, quality control of the same reads, alignment, its index, and calls that read both. All tasks name the
 * reference. */
static const unsigned needs[STEPS] = {0, 0, 1 << 0, 1 << 2, 1 << 2 | 1 << 3};
static const bool reads_raw[STEPS] = {true, true};

/* An engine looks every `poll_s` seconds and runs at most `slots` tasks at a time. In per cent of the tasks that began because a task had ended whose result they
 * need: at least so often the last to end is that task, and at least so often the one that names tell. */
static const struct {
	int64_t poll_s;
	size_t slots;
	int times_least, times_most, names_least;
} kinds[] = {
	{0, COUNT, 95, 100, 99}, {0, 4, 95, 100, 99}, {5, COUNT, 10, 40, 99},
	{5, 8, 30, 70, 99},      {5, 4, 60, 90, 99},  {30, COUNT, 0, 20, 99},
};

struct pipeline {
	struct schedule_task tasks[COUNT];
	size_t cause[COUNT]; /* the task whose end it waited for, NONE if it waited for a slot or for nothing */
	size_t names[COUNT * (SAMPLES + 5)], task_counts[NAME_COUNT];
	struct edges_task named[COUNT];
};

static bool is_report(size_t task)
{
	return task == COUNT - 1;
}

static bool task_needs(size_t task, size_t other)
{
	if (is_report(task))
		return other % STEPS == STEPS - 1;
	return other / STEPS == task / STEPS && needs[task % STEPS] & 1U << other % STEPS;
}

/* Sets the last of the tasks that this one needs to end; returns whether all have ended by then. */
static bool is_ready(const struct pipeline *pipeline, size_t task, int64_t now_ns, size_t *ret_last)
{
	*ret_last = NONE;
	for (size_t other = 0; other < COUNT - 1; other++) {
		int64_t end_ns = pipeline->tasks[other].end_ns;

		if (!task_needs(task, other))
			continue;
		if (end_ns == 0 || end_ns > now_ns)
			return false;
		if (*ret_last == NONE || end_ns > pipeline->tasks[*ret_last].end_ns)
			*ret_last = other;
	}
	return true;
}

static int64_t next_ns(const struct pipeline *pipeline, int64_t now_ns, int64_t poll_ns)
{
	int64_t next = INT64_MAX;

	if (poll_ns > 0)
		return now_ns + poll_ns;
	for (size_t i = 0; i < COUNT; i++)
		if (pipeline->tasks[i].end_ns > now_ns && pipeline->tasks[i].end_ns < next)
			next = pipeline->tasks[i].end_ns;
	return next;
}

static size_t running_count(const struct pipeline *pipeline, int64_t now_ns)
{
	size_t count = 0;

	for (size_t i = 0; i < COUNT; i++)
		count += pipeline->tasks[i].end_ns > now_ns;
	return count;
}

static void pipeline_run(struct pipeline *pipeline, int64_t poll_ns, size_t slots, unsigned *seed)
{
	bool was_full = false;
	size_t done = 0;

	*pipeline = (struct pipeline){0};
	for (int64_t now_ns = SECOND, before_ns = 0; done < COUNT;
	     before_ns = now_ns, now_ns = next_ns(pipeline, now_ns, poll_ns)) {
		size_t running = running_count(pipeline, now_ns);

		for (size_t i = 0; i < COUNT && running < slots; i++) {
			size_t last;

			if (pipeline->tasks[i].end_ns || !is_ready(pipeline, i, now_ns, &last))
				continue;
			pipeline->tasks[i].begin_ns = now_ns + (int64_t)done; /* one after the other */
			pipeline->tasks[i].end_ns =
				now_ns + SECOND + rand_r(seed) % 20 * SECOND + rand_r(seed) % SECOND;
			pipeline->cause[i] =
				last != NONE && pipeline->tasks[last].end_ns > before_ns && !was_full ? last : NONE;
			running++;
			done++;
		}
		was_full = running == slots;
	}
}

static void name_put(struct pipeline *pipeline, size_t task, size_t *used, size_t name)
{
	pipeline->names[(*used)++] = name;
	pipeline->named[task].count++;
	pipeline->task_counts[name]++;
}

/* Name 0 is the reference, 1 + N the result of task N, then the reads of each sample. */
static struct edges names_make(struct pipeline *pipeline)
{
	size_t used = 0;

	for (size_t i = 0; i < COUNT; i++) {
		pipeline->named[i] = (struct edges_task){used, 0};
		name_put(pipeline, i, &used, 0);
		name_put(pipeline, i, &used, 1 + i);
		for (size_t other = 0; other < COUNT - 1; other++)
			if (task_needs(i, other))
				name_put(pipeline, i, &used, 1 + other);
		if (!is_report(i) && reads_raw[i % STEPS])
			name_put(pipeline, i, &used, 1 + COUNT + i / STEPS);
	}
	return (struct edges){
		.tasks = pipeline->named,
		.names = pipeline->names,
		.task_counts = pipeline->task_counts,
		.name_count = NAME_COUNT,
	};
}

TEST_EACH(names_tell_what_was_waited_for, kinds)
{
	size_t known = 0, by_times = 0, by_names = 0, causes[COUNT];
	unsigned seed = (unsigned)_i + 1;
	struct pipeline pipeline;
	struct schedule schedule;

	for (size_t trial = 0; trial < TRIALS; trial++) {
		struct edges edges;
		int64_t end_ns = 0;

		pipeline_run(&pipeline, kinds[_i].poll_s * SECOND, kinds[_i].slots, &seed);
		edges = names_make(&pipeline);
		for (size_t i = 0; i < COUNT; i++)
			end_ns = pipeline.tasks[i].end_ns > end_ns ? pipeline.tasks[i].end_ns : end_ns;
		ck_assert_int_eq(schedule_init(&schedule, pipeline.tasks, COUNT, 0, end_ns), 0);
		ck_assert_int_eq(edges_find(&edges, &schedule, kinds[_i].poll_s ? -1 : SCHEDULE_TEARDOWN_NS, causes),
				 0);
		for (size_t i = 0; i < COUNT; i++) {
			size_t begin, end;

			if (pipeline.cause[i] == NONE || is_report(i)) /* all that a report needs are causes alike */
				continue;
			schedule_ended_before(&schedule, i, SECOND, &begin, &end);
			known++;
			by_times += schedule.by_end[end - 1] == pipeline.cause[i];
			by_names += (causes[i] == NONE ? schedule.by_end[end - 1] : causes[i]) == pipeline.cause[i];
		}
		schedule_deinit(&schedule);
	}
	printf("%d s, %zu slots: %zu causes; right by times %.1f %%, by names %.1f %%\n", (int)kinds[_i].poll_s,
	       kinds[_i].slots, known, 100.0 * (double)by_times / (double)known,
	       100.0 * (double)by_names / (double)known);
	ck_assert_uint_gt(known, 500);
	ck_assert_uint_ge(100 * by_times, (size_t)kinds[_i].times_least * known);
	ck_assert_uint_le(100 * by_times, (size_t)kinds[_i].times_most * known);
	ck_assert_uint_ge(100 * by_names, (size_t)kinds[_i].names_least * known);
}

int main(void)
{
	return suite_run("edges", NULL, NULL);
}
