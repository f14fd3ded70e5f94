/* Rounds, answers and retries. See shipper.h. */
#include "shipper/shipper.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/loop.h"
#include "common/ready.h"
#include "common/shipper_status.h"
#include "shipper/quarantine.h"
#include "shipper/file.h"
#include "shipper/gather.h"
#include "shipper/retry.h"
#include "shipper/sink.h"

#define WATCH_PERIOD_MS 1000
#define STATUS_PERIOD_NS 1000000000LL /* during continuous sending */
#define STORE_RETRY_MS 5000
#define LAST_ROUND_MS 5000 /* after SIGTERM */
#define CLOUD_AGAIN_MS (3600 * 1000)
#define REFUSALS_BELIEVED 3 /* a body may have been damaged in transit */
#define ONCE_FAILURES 3
#define AHEAD_ROWS 500 /* per step: blocks the loop for some milliseconds */
#define REPEAT_LOG_NS (600 * 1000000000LL)

enum phase {
	PHASE_IDLE,    /* waits for the next round */
	PHASE_STEP,    /* the step timer will continue the round */
	PHASE_SENDING, /* the sink has a batch */
};

struct shipper {
	const struct settings *settings;
	struct shipper_options options;
	uv_loop_t loop;
	uv_timer_t step_timer, ahead_timer, watch_timer, stop_timer, cloud_timer;
	uv_signal_t terminate, interrupt;
	const struct sink_type *type;
	struct sink *sink;
	struct gather gather;
	struct gather_snapshot snapshot;
	struct cursor cursor;
	bool cursor_is_saved;
	struct retry retry;
	enum phase phase;
	bool in_round;
	size_t entity;
	int64_t round_unix_ns; /* of the latest commit when the round began */
	struct batch batch;
	bool has_batch, has_more;
	bool is_answered;   /* the lake has decided on the batch; only saving the cursor remains */
	bool has_first;     /* the first leftover batch is found, or none is to be used */
	struct batch ahead; /* the next batch, gathered while the current one is sent */
	bool has_ahead, ahead_has_more;
	unsigned refusals;
	uint64_t too_large_bytes; /* smallest batch rejected as too large; 0: none */
	struct cloud *cloud;
	bool cloud_pending; /* the first answer is outstanding */
	struct shipper_status status;
	int64_t logged_unix_ns;
	char logged[SHIPPER_STATUS_TEXT_BYTES];
	bool stopping;
	int result;
};

static void step_due(uv_timer_t *timer);
static void ahead_due(uv_timer_t *timer);

/* ---- status ---------------------------------------------------------------------- */

static void status_write(struct shipper *shipper)
{
	struct shipper_status *status = &shipper->status;
	char *text;
	int error = -ENOMEM;

	status->updated_unix_ns = (int64_t)clock_unix_ns();
	status->attempt_count = shipper->retry.attempts;
	text = shipper_status_format(status);
	if (text)
		error = file_write(shipper->settings->state, SHIPPER_STATUS_FILE, text, strlen(text), 0644, false);
	/* On a full disk, overwrite in place: the status must report exactly that. */
	if (error == -ENOSPC || error == -EDQUOT)
		error = file_overwrite(shipper->settings->state, SHIPPER_STATUS_FILE, text, strlen(text));
	free(text);
	if (error < 0)
		log_debug("cannot write the status: %s", strerror(-error));
}

/* Logs a failure once, then every ten minutes while it persists. */
static void note_failure(struct shipper *shipper, const char *reason)
{
	struct shipper_status *status = &shipper->status;
	int64_t now_ns = (int64_t)clock_unix_ns();

	status->last_error_unix_ns = now_ns;
	if (!status->failing_since_unix_ns)
		status->failing_since_unix_ns = now_ns;
	snprintf(status->last_error, sizeof(status->last_error), "%s", reason);
	if (strcmp(shipper->logged, status->last_error) != 0 || now_ns - shipper->logged_unix_ns > REPEAT_LOG_NS) {
		log_warning("%s", reason);
		snprintf(shipper->logged, sizeof(shipper->logged), "%s", reason);
		shipper->logged_unix_ns = now_ns;
	}
	status_write(shipper);
}

static void note_success(struct shipper *shipper)
{
	struct shipper_status *status = &shipper->status;

	status->last_success_unix_ns = (int64_t)clock_unix_ns();
	if (status->failing_since_unix_ns)
		log_info("delivery resumed");
	status->failing_since_unix_ns = 0;
	shipper->logged[0] = '\0';
	retry_succeeded(&shipper->retry);
}

/* ---- the cursor -------------------------------------------------------------------- */

static int cursor_keep(struct shipper *shipper)
{
	int error = cursor_save(shipper->settings->state, &shipper->cursor);

	shipper->cursor_is_saved = error == 0;
	return error;
}

static int64_t highest_rev(const struct cursor *cursor)
{
	int64_t highest = 0;

	for (size_t i = 0; store_entity_name(i); i++)
		if (cursor->revs[i] > highest)
			highest = cursor->revs[i];
	return highest;
}

/* Matches the cursor with the store that was found. Returns 1 to continue; 0 to wait; -errno. */
static int cursor_match(struct shipper *shipper)
{
	const struct gather_snapshot *snapshot = &shipper->snapshot;
	struct cursor *cursor = &shipper->cursor;
	bool is_of = cursor_is_of(cursor, &snapshot->store);
	int error;

	if (is_of && snapshot->rev >= highest_rev(cursor))
		return 1;
	/* A crash of the machine may undo commits; the correlator then continues far above the
	 * revisions it had assigned (correlator/store/writer.c). Here it has not started yet. */
	if (is_of && !snapshot->is_of_this_boot)
		return 0;
	if (cursor->base_version)
		log_warning("%s is a different store or an older copy: sending all of it", shipper->settings->store);
	cursor_restart(cursor, &snapshot->store, clock_unix_ns());
	/* Save before freezing anything: the base tells to which store a batch belongs. */
	error = cursor_keep(shipper);
	return error < 0 ? error : 1;
}

/* ---- leftover batches --------------------------------------------------------------- */

static int entity_find(const struct shipper *shipper, const char *batch_entity, size_t *ret_index)
{
	char name[STORE_ENTITY_NAME_BYTES];

	for (size_t i = 0; gather_entity(&shipper->gather, i, name); i++)
		if (strcmp(name, batch_entity) == 0) {
			*ret_index = i;
			return 0;
		}
	return -ENOENT;
}

static void batch_remove(const struct shipper *shipper, const struct batch *batch)
{
	char path[PATH_MAX];

	if (file_path(path, shipper->settings->state, batch->name) == 0)
		unlink(path);
}

/* Returns true if the batch begins at the cursor or beyond. */
static bool batch_is_due(const struct shipper *shipper, const struct batch *batch, size_t *ret_entity)
{
	const struct cursor *cursor = &shipper->cursor;

	return entity_find(shipper, batch->entity, ret_entity) == 0 && cursor->base_version &&
	       batch->from_version >= cursor->base_version + (uint64_t)cursor->revs[*ret_entity];
}

/* The first batch that was frozen but not acknowledged is sent first, unchanged. The one after it is
 * recreated; if the first is damaged, both are, or the cursor would move past it. */
static int batch_consider(const struct batch *found, void *data)
{
	struct shipper *shipper = data;
	struct batch batch = *found;
	size_t entity;

	if (shipper->has_first || !batch_is_due(shipper, &batch, &entity)) {
		batch_remove(shipper, &batch);
		return 0;
	}
	shipper->has_first = true;
	shipper->has_batch = batch_check(shipper->settings->state, &batch) == 0;
	if (!shipper->has_batch) {
		batch_remove(shipper, &batch);
		return 0;
	}
	shipper->batch = batch;
	shipper->entity = entity;
	shipper->has_more = true; /* not known, so the round checks again */
	return 0;
}

/* Batches frozen under other settings may contain data to be left out now: they are recreated. */
static int batches_resume(struct shipper *shipper)
{
	const char *state = shipper->settings->state;
	int64_t left_out = settings_hash_left_out(shipper->settings);
	bool is_other = shipper->cursor.left_out != left_out;
	int error;

	shipper->has_first = is_other;
	shipper->cursor.left_out = left_out;
	error = batch_each(state, batch_consider, shipper);
	return error == 0 && is_other && shipper->cursor.base_version ? cursor_keep(shipper) : error;
}

/* ---- rounds ------------------------------------------------------------------------ */

static void step_after(struct shipper *shipper, uint64_t wait_ms)
{
	shipper->phase = PHASE_STEP;
	uv_timer_start(&shipper->step_timer, step_due, wait_ms, 0);
}

static void round_wait(struct shipper *shipper)
{
	shipper->in_round = false;
	if (shipper->stopping || shipper->options.once) {
		uv_stop(&shipper->loop);
		return;
	}
	shipper->phase = PHASE_IDLE;
	uv_timer_start(&shipper->step_timer, step_due,
		       retry_jitter(&shipper->retry, shipper->settings->interval_s * 1000), 0);
}

static void store_failed(struct shipper *shipper)
{
	shipper->in_round = false;
	note_failure(shipper, shipper->gather.error);
	if (shipper->stopping || shipper->options.once) {
		shipper->result = -EIO;
		uv_stop(&shipper->loop);
		return;
	}
	step_after(shipper, retry_jitter(&shipper->retry, STORE_RETRY_MS));
}

static void round_end(struct shipper *shipper)
{
	struct shipper_status *status = &shipper->status;
	struct gather_snapshot snapshot;

	if (gather_examine(&shipper->gather, &snapshot) == 0 && !snapshot.is_empty)
		status->store_rev = snapshot.rev; /* may have grown since */
	status->shipped_rev = cursor_rev(&shipper->cursor);
	status->shipped_unix_ns = shipper->round_unix_ns;
	note_success(shipper);
	status_write(shipper);
	round_wait(shipper);
}

/* Returns 1 if the round can proceed; 0 if there is nothing to read yet; -errno. */
static int round_begin(struct shipper *shipper)
{
	struct shipper_status *status = &shipper->status;
	int result = gather_open(&shipper->gather);

	if (result == 0)
		result = gather_examine(&shipper->gather, &shipper->snapshot);
	if (result < 0)
		return result;
	if (shipper->snapshot.is_empty)
		return 0;
	result = cursor_match(shipper);
	if (result < 0) {
		snprintf(shipper->gather.error, sizeof(shipper->gather.error), "%.200s: cannot save the cursor: %s",
			 shipper->settings->state, strerror(-result));
		return result;
	}
	status->store_rev = shipper->snapshot.rev;
	status->store_first_seen_unix_ns = shipper->snapshot.store.first_seen_unix_ns;
	shipper->round_unix_ns = shipper->snapshot.committed_unix_ns;
	shipper->in_round = true;
	shipper->entity = 0;
	return result;
}

/* Returns 1 if a batch is frozen; 0 if nothing is left; -errno. */
static int round_gather(struct shipper *shipper)
{
	for (; store_entity_name(shipper->entity); shipper->entity++) {
		int result = 0;

		if (gather_takes(&shipper->gather, shipper->entity))
			result = gather_batch(&shipper->gather, &shipper->snapshot, shipper->entity, &shipper->cursor,
					      shipper->settings->state, &shipper->batch, &shipper->has_more);
		if (result != 0)
			return result;
		/* Only up to the revision at which the round began: the store may have grown since. */
		if (shipper->cursor.revs[shipper->entity] < shipper->snapshot.rev)
			shipper->cursor.revs[shipper->entity] = shipper->snapshot.rev;
	}
	return 0;
}

/* ---- gathering ahead --------------------------------------------------------------- */

/* While the lake processes a batch, the next one of the same entity is gathered, so that both work in
 * parallel after an outage. Errors here are reported when the batch is due. */
static void ahead_begin(struct shipper *shipper)
{
	struct cursor cursor = shipper->cursor;

	if (!shipper->in_round || !shipper->has_more || shipper->has_ahead || shipper->stopping ||
	    gather_is_begun(&shipper->gather))
		return;
	cursor.revs[shipper->entity] = (int64_t)(shipper->batch.to_version - cursor.base_version);
	if (gather_begin(&shipper->gather, &shipper->snapshot, shipper->entity, &cursor, shipper->settings->state) == 0)
		uv_timer_start(&shipper->ahead_timer, ahead_due, 0, 0);
}

/* Returns 1 if the next batch is frozen; 0 if there is none or it is empty; -errno. */
static int ahead_finish(struct shipper *shipper)
{
	int result;

	uv_timer_stop(&shipper->ahead_timer);
	if (!gather_is_begun(&shipper->gather))
		return shipper->has_ahead;
	result = gather_finish(&shipper->gather, &shipper->ahead, &shipper->ahead_has_more);
	shipper->has_ahead = result == 1;
	return result;
}

static void ahead_due(uv_timer_t *timer)
{
	struct shipper *shipper = timer->data;
	int result = gather_step(&shipper->gather, AHEAD_ROWS);

	if (result > 0)
		uv_timer_start(timer, ahead_due, 0, 0);
	else if (result == 0)
		ahead_finish(shipper);
}

/* Discards the next batch; it is recreated when it is due. */
static void ahead_drop(struct shipper *shipper)
{
	uv_timer_stop(&shipper->ahead_timer);
	gather_abandon(&shipper->gather);
	if (shipper->has_ahead)
		batch_remove(shipper, &shipper->ahead);
	shipper->has_ahead = false;
}

/* Makes the next batch the current one. Returns 1; 0 if there is none; -errno. */
static int ahead_take(struct shipper *shipper)
{
	int result = ahead_finish(shipper);

	if (result == 1) {
		shipper->batch = shipper->ahead;
		shipper->has_more = shipper->ahead_has_more;
		shipper->has_ahead = false;
	}
	return result;
}

static void batch_answered(const struct delivery *delivery, void *data);
static bool batch_settle(struct shipper *shipper);

static void batch_send(struct shipper *shipper)
{
	shipper->phase = PHASE_SENDING;
	shipper->type->send(shipper->sink, shipper->settings->state, &shipper->batch, batch_answered, shipper);
	ahead_begin(shipper);
}

static void batch_continue(struct shipper *shipper)
{
	if (!shipper->is_answered)
		batch_send(shipper);
	else if (batch_settle(shipper))
		note_success(shipper);
}

static void step_due(uv_timer_t *timer)
{
	struct shipper *shipper = timer->data;
	int result = 1;

	if (shipper->cloud_pending) {
		step_after(shipper, 100);
		return;
	}
	if (shipper->has_batch) {
		batch_continue(shipper);
		return;
	}
	if (!shipper->in_round)
		result = round_begin(shipper);
	if (result == 0) {
		round_wait(shipper);
		return;
	}
	if (result > 0) {
		result = ahead_take(shipper);
		if (result == 0)
			result = round_gather(shipper);
	}
	if (result < 0) {
		store_failed(shipper);
	} else if (result == 0) {
		round_end(shipper);
	} else {
		shipper->has_batch = true;
		batch_send(shipper);
	}
}

/* ---- answers ------------------------------------------------------------------------ */

static void batch_retry(struct shipper *shipper, const struct delivery *delivery)
{
	uint64_t wait_ms = retry_failed(&shipper->retry, delivery->retry_after_s);

	note_failure(shipper, delivery->reason);
	if (shipper->stopping || (shipper->options.once && shipper->retry.attempts >= ONCE_FAILURES)) {
		shipper->result = -EIO;
		uv_stop(&shipper->loop);
		return;
	}
	step_after(shipper, wait_ms);
}

/* Finishes a batch that was accepted or quarantined. If the cursor cannot be saved (the disk is full), only
 * saving is retried: sending again would change nothing. Returns false in that case. */
static bool batch_settle(struct shipper *shipper)
{
	struct cursor *cursor = &shipper->cursor;
	int error;

	shipper->is_answered = true;
	cursor->revs[shipper->entity] = (int64_t)(shipper->batch.to_version - cursor->base_version);
	if (!shipper->has_more && cursor->revs[shipper->entity] < shipper->snapshot.rev)
		cursor->revs[shipper->entity] = shipper->snapshot.rev; /* there were no more rows */
	if (shipper->batch.to_version > cursor->highest_version)
		cursor->highest_version = shipper->batch.to_version;
	error = cursor_keep(shipper);
	if (error < 0) {
		struct delivery failure = {0};

		snprintf(failure.reason, sizeof(failure.reason), "%.200s: cannot save the cursor: %s",
			 shipper->settings->state, strerror(-error));
		batch_retry(shipper, &failure);
		return false;
	}
	batch_remove(shipper, &shipper->batch);
	shipper->has_batch = shipper->is_answered = false;
	shipper->refusals = 0;
	shipper->status.shipped_rev = cursor_rev(cursor);
	if (!shipper->has_more)
		shipper->entity++;
	step_after(shipper, 0);
	return true;
}

/* Doubles the batch size after a reduction, if it stays below what was too large. */
static void gather_more(struct shipper *shipper)
{
	uint64_t most = shipper->settings->batch_rows, *rows = &shipper->gather.batch_rows;

	if (*rows < most && shipper->batch.file_bytes < shipper->too_large_bytes / 3)
		*rows = *rows < most / 2 ? *rows * 2 : most;
}

static void batch_accepted(struct shipper *shipper, const struct delivery *delivery)
{
	struct shipper_status *status = &shipper->status;

	if (delivery->reason[0])
		log_warning("%s", delivery->reason);
	status->rejected_row_count += (int64_t)delivery->rejected_count;
	status->sent_batch_count++;
	status->sent_row_count += (int64_t)shipper->batch.row_count;
	status->sent_bytes += (int64_t)shipper->batch.file_bytes;
	log_debug("sent %s", shipper->batch.name);
	gather_more(shipper);
	if (batch_settle(shipper))
		note_success(shipper);
	if ((int64_t)clock_unix_ns() - shipper->status.updated_unix_ns >= STATUS_PERIOD_NS)
		status_write(shipper); /* otherwise at the end of the round */
}

static void batch_refused(struct shipper *shipper, const struct delivery *delivery)
{
	struct shipper_status *status = &shipper->status;
	int64_t dropped;

	if (delivery->kind == DELIVERY_REFUSED && ++shipper->refusals < REFUSALS_BELIEVED) {
		batch_retry(shipper, delivery);
		return;
	}
	dropped = quarantine_put(shipper->settings->state, &shipper->batch, delivery->reason,
				 shipper->settings->quarantine_bytes_max);
	if (dropped < 0) {
		struct delivery failure = *delivery;

		snprintf(failure.reason, sizeof(failure.reason),
			 "%.200s/" QUARANTINE_DIRECTORY ": cannot quarantine a batch that the lake rejected: %s",
			 shipper->settings->state, strerror((int)-dropped));
		batch_retry(shipper, &failure);
		return;
	}
	note_failure(shipper, delivery->reason);
	log_error("%s: %llu rows quarantined", shipper->batch.name, (unsigned long long)shipper->batch.row_count);
	status->quarantined_batch_count++;
	status->quarantined_row_count += (int64_t)shipper->batch.row_count;
	status->quarantine_dropped_row_count += dropped;
	retry_succeeded(&shipper->retry);
	if (shipper->options.once)
		shipper->result = -EBADMSG;
	batch_settle(shipper);
	status_write(shipper);
}

/* The same bytes would be rejected again, so the rows are gathered again with half the batch size. A single row
 * cannot be split. A lake that lacks time or memory gets the next batch later, and is not asked for ever smaller ones. */
static void batch_halve(struct shipper *shipper, const struct delivery *delivery)
{
	const struct batch *batch = &shipper->batch;
	bool is_proxy = delivery->kind == DELIVERY_TOO_LARGE;

	if (!is_proxy && batch->row_count < DELIVERY_ROWS_MIN) {
		shipper->refusals = 0;
		batch_retry(shipper, delivery);
		return;
	}
	if (shipper->too_large_bytes == 0 || batch->file_bytes < shipper->too_large_bytes)
		shipper->too_large_bytes = batch->file_bytes;
	if (batch->row_count <= 1) {
		batch_refused(shipper, delivery);
		return;
	}
	shipper->gather.batch_rows = batch->row_count / 2;
	log_warning("%s; %llu KiB were rejected: sending smaller batches", delivery->reason,
		    (unsigned long long)batch->file_bytes >> 10);
	ahead_drop(shipper);
	batch_remove(shipper, batch);
	shipper->has_batch = false;
	shipper->refusals = 0;
	step_after(shipper, is_proxy ? 0 : retry_failed(&shipper->retry, delivery->retry_after_s));
}

static void batch_answered(const struct delivery *delivery, void *data)
{
	struct shipper *shipper = data;

	switch (delivery->kind) {
	case DELIVERY_ACCEPTED: batch_accepted(shipper, delivery); break;
	case DELIVERY_REFUSED:
	case DELIVERY_INVALID: batch_refused(shipper, delivery); break;
	case DELIVERY_TOO_LARGE:
	case DELIVERY_TOO_MUCH: batch_halve(shipper, delivery); break;
	default:
		shipper->refusals = 0;
		batch_retry(shipper, delivery);
		break;
	}
}

/* ---- timers, signals, cloud ----------------------------------------------------------- */

/* Between rounds: starts a round early if there are enough rows for a batch. */
static void watch_due(uv_timer_t *timer)
{
	struct shipper *shipper = timer->data;
	struct gather_snapshot snapshot;

	if (!shipper->gather.store || gather_examine(&shipper->gather, &snapshot) < 0 || snapshot.is_empty)
		return;
	if (shipper->phase == PHASE_IDLE &&
	    snapshot.rev - cursor_rev(&shipper->cursor) >= (int64_t)shipper->settings->batch_rows)
		step_after(shipper, 0);
}

static void stop_due(uv_timer_t *timer)
{
	uv_stop(timer->loop);
}

/* The first signal starts a last round, the second ends at once. */
static void stop_requested(uv_signal_t *signal, int number)
{
	struct shipper *shipper = signal->data;

	if (shipper->stopping || shipper->status.failing_since_unix_ns) {
		uv_stop(&shipper->loop);
		return;
	}
	shipper->stopping = true;
	uv_timer_start(&shipper->stop_timer, stop_due, LAST_ROUND_MS, 0);
	if (shipper->phase == PHASE_IDLE)
		step_after(shipper, 0);
}

static void cloud_due(uv_timer_t *timer);

static void cloud_found(const struct cloud_identity *found, void *data)
{
	struct shipper *shipper = data;

	shipper->cloud_pending = false;
	if (found) {
		shipper->gather.cloud = *found;
		snprintf(shipper->status.cloud, sizeof(shipper->status.cloud), "%s %s %s %s", found->provider,
			 found->instance_id, found->instance_type, found->zone);
		log_info("this host is %s", shipper->status.cloud);
	} else {
		log_warning("no cloud metadata service responded: cloud columns stay unknown; retrying "
			    "in an hour (disable with cloud: off)");
		uv_timer_start(&shipper->cloud_timer, cloud_due, CLOUD_AGAIN_MS, 0);
	}
}

static void cloud_due(uv_timer_t *timer)
{
	struct shipper *shipper = timer->data;

	cloud_free(shipper->cloud);
	shipper->cloud = NULL;
	if (cloud_ask(&shipper->loop, shipper->settings->cloud, shipper->settings->cloud_endpoint, cloud_found, shipper,
		      &shipper->cloud) < 0)
		cloud_found(NULL, shipper);
}

static void start(struct shipper *shipper)
{
	uv_timer_t *timers[] = {&shipper->step_timer, &shipper->ahead_timer, &shipper->watch_timer,
				&shipper->stop_timer, &shipper->cloud_timer};

	for (size_t i = 0; i < sizeof(timers) / sizeof(timers[0]); i++) {
		uv_timer_init(&shipper->loop, timers[i]);
		timers[i]->data = shipper;
	}
	uv_signal_init(&shipper->loop, &shipper->terminate);
	uv_signal_init(&shipper->loop, &shipper->interrupt);
	shipper->terminate.data = shipper->interrupt.data = shipper;
	uv_signal_start(&shipper->terminate, stop_requested, SIGTERM);
	uv_signal_start(&shipper->interrupt, stop_requested, SIGINT);
	uv_timer_start(&shipper->watch_timer, watch_due, WATCH_PERIOD_MS, WATCH_PERIOD_MS);
	if (shipper->settings->cloud != CLOUD_OFF) {
		shipper->cloud_pending = true;
		uv_timer_start(&shipper->cloud_timer, cloud_due, 0, 0);
	}
	step_after(shipper, 0);
}

/* ---- running ---------------------------------------------------------------------------- */

static int shipper_prepare(struct shipper *shipper)
{
	const char *state = shipper->settings->state;
	uint64_t seed = clock_unix_ns();
	int error = cursor_open(state, &shipper->cursor);

	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) < 0)
		log_debug("no random numbers yet: using the clock for jitter");
	retry_init(&shipper->retry, seed);
	if (error == 0)
		error = batches_resume(shipper);
	if (error < 0) {
		log_error("%s: cannot use the state directory: %s; it must exist and belong to the shipper's user",
			  state, strerror(-error));
		return error;
	}
	shipper_status_read(state, &shipper->status); /* counters continue, or start at 0 */
	snprintf(shipper->status.sink, sizeof(shipper->status.sink), "%s", shipper->type->name);
	shipper->status.failing_since_unix_ns = 0;
	error = uv_loop_init(&shipper->loop);
	if (error == 0)
		error = shipper->type->open(shipper->settings, &shipper->loop, &shipper->sink);
	if (error < 0) {
		log_error("%s: cannot open this sink: %s", shipper->type->name, strerror(-error));
		return error;
	}
	snprintf(shipper->status.target, sizeof(shipper->status.target), "%s", shipper->type->target(shipper->sink));
	return 0;
}

int shipper_run(const struct settings *settings, const struct shipper_options *options)
{
	struct shipper *shipper = calloc(1, sizeof(*shipper));
	int result;

	if (!shipper)
		return -ENOMEM;
	shipper->settings = settings;
	shipper->options = *options;
	shipper->type = sink_find(settings->sink);
	gather_init(&shipper->gather, settings);
	result = shipper_prepare(shipper);
	if (result == 0) {
		start(shipper);
		ready_notify(&shipper->options.ready_fd);
		uv_run(&shipper->loop, UV_RUN_DEFAULT);
		result = shipper->result;
		status_write(shipper);
		shipper->type->close(shipper->sink);
		cloud_free(shipper->cloud);
		loop_end(&shipper->loop);
	}
	gather_deinit(&shipper->gather);
	free(shipper);
	return result;
}
