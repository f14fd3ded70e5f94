/* --from DIR: sends batches written by the ndjson sink or quarantined. See shipper.h. */
#include <string.h>

#include "common/grow.h"
#include "common/log.h"
#include "common/progress.h"
#include "shipper/quarantine.h"
#include "shipper/retry.h"
#include "shipper/shipper.h"
#include "shipper/sink.h"

#define ATTEMPTS_MAX 5 /* per batch: a user is waiting, and can repeat the command */

struct resend {
	const struct sink_type *type;
	struct sink *sink;
	uv_loop_t loop;
	uv_timer_t timer;
	const char *directory;
	bool remove;
	struct batch *batches;
	size_t batch_count, capacity, next;
	size_t sent_count;                 /* batches */
	uint64_t row_count, refused_count; /* rows sent, and rows refused */
	struct retry retry;
	int result;
};

static int batch_add(const struct batch *batch, void *data)
{
	struct resend *resend = data;
	struct batch *batches = grow(resend->batches, &resend->capacity, resend->batch_count + 1, sizeof(*batches));

	if (!batches)
		return -ENOMEM;
	resend->batches = batches;
	resend->batches[resend->batch_count++] = *batch;
	return 0;
}

static void batch_answered(const struct verdict *verdict, void *data);

static void next_send(uv_timer_t *timer)
{
	struct resend *resend = timer->data;
	struct batch *batch;
	int error = -EBADMSG;

	for (; resend->next < resend->batch_count; resend->next++) {
		batch = &resend->batches[resend->next];
		progress_show("sending: %zu of %zu files", resend->next, resend->batch_count);
		error = batch_check(resend->directory, batch);
		if (error == 0) {
			resend->type->send(resend->sink, resend->directory, batch, batch_answered, resend);
			return;
		}
		log_error("%s: %s: skipped", batch->name, error == -EBADMSG ? "damaged or cut off" : strerror(-error));
		resend->result = -EBADMSG;
	}
	uv_stop(&resend->loop);
}

static void batch_done(struct resend *resend)
{
	const struct batch *batch = &resend->batches[resend->next];

	resend->sent_count++;
	resend->row_count += batch->row_count;
	if (resend->remove && quarantine_remove(resend->directory, batch) < 0)
		log_warning("%s/%s: cannot remove: %s", resend->directory, batch->name, strerror(errno));
}

static void batch_answered(const struct verdict *verdict, void *data)
{
	struct resend *resend = data;
	uint64_t wait_ms = 0;

	if (verdict->kind == VERDICT_ACCEPTED) {
		batch_done(resend);
		retry_succeeded(&resend->retry);
		resend->next++;
	} else if (verdict->kind == VERDICT_REFUSED || verdict->kind == VERDICT_TOO_LARGE) {
		log_error("%s: %s", resend->batches[resend->next].name, verdict->reason);
		resend->refused_count += resend->batches[resend->next].row_count;
		resend->result = -EBADMSG;
		resend->next++;
	} else {
		log_warning("%s", verdict->reason);
		wait_ms = retry_failed(&resend->retry, verdict->retry_after_s);
		if (resend->retry.attempts >= ATTEMPTS_MAX) {
			resend->result = -EIO;
			uv_stop(&resend->loop);
			return;
		}
	}
	uv_timer_start(&resend->timer, next_send, wait_ms, 0);
}

static int batches_send(struct resend *resend, const struct settings *settings)
{
	int error = uv_loop_init(&resend->loop);

	if (error == 0)
		error = resend->type->open(settings, &resend->loop, &resend->sink);
	if (error < 0) {
		log_error("cannot start: %s", strerror(-error));
		return error;
	}
	uv_timer_init(&resend->loop, &resend->timer);
	resend->timer.data = resend;
	uv_timer_start(&resend->timer, next_send, 0, 0);
	uv_run(&resend->loop, UV_RUN_DEFAULT);
	progress_hide();
	resend->type->close(resend->sink);
	uv_close((uv_handle_t *)&resend->timer, NULL);
	uv_run(&resend->loop, UV_RUN_DEFAULT);
	uv_loop_close(&resend->loop);
	return resend->result;
}

int shipper_resend(const struct settings *settings, const char *directory, bool remove)
{
	struct resend resend = {.type = sink_find(settings->sink), .directory = directory, .remove = remove};
	int error = batch_each(directory, batch_add, &resend);

	retry_init(&resend.retry, (uint64_t)time(NULL));
	if (error < 0)
		log_error("%s: cannot read: %s", directory, strerror(-error));
	else if (resend.batch_count == 0)
		log_warning("%s: contains no *%s files", directory, BATCH_SUFFIX);
	else
		error = batches_send(&resend, settings);
	if (error == 0 || resend.next > 0)
		log_info("%llu rows of %zu files sent, %llu refused", (unsigned long long)resend.row_count,
			 resend.sent_count, (unsigned long long)resend.refused_count);
	free(resend.batches);
	return error;
}
