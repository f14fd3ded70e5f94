/* A bill as FOCUS 1.2 in CSV (focus.finops.org): the mandatory columns and tags, one row for each host, day, key of the
 * bill and kind of charge. */
#pragma once

#include <stdio.h>

#include "analysis/cost/bill.h"

/* `bill` is as charges. Rounds it to millionths of the currency: BilledCost adds up to the bill. Returns 0, -ENOMEM or
 * -EIO. */
int focus_write(FILE *file, struct bill *bill, const struct bill_request *request);
