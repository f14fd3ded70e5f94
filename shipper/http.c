/* libcurl on libuv. See http.h. */
#include "shipper/http.h"

#include <stdlib.h>

struct http {
	uv_loop_t *loop;
	CURLM *multi;
	uv_timer_t *timer; /* allocated separately: it is closed asynchronously and outlives this */
	struct transfer *transfers;
};

struct transfer {
	struct http *http;
	struct transfer *next;
	CURL *easy;
	struct curl_slist *headers;
	http_done done;
	void *data;
	int body_fd;
	uint64_t body_bytes, body_read;
	struct http_answer answer;
};

/* ---- the loop -------------------------------------------------------------------- */

/* The timer and a back pointer; freed by the close callback. */
struct http_timer {
	struct http *http;
	uv_timer_t timer;
};

struct watch {
	uv_poll_t poll;
	struct http *http;
	curl_socket_t socket;
};

static void handle_closed(uv_handle_t *handle)
{
	free(handle->data);
}

static void transfer_free(struct transfer *transfer)
{
	struct transfer **place = &transfer->http->transfers;

	while (*place && *place != transfer)
		place = &(*place)->next;
	if (*place)
		*place = transfer->next;
	if (transfer->easy) {
		curl_multi_remove_handle(transfer->http->multi, transfer->easy);
		curl_easy_cleanup(transfer->easy);
	}
	curl_slist_free_all(transfer->headers);
	free(transfer);
}

static void transfer_end(struct transfer *transfer, CURLcode code)
{
	struct http_answer *answer = &transfer->answer;

	http_answer_end(answer, transfer->easy, code);
	transfer->done(answer, transfer->data);
	transfer_free(transfer);
}

static void transfers_reap(struct http *http)
{
	CURLMsg *message;
	int left;

	while ((message = curl_multi_info_read(http->multi, &left))) {
		struct transfer *transfer;

		if (message->msg != CURLMSG_DONE)
			continue;
		curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&transfer);
		transfer_end(transfer, message->data.result);
	}
}

static void socket_ready(uv_poll_t *poll, int status, int events)
{
	struct watch *watch = poll->data;
	struct http *http = watch->http;
	int flags = status < 0 ? CURL_CSELECT_ERR : 0, running;

	if (events & UV_READABLE)
		flags |= CURL_CSELECT_IN;
	if (events & UV_WRITABLE)
		flags |= CURL_CSELECT_OUT;
	curl_multi_socket_action(http->multi, watch->socket, flags, &running);
	transfers_reap(http);
}

static struct watch *watch_new(struct http *http, curl_socket_t socket)
{
	struct watch *watch = calloc(1, sizeof(*watch));

	if (!watch || uv_poll_init_socket(http->loop, &watch->poll, socket) < 0) {
		free(watch);
		return NULL;
	}
	watch->poll.data = watch;
	watch->http = http;
	watch->socket = socket;
	curl_multi_assign(http->multi, socket, watch);
	return watch;
}

static int socket_wanted(CURL *easy, curl_socket_t socket, int what, void *data, void *socket_data)
{
	struct http *http = data;
	struct watch *watch = socket_data;
	int events = (what != CURL_POLL_IN ? UV_WRITABLE : 0) | (what != CURL_POLL_OUT ? UV_READABLE : 0);

	if (what == CURL_POLL_REMOVE) {
		if (watch) {
			uv_poll_stop(&watch->poll);
			curl_multi_assign(http->multi, socket, NULL);
			uv_close((uv_handle_t *)&watch->poll, handle_closed);
		}
		return 0;
	}
	if (!watch)
		watch = watch_new(http, socket);
	return watch && uv_poll_start(&watch->poll, events, socket_ready) == 0 ? 0 : -1;
}

static void timer_due(uv_timer_t *timer)
{
	const struct http_timer *owner = timer->data;
	struct http *http = owner->http;
	int running;

	curl_multi_socket_action(http->multi, CURL_SOCKET_TIMEOUT, 0, &running);
	transfers_reap(http);
}

static int timer_wanted(CURLM *multi, long timeout_ms, void *data)
{
	struct http *http = data;

	if (timeout_ms < 0)
		uv_timer_stop(http->timer);
	else /* never call libcurl from within its callback */
		uv_timer_start(http->timer, timer_due, timeout_ms ? (uint64_t)timeout_ms : 1, 0);
	return 0;
}

int http_new(uv_loop_t *loop, struct http **ret_http)
{
	struct http *http = calloc(1, sizeof(*http));
	struct http_timer *timer = calloc(1, sizeof(*timer));

	if (http && timer && curl_global_init(CURL_GLOBAL_DEFAULT) == 0)
		http->multi = curl_multi_init();
	if (!http || !http->multi) {
		free(timer);
		free(http);
		return -ENOMEM;
	}
	http->loop = loop;
	http->timer = &timer->timer;
	timer->http = http;
	uv_timer_init(loop, &timer->timer);
	timer->timer.data = timer;
	curl_multi_setopt(http->multi, CURLMOPT_SOCKETFUNCTION, socket_wanted);
	curl_multi_setopt(http->multi, CURLMOPT_SOCKETDATA, http);
	curl_multi_setopt(http->multi, CURLMOPT_TIMERFUNCTION, timer_wanted);
	curl_multi_setopt(http->multi, CURLMOPT_TIMERDATA, http);
	curl_multi_setopt(http->multi, CURLMOPT_MAXCONNECTS, 1L);
	*ret_http = http;
	return 0;
}

void http_free(struct http *http)
{
	if (!http)
		return;
	while (http->transfers)
		transfer_free(http->transfers);
	curl_multi_cleanup(http->multi);
	uv_timer_stop(http->timer);
	uv_close((uv_handle_t *)http->timer, handle_closed);
	free(http);
	curl_global_cleanup();
}

/* ---- one transfer ---------------------------------------------------------------- */

static size_t body_read(char *buffer, size_t size, size_t count, void *data)
{
	struct transfer *transfer = data;
	uint64_t left = transfer->body_bytes - transfer->body_read;
	size_t most = size * count < left ? size * count : (size_t)left;
	ssize_t got;

	if (most == 0)
		return 0;
	got = pread(transfer->body_fd, buffer, most, (off_t)transfer->body_read);
	if (got <= 0)
		return CURL_READFUNC_ABORT;
	transfer->body_read += (uint64_t)got;
	return (size_t)got;
}

/* libcurl rewinds the body if a reused connection turns out to be dead. */
static int body_seek(void *data, curl_off_t offset, int origin)
{
	struct transfer *transfer = data;

	if (origin != SEEK_SET || offset != 0)
		return CURL_SEEKFUNC_FAIL;
	transfer->body_read = 0;
	return CURL_SEEKFUNC_OK;
}

static size_t answer_received(char *data, size_t size, size_t count, void *argument)
{
	struct transfer *transfer = argument;

	return http_answer_take_body(&transfer->answer, data, size * count) ? size * count : 0;
}

static void set_method(struct transfer *transfer, const struct http_request *request)
{
	CURL *easy = transfer->easy;

	if (request->method == HTTP_GET) {
		curl_easy_setopt(easy, CURLOPT_HTTPGET, 1L);
		return;
	}
	curl_easy_setopt(easy, CURLOPT_POST, 1L);
	if (request->method == HTTP_PUT)
		curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, "PUT");
	curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body_bytes);
	curl_easy_setopt(easy, CURLOPT_READFUNCTION, body_read);
	curl_easy_setopt(easy, CURLOPT_READDATA, transfer);
	curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, body_seek);
	curl_easy_setopt(easy, CURLOPT_SEEKDATA, transfer);
}

static void set_limits(struct transfer *transfer, const struct http_request *request)
{
	CURL *easy = transfer->easy;

	curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, request->connect_timeout_ms);
	curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, request->total_timeout_ms);
	curl_easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
	curl_easy_setopt(easy, CURLOPT_LOW_SPEED_TIME, request->stall_timeout_s);
	curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, 16384L);
	curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(easy, CURLOPT_USERAGENT, "tracer-shipper/" TRACER_VERSION);
	curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, answer_received);
	curl_easy_setopt(easy, CURLOPT_WRITEDATA, transfer);
	curl_easy_setopt(easy, CURLOPT_PRIVATE, transfer);
}

static int set_headers(struct transfer *transfer, const struct http_request *request)
{
	for (size_t i = 0; i < HTTP_HEADERS_MAX && request->headers[i]; i++) {
		struct curl_slist *list = curl_slist_append(transfer->headers, request->headers[i]);

		if (!list)
			return -ENOMEM;
		transfer->headers = list;
	}
	curl_easy_setopt(transfer->easy, CURLOPT_HTTPHEADER, transfer->headers);
	return 0;
}

/* Returns 0, or -errno with a reason. */
static int transfer_prepare(struct transfer *transfer, const struct http_request *request, char *ret_reason,
			    size_t capacity)
{
	int error;

	snprintf(ret_reason, capacity, "out of memory");
	transfer->easy = curl_easy_init();
	if (!transfer->easy || set_headers(transfer, request) < 0)
		return -ENOMEM;
	curl_easy_setopt(transfer->easy, CURLOPT_URL, request->url);
	set_method(transfer, request);
	set_limits(transfer, request);
	http_answer_begin(&transfer->answer, transfer->easy);
	error = access_apply(request->access, transfer->easy, ret_reason, capacity);
	if (error == 0 && curl_multi_add_handle(transfer->http->multi, transfer->easy) != CURLM_OK)
		error = -ENOMEM;
	return error;
}

int http_start(struct http *http, const struct http_request *request, http_done done, void *data, char *ret_reason,
	       size_t capacity)
{
	struct transfer *transfer = calloc(1, sizeof(*transfer));
	int error;

	if (!transfer) {
		snprintf(ret_reason, capacity, "out of memory");
		return -ENOMEM;
	}
	*transfer = (struct transfer){
		.http = http,
		.done = done,
		.data = data,
		.body_fd = request->body_fd,
		.body_bytes = request->body_bytes,
	};
	error = transfer_prepare(transfer, request, ret_reason, capacity);
	if (error < 0) {
		transfer_free(transfer);
		return error;
	}
	transfer->next = http->transfers;
	http->transfers = transfer;
	return 0;
}
