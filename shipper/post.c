/* Sinks that are a POST to the server of the settings. See post.h. */
#include "shipper/post.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CONNECT_TIMEOUT_MS 15000
#define STALLS_MAX 4 /* of lake.timeout in one request */

struct sink {
	const struct settings *settings;
	struct http *http;
	struct batch batch;
	int body_fd;
	void (*read)(const struct http_answer *answer, const struct delivery_context *context,
		     struct delivery *ret_delivery);
	sink_done done;
	void *data;
	uv_timer_t *failure_timer;
	struct delivery failure;
};

static void timer_closed(uv_handle_t *handle)
{
	free(handle);
}

int post_open(const struct settings *settings, uv_loop_t *loop, struct sink **ret_sink)
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

void post_close(struct sink *sink)
{
	http_free(sink->http);
	uv_close((uv_handle_t *)sink->failure_timer, timer_closed);
	if (sink->body_fd >= 0)
		close(sink->body_fd);
	free(sink);
}

const char *post_target(const struct sink *sink)
{
	return sink->settings->lake.url;
}

const struct settings *post_settings(const struct sink *sink)
{
	return sink->settings;
}

void post_url(const struct sink *sink, char ret_url[POST_URL_BYTES], const char *path, ...)
{
	const char *base = sink->settings->lake.url;
	size_t size = strlen(base);
	va_list values;

	while (size > 0 && base[size - 1] == '/')
		size--;
	snprintf(ret_url, POST_URL_BYTES, "%.*s", (int)size, base);
	size = strlen(ret_url);
	va_start(values, path);
	vsnprintf(ret_url + size, POST_URL_BYTES - size, path, values);
	va_end(values);
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

	sink->read(answer, &context, &delivery);
	finish(sink, &delivery);
}

static void failure_due(uv_timer_t *timer)
{
	struct sink *sink = timer->data;

	finish(sink, &sink->failure);
}

void post_fail(struct sink *sink, enum delivery_kind kind, const char *reason, sink_done done, void *data)
{
	sink->done = done;
	sink->data = data;
	sink->failure = (struct delivery){.kind = kind};
	snprintf(sink->failure.reason, sizeof(sink->failure.reason), "%s", reason);
	uv_timer_start(sink->failure_timer, failure_due, 0, 0);
}

/* ---- the request ------------------------------------------------------------------- */

void post_send(struct sink *sink, const struct post_request *request, const struct batch *batch, sink_done done,
	       void *data)
{
	const struct settings *settings = sink->settings;
	const struct http_request http_request = {
		.method = HTTP_POST,
		.url = request->url,
		/* No "Expect" header: a proxy that ignores it would cost a second. */
		.headers = {request->encoding, request->type, "Expect:"},
		.body_fd = request->body_fd,
		.body_bytes = request->body_bytes,
		.access = &settings->lake,
		.connect_timeout_ms = CONNECT_TIMEOUT_MS,
		.stall_timeout_s = (long)settings->lake_timeout_s,
		/* An answer that drips does not stall. A slow line gets a second for each KiB. */
		.total_timeout_ms = (long)settings->lake_timeout_s * 1000 * STALLS_MAX + (long)request->body_bytes,
	};
	char reason[512];

	sink->batch = *batch;
	sink->body_fd = request->body_fd;
	sink->read = request->read;
	sink->done = done;
	sink->data = data;
	if (http_start(sink->http, &http_request, answered, sink, reason, sizeof(reason)) < 0)
		post_fail(sink, DELIVERY_RETRY, reason, done, data);
}
