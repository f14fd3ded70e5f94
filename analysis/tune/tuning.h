/* What tune finds about a run: its account, its findings, and what these are worth. */
#pragma once

#include "analysis/cost/prices.h"
#include "analysis/query/thresholds.h"
#include "analysis/tune/findings.h"

#define TUNING_KIND "tune" /* of its findings */
#define GIB 1073741824.0

struct tuning {
	/* Set before tuning_make(): */
	const struct report *report; /* with its lines */
	struct thresholds *thresholds;
	struct catalogue *catalogue; /* NULL: its findings are not asked for */
	struct prices *prices;
	bool by_sample; /* its names are samples, which the report must have; else tasks */

	struct account account;
	bool has_account;
	struct findings_of_run findings;
	struct price_doubts doubts;
	double hosts_nanos, core_nanos, gib_nanos,
		gpu_nanos; /* an hour: of all its hosts, of a core, GiB and GPU of them */
};

/* `format` writes the values in sentences. Returns 0 or -errno; free the tuning either way. */
int tuning_make(struct tuning *tune, finding_format *format);
/* Whether what drives the run computes by itself, as a notebook's kernel or a script, and is not an engine. */
bool tuning_driver_computes(const struct tuning *tune);
void tuning_free(struct tuning *tune);

/* What it is worth that a finding's change saves so much wall time, in millionths of the currency; ROW_NULL if no price
 * is known. The second is what is certain. */
int64_t tuning_saved_micros(const struct tuning *tune, const struct finding_of_run *finding, int64_t wall_ns);
int64_t tuning_least_micros(const struct tuning *tune, const struct finding_of_run *finding);
/* Processes whose figures are lower bounds. */
int64_t tuning_lower_bound_count(const struct tuning *tune);

/* The object of `tracer tune --json` (docs/json.md). */
json_t *tuning_to_json(const struct tuning *tune);
/* What each of its findings has, as an object. */
json_t *tuning_finding_columns(const struct tuning *tune);
