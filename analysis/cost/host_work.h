/* The work of one host in a time: when the host was watched and what it cost then, and what its tasks, and runs as a
 * whole, requested and used.
 */
#pragma once

#include "analysis/cost/charge_gpus.h"
#include "analysis/cost/prices.h"
#include "analysis/query/rows.h"

struct host_work {
	const struct row_cloud_host *host;
	int64_t since_unix_ns, until_unix_ns;
	struct price_times prices;
	struct price_size size;
	struct price idle_price;   /* of energy: what the host takes without any work */
	struct rows watched;       /* row_cost_watched, borrowed like the next three */
	struct rows tasks;         /* row_cost_task, by run */
	struct rows tools;         /* row_cost_tool, by task; if asked for */
	struct rows gpus;          /* row_cost_gpu, by task; if asked for */
	struct charge_item *items; /* one for each task, then one for each run with a request */
	size_t item_count;
	struct gpu_hold *holds; /* of the tasks that held GPUs */
	size_t hold_count;
	struct charge_period *periods; /* of the time that was found last */
	size_t period_count, period_capacity;
	int64_t watched_ns, observed_ms; /* of that time; in whole milliseconds of each span */
};

/* Frees what is not borrowed. */
void host_work_free(struct host_work *work);

/* Makes the items; of energy only what was used counts. Returns 0 or -ENOMEM. */
int host_work_items(struct host_work *work, bool is_energy);
/* Returns the index after the last task of the run that begins at `first`. */
size_t host_work_run_end(const struct host_work *work, size_t first);

/* Finds the periods of constant price from `begin` to `end` in which the host was watched. Returns 0, -ENOMEM, or
 * -EOVERFLOW if they cost more than INT64_MAX nanos. */
int host_work_periods(struct host_work *work, int64_t begin, int64_t end);
/* What the processors took in these periods without any work, of energy. Returns 0 or -EOVERFLOW. */
int host_work_idle_energy(const struct host_work *work, int64_t *ret_nanos);

/* Calls `take` for each time from `begin` to `end` in which a host was watched: while its own services ran, from one boot to
 * the next (cost_watched.sql). A host of which nothing was seen that tells is watched all the time. Stops at a result below
 * 0. */
int host_each_watched(const struct row_cost_watched *watched, size_t count, int64_t begin, int64_t end,
		      int (*take)(void *context, int64_t begin, int64_t end), void *context);

/* ---- what a store knows of them (host_groups.c) ---------------------------------------- */

struct host_works {
	struct store *store;
	struct host_work *items; /* by id of the host */
	size_t count;
	bool with_tools, with_gpus;
	bool are_chosen; /* one by one: there are hosts between them that are of no interest */
};

/* Calls `take` for each host, with what is borrowed. Returns 0, -ENOMEM, the store's error or the first result below 0. */
int host_works_each(const struct host_works *works, int (*take)(void *context, struct host_work *work), void *context);
