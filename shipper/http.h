/* HTTP requests on the event loop: libcurl's multi interface, driven by libuv.
 *
 * One thread; everything bounded: headers and body of an answer are kept up to a size, a
 * transfer that moves no byte for a while ends, redirects are never followed, only http
 * and https are spoken, no .netrc and no environment is looked at.
 */
#pragma once

#include <uv.h>

#include "common/http/access.h"
#include "common/http/answer.h"

#define HTTP_HEADERS_MAX 12

struct http;

enum http_method { HTTP_GET, HTTP_POST, HTTP_PUT };

/* Everything is copied or used before http_start returns, but `body_fd`. */
struct http_request {
	enum http_method method;
	const char *url;
	const char *headers[HTTP_HEADERS_MAX + 1]; /* "Name: value", ends with NULL */
	int body_fd;                               /* read from its beginning to `body_bytes`; stays the caller's */
	uint64_t body_bytes;
	const struct access *access; /* NULL: it is not the lake */
	long connect_timeout_ms;
	long total_timeout_ms; /* 0: none */
	long stall_timeout_s;  /* without a byte */
};

/* The answer is valid during the call. */
typedef void (*http_done)(const struct http_answer *answer, void *data);

int http_new(uv_loop_t *loop, struct http **ret_http);
/* Ends transfers without a call of `done`. The loop must run once more. */
void http_free(struct http *http);
/* 0, and `done` is called once, from the loop; or -errno and `ret_reason` says why in a line. */
int http_start(struct http *http, const struct http_request *request, http_done done, void *data, char *ret_reason,
	       size_t capacity);
