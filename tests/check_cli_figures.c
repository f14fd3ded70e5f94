/* Which tasks or runs are small enough to be folded into one line. */
#include "analysis/query/figures.h"

#include "tests/suite.h"

#define MS INT64_C(1000000)
#define MIB (INT64_C(1) << 20)

static const struct {
	int64_t part_cpu_ns, whole_cpu_ns, part_bytes, whole_bytes;
	bool small;
} cases[] = {
	{1 * MS, 2 * MS, 0, 0, true}, /* half of next to nothing */
	{99 * MS, 100 * MS, 0, 0, true},
	{100 * MS, 200 * MS, 0, 0, false},
	{400 * MS, 10000 * MS, 0, 0, true},                /* 4 % */
	{500 * MS, 10000 * MS, 0, 0, false},               /* 5 % */
	{1 * MS, 10000 * MS, 100 * MIB, 200 * MIB, false}, /* zcat of a large file */
	{1 * MS, 10000 * MS, 100 * MIB, 9000 * MIB, true},
	{1 * MS, 10000 * MS, MIB - 1, MIB, true},
	{ROW_NULL, 10 * MS, ROW_NULL, MIB, true}, /* unknown */
	{200 * MS, ROW_NULL, 0, 0, false},
};

TEST_EACH(parts_are_small, cases)
{
	for (int written = 0; written < 2; written++) {
		struct figures part = {.cpu_ns = cases[_i].part_cpu_ns}, whole = {.cpu_ns = cases[_i].whole_cpu_ns};

		*(written ? &part.write_bytes : &part.read_bytes) = cases[_i].part_bytes;
		*(written ? &whole.write_bytes : &whole.read_bytes) = cases[_i].whole_bytes;
		ck_assert_int_eq(figures_are_small(&part, &whole), cases[_i].small);
	}
}

TEST(what_used_a_gpu_is_not_small)
{
	struct figures part = FIGURES_NONE, whole = FIGURES_NONE;

	ck_assert(figures_are_small(&part, &whole));
	part.gpu_busy_ns = 500 * MS;
	whole.gpu_busy_ns = 1000 * MS;
	ck_assert(!figures_are_small(&part, &whole));
}

/* Most processes use none: the sum is of those that do. */
TEST(a_sum_of_what_some_use)
{
	struct figures sum = FIGURES_NONE, none = FIGURES_NONE, some = FIGURES_NONE;

	some.gpu_busy_ns = 2 * MS;
	some.gpu_peak_bytes = 3 * MIB;
	figures_add(&sum, &none);
	ck_assert_int_eq(sum.gpu_busy_ns, ROW_NULL);
	figures_add(&sum, &some);
	figures_add(&sum, &none);
	figures_add(&sum, &some);
	ck_assert_int_eq(sum.gpu_busy_ns, 4 * MS);
	ck_assert_int_eq(sum.gpu_peak_bytes, 3 * MIB);
}

int main(void)
{
	return suite_run("cli_figures", NULL, NULL);
}
