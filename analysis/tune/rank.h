/* Statistics of ranks: whether two samples differ, and by how much.
 *
 * They assume nothing about the distribution. p-values are exact where there are no ties and the samples are small,
 * else from the normal approximation with correction for ties; both agree with scipy to 1e-6 (tests/ranks/check).
 * No I/O; samples are not changed.
 */
#pragma once

#include <stddef.h>

/* An estimate with its confidence interval, and the two-sided p-value of "no difference". */
struct rank_result {
	double p;
	double estimate, low, high; /* of the shift of the second sample against the first; low and high are infinite if
				     * the samples are too small for an interval of this confidence */
};

#define RANK_CONFIDENCE 0.95

/* Two independent samples: Mann and Whitney's test, Hodges and Lehmann's shift (median of all differences). Returns 0,
 * -EINVAL if one is empty or a value is not finite, or -ENOMEM. */
int rank_compare(const double *first, size_t first_count, const double *second, size_t second_count,
		 struct rank_result *ret_result);

/* Pairs: Wilcoxon's signed ranks of second - first, pseudomedian (median of all means of two differences). Pairs
 * without difference are left out of the test. Returns as above. */
int rank_compare_pairs(const double *first, const double *second, size_t count, struct rank_result *ret_result);

/* Replaces p-values by those adjusted for their number (Benjamini and Hochberg); NAN is none, and stays. Returns 0 or -ENOMEM. */
int rank_adjust(double *p, size_t count);

/* Returns the median of the values, which are sorted in place; NAN if there are none. */
double rank_median(double *values, size_t count);
