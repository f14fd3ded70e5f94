/* See retention.h. */
#include "correlator/store/retention.h"

#include <errno.h>
#include <string.h>

#include "common/identity.h"
#include "common/log.h"
#include "common/shipper_status.h"

#define DAY_NS (86400 * 1000000000LL)
/* A run's rows are written within seconds of its end, but the wall clock may have been changed. */
#define SHIPPED_MARGIN_NS (3600 * 1000000000LL)
/* Once above its limit, the store is reduced to this fraction below it, so that rounds are occasional
 * rather than continuous. */
#define SLACK_PART 16
#define ROW_BYTES 2048 /* including indexes; few rows are larger */
#define STEP_ROWS_MIN 10
#define WINDOW_ROWS_MAX (8 * STORE_EXPIRY_ROWS_MAX) /* examined in a step that deletes hardly any */

/* The shipper's progress with this store. */
struct shipped {
	int64_t rev, unix_ns; /* INT64_MAX: no shipper, everything counts as sent */
	bool is_gone;         /* has not run for a long time: nothing waits for it */
};

/* If the progress is unknown, nothing counts as sent. Returns 0 or -errno of the store. */
static int shipped_read(const struct retention *retention, const struct retention_now *now, struct shipped *ret_shipped)
{
	const char *shipper = retention->options.shipper;
	struct shipper_status status;
	struct store_host host;
	int error = store_read_host(retention->store, &host);

	if (error < 0)
		return error;
	error = shipper_status_read(shipper, &status);
	*ret_shipped = (struct shipped){0};
	if (error == -ENOENT || error == -ENOTDIR) {
		ret_shipped->rev = ret_shipped->unix_ns = INT64_MAX;
		return 0;
	}
	if (error < 0) {
		log_warning("%s/" SHIPPER_STATUS_FILE ": %s: keeping rows that the shipper may not have sent", shipper,
			    error == -EBADMSG ? "damaged" : strerror(-error));
		return 0;
	}
	ret_shipped->is_gone = now->unix_ns - status.updated_unix_ns > RETENTION_SHIPPER_GONE_DAYS * DAY_NS;
	if (status.store_first_seen_unix_ns == host.first_seen_unix_ns) {
		ret_shipped->rev = status.shipped_rev;
		ret_shipped->unix_ns = status.shipped_unix_ns;
	}
	return 0;
}

/* ---- rounds --------------------------------------------------------------------------------- */

static int round_begin(struct retention *retention, struct retention_round *round, const struct retention_now *now,
		       const struct shipped *shipped, int64_t before_unix_ns)
{
	struct store_stream stream;
	int error = store_read_stream(retention->store, &stream);

	if (error < 0)
		return error;
	*round = (struct retention_round){
		.is_under_way = true,
		.expiry = {.before_unix_ns = before_unix_ns, .shipped_rev = shipped->rev},
		.end_rev = (int64_t)stream.rev,
		.begun_unix_ns = now->unix_ns,
	};
	return 0;
}

/* Adds to the row that counts what the lake misses: one row per round. */
static int unsent_note(struct retention *retention, const struct retention_round *round, int64_t unsent_count,
		       const struct retention_now *now)
{
	struct store_host host;
	struct row_loss loss = {
		.kind = "unsent",
		.first_boot_ns = now->boot_ns,
		.last_boot_ns = now->boot_ns,
		.unix_ns = round->begun_unix_ns,
	};
	struct identity identity;
	int error = store_read_host(retention->store, &host);

	if (error < 0)
		return error;
	loss.host_id = host.id;
	loss.lost_count = unsent_count;
	identity_begin(&identity, "unsent");
	identity_add_u64(&identity, (uint64_t)host.id);
	identity_add_u64(&identity, (uint64_t)round->begun_unix_ns);
	loss.id = identity_end(&identity);
	return store_put_loss(retention->store, &loss);
}

/* Deletes rows and records unsent ones, in one transaction. */
static int step_commit(struct retention *retention, struct retention_round *round, const struct retention_now *now,
		       bool *ret_more)
{
	struct store_stream stream;
	struct store_expired expired;
	int error = store_read_stream(retention->store, &stream);

	if (error == 0)
		error = store_expire(retention->store, &round->expiry, &expired);
	if (error < 0)
		return error;
	if (expired.unsent_count > 0)
		error = unsent_note(retention, round, expired.unsent_count, now);
	if (error < 0)
		store_rollback(retention->store);
	else
		error = store_commit(retention->store, &stream);
	if (error < 0)
		return error;
	round->row_count += expired.row_count;
	round->unsent_count += expired.unsent_count;
	*ret_more = expired.has_more;
	return 0;
}

/* Returns 1 if the round continues, 0 if it has ended, or -errno. */
static int round_step(struct retention *retention, struct retention_round *round, int64_t row_count,
		      const struct retention_now *now)
{
	struct store_expiry *expiry = &round->expiry;
	bool more = false;
	int error = 0;

	if (expiry->first_rev >= round->end_rev)
		return 0;
	if (expiry->last_rev <= expiry->first_rev)
		error = store_find_window(retention->store, expiry->first_rev, round->end_rev, row_count,
					  &expiry->last_rev);
	if (error == 0)
		error = step_commit(retention, round, now, &more);
	if (error < 0)
		return error;
	store_vacuum_step(retention->store);
	if (!more)
		expiry->first_rev = expiry->last_rev;
	return expiry->first_rev < round->end_rev;
}

/* Calls round_step(), logs failures and, at the end of the round, deletes what is not used any more. */
static bool round_go_on(struct retention *retention, struct retention_round *round, int64_t row_count,
			const struct retention_now *now)
{
	int result = round_step(retention, round, row_count, now);

	if (result == 0)
		result = store_delete_unused(retention->store);
	if (result < 0)
		log_warning("cannot delete old rows: %s", store_error_text(retention->store));
	round->is_under_way = result > 0;
	return round->is_under_way;
}

/* ---- by age --------------------------------------------------------------------------------- */

static int age_begin(struct retention *retention, const struct retention_now *now)
{
	struct retention_round *round = &retention->by_age;
	int64_t before_unix_ns = now->unix_ns - retention->options.days * DAY_NS, young_rev;
	struct shipped shipped;
	int error = shipped_read(retention, now, &shipped);

	if (error < 0)
		return error;
	if (!shipped.is_gone && shipped.unix_ns != INT64_MAX && shipped.unix_ns - SHIPPED_MARGIN_NS < before_unix_ns)
		before_unix_ns = shipped.unix_ns - SHIPPED_MARGIN_NS;
	error = round_begin(retention, round, now, &shipped, before_unix_ns);
	if (error == 0)
		error = store_find_young(retention->store, before_unix_ns, now->unix_ns + DAY_NS, &young_rev);
	if (error < 0)
		return error;
	if (young_rev < round->end_rev)
		round->end_rev = young_rev;
	if (!shipped.is_gone && shipped.rev < round->end_rev)
		round->end_rev = shipped.rev;
	return 0;
}

bool retention_by_age(struct retention *retention, const struct retention_now *now)
{
	struct retention_round *round = &retention->by_age;

	if (retention->options.days == 0)
		return false;
	if (!round->is_under_way && age_begin(retention, now) < 0)
		return round->is_under_way = false;
	if (round_go_on(retention, round, STORE_EXPIRY_ROWS_MAX, now))
		return true;
	if (round->row_count > 0)
		log_info("deleted %lld rows older than %lld days", (long long)round->row_count,
			 (long long)retention->options.days);
	if (round->unsent_count > 0)
		log_warning("%lld of these rows were deleted unsent: tracer-shipper has not run for "
			    "over %d days; if it is no longer used, remove %s",
			    (long long)round->unsent_count, RETENTION_SHIPPER_GONE_DAYS, retention->options.shipper);
	return false;
}

/* ---- by size -------------------------------------------------------------------------------- */

/* Returns the bytes to delete; 0 or less if the store is small enough. */
static int64_t excess_bytes(const struct retention *retention)
{
	int64_t most = retention->options.bytes_max;

	if (retention->by_size.is_under_way)
		most -= most / SLACK_PART;
	return store_used_bytes(retention->store) - most;
}

/* Steps get smaller near the end, so that little more is deleted than necessary, and larger where there is nothing to
 * delete: other users' rows may lie between those of one. */
static int64_t step_rows(int64_t bytes, int64_t empty_steps)
{
	int64_t rows = bytes / ROW_BYTES;

	if (rows > STORE_EXPIRY_ROWS_MAX)
		rows = STORE_EXPIRY_ROWS_MAX;
	if (rows < STEP_ROWS_MIN)
		rows = STEP_ROWS_MIN;
	while (empty_steps-- > 0 && rows < WINDOW_ROWS_MAX)
		rows *= 2;
	return rows;
}

size_t retention_divide(const struct store_holding *holdings, size_t count, int64_t excess_bytes,
			struct retention_share ret_shares[RETENTION_SHARES_MAX])
{
	int64_t above_bytes = 0, level_bytes = 0;
	size_t above_count = 0, share_count = 0;

	/* What the first users have above the level of the next one, until it is enough. */
	while (above_count < count && above_count < RETENTION_SHARES_MAX) {
		above_bytes += holdings[above_count++].bytes;
		level_bytes = (above_bytes - excess_bytes) / (int64_t)above_count;
		if (above_count == count || level_bytes >= holdings[above_count].bytes)
			break;
	}
	if (level_bytes < 0)
		level_bytes = 0;
	for (size_t i = 0; i < above_count && holdings[i].bytes > level_bytes; i++)
		ret_shares[share_count++] = (struct retention_share){
			holdings[i].user_id, holdings[i].bytes - level_bytes, holdings[i].first_rev};
	return share_count;
}

/* Goes on with the next user above the share, or after the last with all users. */
static void share_begin(struct retention *retention)
{
	struct retention_round *round = &retention->by_size;
	bool of_user = round->share_index < round->share_count;
	const struct retention_share share = of_user ? round->shares[round->share_index] : (struct retention_share){0};

	round->is_under_way = true;
	round->expiry.of_user = of_user;
	round->expiry.user_id = share.user_id;
	round->expiry.first_rev = round->expiry.last_rev = share.first_rev;
	round->share_end_bytes = store_used_bytes(retention->store) - share.excess_bytes;
	round->empty_steps = 0;
}

/* What is held is estimated, so it is scaled to the store's size. */
static int shares_find(struct retention *retention)
{
	struct retention_round *round = &retention->by_size;
	struct store_holding holdings[RETENTION_SHARES_MAX + 1];
	int64_t used_bytes = store_used_bytes(retention->store), excess = excess_bytes(retention), held_bytes = 0;
	int count = store_find_holdings(retention->store, holdings, RETENTION_SHARES_MAX + 1);

	for (int i = 0; i < count; i++)
		held_bytes += holdings[i].bytes;
	for (int i = 0; i < count; i++)
		holdings[i].bytes = (int64_t)((double)holdings[i].bytes / (double)held_bytes * (double)used_bytes);
	if (count > 0)
		round->share_count = retention_divide(holdings, (size_t)count, excess, round->shares);
	return count < 0 ? count : 0;
}

static int size_begin(struct retention *retention, const struct retention_now *now)
{
	struct shipped shipped;
	int error = shipped_read(retention, now, &shipped);

	if (error == 0)
		error = round_begin(retention, &retention->by_size, now, &shipped, INT64_MAX);
	if (error == 0)
		error = shares_find(retention);
	if (error == 0)
		share_begin(retention);
	return error;
}

/* One step of the user whose turn it is, or of all. Returns false if it was their last. */
static bool share_go_on(struct retention *retention, const struct retention_now *now)
{
	struct retention_round *round = &retention->by_size;
	int64_t bytes = excess_bytes(retention), rows = round->row_count;
	int64_t share_bytes = store_used_bytes(retention->store) - round->share_end_bytes;
	bool more;

	if (round->expiry.of_user && share_bytes < bytes)
		bytes = share_bytes;
	more = round_go_on(retention, round, step_rows(bytes, round->empty_steps), now);
	round->empty_steps = round->row_count > rows ? 0 : round->empty_steps + 1;
	return more && (!round->expiry.of_user || store_used_bytes(retention->store) > round->share_end_bytes);
}

bool retention_by_size(struct retention *retention, const struct retention_now *now)
{
	struct retention_round *round = &retention->by_size;
	bool more, is_above;

	if (retention->options.bytes_max == 0)
		return false;
	if (!round->is_under_way && (excess_bytes(retention) <= 0 || size_begin(retention, now) < 0))
		return round->is_under_way = false;
	more = share_go_on(retention, now);
	is_above = excess_bytes(retention) > 0;
	if (is_above && more)
		return true;
	if (is_above && round->share_index < round->share_count) {
		round->share_index++;
		share_begin(retention);
		return true;
	}
	round->is_under_way = false;
	log_warning("the store exceeded its limit of %lld MiB: deleted %lld rows, the oldest of users above "
		    "their share first, %lld of them unsent",
		    (long long)retention->options.bytes_max >> 20, (long long)round->row_count,
		    (long long)round->unsent_count);
	if (is_above)
		log_warning("the store still exceeds its limit: the remaining rows belong to what is running");
	return false;
}
