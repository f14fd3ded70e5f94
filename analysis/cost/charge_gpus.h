/* Divides what the GPUs of a host cost among the tasks that held them.
 *
 * Each device costs the same, and each is divided by itself: between the tasks that hold it at the same time equally, and
 * what none holds is idle. A task holds a device from the first of its processes that did to the last: when within its
 * life a process opened it is not stored. What a device worked for the task is used, the rest is held and not used. If that
 * is not known, all of it counts as used, and the time is kept apart.
 */
#pragma once

#include "analysis/cost/charge.h"

/* What one task held. */
struct gpu_hold {
	size_t item;      /* of the task */
	uint64_t devices; /* a bit each */
	int64_t begin_unix_ns, end_unix_ns;
	int64_t busy_ns; /* of all these devices; ROW_NULL: unknown */
};

/* Adds to the parts of `items`. `holds` are sorted by item; `device_count` is that of the host, at most GPUS_MAX. What is
 * left is set in `ret_idle_nanos`. Returns 0 or -ENOMEM. */
int charge_gpus(const struct charge_period *periods, size_t period_count, const struct gpu_hold *holds,
		size_t hold_count, size_t device_count, struct charge_item *items, int64_t *ret_idle_nanos);
