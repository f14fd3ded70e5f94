/* What work cost: divides what hosts cost in a time among the work that ran on them, and adds it up by run, task,
 * tool, sample, user, cost centre, host or day.
 *
 * The parts always add up to the bill, in whole nanos: rows + other runs + the system + idle = bill.
 *
 * Instead of money it can be energy, modelled (analysis/cost/power.h), in nanos of a kWh. Then work has the energy of the
 * processors and the memory that it used; what the host takes without any work is idle.
 */
#pragma once

#include <jansson.h>
#include <uthash.h>

#include "analysis/cost/centres.h"
#include "analysis/cost/prices.h"
#include "analysis/query/run_samples.h"

/* B(NAME, "name"): what a row of a bill is. */
#define BILL_KEYS(B) \
	B(RUN, "run") \
	B(TASK, "task") \
	B(TOOL, "tool") \
	B(SAMPLE, "sample") \
	B(USER, "user") \
	B(CENTRE, "centre") \
	B(HOST, "host") \
	B(DAY, "day")

enum bill_key {
#define B(NAME, name) BILL_BY_##NAME,
	BILL_KEYS(B)
#undef B
};

const char *bill_key_name(enum bill_key key);

struct bill_request {
	enum bill_key by;
	bool is_energy;  /* not money: `prices` are not used */
	bool as_charges; /* a row for each host and day (UTC) too, and one for what is not work there */
	int64_t since_unix_ns, until_unix_ns;
	const char *host;          /* only this one; NULL: all */
	const int64_t *user_id;    /* only runs of this user, the others are other runs; NULL: all */
	const struct row_run *run; /* only this run, with its parts on other hosts, while it ran; NULL: everything */
	const struct prices *prices;
	const struct centres *centres;           /* if by centre; as charges by run they may be named, too */
	const struct sample_names *sample_names; /* NULL: infer */
};

/* Where and when the work of a row ran. */
struct bill_place {
	const struct row_host *host;
	int64_t begin_unix_ns, end_unix_ns; /* a day, as far as it was asked for */
};

struct bill_row {
	UT_hash_handle hh;
	int64_t id;                                 /* of a run or host, number of a user; else 0 */
	size_t item_count;                          /* runs of a user; tasks of another */
	int64_t used_nanos, unused_nanos;           /* unused: requested only */
	int64_t cpu_nanos, memory_nanos, gpu_nanos; /* parts of the sum of both */
	int64_t gpu_unused_nanos;                   /* part of unused_nanos */
	int64_t gpu_ms[GPU_TIME_COUNT];             /* time in which devices were held */
	int64_t system_nanos, idle_nanos;           /* beside that; of a host or day */
	int64_t observed_ms;                        /* of a host or day */
	int64_t co2;                                /* see bill_add_co2() */
	int64_t user_id;                            /* of a run */
	const char *centre;                         /* of a run, if there is a list */
	struct bill_place place;                    /* as charges */
	const char *name;
	char key[]; /* place, id and name */
};

struct bill {
	struct bill_row *rows;                 /* the most expensive first; charges by day and host */
	struct rows hosts;                     /* row_cloud_host */
	int64_t total_nanos;                   /* of all rows */
	int64_t others_nanos;                  /* of other runs, if one run is asked for */
	int64_t system_nanos;                  /* of the system's own runs and login sessions */
	int64_t idle_nanos;                    /* neither used nor requested */
	int64_t bill_nanos;                    /* the sum of all of these */
	int64_t observed_ms;                   /* of all hosts together: nanoseconds of a fleet exceed 64 bits */
	int64_t unobserved_ms;                 /* the host was off, or nothing watched: not in the bill */
	size_t host_count;                     /* in the bill */
	size_t sampled_count, unsampled_count; /* by sample: runs in which samples were found, and others */
	char misfit[SAMPLES_MISFIT_SIZE];      /* of one of these runs: why no samples were found, or "" */
	struct price_doubts doubts;            /* of the hosts' latest prices; time without a price is left out */
	size_t average_count;                  /* hosts whose processor's power is not known: an average is used */
	int64_t others_co2, system_co2, idle_co2, co2; /* what is in no row, and the sum */
};

/* Returns 0, -ENOMEM, -EOVERFLOW if the bill exceeds INT64_MAX nanos, or the store's error. Free the bill either
 * way. */
int bill_make(struct store *store, const struct bill_request *request, struct bill *ret_bill);
void bill_free(struct bill *bill);

/* Replaces all amounts, which were nanos, by whole numbers of `unit_nanos` that still add up to the bill. Returns 0 or
 * -ENOMEM. */
int bill_round(struct bill *bill, int64_t unit_nanos);

/* Divides the CO2 of all energy, in whole numbers that add up to it. Returns 0 or -ENOMEM. */
int bill_add_co2(struct bill *bill, int64_t co2);

/* Whether a kind of run is the host's own, not work. */
bool bill_is_system(const char *run_kind);

/* What of the host has a price. */
struct price_size bill_size(const struct row_cloud_host *host);

/* The host as a list of prices knows it. An instance of EC2 says in its DMI fields what it is; for other clouds only
 * the lake knows. */
struct prices_host bill_priced_host(const struct row_cloud_host *host);

/* All of a row's amounts together. */
int64_t bill_row_total(const struct bill_row *row);
/* Whether rows of that kind have the host's own and idle time, too. */
bool bill_rows_are_whole(enum bill_key by);

/* ---- as JSON (docs/json.md), and as FOCUS -------------------------------------------- */

/* How many hosts have no price of their own: members of a command's object. */
void price_doubts_to_json(const struct price_doubts *doubts, json_t *root);

#define CARBON_INTENSITY_WORLD 475 /* g/kWh, 2018: IEA, Global Energy & CO2 Status Report 2019 */

/* Returns nanos of a kg for nanos of a kWh; `carbon_intensity` in g/kWh, or -1 for the world's. */
int64_t bill_co2(int64_t nanos, int64_t carbon_intensity);

/* What each of its rows has, as an object. */
json_t *cost_columns(const struct bill_request *request);

/* Rounds the bill to millionths. Returns 0 or -ENOMEM; release `*ret_root` either way. */
int bill_to_json(struct bill *bill, const struct bill_request *request, int64_t carbon_intensity, json_t **ret_root);

/* Writes a bill as charges as FOCUS 1.2 in CSV (focus.finops.org): the mandatory columns and tags, one row for each host,
 * day, key of the bill and kind of charge. Rounds it to millionths of the currency: BilledCost adds up to the bill. Returns
 * 0, -ENOMEM or -EIO. */
int focus_write(FILE *file, struct bill *bill, const struct bill_request *request);
