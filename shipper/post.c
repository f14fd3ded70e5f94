/* A POST to the server of the settings. See post.h. */
#include "shipper/post.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CONNECT_TIMEOUT_MS 15000
#define STALLS_MAX 4 /* of lake.timeout in one request */

struct post {
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

int post_new(const struct settings *settings, uv_loop_t *loop, struct post **ret_post)
{
	struct post *post = calloc(1, sizeof(*post));
	int error;

	if (!post)
		return -ENOMEM;
	post->settings = settings;
	post->body_fd = -1;
	post->failure_timer = malloc(sizeof(*post->failure_timer));
	error = post->failure_timer ? http_new(loop, &post->http) : -ENOMEM;
	if (error < 0) {
		free(post->failure_timer);
		free(post);
		return error;
	}
	uv_timer_init(loop, post->failure_timer);
	post->failure_timer->data = post;
	*ret_post = post;
	return 0;
}

void post_free(struct post *post)
{
	http_free(post->http);
	uv_close((uv_handle_t *)post->failure_timer, timer_closed);
	if (post->body_fd >= 0)
		close(post->body_fd);
	free(post);
}

void post_url(const struct settings *settings, char ret_url[POST_URL_BYTES], const char *path, ...)
{
	const char *base = settings->lake.url;
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

static void finish(struct post *post, const struct delivery *delivery)
{
	if (post->body_fd >= 0)
		close(post->body_fd);
	post->body_fd = -1;
	post->done(delivery, post->data);
}

static void answered(const struct http_answer *answer, void *data)
{
	struct post *post = data;
	const struct delivery_context context = {
		.url = post->settings->lake.url,
		.database = post->settings->lake.database,
		.entity = post->batch.entity,
		.user = post->settings->lake.user,
		.now_unix_s = time(NULL),
	};
	struct delivery delivery;

	post->read(answer, &context, &delivery);
	finish(post, &delivery);
}

static void failure_due(uv_timer_t *timer)
{
	struct post *post = timer->data;

	finish(post, &post->failure);
}

void post_fail(struct post *post, enum delivery_kind kind, const char *reason, sink_done done, void *data)
{
	post->done = done;
	post->data = data;
	post->failure = (struct delivery){.kind = kind};
	snprintf(post->failure.reason, sizeof(post->failure.reason), "%s", reason);
	uv_timer_start(post->failure_timer, failure_due, 0, 0);
}

/* ---- the request ------------------------------------------------------------------- */

void post_send(struct post *post, const struct post_request *request, const struct batch *batch, sink_done done,
	       void *data)
{
	const struct settings *settings = post->settings;
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

	post->batch = *batch;
	post->body_fd = request->body_fd;
	post->read = request->read;
	post->done = done;
	post->data = data;
	if (http_start(post->http, &http_request, answered, post, reason, sizeof(reason)) < 0)
		post_fail(post, DELIVERY_RETRY, reason, done, data);
}
