/* Applies analysis/tune/compare.h and analysis/tune/trend.h to tasks on standard input, for tests/ranks/power.
 *
 * A line is "compare A B TASKS..." with A runs on one side and B on the other, or "trend RUNS 0 TASKS...", then the
 * number of tasks and for each: step or step/sample, run, wall time in ns, input in bytes (0: unknown). The answer is one line: for
 * each step, by name, the verdict or the first run after a change, and the ratio.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/query/rows.h"
#include "analysis/tune/compare.h"
#include "analysis/tune/trend.h"

#define COUNT_MAX 1000000
#define NAME_SIZE 32

static const char *const verdicts[] = {
#define V(NAME, text) [COMPARE_##NAME] = text,
	COMPARE_VERDICTS(V)
#undef V
};

static void require(bool holds)
{
	if (!holds)
		exit(EXIT_FAILURE);
}

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

static void compare(const struct steps_task *tasks, size_t count, size_t a, size_t b)
{
	int *sides = calloc(a + b, sizeof(*sides));
	struct compare result;

	require(sides);
	for (size_t run = a; run < a + b; run++)
		sides[run] = COMPARE_B;
	require(compare_init(&result, tasks, count, sides, a + b) == 0);
	for (size_t i = 0; i < result.count; i++)
		printf("%s:%s:%.6f ", result.steps[i].name, verdicts[result.steps[i].verdict], result.steps[i].ratio);
	printf("\n");
	compare_deinit(&result);
	free(sides);
}

static void trend(const struct steps_task *tasks, size_t count, size_t run_count)
{
	struct trend result;

	require(trend_init(&result, tasks, count, run_count) == 0);
	for (size_t i = 0; i < result.count; i++)
		printf("%s:%zd:%.6f ", result.steps[i].name, (ssize_t)result.steps[i].changed_run,
		       result.steps[i].ratio);
	printf("\n");
	trend_deinit(&result);
}

int main(void)
{
	size_t a, b, count;
	char kind[16];

	while (scanf("%15s %zu %zu %zu", kind, &a, &b, &count) == 4) {
		struct steps_task *tasks;
		char(*names)[NAME_SIZE];

		require(count > 0 && count < COUNT_MAX);
		tasks = calloc(count, sizeof(*tasks));
		names = calloc(count, sizeof(*names));
		require(tasks && names);
		read_tasks(tasks, names, count);
		if (strcmp(kind, "trend") == 0)
			trend(tasks, count, a);
		else
			compare(tasks, count, a, b);
		free(tasks);
		free(names);
	}
	return EXIT_SUCCESS;
}
