/* The load of a host: between which samples, and what is unknown. */
#include "analysis/query/host_load.h"

#include "tests/suite.h"

#define S INT64_C(1000000000)

/* The load of samples, the latest first. */
static bool find(struct row_host_sample *samples, size_t count, struct host_load *ret_load)
{
	const struct rows rows = {.type = &row_type_host_sample, .items = samples, .count = count};

	return host_load_find(&rows, ret_load);
}

TEST(over_a_minute_at_least)
{
	struct row_host_sample samples[] = {{.boot_ns = 200 * S, .disk_read_bytes = 7000},
					    {.boot_ns = 190 * S, .disk_read_bytes = 6900},
					    {.boot_ns = 130 * S, .disk_read_bytes = 0},
					    {.boot_ns = 20 * S, .disk_read_bytes = 0}};
	struct host_load load;

	ck_assert(find(samples, 4, &load));
	ck_assert_int_eq(load.wall_ns, 70 * S);
	ck_assert_int_eq(load.disk_read_rate, 100);
	ck_assert_ptr_eq(load.last, &samples[0]);
}

TEST(not_across_a_boot)
{
	struct row_host_sample samples[] = {{.boot_ns = 20 * S}, {.boot_ns = 10 * S}, {.boot_ns = 5000 * S}};
	struct host_load load;

	ck_assert(find(samples, 3, &load));
	ck_assert_int_eq(load.wall_ns, 10 * S);
	ck_assert(!find(samples + 1, 2, &load));
	ck_assert(!find(samples, 0, &load));
}

TEST(what_is_unknown_or_was_reset_is_unknown)
{
	struct row_host_sample samples[] = {{.boot_ns = 90 * S, .cpu_user_ns = S, .cpu_steal_ns = ROW_NULL},
					    {.boot_ns = 30 * S, .network_sent_bytes = 5}};
	struct host_load load;

	ck_assert(find(samples, 2, &load));
	ck_assert_int_eq(load.cpu_user_ns, S);
	ck_assert_int_eq(load.cpu_ns, ROW_NULL);
	ck_assert_int_eq(load.network_sent_rate, ROW_NULL);
}

int main(void)
{
	return suite_run("host_load", NULL, NULL);
}
