/* How long tasks of a run held GPUs, and how long these worked for them.
 *
 * Only where that is certain: a sampler reported it, and no other task on the host held one of the same devices at the same
 * time, since the shares of several are estimates (docs/gpu.md).
 */
#pragma once

#include "analysis/query/report.h"
#include "analysis/tune/schedule.h"

/* Summed over devices; 0 if it is not certain, or the task held none. */
struct gpu_times {
	int64_t held_ns, busy_ns;
	int64_t device_count;
	int64_t peak_bytes;   /* at most: what each process held at most */
	int64_t device_bytes; /* memory of a device, at least; 0 unknown */
};

/* Sets `ret_times`, by index in the schedule; `index_of` gives that of a task in the report. Returns 0, -ENOMEM or the
 * store's error. */
int gpu_times_load(const struct report *report, const struct schedule *schedule, const size_t *index_of,
		   struct gpu_times *ret_times);
