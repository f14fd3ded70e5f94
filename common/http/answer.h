/* The outcome of an HTTP request to the lake, and its explanation for users.
 *
 * Everything in a response is untrusted: it is checked, bounded, and never printed
 * without escaping.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <curl/curl.h>

#define HTTP_BODY_BYTES_MAX 4096       /* kept of a response that is not rows */
#define HTTP_BODY_BYTES_READ (1 << 20) /* read of such a response before the transfer is aborted */

enum http_failure {
	HTTP_ANSWERED,
	HTTP_NO_NAME, /* the host name does not resolve, or no name server responds */
	HTTP_NO_PROXY_NAME,
	HTTP_NO_CONNECTION, /* refused, unreachable */
	HTTP_TIMEOUT,
	HTTP_CUT, /* connection lost in mid-transfer */
	HTTP_TLS_HANDSHAKE,
	HTTP_TLS_PEER,  /* the server's certificate does not verify */
	HTTP_TLS_LOCAL, /* our certificate, key or CA file */
	HTTP_OTHER,
};

struct http_answer {
	enum http_failure failure;
	char error[CURL_ERROR_SIZE]; /* message of libcurl */
	long status;
	long tls_verify_result; /* OpenSSL's X509_V_* */
	int64_t retry_after_s;  /* Retry-After, 0: none */
	char location[256];     /* of a redirect */
	char content_type[64];
	int64_t exception_code; /* X-ClickHouse-Exception-Code, 0: none */
	char exception_tag[32]; /* X-ClickHouse-Exception-Tag: marks an exception after rows */
	bool is_clickhouse;     /* has a header that only ClickHouse sends */
	int64_t date_unix_s;    /* Date, 0: none */
	uint64_t sent_bytes;
	char body[HTTP_BODY_BYTES_MAX + 1];
	size_t body_size;
	uint64_t body_bytes; /* received, kept or not */
};

/* Call before the transfer, which writes into `answer` until it ends. */
void http_answer_begin(struct http_answer *answer, CURL *easy);
/* Reads status and headers; possible as soon as part of the body has arrived. */
void http_answer_read_head(struct http_answer *answer, CURL *easy);
/* Keeps the start of the body, up to the capacity. Returns false if the body is too long: abort the
 * transfer then (the write callback accepts no bytes). */
bool http_answer_take_body(struct http_answer *answer, const void *data, size_t size);
/* Records how the transfer ended. One aborted for its length counts as answered, with what arrived. */
void http_answer_end(struct http_answer *answer, CURL *easy, CURLcode code);

/* Returns the code of ClickHouse's exception, which a response with status 200 may hold too; 0 if none,
 * -1 if it has no code. */
int64_t http_answer_exception(const struct http_answer *answer);
/* Copies the first line of ClickHouse's message. */
void http_answer_words(const struct http_answer *answer, char *ret_words, size_t capacity);

/* Explains in one line what is wrong and how to fix it, for failures other than a ClickHouse exception:
 * no connection, a certificate, a redirect, a captive portal, a status. Settings are named
 * lake.KEY. `url` is shown, so it must not hold a secret. The text may quote the server:
 * escape it before showing it. */
void http_answer_explain(const struct http_answer *answer, const char *url, char *ret_text, size_t capacity);
