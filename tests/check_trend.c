/* Where a series of runs changed. */
#include "analysis/tune/trend.h"

#include <math.h>

#include "analysis/query/rows.h"
#include "tests/suite.h"

#define RUNS_MAX 32

/* Wall times of runs in seconds, ending with 0 (-1: no such task), the first run after a change, and the ratio. */
static const struct {
	double seconds[RUNS_MAX];
	int changed_run; /* -1: none */
	double ratio;
	size_t missing_runs;
} cases[] = {
	{{10, 11, 10.5, 10.1, 10.7, 20, 21, 20.3, 22, 20.8}, 5, 2, 0},
	{{20, 21, 20.3, 22, 20.8, 20.1, 10, 11, 10.5, 10.1, 10.7}, 6, 0.5, 0},
	{{10, 11, 10.5, -1, 10.1, 10.7, 20, 21, 20.3, 22, 20.8}, 6, 2, 0}, /* of a run without the task */
	{{10, 11, 10.5, 10.1, 20, 21, 20.3, 22}, 4, 2, 0},                 /* the fewest */
	{{10, 11, 10.5, 10.1, 20, 21, 20.3}, -1, 0, 1},
	{{10, -1, -1, -1, -1, -1, -1, -1, -1}, -1, 0, 7},
	{{10, 11, 10.5, 10.1, 10.7, 10.2, 10.9, 10.4, 10.6, 10.8}, -1, 0, 0},
	{{10, 10.01, 10.02, 10.03, 10.04, 10.3, 10.31, 10.32, 10.33, 10.34}, -1, 0, 0}, /* below 5 % */
	{{10, 11, 10.5, 10.1, 10.7, 10.2, 10.9, 30, 30, 30}, 6, 2.8, 0},                /* at least 4 runs after it */
	{{10, 10, 10, 10, 10, 10, 10, 10}, -1, 0, 0},
};

TEST_EACH(change_is_at, cases)
{
	struct steps_task tasks[RUNS_MAX];
	size_t run_count = 0, task_count = 0;
	struct trend trend;

	for (; cases[_i].seconds[run_count] != 0; run_count++)
		if (cases[_i].seconds[run_count] > 0)
			tasks[task_count++] = (struct steps_task){
				.name = "A",
				.run = run_count,
				.figures = {[STEPS_WALL] = (int64_t)(cases[_i].seconds[run_count] * 1e9)},
				.rchar_bytes = ROW_NULL,
			};
	ck_assert_int_eq(trend_init(&trend, tasks, task_count, run_count), 0);
	ck_assert_uint_eq(trend.count, 1);
	ck_assert_uint_eq(trend.steps[0].missing_runs, cases[_i].missing_runs);
	ck_assert_int_eq((int)trend.steps[0].changed_run, cases[_i].changed_run);
	if (cases[_i].changed_run >= 0)
		ck_assert_double_eq_tol(trend.steps[0].ratio, cases[_i].ratio, 0.1 * cases[_i].ratio);
	else
		ck_assert(isnan(trend.steps[0].ratio));
	ck_assert_int_eq(isnan(trend.steps[0].p), cases[_i].missing_runs > 0);
	trend_deinit(&trend);
}

/* 8 runs in two halves: of the 70 ways to choose a half, two separate as well. */
TEST(p_is_that_of_random_orders)
{
	struct steps_task tasks[8];
	struct trend trend;

	for (size_t run = 0; run < 8; run++)
		tasks[run] = (struct steps_task){.name = "A",
						 .run = run,
						 .figures = {[STEPS_WALL] = (int64_t)(run + 10) * 1000000000},
						 .rchar_bytes = ROW_NULL};
	ck_assert_int_eq(trend_init(&trend, tasks, 8, 8), 0);
	ck_assert_double_eq_tol(trend.steps[0].p, 2.0 / 70, 0.005);
	trend_deinit(&trend);
}

TEST(no_runs)
{
	struct trend trend;

	ck_assert_int_eq(trend_init(&trend, NULL, 0, 0), 0);
	ck_assert_uint_eq(trend.count, 0);
	trend_deinit(&trend);
}

int main(void)
{
	return suite_run("trend", NULL, NULL);
}
