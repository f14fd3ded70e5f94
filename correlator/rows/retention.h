/* What the store forgets, and when.
 *
 * By age: what ended long ago, but nothing that the shipper has still to send; how far it is stands
 * in its status file, so that it needs no way into the store. A shipper that has not run for
 * RETENTION_SHIPPER_GONE_DAYS holds nothing back any more. By size: when the store has grown to its
 * bound, the oldest goes, sent or not: a lake that is away for days must not fill the disk. What is
 * lost to the lake that way is counted in a row of losses of kind "unsent", which readers and the
 * lake see.
 *
 * Both work in bounded steps, oldest revisions first, so that commits go on in between.
 */
#pragma once

#include "common/store/store.h"

struct retention_options {
	int64_t days;        /* 0: for ever */
	uint64_t bytes_max;  /* of the store; 0: no bound */
	const char *shipper; /* directory of its status file */
};

#define RETENTION_SHIPPER_GONE_DAYS 30

/* The time is given: a test can have any. */
struct retention_now {
	int64_t unix_ns, boot_ns;
};

/* A way through the store, from its oldest revision on. */
struct retention_round {
	bool is_under_way;
	struct store_expiry expiry; /* the next step */
	int64_t end_rev;
	int64_t begun_unix_ns;
	int64_t row_count, unsent_count; /* deleted so far */
};

struct retention {
	struct retention_options options;
	struct store *store;
	struct retention_round by_age, by_size;
};

/* A step of the round that is under way, or the first of a new one. True: another step is due
 * soon; false: the round is over. Between two commits of the store; what it did and what failed is
 * logged. */
bool retention_by_age(struct retention *retention, const struct retention_now *now);
bool retention_by_size(struct retention *retention, const struct retention_now *now);
