/* Dividing what a host costs: parts add up, always. */
#include "analysis/cost/charge_gpus.h"

#include <math.h>
#include <string.h>

#include "tests/suite.h"

#define CORE INT64_C(1000000000)
#define GIB (INT64_C(1) << 30)
#define SECOND INT64_C(1000000000)
#define SCHEDULES 300
#define PERIODS_MAX 5
#define ITEMS_MAX 60
#define SECONDS 200

static uint64_t state;

/* xorshift: the same numbers every time */
static int64_t random_below(int64_t limit)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (int64_t)(state % (uint64_t)limit);
}

struct schedule {
	struct charge_period periods[PERIODS_MAX];
	size_t period_count;
	struct charge_item items[ITEMS_MAX];
	size_t item_count;
};

static void schedule_make(struct schedule *schedule, uint64_t seed)
{
	int64_t at = 0;

	memset(schedule, 0, sizeof(*schedule));
	state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
	schedule->period_count = (size_t)random_below(PERIODS_MAX + 1);
	for (size_t i = 0; i < schedule->period_count; i++) {
		int64_t begin = at + random_below(3) * 7, end = begin + 1 + random_below(SECONDS / PERIODS_MAX - 20);

		schedule->periods[i] = (struct charge_period){
			.begin_unix_ns = begin * SECOND,
			.end_unix_ns = end * SECOND,
			.bill_nanos = {random_below(1000000000000), random_below(1000), random_below(1000000)},
			.capacity = {(1 + random_below(64)) * CORE, (1 + random_below(256)) * GIB, CORE},
		};
		at = end;
	}
	schedule->item_count = (size_t)random_below(ITEMS_MAX);
	for (size_t i = 0; i < schedule->item_count; i++) {
		int64_t begin = random_below(SECONDS) - 10;
		bool is_holder = i < 3;

		schedule->items[i] = (struct charge_item){
			.begin_unix_ns = begin * SECOND,
			.end_unix_ns = (begin + random_below(SECONDS / 2) - 1) * SECOND,
			.requested = {random_below(2) * random_below(8) * CORE,
				      random_below(2) * random_below(64) * GIB},
			.used = {is_holder ? 0 : random_below(8 * CORE), is_holder ? 0 : random_below(64 * GIB)},
			.holder = !is_holder && random_below(2) ? (size_t)random_below(3) : CHARGE_NO_HOLDER,
		};
	}
}

static int64_t held(const struct charge_item *item, size_t resource)
{
	return item->requested[resource] > item->used[resource] ? item->requested[resource] : item->used[resource];
}

static bool is_active(const struct charge_item *item, int64_t unix_ns)
{
	return item->begin_unix_ns <= unix_ns && unix_ns < item->end_unix_ns;
}

/* What an item holds at a time, according to charge.h. */
static int64_t held_at(const struct schedule *schedule, size_t index, size_t resource, int64_t unix_ns)
{
	const struct charge_item *item = &schedule->items[index];
	int64_t amount = held(item, resource);

	if (!is_active(item, unix_ns))
		return 0;
	for (size_t i = 0; i < schedule->item_count; i++)
		if (schedule->items[i].holder == index && is_active(&schedule->items[i], unix_ns))
			amount -= held(&schedule->items[i], resource);
	return amount > 0 ? amount : 0;
}

/* What an item costs, second by second. */
static double cost_of(const struct schedule *schedule, size_t index, size_t resource)
{
	double cost = 0;

	for (size_t i = 0; i < schedule->period_count; i++) {
		const struct charge_period *period = &schedule->periods[i];
		double second_nanos = (double)period->bill_nanos[resource] /
				      ((double)(period->end_unix_ns - period->begin_unix_ns) / (double)SECOND);

		for (int64_t at = period->begin_unix_ns; at < period->end_unix_ns; at += SECOND) {
			double all = 0;

			for (size_t j = 0; j < schedule->item_count; j++)
				all += (double)held_at(schedule, j, resource, at);
			cost += second_nanos * (double)held_at(schedule, index, resource, at) /
				fmax(all, (double)period->capacity[resource]);
		}
	}
	return cost;
}

static void check_second_by_second(const struct schedule *schedule, size_t resource)
{
	for (size_t i = 0; i < schedule->item_count; i++) {
		const struct charge_item *item = &schedule->items[i];
		double cost = cost_of(schedule, i, resource), used = 0;

		if (held(item, resource) > 0)
			used = cost * (double)item->used[resource] / (double)held(item, resource);
		ck_assert_double_eq_tol((double)item->parts.used_nanos[resource], used, 2);
		ck_assert_double_eq_tol((double)item->parts.unused_nanos[resource], cost - used, 2);
	}
}

/* And each part is what it is second by second. */
TEST_TIMES(parts_add_up_to_the_bill, SCHEDULES)
{
	int64_t idle[CHARGE_RESOURCE_COUNT];
	struct schedule schedule;

	schedule_make(&schedule, (uint64_t)_i);
	ck_assert_int_eq(
		charge_divide(schedule.periods, schedule.period_count, schedule.items, schedule.item_count, idle), 0);
	for (size_t i = 0; i < CHARGE_RESOURCE_COUNT; i++) {
		int64_t sum = idle[i], bill = 0;

		ck_assert_int_ge(idle[i], 0);
		for (size_t j = 0; j < schedule.item_count; j++) {
			ck_assert_int_ge(schedule.items[j].parts.used_nanos[i], 0);
			ck_assert_int_ge(schedule.items[j].parts.unused_nanos[i], 0);
			sum += schedule.items[j].parts.used_nanos[i] + schedule.items[j].parts.unused_nanos[i];
		}
		for (size_t j = 0; j < schedule.period_count; j++)
			bill += schedule.periods[j].bill_nanos[i];
		ck_assert_int_eq(sum, bill);
		if (_i < SCHEDULES / 10)
			check_second_by_second(&schedule, i);
	}
}

/* Devices of a host that costs 400 nanos for them: what tasks hold, begin, end, devices and time in which these worked,
 * -1 if unknown; then what is used, held and not used, of which that is not known, and idle. */
static const struct {
	const char *what;
	struct {
		int item, begin, end;
		unsigned devices;
		int busy;
	} holds[3];
	int64_t used[2], unused[2], unknown_s[2], idle;
} devices[] = {
	{"nothing held", {{0}}, {0}, {0}, {0}, 400},
	{"one of two, half of the time in use", {{0, 0, 100, 1, 50}}, {100}, {100}, {0}, 200},
	{"both, in use", {{0, 0, 100, 3, 200}}, {400}, {0}, {0}, 0},
	{"both, one of them in use", {{0, 0, 100, 3, 100}}, {200}, {200}, {0}, 0},
	{"more than is possible", {{0, 0, 50, 1, 90}}, {100}, {0}, {0}, 300},
	{"no sampler", {{0, 0, 100, 1, -1}}, {200}, {0}, {100}, 200},
	{"two tasks on one device", {{0, 0, 100, 1, 50}, {1, 0, 100, 1, 0}}, {50}, {50, 100}, {0}, 200},
	{"two tasks on two devices", {{0, 0, 100, 1, 100}, {1, 0, 50, 2, 0}}, {200}, {0, 100}, {0}, 100},
	{"two processes of a task, one after the other",
	 {{0, 0, 40, 1, 40}, {0, 60, 100, 1, 10}},
	 {100},
	 {100},
	 {0},
	 200},
	{"a list of two after one of them", {{0, 0, 100, 1, 50}, {0, 50, 100, 3, 50}}, {200}, {100}, {0}, 100},
};

TEST_EACH(devices_are_divided, devices)
{
	struct charge_period period = {0, 100 * SECOND, {1, 1, 400}, {CORE, GIB}};
	struct charge_item items[2] = {0};
	struct gpu_hold holds[3];
	int64_t idle;
	size_t count = 0;

	for (; count < 3 && devices[_i].holds[count].devices; count++)
		holds[count] = (struct gpu_hold){
			.item = (size_t)devices[_i].holds[count].item,
			.devices = devices[_i].holds[count].devices,
			.begin_unix_ns = devices[_i].holds[count].begin * SECOND,
			.end_unix_ns = devices[_i].holds[count].end * SECOND,
			.busy_ns =
				devices[_i].holds[count].busy < 0 ? INT64_MIN : devices[_i].holds[count].busy * SECOND,
		};
	ck_assert_int_eq(charge_gpus(&period, 1, holds, count, 2, items, &idle), 0);
	ck_assert_msg(idle == devices[_i].idle, "%s: %lld idle", devices[_i].what, (long long)idle);
	for (size_t i = 0; i < 2; i++) {
		const struct charge_parts *parts = &items[i].parts;

		ck_assert_msg(parts->used_nanos[CHARGE_GPU] == devices[_i].used[i] &&
				      parts->unused_nanos[CHARGE_GPU] == devices[_i].unused[i] &&
				      parts->gpu_ms[GPU_UNKNOWN] == devices[_i].unknown_s[i] * 1000,
			      "%s: item %zu: %lld used, %lld not used", devices[_i].what, i,
			      (long long)parts->used_nanos[CHARGE_GPU], (long long)parts->unused_nanos[CHARGE_GPU]);
	}
}

/* In whole nanos, whatever is held. */
TEST_TIMES(devices_add_up_to_the_bill, SCHEDULES)
{
	struct gpu_hold holds[ITEMS_MAX];
	struct schedule schedule;
	int64_t sum, bill = 0;
	size_t device_count;

	schedule_make(&schedule, (uint64_t)_i);
	device_count = 1 + (size_t)random_below(64);
	memset(schedule.items, 0, sizeof(schedule.items));
	for (size_t i = 0; i < schedule.item_count; i++) {
		int64_t begin = random_below(SECONDS) - 10;

		holds[i] = (struct gpu_hold){i / 2, (uint64_t)random_below(INT64_MAX) | 1, begin * SECOND,
					     (begin + random_below(SECONDS / 2)) * SECOND,
					     random_below(3) ? random_below(SECONDS) * SECOND : INT64_MIN};
	}
	ck_assert_int_eq(charge_gpus(schedule.periods, schedule.period_count, holds, schedule.item_count, device_count,
				     schedule.items, &sum),
			 0);
	ck_assert_int_ge(sum, 0);
	for (size_t i = 0; i < schedule.item_count; i++) {
		const struct charge_parts *parts = &schedule.items[i].parts;

		ck_assert_int_ge(parts->used_nanos[CHARGE_GPU], 0);
		ck_assert_int_ge(parts->unused_nanos[CHARGE_GPU], 0);
		sum += parts->used_nanos[CHARGE_GPU] + parts->unused_nanos[CHARGE_GPU];
	}
	for (size_t i = 0; i < schedule.period_count; i++)
		bill += schedule.periods[i].bill_nanos[CHARGE_GPU];
	ck_assert_int_eq(sum, bill);
}

/* A host of 4 cores and 16 GiB that costs 400 + 160 nanos, and work on it: begin, end, requested and used cores and
 * GiB, holder; then what is used and not used of each. */
static const struct {
	const char *what;
	struct {
		int begin, end, requested_cores, requested_gib, used_cores, used_gib, holder;
	} items[3];
	int64_t used[3][CHARGE_RESOURCE_COUNT], unused[3][CHARGE_RESOURCE_COUNT], idle[CHARGE_RESOURCE_COUNT];
} cases[] = {
	{"nothing", {{0}}, {{0}}, {{0}}, {400, 160}},
	{"half of the time", {{0, 50, 0, 0, 2, 8, -1}}, {{100, 40}}, {{0}}, {300, 120}},
	{"before and after", {{-50, 150, 0, 0, 1, 0, -1}}, {{100, 0}}, {{0}}, {300, 160}},
	{"requested, not used", {{0, 100, 2, 8, 1, 2, -1}}, {{100, 20}}, {{100, 60}}, {200, 80}},
	{"used more than requested", {{0, 100, 1, 1, 2, 8, -1}}, {{200, 80}}, {{0}}, {200, 80}},
	{"two that want everything",
	 {{0, 100, 0, 16, 4, 8, -1}, {0, 100, 0, 16, 4, 16, -1}},
	 {{200, 40}, {200, 80}},
	 {{0, 40}, {0, 0}},
	 {0, 0}},
	{"a job's tasks take from its request",
	 {{0, 100, 2, 8, 0, 0, -1}, {0, 50, 0, 0, 1, 4, 0}, {50, 100, 0, 0, 2, 8, 0}},
	 {{0, 0}, {50, 20}, {100, 40}},
	 {{50, 20}, {0, 0}, {0, 0}},
	 {200, 80}},
	{"tasks that use more than their job requested",
	 {{0, 100, 1, 4, 0, 0, -1}, {0, 100, 0, 0, 2, 8, 0}, {0, 0, 0, 0, 9, 9, 0}},
	 {{0, 0}, {200, 80}, {0, 0}},
	 {{0}},
	 {200, 80}},
};

TEST_EACH(division_is, cases)
{
	struct charge_period period = {0, 100 * SECOND, {400, 160}, {4 * CORE, 16 * GIB}};
	struct charge_item items[3];
	int64_t idle[CHARGE_RESOURCE_COUNT];

	for (size_t i = 0; i < 3; i++)
		items[i] = (struct charge_item){
			.begin_unix_ns = cases[_i].items[i].begin * SECOND,
			.end_unix_ns = cases[_i].items[i].end * SECOND,
			.requested = {cases[_i].items[i].requested_cores * CORE,
				      cases[_i].items[i].requested_gib * GIB},
			.used = {cases[_i].items[i].used_cores * CORE, cases[_i].items[i].used_gib * GIB},
			.holder = cases[_i].items[i].holder < 0 ? CHARGE_NO_HOLDER : (size_t)cases[_i].items[i].holder,
		};
	items[0].holder = CHARGE_NO_HOLDER;
	ck_assert_int_eq(charge_divide(&period, 1, items, 3, idle), 0);
	for (size_t i = 0; i < CHARGE_RESOURCE_COUNT; i++) {
		for (size_t j = 0; j < 3; j++) {
			ck_assert_msg(items[j].parts.used_nanos[i] == cases[_i].used[j][i] &&
					      items[j].parts.unused_nanos[i] == cases[_i].unused[j][i],
				      "%s: item %zu, resource %zu: %ld used, %ld not used", cases[_i].what, j, i,
				      (long)items[j].parts.used_nanos[i], (long)items[j].parts.unused_nanos[i]);
		}
		ck_assert_msg(idle[i] == cases[_i].idle[i], "%s: resource %zu: %ld idle", cases[_i].what, i,
			      (long)idle[i]);
	}
}

static const struct {
	int64_t total;
	int64_t weights[4], parts[4];
} shares[] = {
	{100, {1, 1, 1, 0}, {34, 33, 33, 0}},
	{100, {0, 0, 0, 0}, {25, 25, 25, 25}},
	{7, {5, 3, 1, 0}, {4, 2, 1, 0}},
	{0, {1, 2, 3, 4}, {0, 0, 0, 0}},
	{1, {INT64_MAX, INT64_MAX, 0, 0}, {1, 0, 0, 0}},
	{INT64_C(9000000000000000), {1, 2, 0, 0}, {3000000000000000, 6000000000000000, 0, 0}},
};

TEST_EACH(share_is, shares)
{
	int64_t parts[4];

	ck_assert_int_eq(charge_share(shares[_i].total, shares[_i].weights, 4, parts), 0);
	for (size_t i = 0; i < 4; i++)
		ck_assert_int_eq(parts[i], shares[_i].parts[i]);
}

/* Their sum exceeds 64 bits; and there may be none. */
TEST(items_of_any_size_share)
{
	const struct charge_period period = {0, SECOND, {0, 1000}, {0, GIB}};
	struct charge_item items[2];
	int64_t idle[CHARGE_RESOURCE_COUNT];

	for (size_t i = 0; i < 2; i++)
		items[i] =
			(struct charge_item){.end_unix_ns = SECOND, .used = {0, INT64_MAX}, .holder = CHARGE_NO_HOLDER};
	ck_assert_int_eq(charge_divide(&period, 1, items, 2, idle), 0);
	ck_assert_int_eq(items[0].parts.used_nanos[CHARGE_MEMORY], 500);
	ck_assert_int_eq(items[1].parts.used_nanos[CHARGE_MEMORY], 500);
	ck_assert_int_eq(idle[CHARGE_MEMORY], 0);
	ck_assert_int_eq(charge_share(7, NULL, 0, NULL), 0);
}

int main(void)
{
	return suite_run("charge", NULL, NULL);
}
