/* Changes in a series of runs. See trend.h. */
#include "analysis/tune/trend.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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
	size_t count = 0;
	int error = p ? 0 : -ENOMEM;

	for (size_t i = 0; error == 0 && i < trend->count; i++)
		if (!isnan(trend->steps[i].p))
			p[count++] = trend->steps[i].p;
	if (error == 0)
		error = rank_adjust(p, count);
	count = 0;
	for (size_t i = 0; error == 0 && i < trend->count; i++) {
		struct trend_step *step = &trend->steps[i];

		if (isnan(step->p))
			continue;
		step->adjusted_p = p[count++];
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
