/* Whether the daemons are at work on a store right now. */
#pragma once

#include "cli/findings.h"
#include "common/store/store.h"

enum freshness {
	FRESHNESS_FRESH,      /* something was committed within the last seconds */
	FRESHNESS_STALE,      /* no store, or nobody writes it */
	FRESHNESS_UNREADABLE, /* the daemons' socket is there, the store is not for us */
};

#define FRESHNESS_LIMIT_NS 15000000000LL /* of an idle host it moves every ten seconds */

/* How far behind now the store is; INT64_MAX: of another boot. */
int64_t freshness_lag_ns(const struct store_stream *stream);

/* A finding where the store is behind: which daemon is silent, and for how long. */
void freshness_tell(const struct store_stream *stream, struct findings *findings);

/* Says nothing: it is no failure that no daemon runs. */
enum freshness freshness_read(const char *store_path);
