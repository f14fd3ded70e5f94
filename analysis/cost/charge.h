/* Divides what a host costs among the work that ran on it.
 *
 * At every instant an item of work is charged for the larger of what it requested and what it used (the
 * specification of OpenCost). Where all of them together would exceed what the host has, each is charged for
 * proportionally less, so that nothing is charged twice. What nobody is charged for is idle. Therefore
 * used + requested but unused + idle = bill, in whole nanos, always.
 *
 * Amounts of money are int64_t nanos, 10^-9 of the currency.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum charge_resource { CHARGE_CPU, CHARGE_MEMORY, CHARGE_GPU, CHARGE_RESOURCE_COUNT };

/* A time in which the host cost the same every hour. */
struct charge_period {
	int64_t begin_unix_ns, end_unix_ns;
	int64_t bill_nanos[CHARGE_RESOURCE_COUNT];
	int64_t capacity[CHARGE_RESOURCE_COUNT]; /* billionths of a core, bytes, billionths of a device */
};

/* The time in which devices were held: they worked, they did not, or that is not known. */
enum gpu_time { GPU_USED, GPU_UNUSED, GPU_UNKNOWN, GPU_TIME_COUNT };

struct charge_parts {
	int64_t used_nanos[CHARGE_RESOURCE_COUNT];
	int64_t unused_nanos[CHARGE_RESOURCE_COUNT]; /* requested, but not used */
	int64_t gpu_ms[GPU_TIME_COUNT];              /* charge_gpus() */
};

#define CHARGE_NO_HOLDER SIZE_MAX

/* Work from begin to end, with constant use: the mean of a resource that is measured in total, the peak of one that
 * is held. */
struct charge_item {
	int64_t begin_unix_ns, end_unix_ns;
	int64_t requested[CHARGE_RESOURCE_COUNT], used[CHARGE_RESOURCE_COUNT]; /* in the units of the capacity */
	size_t holder; /* index of the item from whose request this one takes what it is charged for, such as that of
			* a job for its tasks; or CHARGE_NO_HOLDER. A holder has none itself, and uses nothing */
	struct charge_parts parts; /* result */
};

/* `periods` are sorted and do not overlap; work outside all of them is not charged for. Returns 0 with the parts of
 * each item set and what is left in `ret_idle_nanos`, or -ENOMEM. */
int charge_divide(const struct charge_period *periods, size_t period_count, struct charge_item *items,
		  size_t item_count, int64_t ret_idle_nanos[CHARGE_RESOURCE_COUNT]);

/* Divides `total` in proportion to the weights, which are not negative, into whole numbers that add up to it: each
 * is rounded down, and those with the largest remainders get one more. If all weights are 0, the shares are equal. */
int charge_share(int64_t total, const int64_t *weights, size_t count, int64_t *ret_parts);
