/* HTTP requests on the event loop: libcurl's multi interface, driven by libuv.
 *
 * One thread; everything bounded: headers and body of an answer are kept up to a size, a
 * transfer that moves no byte for a while ends, redirects are never followed, only http
 * and https are spoken, no .netrc and no environment is looked at.
 */
#ifndef TRACER_SHIPPER_HTTP_H
#define TRACER_SHIPPER_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <uv.h>

#define HTTP_BODY_BYTES_MAX 4096          /* kept of an answer */
#define HTTP_ANSWER_BYTES_MOST (1 << 20)  /* then the transfer is ended */
#define HTTP_HEADERS_MAX 12

struct http;

enum http_method { HTTP_GET, HTTP_POST, HTTP_PUT };

/* Everything is copied or used before http_start returns, but `body_fd`. */
struct http_request {
	enum http_method method;
	const char *url;
	const char *headers[HTTP_HEADERS_MAX + 1]; /* "Name: value", ends with NULL */
	int body_fd;           /* read from its beginning to `body_bytes`; stays the caller's */
	uint64_t body_bytes;
	const char *user, *password; /* Basic */
	const char *token;           /* Bearer */
	const char *ca_file, *certificate_file, *key_file;
	const char *proxy, *proxy_user, *proxy_password; /* NULL: none, whatever the environment says */
	long connect_timeout_ms;
	long total_timeout_ms; /* 0: none */
	long stall_timeout_s;  /* without a byte */
};

enum http_failure {
	HTTP_ANSWERED,
	HTTP_NO_NAME,        /* the host's name is not known, or no name server answers */
	HTTP_NO_PROXY_NAME,
	HTTP_NO_CONNECTION,  /* refused, unreachable */
	HTTP_TIMEOUT,
	HTTP_CUT,            /* ended in the middle */
	HTTP_TLS_HANDSHAKE,
	HTTP_TLS_PEER,       /* its certificate does not verify */
	HTTP_TLS_LOCAL,      /* our certificate, key or CA file */
	HTTP_OTHER,
};

/* All texts are what somebody else said. */
struct http_answer {
	enum http_failure failure;
	char error[256];       /* libcurl's words */
	long status;
	long tls_verify_result; /* of OpenSSL, X509_V_* */
	int64_t retry_after_s;  /* -1: none */
	char location[256];     /* of a redirect */
	char content_type[64];
	int64_t exception_code; /* X-ClickHouse-Exception-Code, 0: none */
	bool is_clickhouse;     /* has a header that only it sends */
	int64_t date_unix_s;    /* Date, 0: none */
	uint64_t sent_bytes;
	char body[HTTP_BODY_BYTES_MAX + 1];
	size_t body_size;
};

/* The answer is valid during the call. */
typedef void (*http_done)(const struct http_answer *answer, void *data);

int http_new(uv_loop_t *loop, struct http **ret_http);
/* Ends transfers without a call of `done`. The loop must run once more. */
void http_free(struct http *http);
/* 0 or -errno; then `done` is called once, from the loop. */
int http_start(struct http *http, const struct http_request *request, http_done done, void *data);

/* What a line of an answer's head says; hostile bytes welcome. */
void http_answer_take_header(struct http_answer *answer, const char *line, size_t size);

#endif
