/* Requested and used. See cgroup_limits.h. */
#include "correlator/model/cgroup_limits.h"

#include <string.h>

#include "correlator/model/totals.h"

void cgroup_limits_init(struct cgroup_limits *limits)
{
	*limits = (struct cgroup_limits){
		.memory_limit_bytes = ROW_NULL,
		.cgroup_peak_bytes = ROW_NULL,
		.throttled_ns = ROW_NULL,
		.throttled_before_ns = ROW_NULL,
	};
}

/* The figure never decreases: it keeps the throttled time of the previous cgroup, and the counter
 * of the next one continues from there. */
static void note_throttled(struct cgroup_limits *limits, int64_t throttled, int64_t before_ns)
{
	int64_t so_far = limits->throttled_ns == ROW_NULL ? 0 : limits->throttled_ns;

	if (throttled == ROW_NULL)
		return;
	if (limits->throttled_before_ns == ROW_NULL)
		limits->throttled_before_ns =
			(before_ns != ROW_NULL && before_ns < throttled ? before_ns : throttled) - so_far;
	if (throttled - limits->throttled_before_ns >= so_far)
		limits->throttled_ns = throttled - limits->throttled_before_ns;
}

static void note_cgroup(struct cgroup_limits *limits, uint64_t cgroup_id, bool is_outside)
{
	if (!limits->first_cgroup_id)
		limits->first_cgroup_id = cgroup_id;
	limits->is_outside = limits->is_outside || is_outside || limits->first_cgroup_id != cgroup_id;
}

int64_t cgroup_limits_bound(const struct cgroup_limits *limits, int64_t bytes)
{
	bool is_known = limits->cgroup_id && !limits->is_outside && limits->cgroup_peak_bytes > 0;

	return is_known && bytes > limits->cgroup_peak_bytes ? limits->cgroup_peak_bytes : bytes;
}

bool cgroup_limits_note(struct cgroup_limits *limits, uint64_t cgroup_id, const struct counters *counters,
			int64_t before_ns)
{
	const struct cgroup_limits before = *limits;
	int64_t peak = counter_or_null(counters, cgroup_memory_peak_bytes);
	int64_t throttled = counter_or_null(counters, cgroup_throttled_ns);

	note_cgroup(limits, cgroup_id, false);
	if (peak == ROW_NULL && throttled == ROW_NULL)
		return memcmp(limits, &before, sizeof(before)) != 0;
	if (limits->cgroup_id != cgroup_id) {
		if (limits->cgroup_id != 0 && peak <= limits->cgroup_peak_bytes)
			return false; /* another has the higher peak; ROW_NULL is lowest */
		limits->cgroup_id = cgroup_id;
		limits->throttled_before_ns = ROW_NULL;
	}
	if (peak != ROW_NULL) {
		limits->memory_limit_bytes = counter_or_null(counters, cgroup_memory_limit_bytes);
		limits->cgroup_peak_bytes = peak;
	}
	note_throttled(limits, throttled, before_ns);
	return memcmp(limits, &before, sizeof(before)) != 0;
}

void cgroup_limits_merge(struct cgroup_limits *into, const struct cgroup_limits *from)
{
	struct cgroup_limits both = *into;

	if (from->first_cgroup_id)
		note_cgroup(&both, from->first_cgroup_id, from->is_outside);
	if (from->cgroup_id && (into->cgroup_id == 0 || from->cgroup_peak_bytes >= into->cgroup_peak_bytes))
		*into = *from;
	into->throttled_ns = both.throttled_ns > from->throttled_ns ? both.throttled_ns : from->throttled_ns;
	into->first_cgroup_id = both.first_cgroup_id;
	into->is_outside = both.is_outside;
}
