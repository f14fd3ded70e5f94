/* The steps of a pipeline over several runs. See steps.h. */
#include "analysis/tune/steps.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/query/rows.h"
#include "analysis/tune/rank.h"

#define NORMAL_QUANTILE 1.959963984540054 /* of 0.95, two-sided */
#define FREEDOM_LEAST 3                   /* fewer tasks say nothing about a slope */

static int compare_tasks(const void *left, const void *right)
{
	const struct steps_task *a = *(const struct steps_task *const *)left;
	const struct steps_task *b = *(const struct steps_task *const *)right;
	int order = strcmp(a->name, b->name);

	if (order == 0)
		order = (a->run > b->run) - (a->run < b->run);
	if (order == 0 && a->label && b->label)
		order = strcmp(a->label, b->label);
	return order ? order : (a->label != NULL) - (b->label != NULL);
}

double steps_log_wall(const struct steps_task *task)
{
	return log((double)(task->figures[STEPS_WALL] > 0 ? task->figures[STEPS_WALL] : 1));
}

static double log_input(const struct steps_task *task)
{
	return log((double)task->rchar_bytes);
}

/* ---- the influence of the input ------------------------------------------------------ */

/* Student's t beyond which 5 % lie, from that of the normal distribution (Cornish and Fisher); to 1 % from 3 degrees
 * of freedom on. */
static double student_quantile(double freedom)
{
	double z = NORMAL_QUANTILE, square = z * z;

	return z + z * (square + 1) / (4 * freedom) +
	       z * (5 * square * square + 16 * square + 3) / (96 * freedom * freedom) +
	       z * (3 * square * square * square + 19 * square * square + 17 * square - 15) /
		       (384 * freedom * freedom * freedom);
}

struct sums {
	double count, x, y, xx, xy, yy;
};

/* Adds the sums of one group around its own means to those of all groups. */
static void sums_add(struct sums *all, const struct sums *group)
{
	if (group->count == 0)
		return;
	all->count += group->count - 1; /* its mean takes a degree of freedom */
	all->xx += group->xx - group->x * group->x / group->count;
	all->xy += group->xy - group->x * group->y / group->count;
	all->yy += group->yy - group->y * group->y / group->count;
}

static void sums_add_task(struct sums *sums, const struct steps_task *task, double mean_input)
{
	double x = log_input(task) - mean_input, y = steps_log_wall(task);

	sums->count++;
	sums->x += x;
	sums->y += y;
	sums->xx += x * x;
	sums->xy += x * y;
	sums->yy += y * y;
}

/* Returns the slope, or 0 if it is not significantly above 0. */
static double significant_slope(const struct sums *sums)
{
	double freedom = sums->count - 1, slope = sums->xx > 1e-9 ? sums->xy / sums->xx : 0;
	double error;

	if (freedom < FREEDOM_LEAST || slope <= 0)
		return 0;
	error = sqrt(fmax(0, sums->yy - slope * sums->xy) / freedom / sums->xx);
	return slope > student_quantile(freedom) * error ? slope : 0;
}

/* Returns the mean of the logarithms of the inputs, NAN if one is unknown. */
static double mean_input(const struct step *step)
{
	double sum = 0;

	for (size_t i = 0; i < step->count; i++) {
		if (step->tasks[i]->rchar_bytes == ROW_NULL || step->tasks[i]->rchar_bytes <= 0)
			return NAN;
		sum += log_input(step->tasks[i]);
	}
	return sum / (double)step->count;
}

static double slope_find(const struct step *step, const int *groups, double mean)
{
	struct sums all = {0};

	if (isnan(mean))
		return 0;
	for (int group = 0; group < (groups ? 2 : 1); group++) {
		struct sums sums = {0};

		for (size_t i = 0; i < step->count; i++)
			if (!groups || groups[step->tasks[i]->run] == group)
				sums_add_task(&sums, step->tasks[i], mean);
		sums_add(&all, &sums);
	}
	return significant_slope(&all);
}

/* ---- steps --------------------------------------------------------------------------- */

static void residuals_set(struct step *step, double *residuals, const int *groups)
{
	double mean = mean_input(step);

	step->slope = slope_find(step, groups, mean);
	step->residuals = residuals;
	for (size_t i = 0; i < step->count; i++) {
		residuals[i] = steps_log_wall(step->tasks[i]);
		if (step->slope > 0)
			residuals[i] -= step->slope * (log_input(step->tasks[i]) - mean);
	}
}

/* Sets the median of each run's values, given by task; `scratch` has room for all tasks. */
static void medians_set(const struct step *step, const double *by_task, size_t run_count, double *scratch,
			double *ret_medians)
{
	size_t at = 0;

	for (size_t run = 0; run < run_count; run++) {
		size_t count = 0;

		for (; at < step->count && step->tasks[at]->run == run; at++)
			if (!isnan(by_task[at]))
				scratch[count++] = by_task[at];
		ret_medians[run] = rank_median(scratch, count);
	}
}

static size_t count_names(const struct steps_task *const *tasks, size_t count)
{
	size_t names = 0;

	for (size_t i = 0; i < count; i++)
		names += i == 0 || strcmp(tasks[i]->name, tasks[i - 1]->name) != 0;
	return names;
}

static void items_set(struct steps *steps, size_t task_count, const int *groups, double *scratch)
{
	for (size_t at = 0, next; at < task_count; at = next) {
		struct step *step = &steps->items[steps->count];
		double *values = steps->values + steps->count++ * steps->run_count;

		for (next = at + 1; next < task_count && strcmp(steps->tasks[next]->name, steps->tasks[at]->name) == 0;)
			next++;
		*step = (struct step){.name = steps->tasks[at]->name,
				      .tasks = steps->tasks + at,
				      .count = next - at,
				      .values = values};
		residuals_set(step, steps->residuals + at, groups);
		medians_set(step, step->residuals, steps->run_count, scratch, values);
	}
}

int steps_init(struct steps *steps, const struct steps_task *tasks, size_t count, const int *groups, size_t run_count)
{
	double *scratch = calloc(count + 1, sizeof(*scratch));
	size_t names;

	*steps = (struct steps){.run_count = run_count};
	steps->tasks = calloc(count + 1, sizeof(*steps->tasks));
	steps->residuals = calloc(count + 1, sizeof(*steps->residuals));
	if (!scratch || !steps->tasks || !steps->residuals)
		goto failed;
	for (size_t i = 0; i < count; i++)
		steps->tasks[i] = &tasks[i];
	qsort(steps->tasks, count, sizeof(*steps->tasks), compare_tasks);
	names = count_names(steps->tasks, count);
	steps->items = calloc(names + 1, sizeof(*steps->items));
	steps->values = calloc(names * run_count + 1, sizeof(*steps->values));
	if (!steps->items || !steps->values)
		goto failed;
	items_set(steps, count, groups, scratch);
	free(scratch);
	return 0;
failed:
	free(scratch);
	steps_deinit(steps);
	return -ENOMEM;
}

void steps_deinit(struct steps *steps)
{
	free(steps->items);
	free(steps->tasks);
	free(steps->residuals);
	free(steps->values);
	*steps = (struct steps){0};
}

int step_medians(const struct steps *steps, const struct step *step, enum steps_figure figure, double *ret_medians)
{
	double *values = calloc(2 * step->count, sizeof(*values));

	if (!values)
		return -ENOMEM;
	for (size_t i = 0; i < step->count; i++) {
		int64_t value = step->tasks[i]->figures[figure];

		values[i] = value == ROW_NULL ? NAN : (double)value;
	}
	medians_set(step, values, steps->run_count, values + step->count, ret_medians);
	free(values);
	return 0;
}
