/* Requested and used: the memory limit of a cgroup, its peak use, and how long its CPU
 * quota throttled it.
 *
 * A run or task may have processes in several cgroups. Limit and peak of different cgroups
 * cannot be compared, so the figures are those of one: the cgroup with the highest peak.
 * They cover the whole cgroup, whatever else is in it. Only the throttled time carries over
 * when another cgroup takes the lead.
 */
#pragma once

#include <stdbool.h>

#include "bpf/record.h"
#include "common/store/rows.h"

struct cgroup_limits {
#define I(name) int64_t name; /* ROW_NULL: unknown or none */
	ROW_LIMITS(I)
#undef I
	uint64_t cgroup_id;       /* 0: none seen */
	uint64_t first_cgroup_id; /* of the first process; */
	bool is_outside; /* whether some of their memory may be outside of it: processes in others, huge pages */
	int64_t throttled_before_ns; /* value of the cgroup's counter at which throttled_ns is 0; ROW_NULL unknown */
};

void cgroup_limits_init(struct cgroup_limits *limits);

/* Takes the counters of a process in that cgroup, which was throttled for `before_ns` when it executed its program there; ROW_NULL
 * unknown. Returns true if something changed. */
bool cgroup_limits_note(struct cgroup_limits *limits, uint64_t cgroup_id, const struct counters *counters,
			int64_t before_ns);

/* What processes held together, if that is less than `bytes`: where all are in one cgroup, not more than its peak. */
int64_t cgroup_limits_bound(const struct cgroup_limits *limits, int64_t bytes);

/* Merges those of one group (`from`) into those of its task (`into`): ROW_NULL is the lowest value. What
 * is merged is for reading, and takes no more counters. */
void cgroup_limits_merge(struct cgroup_limits *into, const struct cgroup_limits *from);
