/* What hosts cost an hour: a list of prices in the CSV columns of OpenCost, and the price of one host over time.
 *
 *   AssetClass          node (a whole machine), cpu (a core), memory (a GiB), gpu (a device); pv is ignored
 *   MarketPriceHourly   price an hour
 *   InstanceID          only this host: its cloud instance id, or what InstanceIDField names
 *   InstanceIDField     hostname, cluster; empty or spec.providerID: the instance id
 *   InstanceType, Region, Lifecycle   only hosts with these; * stands for any text
 *   EndTimestamp        until when (UTC); empty: until further notice
 *   Currency            of all rows, USD if empty
 *   Version             ignored
 *
 * The row that says most about a host is its price. Amounts are int64_t nanos, 10^-9 of the currency, an hour.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analysis/cost/charge.h"
#include "common/yaml/tree.h"

/* OpenCost's defaults, US dollars an hour: core, GiB, GPU. */
#define PRICES_DEFAULT_CURRENCY "USD"
#define PRICES_DEFAULT_CPU_NANOS 31611000
#define PRICES_DEFAULT_MEMORY_NANOS 4237000
#define PRICES_DEFAULT_GPU_NANOS 950000000
/* A machine's price is divided by these: a core weighs as much as 9 GiB, a GPU as 90 (AWS, split cost allocation). */
#define PRICES_CORE_WEIGHT 9
#define PRICES_GPU_WEIGHT 90

struct prices;

/* What rows can ask of a host; NULL: unknown. */
struct prices_host {
	const char *hostname, *cluster;
	const char *instance_id, *instance_type, *region, *lifecycle;
	bool is_cloud; /* rented: it may be spot */
};

enum prices_basis {
	PRICES_NODE,    /* price of the whole machine */
	PRICES_RATES,   /* prices of cores and memory */
	PRICES_DEFAULT, /* nothing is known about this host: OpenCost's defaults */
	PRICES_NONE,    /* not even that: the list is in another currency than the defaults */
	PRICES_BASIS_COUNT,
};

/* "node", "rates", "default", "none". */
const char *price_basis_name(enum prices_basis basis);

struct price {
	enum prices_basis basis;
	int64_t node_nanos;              /* PRICES_NODE */
	int64_t cpu_nanos, memory_nanos; /* else: of a core, of a GiB */
	int64_t gpu_nanos;               /* and of a GPU */
	int64_t until_unix_ns;           /* the price may be another from then on; INT64_MAX: never */
	unsigned line;                   /* of the row that gave it, 0: none */
	bool may_be_spot; /* that row is of a type of machine, for an instance that is, or may be, spot */
};

/* Reads a list. If `path` is NULL, or may be missing and is, the list is empty. Returns 0; -EINVAL or -errno with
 * `*ret_error`; -ENOMEM. */
int prices_load(const char *path, bool may_be_missing, struct prices **ret_prices, struct tree_error *ret_error);
void prices_free(struct prices *prices);

const char *prices_currency(const struct prices *prices);
size_t prices_count(const struct prices *prices);

/* The prices of one host, one after another: what the list says about it is looked up once. */
struct price_times {
	struct price *items; /* the latest first: it has no end */
	size_t count;
};

/* Returns 0 or -ENOMEM. */
int price_times_make(const struct prices *prices, const struct prices_host *host, struct price_times *ret_times);
void price_times_free(struct price_times *times);

const struct price *price_at(const struct price_times *times, int64_t unix_ns);

/* Of how many hosts the list does not say all, for the note beside the money. */
struct price_doubts {
	size_t default_count; /* PRICES_DEFAULT */
	size_t none_count;    /* PRICES_NONE: left out */
	size_t spot_count;    /* may_be_spot */
};

/* Returns whether the price is in doubt: one host is counted once. */
bool price_doubts_add(struct price_doubts *doubts, const struct price *price);

/* From when on the host has no price, PRICES_NONE; INT64_MAX: it always has one. */
int64_t price_times_end(const struct price_times *times);

struct price_size {
	int64_t cpu_count, memory_bytes, gpu_count;
};

/* What `ns` cost at this price: of all processors, of the memory and of all GPUs. Exact, rounded down to whole nanos;
 * INT64_MAX if it is more. Sizes that no host has are limited as price_limit() does. */
void price_bill(const struct price *price, const struct price_size *size, int64_t ns,
		int64_t ret_nanos[CHARGE_RESOURCE_COUNT]);
/* Their sum, INT64_MAX if it is more. */
int64_t price_sum(const int64_t nanos[CHARGE_RESOURCE_COUNT]);

/* Figures of a host are not to be trusted: returns 0 for an unknown or negative one, and no more than `most`. */
#define PRICE_CPUS_MAX (INT64_C(1) << 20)
#define PRICE_MEMORY_BYTES_MAX (INT64_C(1) << 60)
int64_t price_limit(int64_t figure, int64_t most);

/* Parses a decimal amount, such as 0.031611, exactly to the nano. Returns 0, -EINVAL, or -ERANGE for more than
 * 100,000. */
int prices_parse_amount(const char *text, int64_t *ret_nanos);
