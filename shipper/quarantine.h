/* The quarantine: batches that the lake refused because of their content, kept with the reason, up to a bound.
 *
 * `tracer ship --from STATE/quarantine` sends them again once the cause is fixed. */
#pragma once

#include "shipper/batch.h"

#define QUARANTINE_DIRECTORY "quarantine"

/* Copies STATE/batch->name to the quarantine, with the reason beside it, then removes the oldest batches
 * until the total is within `bytes_max`. Returns the number of rows removed that way, or -errno. */
int64_t quarantine_put(const char *state, const struct batch *batch, const char *reason, uint64_t bytes_max);

/* Removes a batch and its reason, if any. Returns 0 or -errno. */
int quarantine_remove(const char *directory, const struct batch *batch);
