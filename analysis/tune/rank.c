/* Statistics of ranks. See rank.h. */
#include "analysis/tune/rank.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define EXACT_MAX 50 /* values of a sample; more are normally distributed well enough */
#define PAIRS_MAX 4000000
#define NORMAL_QUANTILE 1.959963984540054 /* of RANK_CONFIDENCE, two-sided */
#define CONTINUITY 0.5                    /* of Mann and Whitney's U */

static int compare_doubles(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

static bool are_finite(const double *values, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!isfinite(values[i]))
			return false;
	return true;
}

double rank_median(double *values, size_t count)
{
	if (count == 0)
		return NAN;
	qsort(values, count, sizeof(*values), compare_doubles);
	return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

static double normal_upper(double z)
{
	return 0.5 * erfc(z / sqrt(2));
}

/* ---- distributions ----------------------------------------------------------------- */

/* The probabilities of each value of a statistic, if there is no difference. */
struct distribution {
	double *p;
	size_t count; /* values 0 to count - 1; symmetric */
};

/* Mann and Whitney's U: the number of ways to choose n of n + m ranks with that sum, divided by all. Adding the ranks
 * one by one: p(n, m, u) = n / (n + m) * p(n - 1, m, u - m) + m / (n + m) * p(n, m - 1, u). */
static int distribution_of_u(size_t n, size_t m, struct distribution *ret)
{
	size_t count = n * m + 1;
	double *table = calloc((m + 1) * count, sizeof(*table)); /* for the current n, by m */

	if (!table)
		return -ENOMEM;
	for (size_t j = 0; j <= m; j++)
		table[j * count] = 1; /* n = 0: u is 0 */
	for (size_t i = 1; i <= n; i++) {
		memset(table, 0, count * sizeof(*table));
		table[0] = 1; /* m = 0 */
		for (size_t j = 1; j <= m; j++) {
			double *now = table + j * count, *less = now - count;
			double share = (double)i / (double)(i + j);

			for (size_t u = i * j + 1; u-- > 0;)
				now[u] = (u >= j ? share * now[u - j] : 0) + (1 - share) * less[u];
		}
	}
	memmove(table, table + m * count, count * sizeof(*table));
	*ret = (struct distribution){table, count};
	return 0;
}

/* Wilcoxon's W: the sum of those of the ranks 1 to n that are positive, each with probability 1/2. */
static int distribution_of_w(size_t n, struct distribution *ret)
{
	size_t count = n * (n + 1) / 2 + 1;
	double *p = calloc(count, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p[0] = 1;
	for (size_t rank = 1; rank <= n; rank++)
		for (size_t w = rank * (rank + 1) / 2 + 1; w-- > 0;)
			p[w] = 0.5 * (p[w] + (w >= rank ? p[w - rank] : 0));
	*ret = (struct distribution){p, count};
	return 0;
}

/* Returns the two-sided p-value of a statistic. */
static double exact_p(const struct distribution *distribution, double statistic)
{
	double other = (double)(distribution->count - 1) - statistic, tail = 0;
	size_t least = (size_t)ceil(fmax(statistic, other));

	for (size_t i = distribution->count; i-- > least;)
		tail += distribution->p[i];
	return fmin(1, 2 * tail);
}

/* Returns how many of the sorted estimates lie outside the interval at either end. */
static size_t exact_outside(const struct distribution *distribution)
{
	double tail = 0;
	size_t outside = 0;

	while (outside < distribution->count && tail + distribution->p[outside] <= (1 - RANK_CONFIDENCE) / 2)
		tail += distribution->p[outside++];
	return outside;
}

/* The same from a normal distribution of a statistic of whole numbers, with or without correction for continuity, as
 * the p-value has it. Ties are as if they were broken: most shifts break them. */
static size_t normal_outside(double mean, double deviation, double correction)
{
	double outside = floor(mean - correction - NORMAL_QUANTILE * deviation) + 1;

	return outside > 0 ? (size_t)outside : 0;
}

/* ---- estimates ---------------------------------------------------------------------- */

/* The median of all, and the interval that leaves out as many at either end. */
static void estimate_set(double *all, size_t count, size_t outside, struct rank_result *result)
{
	result->estimate = rank_median(all, count);
	result->low = -INFINITY;
	result->high = INFINITY;
	if (outside > 0 && 2 * outside <= count) {
		result->low = all[outside - 1];
		result->high = all[count - outside];
	}
}

struct ranked {
	double value, rank;
	size_t index;
};

static int compare_ranked(const void *left, const void *right)
{
	return compare_doubles(&((const struct ranked *)left)->value, &((const struct ranked *)right)->value);
}

/* Sorts, gives equal values the mean of their ranks, and returns the sum of t^3 - t over ties of t values. */
static double rank_set(struct ranked *values, size_t count)
{
	double ties = 0;

	qsort(values, count, sizeof(*values), compare_ranked);
	for (size_t i = 0, end; i < count; i = end) {
		for (end = i + 1; end < count && values[end].value == values[i].value;)
			end++;
		for (size_t j = i; j < end; j++)
			values[j].rank = (double)(i + 1 + end) / 2;
		ties += pow((double)(end - i), 3) - (double)(end - i);
	}
	return ties;
}

/* ---- two samples -------------------------------------------------------------------- */

static int shift_estimate(const double *first, size_t n, const double *second, size_t m, size_t outside,
			  struct rank_result *result)
{
	double *differences = n <= PAIRS_MAX / m ? calloc(n * m, sizeof(*differences)) : NULL;

	if (!differences)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < m; j++)
			differences[i * m + j] = second[j] - first[i];
	estimate_set(differences, n * m, outside, result);
	free(differences);
	return 0;
}

int rank_compare(const double *first, size_t n, const double *second, size_t m, struct rank_result *ret_result)
{
	struct ranked *all = calloc(n + m + 1, sizeof(*all));
	double u = 0, ties, mean = (double)n * (double)m / 2, deviation, total = (double)(n + m);
	struct distribution exact = {0};
	struct rank_result result;
	int error = 0;

	if (!all)
		return -ENOMEM;
	if (n == 0 || m == 0 || !are_finite(first, n) || !are_finite(second, m)) {
		free(all);
		return -EINVAL;
	}
	for (size_t i = 0; i < n + m; i++)
		all[i] = (struct ranked){.value = i < n ? first[i] : second[i - n], .index = i};
	ties = rank_set(all, n + m);
	for (size_t i = 0; i < n + m; i++)
		if (all[i].index >= n)
			u += all[i].rank;
	u -= (double)m * (double)(m + 1) / 2;
	deviation = sqrt(mean / 6 * (total + 1 - ties / (total * (total - 1))));
	if (n <= EXACT_MAX && m <= EXACT_MAX)
		error = distribution_of_u(n, m, &exact);
	if (error == 0) {
		result.p = exact.p && ties == 0 ? exact_p(&exact, u)
			   : deviation > 0 ? fmin(1, 2 * normal_upper(fmax(0, fabs(u - mean) - CONTINUITY) / deviation))
					   : 1;
		error = shift_estimate(first, n, second, m,
				       exact.p ? exact_outside(&exact)
					       : normal_outside(mean, sqrt(mean / 6 * (total + 1)), CONTINUITY),
				       &result);
	}
	free(exact.p);
	free(all);
	if (error == 0)
		*ret_result = result;
	return error;
}

/* ---- pairs -------------------------------------------------------------------------- */

static int pseudomedian_estimate(const double *differences, size_t count, size_t outside, struct rank_result *result)
{
	size_t pairs = count * (count + 1) / 2, at = 0;
	double *means = pairs <= PAIRS_MAX ? calloc(pairs, sizeof(*means)) : NULL;

	if (!means)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		for (size_t j = i; j < count; j++)
			means[at++] = (differences[i] + differences[j]) / 2;
	estimate_set(means, pairs, outside, result);
	free(means);
	return 0;
}

/* Returns the sum of the ranks of positive differences; `*ret_count` without those that are 0. */
static double positive_ranks(const double *differences, size_t count, struct ranked *ranked, size_t *ret_count,
			     double *ret_ties)
{
	double w = 0;

	*ret_count = 0;
	for (size_t i = 0; i < count; i++)
		if (differences[i] != 0)
			ranked[(*ret_count)++] = (struct ranked){.value = fabs(differences[i]), .index = i};
	*ret_ties = rank_set(ranked, *ret_count);
	for (size_t i = 0; i < *ret_count; i++)
		if (differences[ranked[i].index] > 0)
			w += ranked[i].rank;
	return w;
}

static double mean_of_w(size_t count)
{
	return (double)count * (double)(count + 1) / 4;
}

/* Without ties. */
static double variance_of_w(size_t count)
{
	return mean_of_w(count) * (double)(2 * count + 1) / 6;
}

int rank_compare_pairs(const double *first, const double *second, size_t count, struct rank_result *ret_result)
{
	double *differences = calloc(count + 1, sizeof(*differences)), w, ties, mean, deviation;
	struct ranked *ranked = calloc(count + 1, sizeof(*ranked));
	struct distribution exact = {0};
	struct rank_result result;
	size_t unequal;
	int error = differences && ranked ? 0 : -ENOMEM;

	if (error == 0 && (count == 0 || !are_finite(first, count) || !are_finite(second, count)))
		error = -EINVAL;
	if (error == 0) {
		for (size_t i = 0; i < count; i++)
			differences[i] = second[i] - first[i];
		w = positive_ranks(differences, count, ranked, &unequal, &ties);
		mean = mean_of_w(unequal);
		deviation = sqrt(variance_of_w(unequal) - ties / 48);
		if (count <= EXACT_MAX)
			error = distribution_of_w(count, &exact);
	}
	if (error == 0) {
		result.p = exact.p && ties == 0 && unequal == count ? exact_p(&exact, w)
			   : deviation > 0 ? fmin(1, 2 * normal_upper(fabs(w - mean) / deviation))
					   : 1;
		error = pseudomedian_estimate(differences, count,
					      exact.p ? exact_outside(&exact)
						      : normal_outside(mean_of_w(count), sqrt(variance_of_w(count)), 0),
					      &result);
	}
	free(exact.p);
	free(ranked);
	free(differences);
	if (error == 0)
		*ret_result = result;
	return error;
}

/* ---- many tests ----------------------------------------------------------------------- */

int rank_adjust(double *p, size_t count)
{
	struct ranked *sorted = calloc(count + 1, sizeof(*sorted));
	size_t known = 0;
	double least = 1;

	if (!sorted)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		if (!isnan(p[i]))
			sorted[known++] = (struct ranked){.value = p[i], .index = i};
	qsort(sorted, known, sizeof(*sorted), compare_ranked);
	for (size_t i = known; i-- > 0;) {
		least = fmin(least, sorted[i].value * (double)known / (double)(i + 1));
		p[sorted[i].index] = least;
	}
	free(sorted);
	return 0;
}
