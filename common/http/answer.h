/* What came of an HTTP request to the lake, whoever made it, and what to tell people of it.
 *
 * Everything in an answer is what somebody else said: hostile until checked, bounded, and
 * never printed as it is.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <curl/curl.h>

#define HTTP_BODY_BYTES_MAX 4096       /* kept of an answer that is not rows */
#define HTTP_BODY_BYTES_READ (1 << 20) /* of such an answer: whoever says more is not listened to */

enum http_failure {
	HTTP_ANSWERED,
	HTTP_NO_NAME, /* the host's name is not known, or no name server answers */
	HTTP_NO_PROXY_NAME,
	HTTP_NO_CONNECTION, /* refused, unreachable */
	HTTP_TIMEOUT,
	HTTP_CUT, /* ended in the middle */
	HTTP_TLS_HANDSHAKE,
	HTTP_TLS_PEER,  /* its certificate does not verify */
	HTTP_TLS_LOCAL, /* our certificate, key or CA file */
	HTTP_OTHER,
};

struct http_answer {
	enum http_failure failure;
	char error[CURL_ERROR_SIZE]; /* libcurl's words */
	long status;
	long tls_verify_result; /* of OpenSSL, X509_V_* */
	int64_t retry_after_s;  /* 0: not asked for */
	char location[256];     /* of a redirect */
	char content_type[64];
	int64_t exception_code; /* X-ClickHouse-Exception-Code, 0: none */
	char exception_tag[32]; /* X-ClickHouse-Exception-Tag: stands behind one in the midst of rows */
	bool is_clickhouse;     /* has a header that only it sends */
	int64_t date_unix_s;    /* Date, 0: none */
	uint64_t sent_bytes;
	char body[HTTP_BODY_BYTES_MAX + 1];
	size_t body_size;
	uint64_t body_bytes; /* that came, kept or not */
};

/* Before the transfer begins, which writes into `answer` until it has ended. */
void http_answer_begin(struct http_answer *answer, CURL *easy);
/* Status and headers, as soon as some of the body has come. */
void http_answer_read_head(struct http_answer *answer, CURL *easy);
/* The beginning of the body, as far as there is room. False: that was too much, and the transfer
 * is to be ended (by a write function that takes nothing). */
bool http_answer_take_body(struct http_answer *answer, const void *data, size_t size);
/* How the transfer ended. One that was ended for its length is an answer by what came of it. */
void http_answer_end(struct http_answer *answer, CURL *easy, CURLcode code);

/* The number of ClickHouse's exception, which an answer with status 200 may hold too; 0: none,
 * -1: one without a number. */
int64_t http_answer_exception(const struct http_answer *answer);
/* ClickHouse's own words, the first line of them. */
void http_answer_words(const struct http_answer *answer, char *ret_words, size_t capacity);

/* One line on what is wrong and how to fix it, where the answer is not ClickHouse's own:
 * no connection, a certificate, a redirect, a page of a portal, a status. Settings are named
 * as lake.KEY. `url` is shown, so it must hold no secret. The words of others are in it:
 * escape it before a person sees it. */
void http_answer_explain(const struct http_answer *answer, const char *url, char *ret_text, size_t capacity);
