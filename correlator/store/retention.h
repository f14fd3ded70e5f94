/* Retention: what is deleted from the store, and when.
 *
 * By age: rows that ended long ago, except those that the shipper has yet to send. The shipper
 * reports its progress in its status file, so it needs no write access to the store. A shipper that
 * has not run for RETENTION_SHIPPER_GONE_DAYS no longer holds anything back. By size: when the store
 * reaches its limit, the oldest rows are deleted, sent or not: a lake that is unreachable for days
 * must not fill the disk. Rows that the lake misses for this reason are counted in a row of losses of
 * kind "unsent", which readers and the lake see.
 *
 * By size, users are charged for what they store, so that a flood of one user does not evict the history of others: first the oldest
 * rows of the users above the level at which all, cut to it, fit (the max-min fair share; store_find_holdings() says
 * what is charged to whom). Only if that is not enough, the oldest of all.
 *
 * Both work in bounded steps, oldest revisions first, so that commits can proceed in between.
 */
#pragma once

#include "correlator/store/writer.h"

struct retention_options {
	int64_t days;        /* 0: keep forever */
	int64_t bytes_max;   /* size of the store; 0: no limit */
	const char *shipper; /* directory of its status file */
};

#define RETENTION_SHIPPER_GONE_DAYS 30

/* The time is a parameter so that tests can choose it. */
struct retention_now {
	int64_t unix_ns, boot_ns;
};

/* A user above the equal share, and by how much. */
struct retention_share {
	int64_t user_id, excess_bytes, first_rev;
};

#define RETENTION_SHARES_MAX 64

/* Finds those of `count` users, in descending order of what they have, who have more than their max-min fair share when
 * `excess_bytes` must go. Returns how many. */
size_t retention_divide(const struct store_holding *holdings, size_t count, int64_t excess_bytes,
			struct retention_share ret_shares[RETENTION_SHARES_MAX]);

/* One round over the store, starting at its oldest revision. */
struct retention_round {
	bool is_under_way;
	struct store_expiry expiry; /* the next step */
	int64_t end_rev;
	int64_t begun_unix_ns;
	int64_t row_count, unsent_count; /* deleted so far */
	/* By size: whose rows go, one user after the other, and then those of all. */
	struct retention_share shares[RETENTION_SHARES_MAX];
	size_t share_count, share_index;
	int64_t share_end_bytes; /* size of the store at which this user is done */
	int64_t empty_steps;     /* in a row: steps grow while they find nothing */
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
