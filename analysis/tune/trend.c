/* Changes in a series of runs. See trend.h. */
#include "analysis/tune/trend.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/query/rows.h"
#include "analysis/tune/compare.h"
#include "analysis/tune/rank.h"

#define ORDERS 9999 /* random ones; no p is below 1 / (ORDERS + 1) */

/* The values of one step that are known, in time order. */
struct series {
	double *values, *ranks, *order;
	size_t *runs;
	size_t count;
};

static int series_init(struct series *series, size_t run_count)
{
	series->values = calloc(3 * run_count + 1, sizeof(double));
	series->runs = calloc(run_count + 1, sizeof(*series->runs));
	series->ranks = series->values + run_count;
	series->order = series->ranks + run_count;
	return series->values && series->runs ? 0 : -ENOMEM;
}

static void series_deinit(struct series *series)
{
	free(series->values);
	free(series->runs);
}

/* Equal values have the mean of their ranks. */
static double rank_in(const struct series *series, double value)
{
	double rank = 0.5;

	for (size_t i = 0; i < series->count; i++)
		rank += series->values[i] < value ? 1 : series->values[i] == value ? 0.5 : 0;
	return rank;
}

static void series_read(struct series *series, const double *values, size_t run_count)
{
	series->count = 0;
	for (size_t run = 0; run < run_count; run++)
		if (!isnan(values[run])) {
			series->runs[series->count] = run;
			series->values[series->count++] = values[run];
		}
	for (size_t i = 0; i < series->count; i++)
		series->ranks[i] = rank_in(series, series->values[i]);
}

/* Returns the largest standardised difference of rank sums; `*ret_split` is the number of values before it. */
static double largest_split(const double *ranks, size_t count, size_t *ret_split)
{
	double sum = 0, largest = -1, n = (double)count;

	for (size_t k = 1; k + TREND_SIDE_LEAST <= count; k++) {
		double before = (double)k, difference;

		sum += ranks[k - 1];
		if (k < TREND_SIDE_LEAST)
			continue;
		difference = fabs(sum - before * (n + 1) / 2) / sqrt(before * (n - before) * (n + 1) / 12);
		if (difference > largest) {
			largest = difference;
			*ret_split = k;
		}
	}
	return largest;
}

static uint64_t random_next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	return *state ^= *state << 17;
}

static void shuffle(double *values, size_t count, uint64_t *state)
{
	for (size_t i = count; i > 1; i--) {
		size_t k = (size_t)(random_next(state) % i);
		double value = values[i - 1];

		values[i - 1] = values[k];
		values[k] = value;
	}
}

static double permuted_p(struct series *series, double largest)
{
	uint64_t state = 88172645463325252U;
	size_t as_large = 0, split;

	memcpy(series->order, series->ranks, series->count * sizeof(*series->order));
	for (size_t i = 0; i < ORDERS; i++) {
		shuffle(series->order, series->count, &state);
		as_large += largest_split(series->order, series->count, &split) >= largest - 1e-9;
	}
	return (double)(1 + as_large) / (1 + ORDERS);
}

static int step_read(struct series *series, const struct step *step, size_t run_count, struct trend_step *ret)
{
	struct rank_result result;
	size_t split = 0;
	double largest;
	int error;

	series_read(series, step->values, run_count);
	*ret = (struct trend_step){.name = step->name,
				   .run_count = series->count,
				   .slope = step->slope,
				   .changed_run = TREND_NO_RUN,
				   .ratio = NAN,
				   .low = NAN,
				   .high = NAN,
				   .p = NAN,
				   .adjusted_p = NAN};
	if (series->count < TREND_RUNS_LEAST) {
		ret->missing_runs = TREND_RUNS_LEAST - series->count;
		return 0;
	}
	largest = largest_split(series->ranks, series->count, &split);
	ret->p = permuted_p(series, largest);
	error = rank_compare(series->values, split, series->values + split, series->count - split, &result);
	if (error < 0)
		return error;
	ret->changed_run = series->runs[split];
	ret->ratio = exp(result.estimate);
	ret->low = exp(result.low);
	ret->high = exp(result.high);
	return 0;
}

/* Adjusts p-values for their number, and drops what is small or chance. */
static int changes_assess(struct trend *trend)
{
	double *p = calloc(trend->count + 1, sizeof(*p));
	int error = p ? 0 : -ENOMEM;

	for (size_t i = 0; error == 0 && i < trend->count; i++)
		p[i] = trend->steps[i].p;
	if (error == 0)
		error = rank_adjust(p, trend->count);
	for (size_t i = 0; error == 0 && i < trend->count; i++) {
		struct trend_step *step = &trend->steps[i];

		if (isnan(step->p))
			continue;
		step->adjusted_p = p[i];
		if (step->adjusted_p >= COMPARE_P_MOST || fabs(log(step->ratio)) <= log(1 + COMPARE_EFFECT_LEAST) ||
		    (step->low <= 1 && step->high >= 1)) {
			step->changed_run = TREND_NO_RUN;
			step->ratio = step->low = step->high = NAN;
		}
	}
	free(p);
	return error;
}

int trend_init(struct trend *trend, const struct steps_task *tasks, size_t count, size_t run_count)
{
	struct series series;
	int error;

	*trend = (struct trend){0};
	error = steps_init(&trend->values, tasks, count, NULL, run_count);
	if (error < 0)
		return error;
	error = series_init(&series, run_count);
	trend->steps = calloc(trend->values.count + 1, sizeof(*trend->steps));
	if (!trend->steps)
		error = -ENOMEM;
	while (error == 0 && trend->count < trend->values.count) {
		error = step_read(&series, &trend->values.items[trend->count], run_count, &trend->steps[trend->count]);
		trend->count++;
	}
	if (error == 0)
		error = changes_assess(trend);
	series_deinit(&series);
	if (error < 0)
		trend_deinit(trend);
	return error;
}

void trend_deinit(struct trend *trend)
{
	steps_deinit(&trend->values);
	free(trend->steps);
	*trend = (struct trend){0};
}

/* ---- what is shown ----------------------------------------------------------------- */

/* Returns the index of the whole runs' step, trend.count if none succeeded. */
static size_t whole_index(const struct trend *trend)
{
	size_t i = 0;

	while (i < trend->count && strcmp(trend->steps[i].name, HISTORY_WHOLE) != 0)
		i++;
	return i;
}

int trend_relative(const struct trend *trend, size_t run_count, double **ret_values)
{
	size_t index = whole_index(trend), count = 0;
	double *values = calloc(2 * run_count + 1, sizeof(*values)), median;

	*ret_values = values;
	if (!values)
		return -ENOMEM;
	for (size_t run = 0; run < run_count; run++) {
		values[run] = index < trend->count ? trend->values.items[index].values[run] : NAN;
		if (!isnan(values[run]))
			values[run_count + count++] = values[run];
	}
	median = rank_median(values + run_count, count);
	for (size_t run = 0; run < run_count; run++)
		values[run] = exp(values[run] - median);
	return 0;
}

static json_t *run_to_object(const struct history_run *run, double relative)
{
	json_t *object = json_object();

	json_set_integer(object, "id", run->id);
	json_set_integer(object, "started_unix_ns", run->begin_unix_ns);
	json_set_integer(object, "wall_ns", run->end_unix_ns - run->begin_unix_ns);
	json_object_set_new(object, "succeeded", json_boolean(run->is_comparable));
	json_set_real(object, "relative", relative);
	return object;
}

static json_t *step_to_object(const struct history *history, const struct trend_step *step)
{
	json_t *object = json_object();

	json_set_string(object, "name", step->name);
	json_set_integer(object, "run_count", (int64_t)step->run_count);
	json_set_integer(object, "missing_run_count", (int64_t)step->missing_runs);
	json_set_integer(object, "changed_run_id",
			 step->changed_run == TREND_NO_RUN ? ROW_NULL : history->runs[step->changed_run].id);
	json_set_real(object, "ratio", step->ratio);
	json_set_real(object, "ratio_low", step->low);
	json_set_real(object, "ratio_high", step->high);
	json_set_real(object, "p", step->p);
	json_set_real(object, "adjusted_p", step->adjusted_p);
	json_set_real(object, "input_slope", step->slope);
	return object;
}

json_t *trend_columns(void)
{
	return step_to_object(&(const struct history){0}, &(const struct trend_step){.changed_run = TREND_NO_RUN});
}

json_t *trend_to_json(const char *name, const struct history *history, const struct trend *trend,
		      const double *relative)
{
	json_t *root = json_object(), *runs = json_array(), *steps = json_array();

	json_set_string(root, "name", name);
	for (size_t i = 0; i < history->run_count; i++)
		json_array_append_new(runs, run_to_object(&history->runs[i], relative[i]));
	for (size_t i = 0; i < trend->count; i++)
		json_array_append_new(steps, step_to_object(history, &trend->steps[i]));
	json_object_set_new(root, "runs", runs);
	json_object_set_new(root, "steps", steps);
	json_set_integer(root, "omitted_run_count", (int64_t)history->omitted_run_count);
	json_set_integer(root, "omitted_task_count", (int64_t)history->omitted_task_count);
	return root;
}
