/* See retention.h. */
#include "correlator/retention.h"

#include <errno.h>
#include <string.h>

#include "common/identity.h"
#include "common/log.h"
#include "common/shipping.h"

#define DAY_NS (86400 * 1000000000LL)
/* A run's rows are written within seconds of its end; a wall clock may have been set. */
#define SHIPPED_MARGIN_NS (3600 * 1000000000LL)
#define RUNS_MOST 1000 /* at one go: readers and the probe wait meanwhile */
#define CUTS 16        /* steps from the oldest to now, by size */

struct retention_host {
	int64_t id, first_seen_unix_ns;
};

static int host_read(struct store *store, struct retention_host *ret_host)
{
	struct store_result *result;
	int more, error = store_query(store, "hosts", NULL, &result);

	if (error < 0)
		return error;
	*ret_host = (struct retention_host){.first_seen_unix_ns = INT64_MAX};
	while ((more = store_result_next(result)) > 0) {
		int64_t first_seen = store_result_get(result, "first_seen_unix_ns").integer;

		if (first_seen < ret_host->first_seen_unix_ns)
			*ret_host = (struct retention_host){store_result_get(result, "id").integer, first_seen};
	}
	store_result_free(result);
	return more;
}

/* How far the shipper is with this store. Without one, everything may go; where it cannot be
 * told, nothing is known to have been sent. */
static void shipped_read(const struct retention_options *options, const struct retention_host *host,
			 int64_t *ret_rev, int64_t *ret_unix_ns)
{
	struct shipping_status status;
	int error = shipping_status_read(options->shipper, &status);

	*ret_rev = *ret_unix_ns = 0;
	if (error == -ENOENT || error == -ENOTDIR)
		*ret_rev = *ret_unix_ns = INT64_MAX;
	else if (error < 0)
		log_warning("%s/" SHIPPING_STATUS_FILE ": %s: keeping what the shipper may not have sent",
			    options->shipper, error == -EBADMSG ? "damaged" : strerror(-error));
	else if (status.store_first_seen_unix_ns == host->first_seen_unix_ns) {
		*ret_rev = status.shipped_rev;
		*ret_unix_ns = status.shipped_unix_ns;
	}
}

void retention_by_age(const struct retention_options *options, struct store *store,
		      const struct retention_now *now)
{
	struct store_expiry expiry = {.before_unix_ns = now->unix_ns - options->days * DAY_NS,
				      .limit = RUNS_MOST};
	struct retention_host host;
	int64_t shipped_unix_ns, unsent, count;

	if (options->days == 0 || host_read(store, &host) < 0)
		return;
	shipped_read(options, &host, &expiry.shipped_rev, &shipped_unix_ns);
	if (shipped_unix_ns != INT64_MAX && shipped_unix_ns - SHIPPED_MARGIN_NS < expiry.before_unix_ns)
		expiry.before_unix_ns = shipped_unix_ns - SHIPPED_MARGIN_NS;
	count = store_expire(store, &expiry, &unsent);
	if (count < 0)
		log_warning("cannot expire old runs: %s", store_error_text(store));
	else if (count > 0)
		log_info("expired %lld runs older than %lld days", (long long)count,
			 (long long)options->days);
}

/* ---- by size ----------------------------------------------------------------------------- */

static int unsent_note(struct store *store, const struct retention_host *host,
		       const struct retention_now *now, int64_t count)
{
	struct row_loss loss = {
		.host_id = host->id,
		.kind = "unsent",
		.lost_count = count,
		.first_boot_ns = now->boot_ns,
		.last_boot_ns = now->boot_ns,
		.unix_ns = now->unix_ns,
	};
	struct store_stream stream;
	struct identity identity;
	int error = store_read_stream(store, &stream);

	identity_begin(&identity, "unsent");
	identity_add_u64(&identity, (uint64_t)host->id);
	identity_add_u64(&identity, (uint64_t)now->unix_ns);
	loss.id = identity_end(&identity);
	if (error == 0)
		error = store_put_loss(store, &loss);
	return error < 0 ? error : store_commit(store, &stream);
}

static int64_t oldest_run(struct store *store)
{
	const struct store_parameter all[] = {{"since_unix_ns", STORE_INTEGER, 0, NULL},
					      {"with_system", STORE_INTEGER, 1, NULL},
					      {"limit", STORE_INTEGER, INT64_MAX, NULL},
					      {"candidate_limit", STORE_INTEGER, INT64_MAX, NULL}, {0}};
	struct store_result *result;
	int64_t oldest = INT64_MAX;

	if (store_query(store, "runs", all, &result) < 0)
		return oldest;
	while (store_result_next(result) > 0) {
		int64_t started = store_result_get(result, "started_unix_ns").integer;

		oldest = started < oldest ? started : oldest;
	}
	store_result_free(result);
	return oldest;
}

/* Cuts off the oldest sixteenth of the time, then the next, until it fits. */
static int64_t cut_down(const struct retention_options *options, struct store *store,
			struct store_expiry *expiry, const struct retention_now *now)
{
	int64_t oldest = oldest_run(store), unsent_count = 0, unsent = 0;
	int64_t used = store_used_bytes(store);

	for (int cut = 1; cut <= CUTS && oldest < now->unix_ns; cut++) {
		if (used <= (int64_t)options->bytes_most)
			break;
		expiry->before_unix_ns = oldest + (now->unix_ns - oldest) / CUTS * cut;
		if (store_expire(store, expiry, &unsent) < 0) {
			log_warning("cannot make room in the store: %s", store_error_text(store));
			break;
		}
		unsent_count += unsent;
		used = store_used_bytes(store);
	}
	return unsent_count;
}

void retention_by_size(const struct retention_options *options, struct store *store,
		       const struct retention_now *now)
{
	struct store_expiry expiry = {.limit = RUNS_MOST, .with_unsent = true};
	struct retention_host host;
	int64_t used = store_used_bytes(store), shipped_unix_ns, unsent_count;

	if (options->bytes_most == 0 || used <= (int64_t)options->bytes_most ||
	    host_read(store, &host) < 0)
		return;
	shipped_read(options, &host, &expiry.shipped_rev, &shipped_unix_ns);
	unsent_count = cut_down(options, store, &expiry, now);
	log_warning("the store had grown to %lld MiB, above its bound of %lld: the oldest runs are deleted"
		    ", %lld processes and samples of them before they were sent",
		    (long long)used >> 20, (long long)options->bytes_most >> 20, (long long)unsent_count);
	if (unsent_count > 0 && unsent_note(store, &host, now, unsent_count) < 0)
		log_warning("cannot note what was lost: %s", store_error_text(store));
}
