/* Requested against used: the memory limit of a cgroup, the most it ever used, and how
 * long its processor quota held it back.
 *
 * A run or task may have processes in several cgroups. Limit and peak of different ones
 * cannot be compared, so the figures are those of one: the cgroup that used most. They
 * are the cgroup's, whoever else is in it. Only the time that it was held back goes on from
 * that of the cgroup that had used most before.
 */
#pragma once

#include <stdbool.h>

#include "bpf/record.h"
#include "common/store/rows.h"

struct cgroup_limits {
#define I(name) int64_t name; /* ROW_NULL unknown, or there is none */
	ROW_LIMITS(I)
#undef I
	uint64_t cgroup_id;          /* 0: none seen */
	int64_t throttled_before_ns; /* the cgroup's counter where throttled_ns is 0; ROW_NULL unknown */
};

void cgroup_limits_init(struct cgroup_limits *limits);

/* A record of a process in that cgroup. True: something has changed. */
bool cgroup_limits_note(struct cgroup_limits *limits, uint64_t cgroup_id, const struct counters *counters);

/* `from` has become part of what `into` is about. */
void cgroup_limits_merge(struct cgroup_limits *into, const struct cgroup_limits *from);

#define cgroup_limits_fill_row(row, from) \
	do { \
		(row)->memory_limit_bytes = (from)->memory_limit_bytes; \
		(row)->cgroup_peak_bytes = (from)->cgroup_peak_bytes; \
		(row)->throttled_ns = (from)->throttled_ns; \
	} while (0)
