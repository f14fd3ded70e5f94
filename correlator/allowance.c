/* Requested against used. See allowance.h. */
#include "correlator/allowance.h"

static int64_t known(const struct counters *counters, uint64_t bit, uint64_t value)
{
	return counters->valid & bit ? (int64_t)value : ROW_NULL;
}
#define KNOWN(counters, name) known(counters, COUNTER_VALID(name), (counters)->name)

void allowance_init(struct allowance *allowance)
{
	*allowance = (struct allowance){
		.memory_limit_bytes = ROW_NULL,
		.cgroup_peak_bytes = ROW_NULL,
		.throttled_ns = ROW_NULL,
		.throttled_before_ns = ROW_NULL,
	};
}

static bool set(int64_t *value, int64_t now)
{
	bool changed = *value != now;

	*value = now;
	return changed;
}

/* The figure never falls: what a cgroup that was the one before was held back stays in it, and
 * the counter of the next one goes on from there. */
static bool note_throttled(struct allowance *allowance, int64_t throttled)
{
	int64_t so_far = allowance->throttled_ns == ROW_NULL ? 0 : allowance->throttled_ns;

	if (throttled == ROW_NULL)
		return false;
	if (allowance->throttled_before_ns == ROW_NULL)
		allowance->throttled_before_ns = throttled - so_far;
	if (throttled - allowance->throttled_before_ns < so_far)
		return false;
	return set(&allowance->throttled_ns, throttled - allowance->throttled_before_ns);
}

bool allowance_note(struct allowance *allowance, uint64_t cgroup_id, const struct counters *counters)
{
	int64_t peak = KNOWN(counters, cgroup_memory_peak_bytes);
	int64_t throttled = KNOWN(counters, cgroup_throttled_ns);
	bool changed;

	if (peak == ROW_NULL && throttled == ROW_NULL)
		return false;
	if (allowance->cgroup_id != cgroup_id) {
		if (allowance->cgroup_id != 0 && peak <= allowance->cgroup_peak_bytes)
			return false; /* another used more; ROW_NULL is the least */
		allowance->cgroup_id = cgroup_id;
		allowance->throttled_before_ns = ROW_NULL;
	}
	changed = set(&allowance->memory_limit_bytes, KNOWN(counters, cgroup_memory_limit_bytes));
	changed |= set(&allowance->cgroup_peak_bytes, peak);
	return note_throttled(allowance, throttled) || changed;
}

void allowance_merge(struct allowance *into, const struct allowance *from)
{
	int64_t throttled_ns = into->throttled_ns;

	if (from->cgroup_id == 0 ||
	    (into->cgroup_id != 0 && from->cgroup_peak_bytes <= into->cgroup_peak_bytes))
		return;
	*into = *from;
	if (throttled_ns > into->throttled_ns) { /* ROW_NULL is the least */
		into->throttled_ns = throttled_ns;
		into->throttled_before_ns = ROW_NULL;
	}
}
