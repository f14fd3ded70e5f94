/* The lake as a sink: a batch is the body of one INSERT over HTTP (docs/shipping.md). */
#include <stdlib.h>
#include <string.h>

#include "shipper/file.h"
#include "shipper/sink.h"

#define CONNECT_TIMEOUT_MS 15000
#define STALLS_MAX 4 /* of lake.timeout in one request */
#define URL_BYTES 6144

struct sink {
	const struct settings *settings;
	struct http *http;
	struct batch batch;
	int body_fd;
	sink_done done;
	void *data;
	uv_timer_t *failure_timer; /* early failures, too, are reported from the loop */
	struct delivery failure;
};

static void timer_closed(uv_handle_t *handle)
{
	free(handle);
}

static int clickhouse_open(const struct settings *settings, uv_loop_t *loop, struct sink **ret_sink)
{
	struct sink *sink = calloc(1, sizeof(*sink));
	int error;

	if (!sink)
		return -ENOMEM;
	sink->settings = settings;
	sink->body_fd = -1;
	sink->failure_timer = malloc(sizeof(*sink->failure_timer));
	error = sink->failure_timer ? http_new(loop, &sink->http) : -ENOMEM;
	if (error < 0) {
		free(sink->failure_timer);
		free(sink);
		return error;
	}
	uv_timer_init(loop, sink->failure_timer);
	sink->failure_timer->data = sink;
	*ret_sink = sink;
	return 0;
}

static void clickhouse_close(struct sink *sink)
{
	http_free(sink->http);
	uv_close((uv_handle_t *)sink->failure_timer, timer_closed);
	if (sink->body_fd >= 0)
		close(sink->body_fd);
	free(sink);
}

static const char *clickhouse_target(const struct sink *sink)
{
	return sink->settings->lake.url;
}

static void url_format(const struct sink *sink, const struct batch *batch, char url[URL_BYTES])
{
	const char *base = sink->settings->lake.url;
	size_t size = strlen(base);

	while (size > 0 && base[size - 1] == '/')
		size--;
	snprintf(url, URL_BYTES,
		 "%.*s/?query=INSERT%%20INTO%%20%s.%s_rows%%20FORMAT%%20JSONEachRow"
		 "&async_insert=0&wait_end_of_query=1&input_format_skip_unknown_fields=1&insert_deduplication_token=%s",
		 (int)size, base, sink->settings->lake.database, batch->entity, batch->digest);
}

static void clickhouse_describe(struct sink *sink, const struct batch *batch, FILE *file)
{
	char url[URL_BYTES];

	url_format(sink, batch, url);
	fprintf(file, "POST %s\nContent-Encoding: zstd\n\n", url);
}

/* ---- the answer -------------------------------------------------------------------- */

static void finish(struct sink *sink, const struct delivery *delivery)
{
	if (sink->body_fd >= 0)
		close(sink->body_fd);
	sink->body_fd = -1;
	sink->done(delivery, sink->data);
}

static void answered(const struct http_answer *answer, void *data)
{
	struct sink *sink = data;
	const struct delivery_context context = {
		.url = sink->settings->lake.url,
		.database = sink->settings->lake.database,
		.entity = sink->batch.entity,
		.user = sink->settings->lake.user,
		.now_unix_s = time(NULL),
	};
	struct delivery delivery;

	delivery_read(answer, &context, &delivery);
	finish(sink, &delivery);
}

static void failure_due(uv_timer_t *timer)
{
	struct sink *sink = timer->data;

	finish(sink, &sink->failure);
}

static void fail_later(struct sink *sink, const char *reason)
{
	sink->failure = (struct delivery){.kind = DELIVERY_RETRY};
	snprintf(sink->failure.reason, sizeof(sink->failure.reason), "%s", reason);
	uv_timer_start(sink->failure_timer, failure_due, 0, 0);
}

/* ---- the request ------------------------------------------------------------------- */

static void clickhouse_send(struct sink *sink, const char *directory, const struct batch *batch, sink_done done,
			    void *data)
{
	const struct settings *settings = sink->settings;
	char url[URL_BYTES], path[PATH_MAX], reason[512];
	struct http_request request = {
		.method = HTTP_POST,
		.url = url,
		/* No "Expect" header: a proxy that ignores it would cost a second. */
		.headers = {"Content-Encoding: zstd", "Content-Type: application/x-ndjson", "Expect:"},
		.body_bytes = batch->file_bytes,
		.access = &settings->lake,
		.connect_timeout_ms = CONNECT_TIMEOUT_MS,
		.stall_timeout_s = (long)settings->lake_timeout_s,
		/* An answer that drips does not stall. A slow line gets a second for each KiB. */
		.total_timeout_ms = (long)settings->lake_timeout_s * 1000 * STALLS_MAX + (long)batch->file_bytes,
	};

	sink->batch = *batch;
	sink->done = done;
	sink->data = data;
	url_format(sink, batch, url);
	if (file_path(path, directory, batch->name) == 0)
		sink->body_fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	request.body_fd = sink->body_fd;
	if (sink->body_fd < 0) {
		snprintf(reason, sizeof(reason), "%.300s: cannot open: %s", path, strerror(errno));
		fail_later(sink, reason);
	} else if (http_start(sink->http, &request, answered, sink, reason, sizeof(reason)) < 0) {
		fail_later(sink, reason);
	}
}

const struct sink_type sink_clickhouse = {
	.name = "clickhouse",
	.open = clickhouse_open,
	.send = clickhouse_send,
	.describe = clickhouse_describe,
	.target = clickhouse_target,
	.close = clickhouse_close,
};
