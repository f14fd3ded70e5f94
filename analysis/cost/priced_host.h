/* A host and its price at a time. */
#pragma once

#include <jansson.h>

#include "analysis/cost/bill.h"

struct priced_host {
	const struct row_cloud_host *row;
	struct prices_host host; /* as a list of prices knows it */
	struct price price;
	int64_t hour_micros; /* of the whole host; ROW_NULL if its size is unknown */
};

/* Returns 0 or -ENOMEM. */
int priced_host_make(const struct prices *prices, const struct row_cloud_host *row, int64_t unix_ns,
		     struct priced_host *ret_priced);
/* A member of `hosts` of `tracer prices show --json` (docs/json.md). */
json_t *priced_host_to_json(const struct priced_host *priced);
