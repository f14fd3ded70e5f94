/* Compares the steps of runs. See compare.h. */
#include "analysis/tune/compare.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/tune/rank.h"

#define COMPARE_TASKS_MAX 2000 /* of a side, where tasks are compared */

/* The tasks of a step on one sample that both sides have. */
struct sampled {
	const char *sample;
	int side;
	size_t run;  /* while samples are joined: one that stands for all runs that share samples with it */
	double wall; /* logarithm; once sides are compared, the difference of B to A */
};

/* Room for the values of one step. */
struct comparison {
	const struct steps *steps;
	const int *sides;
	size_t run_counts[COMPARE_SIDES]; /* in all */
	double *values[COMPARE_SIDES], *medians;
	struct sampled *sampled; /* of all tasks */
	size_t *joined;          /* of each run, one that shares samples with it, or itself */
};

/* The values of a side's runs: returns their number. */
static size_t gather(const struct comparison *comparison, const double *by_run, int side, double *ret_values)
{
	size_t count = 0;

	for (size_t run = 0; run < comparison->steps->run_count; run++)
		if (comparison->sides[run] == side && !isnan(by_run[run]))
			ret_values[count++] = by_run[run];
	return count;
}

static int medians_set(struct comparison *comparison, const struct step *step, struct compare_step *ret)
{
	for (enum steps_figure figure = 0; figure < STEPS_FIGURE_COUNT; figure++) {
		int error = step_medians(comparison->steps, step, figure, comparison->medians);

		if (error < 0)
			return error;
		for (int side = 0; side < COMPARE_SIDES; side++) {
			size_t count = gather(comparison, comparison->medians, side, comparison->values[side]);

			ret->medians[side][figure] = rank_median(comparison->values[side], count);
		}
	}
	return 0;
}

/* ---- one run against one run --------------------------------------------------------- */

/* Whether no other task of its run, which ends at `end`, has its label. */
static bool is_unique(const struct step *step, size_t at, size_t end)
{
	const char *label = step->tasks[at]->label;

	return label &&
	       (at == 0 || !step->tasks[at - 1]->label || step->tasks[at - 1]->run != step->tasks[at]->run ||
		strcmp(step->tasks[at - 1]->label, label) != 0) &&
	       (at + 1 == end || strcmp(step->tasks[at + 1]->label, label) != 0);
}

static int label_order(const struct step *step, size_t a, size_t b)
{
	if (!step->tasks[a]->label || !step->tasks[b]->label)
		return step->tasks[a]->label ? 1 : -1;
	return strcmp(step->tasks[a]->label, step->tasks[b]->label);
}

/* Pairs of tasks that worked on the same, by the only such label in each run: returns their number. */
static size_t gather_pairs(const struct comparison *comparison, const struct step *step)
{
	size_t count = 0, middle = 0;
	int first;

	while (middle < step->count && step->tasks[middle]->run == step->tasks[0]->run)
		middle++;
	first = comparison->sides[step->tasks[0]->run];
	for (size_t i = 0, k = middle; i < middle && k < step->count && count < COMPARE_TASKS_MAX;) {
		int order = label_order(step, i, k);

		if (order == 0 && is_unique(step, i, middle) && is_unique(step, k, step->count)) {
			comparison->values[first][count] = steps_log_wall(step->tasks[i]);
			comparison->values[!first][count++] = steps_log_wall(step->tasks[k]);
		}
		i += order <= 0;
		k += order >= 0;
	}
	return count;
}

/* ---- pairs by sample ----------------------------------------------------------------- */

static int compare_sampled(const void *left, const void *right)
{
	const struct sampled *a = left, *b = right;
	int order = strcmp(a->sample, b->sample);

	return order ? order : a->side - b->side;
}

static int compare_joined(const void *left, const void *right)
{
	const struct sampled *a = left, *b = right;

	return (a->run > b->run) - (a->run < b->run);
}

static size_t joined_of(const struct comparison *comparison, size_t run)
{
	size_t *joined = comparison->joined;

	while (joined[run] != run)
		run = joined[run] = joined[joined[run]];
	return run;
}

/* Leaves one entry for each sample that both sides have: the difference of the sides' medians. `count` entries are
 * sorted by sample and side. Joins the runs of each. Returns their number. */
static size_t samples_subtract(const struct comparison *comparison, size_t count)
{
	struct sampled *sampled = comparison->sampled;
	size_t used = 0;

	for (size_t at = 0, next; at < count; at = next) {
		size_t counts[COMPARE_SIDES] = {0};

		for (next = at; next < count && strcmp(sampled[next].sample, sampled[at].sample) == 0; next++) {
			int side = sampled[next].side;

			comparison->values[side][counts[side]++] = sampled[next].wall;
		}
		if (counts[COMPARE_A] == 0 || counts[COMPARE_B] == 0)
			continue;
		for (size_t i = at; i < next; i++)
			comparison->joined[joined_of(comparison, sampled[i].run)] =
				joined_of(comparison, sampled[at].run);
		sampled[used] = sampled[at];
		sampled[used++].wall = rank_median(comparison->values[COMPARE_B], counts[COMPARE_B]) -
				       rank_median(comparison->values[COMPARE_A], counts[COMPARE_A]);
	}
	return used;
}

/* Makes one pair of the samples of runs that are joined: they share the noise of a run. Returns the number of pairs. */
static size_t samples_join(const struct comparison *comparison, size_t count)
{
	struct sampled *sampled = comparison->sampled;
	size_t used = 0;

	for (size_t i = 0; i < count; i++)
		sampled[i].run = joined_of(comparison, sampled[i].run);
	qsort(sampled, count, sizeof(*sampled), compare_joined);
	for (size_t at = 0, next; at < count; at = next) {
		for (next = at; next < count && sampled[next].run == sampled[at].run; next++)
			comparison->values[COMPARE_A][next - at] = sampled[next].wall;
		sampled[used] = sampled[at];
		sampled[used++].wall = rank_median(comparison->values[COMPARE_A], next - at);
	}
	return used;
}

/* Sets pairs by sample: returns their number. If `are_joined`, no two of them share a run. */
static size_t gather_samples(const struct comparison *comparison, const struct step *step, bool are_joined)
{
	size_t count = 0;

	for (size_t i = 0; i < step->count; i++) {
		const struct steps_task *task = step->tasks[i];

		comparison->joined[task->run] = task->run;
		if (task->sample)
			comparison->sampled[count++] = (struct sampled){task->sample, comparison->sides[task->run],
									task->run, steps_log_wall(task)};
	}
	if (count > 0)
		qsort(comparison->sampled, count, sizeof(*comparison->sampled), compare_sampled);
	count = samples_subtract(comparison, count);
	if (are_joined && count > 0)
		count = samples_join(comparison, count);
	if (count > COMPARE_TASKS_MAX)
		count = COMPARE_TASKS_MAX;
	for (size_t i = 0; i < count; i++) {
		comparison->values[COMPARE_A][i] = 0;
		comparison->values[COMPARE_B][i] = comparison->sampled[i].wall;
	}
	return count;
}

/* ---- single tasks -------------------------------------------------------------------- */

/* All tasks or, if there are too many, every second or third. */
static void gather_tasks(const struct comparison *comparison, const struct step *step, size_t counts[COMPARE_SIDES])
{
	size_t seen[COMPARE_SIDES] = {0}, every[COMPARE_SIDES];

	for (int side = 0; side < COMPARE_SIDES; side++) {
		every[side] = (counts[side] + COMPARE_TASKS_MAX - 1) / COMPARE_TASKS_MAX;
		counts[side] = 0;
	}
	for (size_t i = 0; i < step->count; i++) {
		int side = comparison->sides[step->tasks[i]->run];

		if (seen[side]++ % every[side] == 0)
			comparison->values[side][counts[side]++] = step->residuals[i];
	}
}

/* ---- test and result ---------------------------------------------------------------- */

static bool is_single(const struct comparison *comparison)
{
	return comparison->run_counts[COMPARE_A] == 1 && comparison->run_counts[COMPARE_B] == 1;
}

/* Tests the values that were gathered. */
static int test(const struct comparison *comparison, const size_t counts[COMPARE_SIDES], struct compare_step *ret)
{
	struct rank_result result;
	double *const *values = comparison->values;
	bool is_tested = counts[COMPARE_A] >= COMPARE_TESTED_LEAST && counts[COMPARE_B] >= COMPARE_TESTED_LEAST;
	int error = ret->pair_count ? rank_compare_pairs(values[COMPARE_A], values[COMPARE_B], ret->pair_count, &result)
				    : rank_compare(values[COMPARE_A], counts[COMPARE_A], values[COMPARE_B],
						   counts[COMPARE_B], &result);

	if (error < 0)
		return error;
	ret->ratio = exp(result.estimate);
	if (is_tested || ret->pair_count) {
		ret->p = result.p;
		ret->low = exp(result.low);
		ret->high = exp(result.high);
	}
	return 0;
}

/* Sets the values of both sides, in pairs if there are enough. */
static void gather_runs(const struct comparison *comparison, const struct step *step, struct compare_step *ret)
{
	ret->unit = COMPARE_SAMPLES_OF_RUNS;
	ret->pair_count = gather_samples(comparison, step, true);
	if (ret->pair_count >= COMPARE_PAIRS_LEAST)
		return;
	ret->unit = COMPARE_RUNS;
	ret->pair_count = 0;
	for (int side = 0; side < COMPARE_SIDES; side++)
		gather(comparison, step->values, side, comparison->values[side]);
}

/* The same for one run against one run. */
static void gather_single(const struct comparison *comparison, const struct step *step, size_t counts[COMPARE_SIDES],
			  struct compare_step *ret)
{
	ret->unit = COMPARE_LABELS;
	ret->pair_count = gather_pairs(comparison, step);
	if (ret->pair_count >= COMPARE_PAIRS_LEAST)
		return;
	ret->unit = COMPARE_SAMPLES;
	ret->pair_count = gather_samples(comparison, step, false);
	if (ret->pair_count >= COMPARE_PAIRS_LEAST)
		return;
	ret->unit = COMPARE_TASKS;
	ret->pair_count = 0;
	gather_tasks(comparison, step, counts);
}

static int step_test(struct comparison *comparison, const struct step *step, struct compare_step *ret)
{
	size_t counts[COMPARE_SIDES];

	memcpy(counts, is_single(comparison) ? ret->task_counts : ret->run_counts, sizeof(counts));
	if (is_single(comparison))
		gather_single(comparison, step, counts, ret);
	else
		gather_runs(comparison, step, ret);
	return test(comparison, counts, ret);
}

static size_t missing(size_t count)
{
	return count < COMPARE_RUNS_LEAST ? COMPARE_RUNS_LEAST - count : 0;
}

static bool is_large(const struct compare_step *step)
{
	return fabs(log(step->ratio)) > log(1 + COMPARE_EFFECT_LEAST);
}

/* Whether the difference is neither small nor chance. */
static bool is_flagged(const struct compare_step *step)
{
	return step->adjusted_p < COMPARE_P_MOST && (step->low > 1 || step->high < 1) && is_large(step);
}

/* Of one run against one. A test of its tasks speaks about these two runs only. */
static enum compare_result result_of_single(const struct compare_step *step)
{
	bool is_tested = step->pair_count || (step->task_counts[COMPARE_A] >= COMPARE_RUNS_LEAST &&
					      step->task_counts[COMPARE_B] >= COMPARE_RUNS_LEAST);

	if (is_tested)
		return is_flagged(step) ? COMPARE_DIFFERENT : COMPARE_SAME;
	return is_large(step) ? COMPARE_DIFFERENT : COMPARE_INSUFFICIENT;
}

static enum compare_result result_of(const struct comparison *comparison, const struct compare_step *step)
{
	if (step->run_counts[COMPARE_A] == 0 || step->run_counts[COMPARE_B] == 0)
		return step->run_counts[COMPARE_A] ? COMPARE_ONLY_A : COMPARE_ONLY_B;
	if (is_single(comparison))
		return result_of_single(step);
	if (step->missing_runs > 0)
		return COMPARE_INSUFFICIENT;
	return !is_flagged(step) ? COMPARE_SAME : step->ratio > 1 ? COMPARE_SLOWER : COMPARE_FASTER;
}

/* ---- all steps ----------------------------------------------------------------------- */

static int step_compare(struct comparison *comparison, const struct step *step, struct compare_step *ret)
{
	int error;

	*ret = (struct compare_step){
		.name = step->name,
		.slope = step->slope,
		.ratio = NAN,
		.low = -INFINITY,
		.high = INFINITY,
		.p = NAN,
		.adjusted_p = NAN,
	};
	for (size_t i = 0; i < step->count; i++)
		ret->task_counts[comparison->sides[step->tasks[i]->run]]++;
	for (int side = 0; side < COMPARE_SIDES; side++)
		ret->run_counts[side] = gather(comparison, step->values, side, comparison->values[side]);
	ret->missing_runs = missing(ret->run_counts[COMPARE_A]) + missing(ret->run_counts[COMPARE_B]);
	error = medians_set(comparison, step, ret);
	if (error == 0 && ret->run_counts[COMPARE_A] && ret->run_counts[COMPARE_B])
		error = step_test(comparison, step, ret);
	return error;
}

static int adjust(struct compare *compare)
{
	double *p = calloc(compare->count + 1, sizeof(*p));
	int error;

	if (!p)
		return -ENOMEM;
	for (size_t i = 0; i < compare->count; i++)
		p[i] = compare->steps[i].p;
	error = rank_adjust(p, compare->count);
	for (size_t i = 0; error == 0 && i < compare->count; i++)
		compare->steps[i].adjusted_p = p[i];
	free(p);
	return error;
}

static double longest(const struct compare_step *step)
{
	return fmax(step->medians[COMPARE_A][STEPS_WALL], step->medians[COMPARE_B][STEPS_WALL]);
}

static int compare_steps(const void *left, const void *right)
{
	const struct compare_step *a = left, *b = right;
	bool is_a = a->result <= COMPARE_DIFFERENT, is_b = b->result <= COMPARE_DIFFERENT;

	if (is_a != is_b)
		return is_a ? -1 : 1;
	if (longest(a) != longest(b))
		return longest(a) > longest(b) ? -1 : 1;
	return strcmp(a->name, b->name);
}

static int comparison_init(struct comparison *comparison, const struct steps *steps, size_t task_count,
			   const int *sides)
{
	*comparison = (struct comparison){.steps = steps, .sides = sides};
	for (size_t run = 0; run < steps->run_count; run++)
		comparison->run_counts[sides[run]]++;
	comparison->medians = calloc(steps->run_count + 1, sizeof(double));
	for (int side = 0; side < COMPARE_SIDES; side++)
		comparison->values[side] = calloc(task_count + steps->run_count + 1, sizeof(double));
	comparison->sampled = calloc(task_count + 1, sizeof(*comparison->sampled));
	comparison->joined = calloc(steps->run_count + 1, sizeof(*comparison->joined));
	return comparison->medians && comparison->values[COMPARE_A] && comparison->values[COMPARE_B] &&
			       comparison->sampled && comparison->joined
		       ? 0
		       : -ENOMEM;
}

static void comparison_deinit(struct comparison *comparison)
{
	free(comparison->medians);
	free(comparison->values[COMPARE_A]);
	free(comparison->values[COMPARE_B]);
	free(comparison->sampled);
	free(comparison->joined);
}

int compare_init(struct compare *compare, const struct steps_task *tasks, size_t count, const int *sides,
		 size_t run_count)
{
	struct comparison comparison = {0};
	struct steps steps;
	int error = steps_init(&steps, tasks, count, sides, run_count);

	*compare = (struct compare){0};
	if (error < 0)
		return error;
	error = comparison_init(&comparison, &steps, count, sides);
	compare->steps = calloc(steps.count + 1, sizeof(*compare->steps));
	if (!compare->steps)
		error = -ENOMEM;
	while (error == 0 && compare->count < steps.count) {
		error = step_compare(&comparison, &steps.items[compare->count], &compare->steps[compare->count]);
		compare->count++;
	}
	if (error == 0)
		error = adjust(compare);
	for (size_t i = 0; error == 0 && i < compare->count; i++)
		compare->steps[i].result = result_of(&comparison, &compare->steps[i]);
	if (error == 0)
		qsort(compare->steps, compare->count, sizeof(*compare->steps), compare_steps);
	else
		compare_deinit(compare);
	comparison_deinit(&comparison);
	steps_deinit(&steps);
	return error;
}

void compare_deinit(struct compare *compare)
{
	free(compare->steps);
	*compare = (struct compare){0};
}
