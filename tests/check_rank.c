/* What ranks refuse; tests/ranks/check compares the rest with scipy. */
#include "analysis/tune/rank.h"

#include <errno.h>
#include <math.h>

#include "tests/suite.h"

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
