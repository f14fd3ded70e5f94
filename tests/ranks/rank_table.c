/* Applies analysis/tune/rank.h to samples on standard input, so that tests/ranks/check can compare with other implementations.
 *
 * A line is "two N M VALUES...", "pairs N FIRST... SECOND..." or "adjust N P..."; the answer is a line of
 * "p estimate low high", or of the adjusted p-values.
 */
#include "analysis/tune/rank.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT_MAX 100000

static size_t read_count(void)
{
	size_t count;

	if (scanf("%zu", &count) != 1 || count > COUNT_MAX)
		exit(EXIT_FAILURE);
	return count;
}

static double *read_values(size_t count)
{
	double *values = calloc(count + 1, sizeof(*values));

	if (!values)
		exit(EXIT_FAILURE);
	for (size_t i = 0; i < count; i++)
		if (scanf("%lf", &values[i]) != 1)
			exit(EXIT_FAILURE);
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

	if (rank_adjust(p, count) < 0)
		exit(EXIT_FAILURE);
	for (size_t i = 0; i < count; i++)
		printf("%.17g ", p[i]);
	printf("\n");
	free(p);
}

int main(void)
{
	char kind[16];

	while (scanf("%15s", kind) == 1) {
		if (strcmp(kind, "adjust") == 0)
			adjust();
		else
			compare(strcmp(kind, "pairs") == 0);
	}
	return EXIT_SUCCESS;
}
