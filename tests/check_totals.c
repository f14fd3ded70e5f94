/* Figures that add up: counter differences, the split of CPU time, sums. */

#include "correlator/model/totals.h"
#include "tests/suite.h"

#define CPU (COUNTER_VALID(cpu_ns) | COUNTER_VALID(user_ns) | COUNTER_VALID(system_ns))

TEST(an_image_is_now_less_base)
{
	const struct counters base = {.valid = CPU | COUNTER_VALID(read_bytes),
				      .cpu_ns = 100,
				      .user_ns = 7,
				      .system_ns = 1,
				      .read_bytes = 10};
	const struct counters now = {.valid = CPU | COUNTER_VALID(read_bytes),
				     .cpu_ns = 500,
				     .user_ns = 10,
				     .system_ns = 2,
				     .read_bytes = 4};
	struct totals totals;

	totals_of_image(&totals, &base, &now);
	ck_assert_int_eq(totals.cpu_ns, 400);
	ck_assert_int_eq(totals.system_ns, 100); /* one of four ticks */
	ck_assert_int_eq(totals.user_ns, 300);
	ck_assert_int_eq(totals.read_bytes, 0); /* never negative */
}

TEST(without_a_tick_all_is_user_time)
{
	const struct counters base = {0};
	const struct counters now = {.valid = CPU, .cpu_ns = 900};
	struct totals totals;

	totals_of_image(&totals, &base, &now);
	ck_assert_int_eq(totals.user_ns, 900);
	ck_assert_int_eq(totals.system_ns, 0);
}

TEST(without_exact_time_there_is_no_split)
{
	const struct counters base = {0};
	const struct counters now = {.valid = CPU & ~COUNTER_VALID(cpu_ns), .user_ns = 5, .system_ns = 5};
	struct row_tool row;
	struct totals totals;

	totals_of_image(&totals, &base, &now);
	totals_to_row(&totals, &row.cpu_ns, false);
	ck_assert_int_eq(row.cpu_ns, ROW_NULL);
	ck_assert_int_eq(row.user_ns, ROW_NULL);
	ck_assert_int_eq(row.system_ns, ROW_NULL);
}

TEST(sums_follow_what_they_are_made_of)
{
	const struct totals first = {.valid = COUNTER_VALID(rchar_bytes), .rchar_bytes = 10};
	const struct totals second = {.valid = COUNTER_VALID(rchar_bytes), .rchar_bytes = 25};
	struct totals sum = {0}, growth = second;
	struct row_run row;

	totals_add(&sum, &first, 1);
	totals_add(&sum, &second, 1);
	ck_assert_int_eq(sum.rchar_bytes, 35);
	totals_add(&growth, &first, -1);
	totals_add(&sum, &growth, 1);
	ck_assert_int_eq(sum.rchar_bytes, 50);
	totals_add(&sum, &growth, -1);
	ck_assert_int_eq(sum.rchar_bytes, 35);
	totals_add(&sum, &growth, 1);
	totals_to_row(&sum, &row.cpu_ns, true);
	ck_assert_int_eq(row.rchar_bytes, 50);
	ck_assert_int_eq(row.wchar_bytes, 0); /* unknown in every part */
	ck_assert_int_eq(row.block_io_delay_ns, ROW_NULL);
}

TEST(what_went_in_and_out_is_summed)
{
	const struct totals totals = {.read_bytes = 1,
				      .write_bytes = 20,
				      .rchar_bytes = 300,
				      .wchar_bytes = 4000,
				      .sent_bytes = 50000,
				      .received_bytes = 600000};

	ck_assert_int_eq(totals_io_bytes(&totals), 654321);
}

int main(void)
{
	return suite_run("totals", NULL, NULL);
}
