/* What the lake refused for its content: kept with the server's words, up to a bound.
 *
 * `tracer ship --from STATE/set-aside` sends it again once the reason is mended. */
#pragma once

#include "shipper/batch.h"

#define ASIDE_DIRECTORY "set-aside"

/* Copies STATE/batch->name there, with the reason beside it, then removes the oldest until
 * what is kept is within `bytes_most`. The rows given up that way, or -errno. */
int64_t aside_put(const char *state, const struct batch *batch, const char *reason,
		  uint64_t bytes_most);

/* Removes a batch and what may stand beside it. 0 or -errno. */
int aside_remove(const char *directory, const struct batch *batch);
