/* HTTP requests on the event loop: libcurl's multi interface, driven by libuv.
 *
 * Single-threaded and bounded: headers and body of a response are kept up to a limit, a
 * stalled transfer is aborted, redirects are never followed, only http
 * and https are used, .netrc and the environment are ignored.
 */
#pragma once

#include <uv.h>

#include "common/http/access.h"
#include "common/http/answer.h"

#define HTTP_HEADERS_MAX 12

struct http;

enum http_method { HTTP_GET, HTTP_POST, HTTP_PUT };

/* Everything except `body_fd` is copied or used before http_start() returns. */
struct http_request {
	enum http_method method;
	const char *url;
	const char *headers[HTTP_HEADERS_MAX + 1]; /* "Name: value", NULL-terminated */
	int body_fd;                               /* borrowed; read from its start up to `body_bytes` */
	uint64_t body_bytes;
	const struct access *access; /* NULL: not to the lake */
	long connect_timeout_ms;
	long total_timeout_ms; /* 0: none */
	long stall_timeout_s;  /* without any data */
};

/* The answer is valid only during the call. */
typedef void (*http_done)(const struct http_answer *answer, void *data);

int http_new(uv_loop_t *loop, struct http **ret_http);
/* Aborts transfers without calling `done`. The loop must run once more. */
void http_free(struct http *http);
/* Returns 0, and `done` is called once from the loop; or -errno with one line in `ret_reason`. */
int http_start(struct http *http, const struct http_request *request, http_done done, void *data, char *ret_reason,
	       size_t capacity);
