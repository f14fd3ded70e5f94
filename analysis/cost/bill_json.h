/* What work cost, or the energy that it took, as the object of `tracer cost --json` (docs/json.md). */
#pragma once

#include <jansson.h>

#include "analysis/cost/bill.h"

/* How many hosts have no price of their own: members of a command's object. */
void price_doubts_to_json(const struct price_doubts *doubts, json_t *root);

#define CARBON_INTENSITY_WORLD 475 /* g/kWh, 2018: IEA, Global Energy & CO2 Status Report 2019 */

/* Returns nanos of a kg for nanos of a kWh; `carbon_intensity` in g/kWh, or -1 for the world's. */
int64_t bill_co2(int64_t nanos, int64_t carbon_intensity);

/* What each of its rows has, as an object. */
json_t *cost_columns(const struct bill_request *request);

/* Rounds the bill to millionths. Returns 0 or -ENOMEM; release `*ret_root` either way. */
int bill_to_json(struct bill *bill, const struct bill_request *request, int64_t carbon_intensity, json_t **ret_root);
