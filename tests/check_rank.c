/* Ranks by hand; tests/ranks/check compares with scipy. */
#include "tune/rank.h"

#include <errno.h>
#include <math.h>

#include "tests/suite.h"

#define NEAR 1e-9
#define VALUES_MAX 8

/* Two samples, and what follows: the probabilities are counted by hand. */
static const struct {
	size_t n, m;
	double first[VALUES_MAX], second[VALUES_MAX], p, estimate, low, high;
} two[] = {
	{1, 1, {1}, {3}, 1, 2, -INFINITY, INFINITY},
	{3, 3, {1, 2, 3}, {11, 12, 13}, 0.1, 10, -INFINITY, INFINITY},  /* the smallest p of 3: 2 / 20 */
	{4, 4, {1, 2, 3, 4}, {11, 12, 13, 14}, 2.0 / 70, 10, 7, 13},    /* of 4: 2 / 70 */
	{4, 4, {11, 12, 13, 14}, {1, 2, 3, 4}, 2.0 / 70, -10, -13, -7}, /* reversed */
	{3, 3, {5, 5, 5}, {5, 5, 5}, 1, 0, -INFINITY, INFINITY},        /* all equal */
	{2, 3, {1, 5}, {2, 3, 4}, 1, 0, -INFINITY, INFINITY},           /* in the middle */
};

TEST_EACH(two_samples_differ_by, two)
{
	struct rank_result result;

	ck_assert_int_eq(rank_compare(two[_i].first, two[_i].n, two[_i].second, two[_i].m, &result), 0);
	ck_assert_double_eq_tol(result.p, two[_i].p, NEAR);
	ck_assert_double_eq_tol(result.estimate, two[_i].estimate, NEAR);
	ck_assert(result.low == two[_i].low && result.high == two[_i].high);
}

/* Pairs as differences. */
static const struct {
	size_t count;
	double differences[VALUES_MAX], p, estimate, low, high;
} pairs[] = {
	{1, {2}, 1, 2, -INFINITY, INFINITY},
	{5, {1, 2, 3, 4, 5}, 2.0 / 32, 3, -INFINITY, INFINITY}, /* 5 pairs never suffice */
	{6, {1, 2, 3, 4, 5, 6}, 2.0 / 64, 3.5, 1, 6},
	{6, {-1, -2, -3, -4, -5, -6}, 2.0 / 64, -3.5, -6, -1},
	{3, {0, 0, 0}, 1, 0, -INFINITY, INFINITY},
};

TEST_EACH(pairs_differ_by, pairs)
{
	double none[VALUES_MAX] = {0};
	struct rank_result result;

	ck_assert_int_eq(rank_compare_pairs(none, pairs[_i].differences, pairs[_i].count, &result), 0);
	ck_assert_double_eq_tol(result.p, pairs[_i].p, NEAR);
	ck_assert_double_eq_tol(result.estimate, pairs[_i].estimate, NEAR);
	ck_assert(result.low == pairs[_i].low && result.high == pairs[_i].high);
}

TEST(what_cannot_be_compared_is_refused)
{
	const double good[] = {1, 2}, bad[] = {1, NAN}, endless[] = {INFINITY, 1};
	struct rank_result result = {.p = 7};

	ck_assert_int_eq(rank_compare(good, 2, good, 0, &result), -EINVAL);
	ck_assert_int_eq(rank_compare(good, 0, good, 2, &result), -EINVAL);
	ck_assert_int_eq(rank_compare(good, 2, bad, 2, &result), -EINVAL);
	ck_assert_int_eq(rank_compare_pairs(good, endless, 2, &result), -EINVAL);
	ck_assert_int_eq(rank_compare_pairs(good, good, 0, &result), -EINVAL);
	ck_assert_double_eq(result.p, 7);
}

TEST(p_values_are_adjusted_for_their_number)
{
	double p[] = {0.04, 0.03, 1, 0.01}, expected[] = {0.04 * 4 / 3, 0.04 * 4 / 3, 1, 0.04};

	ck_assert_int_eq(rank_adjust(p, 4), 0);
	for (size_t i = 0; i < 4; i++)
		ck_assert_double_eq_tol(p[i], expected[i], NEAR);
	ck_assert_int_eq(rank_adjust(p, 0), 0);
}

TEST(median_is_in_the_middle)
{
	double odd[] = {3, 1, 2}, even[] = {4, 1, 3, 2};

	ck_assert_double_eq(rank_median(odd, 3), 2);
	ck_assert_double_eq(rank_median(even, 4), 2.5);
	ck_assert(isnan(rank_median(odd, 0)));
}

int main(void)
{
	return suite_run("rank", NULL, NULL);
}
