/* What the lake refused for its content: kept with the server's words, up to a bound.
 *
 * `tracer ship --from STATE/quarantine` sends it again once the reason is mended. */
#pragma once

#include "shipper/batch.h"

#define QUARANTINE_DIRECTORY "quarantine"

/* Copies STATE/batch->name there, with the reason beside it, then removes the oldest until
 * what is kept is within `bytes_max`. The rows given up that way, or -errno. */
int64_t quarantine_put(const char *state, const struct batch *batch, const char *reason, uint64_t bytes_max);

/* Removes a batch and what may stand beside it. 0 or -errno. */
int quarantine_remove(const char *directory, const struct batch *batch);
