/* Applies analysis/tune to figures on standard input: rank.h for tests/ranks/check, which compares with other
 * implementations, compare.h and trend.h for tests/ranks/power.
 *
 * A line is "two N M VALUES...", "pairs N FIRST... SECOND..." or "adjust N P..."; the answer is a line of
 * "p estimate low high", or of the adjusted p-values. Or it is "compare A B COUNT TASKS..." with A runs on one side and
 * B on the other, or "trend RUNS 0 COUNT TASKS...", and for each task: step or step/sample, run, wall time in ns, input in
 * bytes (0: unknown). The answer is, for each step, by name, the result or the first run after a change, and the ratio.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/query/rows.h"
#include "analysis/tune/compare.h"
#include "analysis/tune/rank.h"
#include "analysis/tune/trend.h"

#define COUNT_MAX 1000000
#define NAME_SIZE 32

static void require(bool holds)
{
	if (!holds)
		exit(EXIT_FAILURE);
}

static size_t read_count(void)
{
	size_t count;

	require(scanf("%zu", &count) == 1 && count <= COUNT_MAX);
	return count;
}

static double *read_values(size_t count)
{
	double *values = calloc(count + 1, sizeof(*values));

	require(values);
	for (size_t i = 0; i < count; i++)
		require(scanf("%lf", &values[i]) == 1);
	return values;
}

static void print_result(int error, const struct rank_result *result)
{
	if (error < 0)
		printf("error %s\n", strerror(-error));
	else
		printf("%.17g %.17g %.17g %.17g\n", result->p, result->estimate, result->low, result->high);
}

static void compare(int is_pairs)
{
	size_t n = read_count(), m = is_pairs ? n : read_count();
	double *first = read_values(n), *second = read_values(m);
	struct rank_result result = {0};
	int error =
		is_pairs ? rank_compare_pairs(first, second, n, &result) : rank_compare(first, n, second, m, &result);

	print_result(error, &result);
	free(first);
	free(second);
}

static void adjust(void)
{
	size_t count = read_count();
	double *p = read_values(count);

	require(rank_adjust(p, count) == 0);
	for (size_t i = 0; i < count; i++)
		printf("%.17g ", p[i]);
	printf("\n");
	free(p);
}

static const char *const results[] = {
#define V(NAME, text) [COMPARE_##NAME] = text,
	COMPARE_RESULTS(V)
#undef V
};

static void read_tasks(struct steps_task *tasks, char (*names)[NAME_SIZE], size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct steps_task *task = &tasks[i];
		char *slash;

		*task = (struct steps_task){.name = names[i]};
		require(scanf("%31s %zu %" SCNd64 " %" SCNd64, names[i], &task->run, &task->figures[STEPS_WALL],
			      &task->rchar_bytes) == 4);
		slash = strchr(names[i], '/');
		if (slash) {
			*slash = '\0';
			task->sample = slash + 1;
		}
		if (task->rchar_bytes == 0)
			task->rchar_bytes = ROW_NULL;
	}
}

static void compare_steps(const struct steps_task *tasks, size_t count, size_t a, size_t b)
{
	int *sides = calloc(a + b, sizeof(*sides));
	struct compare result;

	require(sides);
	for (size_t run = a; run < a + b; run++)
		sides[run] = COMPARE_B;
	require(compare_init(&result, tasks, count, sides, a + b) == 0);
	for (size_t i = 0; i < result.count; i++)
		printf("%s:%s:%.6f ", result.steps[i].name, results[result.steps[i].result], result.steps[i].ratio);
	printf("\n");
	compare_deinit(&result);
	free(sides);
}

static void find_trend(const struct steps_task *tasks, size_t count, size_t run_count)
{
	struct trend result;

	require(trend_init(&result, tasks, count, run_count) == 0);
	for (size_t i = 0; i < result.count; i++)
		printf("%s:%zd:%.6f ", result.steps[i].name, (ssize_t)result.steps[i].changed_run,
		       result.steps[i].ratio);
	printf("\n");
	trend_deinit(&result);
}

static void take_steps(bool is_trend)
{
	size_t a = read_count(), b = read_count(), count = read_count();
	struct steps_task *tasks = calloc(count + 1, sizeof(*tasks));
	char(*names)[NAME_SIZE] = calloc(count + 1, sizeof(*names));

	require(tasks && names);
	read_tasks(tasks, names, count);
	if (is_trend)
		find_trend(tasks, count, a);
	else
		compare_steps(tasks, count, a, b);
	free(tasks);
	free(names);
}

int main(void)
{
	char kind[16];

	while (scanf("%15s", kind) == 1) {
		if (strcmp(kind, "adjust") == 0)
			adjust();
		else if (strcmp(kind, "compare") == 0 || strcmp(kind, "trend") == 0)
			take_steps(strcmp(kind, "trend") == 0);
		else
			compare(strcmp(kind, "pairs") == 0);
	}
	return EXIT_SUCCESS;
}
