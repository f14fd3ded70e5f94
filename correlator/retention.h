/* What the store forgets, and when.
 *
 * By age: runs that ended long ago, but nothing that the shipper has still to send; how far
 * it is stands in its status file, so that it needs no way into the store. By size: when the
 * store has grown to its bound, the oldest goes, sent or not: a lake that is away for days
 * must not fill the disk. What is lost to the lake that way is counted in a row of losses
 * of kind "unsent", which readers and the lake see.
 */
#ifndef TRACER_CORRELATOR_RETENTION_H
#define TRACER_CORRELATOR_RETENTION_H

#include <stdint.h>

#include "common/store/store.h"

struct retention_options {
	int64_t days;         /* 0: for ever */
	uint64_t bytes_most;  /* of the store; 0: no bound */
	const char *shipper;  /* directory of its status file */
};

/* The time is given: a test can have any. */
struct retention_now {
	int64_t unix_ns, boot_ns;
};

/* Between two commits of the store. What it did and what failed is logged. */
void retention_by_age(const struct retention_options *options, struct store *store,
		      const struct retention_now *now);
void retention_by_size(const struct retention_options *options, struct store *store,
		       const struct retention_now *now);

#endif
