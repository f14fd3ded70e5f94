/* Who owned each hour of a host: exactly one owner at each instant, so that hours and costs add up to the time in which
 * the host was watched and to its bill, the one of tracer cost (analysis/cost/bill.h).
 *
 * It is idle since when host_idle says so. Before that it belongs to work while a run of work was running, and ten
 * minutes after it, less the share of its cores and memory that host_cores_unused and host_memory_unused found: that is
 * too large. Else it belongs to the system if the host was busy as a whole, or to a gap.
 */
#pragma once

#include "analysis/cost/prices.h"
#include "analysis/query/rows.h"

/* O(NAME, "name"): what could be saved comes last. */
#define OWNERS(O) \
	O(WORK, "work") \
	O(SYSTEM, "system") \
	O(GAP, "gap") \
	O(IDLE, "idle") \
	O(TOO_LARGE, "too_large")

enum owner {
#define O(NAME, name) OWNER_##NAME,
	OWNERS(O)
#undef O
		OWNER_COUNT,
};
#define OWNER_WASTED OWNER_GAP /* this one and those after it */

extern const char *const owner_names[OWNER_COUNT];

struct owned_host {
	const struct row_cloud_host *host;
	bool has_price; /* in some of that time */
	int64_t ms[OWNER_COUNT], nanos[OWNER_COUNT];
	/* What findings say of it; owners_set() needs them. */
	int64_t idle_unix_ns; /* idle from then on; INT64_MAX: not */
	int64_t unused_cores, unused_bytes;
	int64_t gap_ns, busy_ns; /* without work, and of that the time in which the host was busy all the same */
	int64_t free_unix_ns;    /* no work was there from then on */
};

struct owners_facts {
	int64_t since_unix_ns, until_unix_ns; /* the time that is asked for */
	const struct price_times *prices;
	const struct row_cost_watched *watched;
	size_t watched_count;
};

/* Sets what each owner had of the host. Returns 0 or -ENOMEM. */
int owners_set(struct owned_host *host, const struct owners_facts *facts);

/* Sums of the owners; with `first` OWNER_WASTED, of what could be saved. */
int64_t owners_ms(const struct owned_host *host, enum owner first);
int64_t owners_nanos(const struct owned_host *host, enum owner first);

/* All hosts together. */
struct owned_host owners_sum(const struct owned_host *hosts, size_t count);

/* Replaces amounts by whole numbers of these units, so that those of all hosts and owners still add up; the host with
 * the largest waste comes first. Returns 0,
 * -ENOMEM, or -EOVERFLOW if the sum exceeds INT64_MAX nanos. */
int owners_round(struct owned_host *hosts, size_t count, int64_t unit_ms, int64_t unit_nanos);
