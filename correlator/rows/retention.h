/* Retention: what is deleted from the store, and when.
 *
 * By age: rows that ended long ago, except those that the shipper has yet to send. The shipper
 * reports its progress in its status file, so it needs no write access to the store. A shipper that
 * has not run for RETENTION_SHIPPER_GONE_DAYS no longer holds anything back. By size: when the store
 * reaches its limit, the oldest rows are deleted, sent or not: a lake that is unreachable for days
 * must not fill the disk. Rows that the lake misses for this reason are counted in a row of losses of
 * kind "unsent", which readers and the lake see.
 *
 * Both work in bounded steps, oldest revisions first, so that commits can proceed in between.
 */
#pragma once

#include "common/store/store.h"

struct retention_options {
	int64_t days;        /* 0: keep forever */
	uint64_t bytes_max;  /* size of the store; 0: no limit */
	const char *shipper; /* directory of its status file */
};

#define RETENTION_SHIPPER_GONE_DAYS 30

/* The time is a parameter so that tests can choose it. */
struct retention_now {
	int64_t unix_ns, boot_ns;
};

/* One pass over the store, starting at its oldest revision. */
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

/* Run the next step of the current round, or the first of a new one. Return true if another step is due
 * soon, false if the round is over. Call between two commits of the store. Results and failures are
 * logged. */
bool retention_by_age(struct retention *retention, const struct retention_now *now);
bool retention_by_size(struct retention *retention, const struct retention_now *now);
