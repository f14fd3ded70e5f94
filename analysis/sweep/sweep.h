/* Where spend is wasted now: asks all findings of this folder (analysis/query/question.h) and says what each costs.
 *
 * A finding's answer has, in every row, the columns host_id, hostname, since_unix_ns, until_unix_ns, is_now, certainty,
 * run_id and run; its impact says which columns hold the time of cores and the byte-seconds. What these cost follows
 * from the price of their host. Findings about one host overlap: their costs do not add up; those of the owners of its
 * hours (owners.h) do.
 */
#pragma once

#include "analysis/cost/prices.h"
#include "analysis/query/catalogue.h"
#include "analysis/query/finding_text.h"
#include "analysis/sweep/owners.h"

/* What was last heard of longer ago than this is not called present. */
#define SWEEP_PRESENT_NS INT64_C(900000000000)

/* What is held; ROW_NULL: unknown, or nothing of that kind. */
struct sweep_held {
	int64_t cpu_ns, memory_byte_seconds, gpu_ns;
};

struct sweep_item {
	const struct question *question;
	int64_t host_id, run_id; /* run_id: ROW_NULL if it is tied to none */
	int64_t user_id;         /* whose session or run; ROW_NULL: unknown */
	char *hostname, *run;    /* run: NULL if unknown */
	char *sentence, *advice;
	int64_t since_unix_ns, until_unix_ns;
	bool is_now;
	bool is_certain; /* nothing in that time was not seen */
	struct sweep_held held;
	int64_t cost_nanos; /* so far; ROW_NULL: unknown */
	int64_t hour_nanos; /* an hour, as it goes on now; ROW_NULL: unknown, or over */
	enum prices_basis basis;
};

struct sweep_request {
	struct store *store;
	const struct catalogue *catalogue;
	const struct prices *prices;
	int64_t since_unix_ns, now_unix_ns;
	const char *host; /* only this one; NULL: all */
	int64_t user_id;  /* only findings that are of this user; ROW_NULL: all */
	/* Binds all parameters of a question; ends with a NULL name. */
	const struct store_parameter *(*bind)(const struct question *question, void *data);
	void *data;
};

struct sweep {
	struct sweep_item *items; /* the most expensive first */
	size_t count, capacity;
	struct rows hosts;        /* row_cloud_host, all of them */
	struct owned_host *owned; /* those that were watched in that time, the largest waste first */
	size_t owned_count;
	struct price_doubts doubts; /* of these */
};

/* Returns 0, -ENOMEM or the store's error. Free the sweep either way. */
int sweep_make(const struct sweep_request *request, struct sweep *ret_sweep);
void sweep_free(struct sweep *sweep);

/* Chooses so many findings to show: no more than two about a host, as long as there are others. Returns 0 or -ENOMEM; free
 * the array. */
int sweep_choose(const struct sweep *sweep, size_t most, const struct sweep_item ***ret_items, size_t *ret_count);

/* The object of `tracer sweep --json` (docs/json.md), with so many hosts, whose hours and costs are rounded; without
 * findings. Returns 0, -ENOMEM or -EOVERFLOW; release it either way. */
int sweep_to_json(const struct sweep_request *request, struct sweep *sweep, size_t host_count, json_t **ret_root);
json_t *sweep_items_to_json(const struct sweep_item *const *items, size_t count);
/* What each host or finding has, as an object. */
json_t *sweep_columns(bool are_hosts);
