/* See charge_gpus.h. */
#include "analysis/cost/charge_gpus.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "analysis/query/rows.h"

#define DEVICE INT64_C(1000000000) /* billionths */
#define MS 1000000

/* One device, held by the same task in one time. */
struct device_hold {
	size_t item;
	double busy_ns;
	bool is_known;
};

struct device_division {
	struct charge_period *periods; /* what the device alone cost */
	size_t period_count;
	struct charge_item *held;
	struct device_hold *holds; /* one for each of these */
	size_t held_count;
};

/* Shares add up: each is the difference between two parts of the whole. */
__extension__ typedef __int128 wide;

static int64_t share_until(int64_t whole, size_t device, size_t count)
{
	return (int64_t)((wide)whole * (int64_t)device / (int64_t)count);
}

static void periods_of_device(struct device_division *division, const struct charge_period *whole, size_t device,
			      size_t count)
{
	for (size_t i = 0; i < division->period_count; i++) {
		int64_t nanos = whole[i].bill_nanos[CHARGE_GPU];

		division->periods[i] = (struct charge_period){
			.begin_unix_ns = whole[i].begin_unix_ns,
			.end_unix_ns = whole[i].end_unix_ns,
			.bill_nanos = {[CHARGE_GPU] = share_until(nanos, device + 1, count) -
						      share_until(nanos, device, count)},
			.capacity = {[CHARGE_GPU] = DEVICE},
		};
	}
}

static void hold_add(struct device_division *division, const struct gpu_hold *hold)
{
	bool is_same = division->held_count > 0 && division->holds[division->held_count - 1].item == hold->item;
	size_t at = is_same ? division->held_count - 1 : division->held_count++;
	struct charge_item *held = &division->held[at];
	struct device_hold *device = &division->holds[at];

	if (!is_same) {
		*device = (struct device_hold){.item = hold->item};
		*held = (struct charge_item){.begin_unix_ns = hold->begin_unix_ns,
					     .end_unix_ns = hold->end_unix_ns,
					     .requested = {[CHARGE_GPU] = DEVICE},
					     .holder = CHARGE_NO_HOLDER};
	}
	held->begin_unix_ns = row_least(held->begin_unix_ns, hold->begin_unix_ns);
	held->end_unix_ns = row_most(held->end_unix_ns, hold->end_unix_ns);
	if (hold->busy_ns == ROW_NULL)
		return;
	device->is_known = true;
	device->busy_ns += (double)hold->busy_ns / __builtin_popcountll(hold->devices);
}

static void use_set(struct charge_item *held, const struct device_hold *device)
{
	double share = device->busy_ns / ((double)held->end_unix_ns - (double)held->begin_unix_ns);

	held->used[CHARGE_GPU] = device->is_known && share < 1 ? (int64_t)(share * (double)DEVICE) : DEVICE;
}

static int64_t ms_within(const struct device_division *division, const struct charge_item *held)
{
	int64_t ms = 0;

	for (size_t i = 0; i < division->period_count; i++) {
		int64_t begin = row_most(held->begin_unix_ns, division->periods[i].begin_unix_ns);
		int64_t end = row_least(held->end_unix_ns, division->periods[i].end_unix_ns);

		ms += end > begin ? (end - begin) / MS : 0;
	}
	return ms;
}

static void parts_add(const struct device_division *division, size_t at, struct charge_parts *parts)
{
	const struct charge_item *held = &division->held[at];
	int64_t ms = ms_within(division, held);
	int64_t used_ms = (int64_t)((double)ms * ((double)held->used[CHARGE_GPU] / (double)DEVICE));

	parts->used_nanos[CHARGE_GPU] += held->parts.used_nanos[CHARGE_GPU];
	parts->unused_nanos[CHARGE_GPU] += held->parts.unused_nanos[CHARGE_GPU];
	if (!division->holds[at].is_known) {
		parts->gpu_ms[GPU_UNKNOWN] += ms;
		return;
	}
	parts->gpu_ms[GPU_USED] += used_ms;
	parts->gpu_ms[GPU_UNUSED] += ms - used_ms;
}

int charge_gpus(const struct charge_period *periods, size_t period_count, const struct gpu_hold *holds,
		size_t hold_count, size_t device_count, struct charge_item *items, int64_t *ret_idle_nanos)
{
	struct device_division division = {
		.periods = calloc(period_count + 1, sizeof(*division.periods)),
		.period_count = period_count,
		.held = calloc(hold_count + 1, sizeof(*division.held)),
		.holds = calloc(hold_count + 1, sizeof(*division.holds)),
	};
	int error = division.periods && division.held && division.holds ? 0 : -ENOMEM;

	*ret_idle_nanos = 0;
	for (size_t device = 0; device < device_count && error == 0; device++) {
		int64_t idle[CHARGE_RESOURCE_COUNT];

		periods_of_device(&division, periods, device, device_count);
		division.held_count = 0;
		for (size_t i = 0; i < hold_count; i++)
			if (holds[i].devices >> device & 1)
				hold_add(&division, &holds[i]);
		for (size_t i = 0; i < division.held_count; i++)
			use_set(&division.held[i], &division.holds[i]);
		error = charge_divide(division.periods, period_count, division.held, division.held_count, idle);
		if (error < 0)
			break;
		*ret_idle_nanos += idle[CHARGE_GPU];
		for (size_t i = 0; i < division.held_count; i++)
			parts_add(&division, i, &items[division.holds[i].item].parts);
	}
	free(division.periods);
	free(division.held);
	free(division.holds);
	return error;
}
