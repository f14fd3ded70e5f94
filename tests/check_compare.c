/* Steps of runs, compared: results, and what is too little for one. */
#include "analysis/tune/compare.h"

#include <math.h>
#include <string.h>

#include "analysis/query/rows.h"
#include "tests/suite.h"

#define TASKS_MAX 512
#define RUNS_MAX 64
#define SECOND INT64_C(1000000000)

static struct steps_task tasks[TASKS_MAX];
static size_t task_count;
static int sides[RUNS_MAX];
static struct compare compare;

static void begin(void)
{
	task_count = 0;
	compare = (struct compare){0};
}

static void end(void)
{
	compare_deinit(&compare);
}

static struct steps_task *task_add(const char *name, size_t run, double seconds)
{
	tasks[task_count] = (struct steps_task){
		.name = name,
		.run = run,
		.figures = {[STEPS_WALL] = (int64_t)(seconds * (double)SECOND),
			    [STEPS_CPU] = SECOND,
			    [STEPS_PEAK_RSS] = ROW_NULL,
			    [STEPS_READ] = 7},
		.rchar_bytes = ROW_NULL,
	};
	return &tasks[task_count++];
}

/* Runs of A, then of B. */
static void sides_set(size_t a, size_t b)
{
	for (size_t run = 0; run < a + b; run++)
		sides[run] = run < a ? COMPARE_A : COMPARE_B;
	ck_assert_int_eq(compare_init(&compare, tasks, task_count, sides, a + b), 0);
}

static const struct compare_step *step_of(const char *name)
{
	for (size_t i = 0; i < compare.count; i++)
		if (strcmp(compare.steps[i].name, name) == 0)
			return &compare.steps[i];
	ck_abort_msg("no step %s", name);
	return NULL;
}

/* Noise that differs from run to run: at most 2 %. */
static double noisy(double seconds, size_t run)
{
	return seconds * (1 + (double)((run * 7) % 5) / 200);
}

/* One task a run: how many runs, how much slower B is, and what follows. */
static const struct {
	size_t a, b;
	double factor;
	enum compare_result result;
	size_t missing_runs;
} cases[] = {
	{5, 5, 1.5, COMPARE_SLOWER, 0},
	{5, 5, 0.5, COMPARE_FASTER, 0},
	{5, 5, 1, COMPARE_SAME, 0},
	{5, 5, 1.04, COMPARE_SAME, 0}, /* certain, but below 5 % */
	{4, 5, 1.5, COMPARE_INSUFFICIENT, 1},
	{4, 4, 1.5, COMPARE_INSUFFICIENT, 2},
	{1, 20, 1.5, COMPARE_INSUFFICIENT, 4},
	{2, 1, 1.5, COMPARE_INSUFFICIENT, 7},
	{1, 1, 1.5, COMPARE_DIFFERENT, 8}, /* never slower */
	{1, 1, 0.5, COMPARE_DIFFERENT, 8},
	{1, 1, 1.01, COMPARE_INSUFFICIENT, 8},
};

TEST_EACH(result_is, cases)
{
	const struct compare_step *step;

	for (size_t run = 0; run < cases[_i].a + cases[_i].b; run++)
		task_add("A", run, run < cases[_i].a ? noisy(10, run) : noisy(10, run) * cases[_i].factor);
	sides_set(cases[_i].a, cases[_i].b);
	step = step_of("A");
	ck_assert_msg(step->result == cases[_i].result, "result %d", step->result);
	ck_assert_uint_eq(step->missing_runs, cases[_i].missing_runs);
	ck_assert_double_eq_tol(step->ratio, cases[_i].factor, 0.03 * cases[_i].factor);
	if (cases[_i].a < COMPARE_TESTED_LEAST || cases[_i].b < COMPARE_TESTED_LEAST)
		ck_assert(isnan(step->p));
	else
		ck_assert(step->low <= step->ratio && step->ratio <= step->high);
}

/* A hundred tasks of a run are one value. */
TEST(run_is_the_unit)
{
	for (size_t run = 0; run < 4; run++)
		for (size_t i = 0; i < 100; i++)
			task_add("A", run, noisy(run < 2 ? 10 : 20, i));
	sides_set(2, 2);
	ck_assert_int_eq(step_of("A")->result, COMPARE_INSUFFICIENT);
	ck_assert_uint_eq(step_of("A")->run_counts[COMPARE_B], 2);
	ck_assert_uint_eq(step_of("A")->task_counts[COMPARE_B], 200);
}

/* B has twice the input, and takes twice the time: no difference. With a factor beside it, the factor is found. */
TEST_TIMES(input_explains_time, 2)
{
	double factor = _i ? 1.5 : 1;

	for (size_t run = 0; run < 10; run++)
		for (size_t i = 1; i <= 4; i++) {
			double size = (double)(i * (run < 5 ? 1 : 2));

			task_add("A", run, noisy(size, run + i) * (run < 5 ? 1 : factor))->rchar_bytes =
				(int64_t)(size * 1e6);
		}
	sides_set(5, 5);
	ck_assert_double_eq_tol(step_of("A")->slope, 1, 0.05);
	ck_assert_double_eq_tol(step_of("A")->ratio, factor, 0.05);
	ck_assert_int_eq(step_of("A")->result, _i ? COMPARE_SLOWER : COMPARE_SAME);
	ck_assert_double_gt(step_of("A")->medians[COMPARE_B][STEPS_WALL],
			    1.9 * step_of("A")->medians[COMPARE_A][STEPS_WALL]);
}

/* One input is unknown: no slope. */
TEST(unknown_input_explains_nothing)
{
	for (size_t run = 0; run < 10; run++)
		for (size_t i = 1; i <= 4; i++)
			task_add("A", run, (double)i)->rchar_bytes = run + i == 1 ? ROW_NULL : (int64_t)i * 1000;
	sides_set(5, 5);
	ck_assert_double_eq(step_of("A")->slope, 0);
}

/* What is significant alone is not, among 20. */
TEST(p_values_are_adjusted)
{
	static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j",
					    "k", "l", "m", "n", "o", "p", "q", "r", "s", "t"};

	for (size_t i = 0; i < 20; i++)
		for (size_t run = 0; run < 10; run++)
			task_add(names[i], run, noisy(i == 0 && run >= 5 ? 20 : 10, run));
	sides_set(5, 5);
	ck_assert_double_lt(step_of("a")->p, 0.01);
	ck_assert_double_gt(step_of("a")->adjusted_p, 0.05);
	ck_assert_int_eq(step_of("a")->result, COMPARE_SAME);
}

static const char *const names[] = {"s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7"};

static void check_step(enum compare_result result, enum compare_unit unit, size_t pair_count)
{
	ck_assert_int_eq(step_of("A")->result, result);
	ck_assert_int_eq(step_of("A")->unit, unit);
	ck_assert_uint_eq(step_of("A")->pair_count, pair_count);
}

/* One run against one: tasks in pairs by nothing, label or sample, which alternate between 1 and 100 seconds. */
TEST_TIMES(tasks_in_pairs, 3)
{
	for (size_t run = 0; run < 2; run++)
		for (size_t i = 0; i < 7; i++) {
			size_t k = run ? 6 - i : i;
			struct steps_task *task = task_add("A", run, noisy(k % 2 ? 100 : 1, k + run) * (run ? 1.2 : 1));

			task->label = _i == 1 ? names[k] : NULL;
			task->sample = _i == 2 ? names[k] : NULL;
		}
	sides_set(1, 1);
	check_step(_i ? COMPARE_DIFFERENT : COMPARE_SAME,
		   _i == 0   ? COMPARE_TASKS
		   : _i == 1 ? COMPARE_LABELS
			     : COMPARE_SAMPLES,
		   _i ? 7 : 0);
}

/* A run for each sample on both sides, whose times differ a hundredfold. With 8, p is at least 0.0078. */
TEST_TIMES(runs_in_pairs_by_sample, 2)
{
	for (size_t run = 0; run < 16; run++) {
		size_t i = run < 8 ? run : 15 - run;

		task_add("A", run, noisy(i % 2 ? 100 : 1, run) * (run < 8 ? 1 : 1.2))->sample = _i ? names[i] : NULL;
	}
	sides_set(8, 8);
	check_step(_i ? COMPARE_SLOWER : COMPARE_SAME, _i ? COMPARE_SAMPLES_OF_RUNS : COMPARE_RUNS, _i ? 8 : 0);
	if (_i)
		ck_assert_double_eq_tol(step_of("A")->ratio, 1.2, 0.03);
}

/* The samples of a run share its noise: they are one pair with all runs that have one of them. Here 2 runs of 4
 * samples each on both sides make 2 pairs, so runs are compared, and they are too few. */
TEST(samples_of_a_run_are_no_pairs)
{
	for (size_t run = 0; run < 4; run++)
		for (size_t i = 0; i < 4; i++)
			task_add("A", run, noisy(10, i) * (run < 2 ? 1 : 1.5))->sample = names[run % 2 * 4 + i];
	sides_set(2, 2);
	check_step(COMPARE_INSUFFICIENT, COMPARE_RUNS, 0);
}

/* Seven pairs of runs, two of which share a sample: six. A sample of one side makes none. */
TEST(runs_that_share_a_sample_are_one_pair)
{
	for (size_t run = 0; run < 14; run++)
		task_add("A", run, noisy(10, run) * (run < 7 ? 1 : 1.5))->sample = names[run % 7];
	task_add("A", 0, 10)->sample = names[1];
	task_add("A", 2, 10)->sample = task_add("A", 3, 10)->sample = "only in A";
	sides_set(7, 7);
	check_step(COMPARE_SLOWER, COMPARE_SAMPLES_OF_RUNS, 6);
}

/* Labels that several tasks of a run have, or only one run, make no pair: b to g remain. */
TEST_TIMES(pairs_need_one_task_on_each_side, 2)
{
	static const char *const labels[2][9] = {{"a", "a", "b", "c", "d", "e", "f", "g", NULL},
						 {"a", "aa", "b", "c", "d", "e", "f", "g", "h"}};

	for (size_t run = 0; run < 2; run++)
		for (size_t i = 0; i < 9; i++)
			task_add("A", run, 1)->label = labels[run == (size_t)_i][i];
	sides_set(1, 1);
	ck_assert_uint_eq(step_of("A")->pair_count, 6);
}

TEST(steps_of_one_side_and_unknown_figures)
{
	for (size_t run = 0; run < 10; run++)
		task_add(run < 5 ? "old" : "new", run, 10);
	sides_set(5, 5);
	ck_assert_int_eq(step_of("old")->result, COMPARE_ONLY_A);
	ck_assert_int_eq(step_of("new")->result, COMPARE_ONLY_B);
	ck_assert(isnan(step_of("old")->medians[COMPARE_B][STEPS_WALL]) && isnan(step_of("old")->ratio));
	ck_assert(isnan(step_of("old")->medians[COMPARE_A][STEPS_PEAK_RSS]));
	ck_assert_double_eq(step_of("old")->medians[COMPARE_A][STEPS_READ], 7);
}

/* Differences first, then the longest. */
TEST(order_of_steps)
{
	for (size_t run = 0; run < 10; run++) {
		task_add("long", run, 100);
		task_add("short", run, 1);
		task_add("slower", run, run < 5 ? noisy(1, run) : noisy(2, run));
	}
	sides_set(5, 5);
	ck_assert_str_eq(compare.steps[0].name, "slower");
	ck_assert_str_eq(compare.steps[1].name, "long");
	ck_assert_str_eq(compare.steps[2].name, "short");
}

int main(void)
{
	return suite_run("compare", begin, end);
}
