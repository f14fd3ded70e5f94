/* What bounds tasks, from what their threads did. */
#include "analysis/tune/account.h"

#include <string.h>

#include "tests/suite.h"

#define NO ROW_NULL

static const char *const names[] = {
#define B(NAME, name) [ACCOUNT_BOUND_##NAME] = name,
	ACCOUNT_BOUNDS(B)
#undef B
};

/* Seconds: wall time, CPU, run-queue delay, block I/O, memory, uninterruptible sleep. */
static const struct {
	int64_t wall, cpu, queue, storage, memory, uninterruptible;
	const char *bound;
} cases[] = {
	{100, 95, 1, 0, 0, 0, "compute"},
	{100, 190, 4, 0, 0, 0, "compute"}, /* of several threads */
	{100, 20, 1, 70, 0, 70, "storage"},
	{100, 20, 1, NO, NO, 70, "storage"}, /* estimated by scans */
	{100, 20, 1, NO, 70, 70, "memory"},
	{100, 20, 1, 5, 70, 70, "memory"},
	{100, 20, 1, 5, 0, 70, "network filesystem"},
	{100, 80, 1, 0, 5, 5, "memory"},
	{100, 80, 1, 0, 4, 4, "compute"},
	{100, 50, 40, 5, 0, 5, "processor wait"},
	{100, 200, 600, 0, 0, 0, "processor wait"},
	{100, 50, 20, 10, 0, 10, "unknown"}, /* a bit of all */
	{100, 5, 1, 1, 0, 1, "sleep"},
	{100, 5, 1, NO, NO, 1, "sleep"},
	{100, 5, 1, NO, NO, NO, "unknown"}, /* it may have waited for storage */
	{100, NO, 1, 1, 0, 1, "unknown"},
	{100, 0, 0, 0, 0, 0, "sleep"},
	{100, NO, NO, NO, NO, NO, "unknown"},
	{NO, 95, 1, 0, 0, 0, "compute"},
	{0, 0, 0, 0, 0, 0, "unknown"},
};

TEST_EACH(bounds_are_named, cases)
{
	const int64_t seconds[] = {cases[_i].wall,    cases[_i].cpu,    cases[_i].queue,
				   cases[_i].storage, cases[_i].memory, cases[_i].uninterruptible};
	int64_t ns[6];
	struct account_times times;

	for (size_t i = 0; i < 6; i++)
		ns[i] = seconds[i] == NO ? NO : seconds[i] * INT64_C(1000000000);
	times = (struct account_times){ns[0], ns[1], ns[2], ns[3], ns[4], ns[5]};
	ck_assert_str_eq(names[account_bound_of(&times)], cases[_i].bound);
}

/* Seconds: wall time, devices held, and worked; of a task that also computes. */
static const struct {
	int64_t wall, held, busy;
	const char *bound;
} devices[] = {
	{100, 100, 95, "gpu"},     {100, 400, 330, "gpu"},     {100, 90, 75, "gpu"},
	{100, 100, 70, "compute"}, {100, 400, 100, "compute"}, /* one of four */
	{100, 50, 50, "compute"},                              /* in a part of the time */
	{100, 0, 0, "compute"},
};

TEST_EACH(tasks_are_bound_by_devices, devices)
{
	const struct account_times times = {
		.wall_ns = devices[_i].wall * INT64_C(1000000000),
		.cpu_ns = devices[_i].wall * INT64_C(950000000),
		.gpu_held_ns = devices[_i].held * INT64_C(1000000000),
		.gpu_busy_ns = devices[_i].busy * INT64_C(1000000000),
	};

	ck_assert_str_eq(names[account_bound_of(&times)], devices[_i].bound);
}

int main(void)
{
	return suite_run("account", NULL, NULL);
}
