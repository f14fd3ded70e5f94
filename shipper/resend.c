/* --from DIR: sends batches written by the ndjson sink or quarantined. See shipper.h.
 *
 * A batch that is too large for the lake, or for a proxy in front of it, is sent in parts: its rows are unpacked into
 * the scratch directory, and the next of them form a batch of their own, with half the rows each time.
 */
#include <signal.h>
#include <string.h>

#include "common/grow.h"
#include "common/log.h"
#include "common/progress.h"
#include "shipper/file.h"
#include "shipper/quarantine.h"
#include "shipper/retry.h"
#include "shipper/shipper.h"
#include "shipper/sink.h"

#define ATTEMPTS_MAX 5 /* per batch: a user is waiting, and can repeat the command */
#define ROWS_NAME "rows"

struct resend {
	const struct sink_type *type;
	struct sink *sink;
	uv_loop_t loop;
	uv_timer_t timer;
	uv_signal_t terminate, interrupt;
	const char *directory, *scratch;
	bool remove;
	struct batch *batches;
	size_t batch_count, capacity, next;
	FILE *rows;                        /* of the next batch, if it is sent in parts; otherwise NULL */
	off_t part_offset;                 /* of the part in `rows` */
	struct batch part;                 /* sent now: the batch, or a part of it */
	uint64_t part_rows_max;            /* for this batch and those after it */
	bool is_refused;                   /* the batch or a part of it */
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

/* ---- parts ------------------------------------------------------------------------- */

static void scratch_remove(const struct resend *resend, const char *name)
{
	char path[PATH_MAX];

	if (file_path(path, resend->scratch, name) == 0)
		unlink(path);
}

static int rows_unpack(struct resend *resend)
{
	char path[PATH_MAX];
	int error = file_path(path, resend->scratch, ROWS_NAME);

	resend->rows = error == 0 ? fopen(path, "w+e") : NULL;
	if (!resend->rows)
		return error < 0 ? error : -errno;
	scratch_remove(resend, ROWS_NAME);
	error = batch_print(resend->directory, &resend->batches[resend->next], resend->rows);
	rewind(resend->rows);
	return error;
}

/* Makes the next rows the part to be sent. Returns 1; 0 if there are none; -errno. */
static int part_make(struct resend *resend)
{
	struct batch_writer *writer;
	char *line = NULL;
	size_t capacity = 0;
	ssize_t size;
	int result = batch_writer_new(resend->scratch, &writer);

	if (result < 0)
		return result;
	resend->part_offset = ftello(resend->rows);
	while (result == 0 && batch_writer_rows(writer) < resend->part_rows_max &&
	       (size = getline(&line, &capacity, resend->rows)) > 0)
		result = batch_writer_add(writer, line, (size_t)size);
	free(line);
	if (result == 0 && batch_writer_rows(writer) > 0) {
		resend->part = resend->batches[resend->next];
		result = batch_writer_finish(writer, &resend->part);
		result = result == 0 ? 1 : result;
	}
	batch_writer_free(writer);
	return result;
}

/* ---- batches ----------------------------------------------------------------------- */

static void batch_answered(const struct delivery *delivery, void *data);

/* Returns 1 if the batch, or the next part of it, is being sent; 0 if nothing of it is left; -errno. */
static int batch_send(struct resend *resend)
{
	struct batch *batch = &resend->batches[resend->next];
	int result = resend->rows ? 0 : batch_check(resend->directory, batch);

	if (result == 0 && !resend->rows && batch->row_count <= resend->part_rows_max) {
		resend->part = *batch;
		resend->type->send(resend->sink, resend->directory, batch, batch_answered, resend);
		return 1;
	}
	if (result == 0 && !resend->rows)
		result = rows_unpack(resend);
	if (result == 0)
		result = part_make(resend);
	if (result == 1)
		resend->type->send(resend->sink, resend->scratch, &resend->part, batch_answered, resend);
	return result;
}

static void batch_done(struct resend *resend)
{
	const struct batch *batch = &resend->batches[resend->next++];

	if (resend->rows)
		fclose(resend->rows);
	resend->rows = NULL;
	resend->sent_count += !resend->is_refused;
	if (resend->remove && !resend->is_refused && quarantine_remove(resend->directory, batch) < 0)
		log_warning("%s/%s: cannot remove: %s", resend->directory, batch->name, strerror(errno));
	resend->is_refused = false;
}

static void next_send(uv_timer_t *timer)
{
	struct resend *resend = timer->data;

	while (resend->next < resend->batch_count) {
		const char *name = resend->batches[resend->next].name;
		int result;

		progress_show("sending: %zu of %zu files", resend->next, resend->batch_count);
		result = batch_send(resend);
		if (result > 0)
			return;
		if (result < 0) {
			log_error("%s: skipped: %s", name,
				  result == -EBADMSG ? "damaged or truncated; copy it again" : strerror(-result));
			resend->result = -EBADMSG;
			resend->is_refused = true;
		}
		batch_done(resend);
	}
	uv_stop(&resend->loop);
}

/* Returns true if fewer of these rows may pass. */
static bool is_divisible(const struct resend *resend, const struct delivery *delivery)
{
	return (delivery->kind == DELIVERY_TOO_LARGE && resend->part.row_count > 1) ||
	       (delivery->kind == DELIVERY_TOO_MUCH && resend->part.row_count >= DELIVERY_ROWS_MIN);
}

/* Prepares to send the same rows again, or half of them. Returns the time to wait, or -EIO to give up. */
static int64_t batch_again(struct resend *resend, const struct delivery *delivery)
{
	uint64_t wait_ms =
		delivery->kind == DELIVERY_TOO_LARGE ? 0 : retry_failed(&resend->retry, delivery->retry_after_s);

	if (resend->rows)
		fseeko(resend->rows, resend->part_offset, SEEK_SET);
	log_warning("%s", delivery->reason);
	if (!is_divisible(resend, delivery))
		return resend->retry.attempts < ATTEMPTS_MAX ? (int64_t)wait_ms : -EIO;
	resend->part_rows_max = resend->part.row_count / 2;
	log_warning("sending %llu rows at a time", (unsigned long long)resend->part_rows_max);
	return (int64_t)wait_ms;
}

static void batch_answered(const struct delivery *delivery, void *data)
{
	struct resend *resend = data;
	bool is_over = delivery->kind == DELIVERY_ACCEPTED || delivery->kind == DELIVERY_REFUSED ||
		       delivery->kind == DELIVERY_INVALID ||
		       (delivery->kind == DELIVERY_TOO_LARGE && !is_divisible(resend, delivery));
	int64_t wait_ms = is_over ? 0 : batch_again(resend, delivery);

	if (resend->rows)
		scratch_remove(resend, resend->part.name);
	if (wait_ms < 0) {
		resend->result = (int)wait_ms;
		uv_stop(&resend->loop);
		return;
	}
	if (delivery->kind == DELIVERY_ACCEPTED && delivery->reason[0])
		log_warning("%s", delivery->reason);
	if (delivery->kind == DELIVERY_ACCEPTED) {
		resend->row_count += resend->part.row_count;
		retry_succeeded(&resend->retry);
	} else if (is_over) {
		log_error("%s: %s", resend->part.name, delivery->reason);
		resend->refused_count += resend->part.row_count;
		resend->is_refused = true;
		resend->result = -EBADMSG;
	}
	if (is_over && !resend->rows)
		batch_done(resend);
	uv_timer_start(&resend->timer, next_send, (uint64_t)wait_ms, 0);
}

/* What was not sent stays in its files, and the scratch directory is removed. */
static void stop_requested(uv_signal_t *signal, int number)
{
	struct resend *resend = signal->data;

	log_warning("stopped by SIG%s: repeat the command to send the rest", sigabbrev_np(number));
	resend->result = -EINTR;
	uv_stop(&resend->loop);
}

static void stop_on(struct resend *resend, uv_signal_t *signal, int number)
{
	uv_signal_init(&resend->loop, signal);
	signal->data = resend;
	uv_signal_start(signal, stop_requested, number);
}

static int batches_send(struct resend *resend, const struct settings *settings)
{
	int error = uv_loop_init(&resend->loop);

	if (error == 0)
		error = resend->type->open(settings, &resend->loop, &resend->sink);
	if (error < 0) {
		log_error("%s: cannot open this sink: %s", resend->type->name, strerror(-error));
		return error;
	}
	uv_timer_init(&resend->loop, &resend->timer);
	resend->timer.data = resend;
	uv_timer_start(&resend->timer, next_send, 0, 0);
	stop_on(resend, &resend->terminate, SIGTERM);
	stop_on(resend, &resend->interrupt, SIGINT);
	uv_run(&resend->loop, UV_RUN_DEFAULT);
	progress_hide();
	resend->type->close(resend->sink);
	uv_close((uv_handle_t *)&resend->timer, NULL);
	uv_close((uv_handle_t *)&resend->terminate, NULL);
	uv_close((uv_handle_t *)&resend->interrupt, NULL);
	uv_run(&resend->loop, UV_RUN_DEFAULT);
	uv_loop_close(&resend->loop);
	if (resend->rows) {
		scratch_remove(resend, resend->part.name);
		fclose(resend->rows);
	}
	return resend->result;
}

int shipper_resend(const struct settings *settings, const char *directory, bool remove, const char *scratch)
{
	struct resend resend = {
		.type = sink_find(settings->sink),
		.directory = directory,
		.scratch = scratch,
		.remove = remove,
		.part_rows_max = UINT64_MAX,
	};
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
