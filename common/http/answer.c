/* Responses of the lake. See answer.h. */
#include "common/http/answer.h"

#include <stdlib.h>
#include <string.h>

#define X509_ERR_CERT_NOT_YET_VALID 9 /* openssl/x509_vfy.h: part of its stable interface */
#define X509_ERR_CERT_HAS_EXPIRED 10

/* ---- receiving ------------------------------------------------------------------- */

static enum http_failure failure_of(CURLcode code)
{
	switch (code) {
	case CURLE_OK: return HTTP_ANSWERED;
	case CURLE_COULDNT_RESOLVE_HOST: return HTTP_NO_NAME;
	case CURLE_COULDNT_RESOLVE_PROXY: return HTTP_NO_PROXY_NAME;
	case CURLE_COULDNT_CONNECT: return HTTP_NO_CONNECTION;
	case CURLE_OPERATION_TIMEDOUT: return HTTP_TIMEOUT;
	case CURLE_PARTIAL_FILE:
	case CURLE_GOT_NOTHING:
	case CURLE_SEND_ERROR:
	case CURLE_RECV_ERROR:
	case CURLE_HTTP2:
	case CURLE_HTTP2_STREAM: return HTTP_CUT;
	case CURLE_SSL_CONNECT_ERROR: return HTTP_TLS_HANDSHAKE;
	case CURLE_PEER_FAILED_VERIFICATION: return HTTP_TLS_PEER;
	case CURLE_SSL_CERTPROBLEM:
	case CURLE_SSL_CACERT_BADFILE:
	case CURLE_SSL_ISSUER_ERROR: return HTTP_TLS_LOCAL;
	default: return HTTP_OTHER;
	}
}

/* Returns a header of the final response, not of a 100 or of a proxy; NULL if it has none of that name. */
static const char *header_of(CURL *easy, const char *name)
{
	struct curl_header *header;

	return curl_easy_header(easy, name, 0, CURLH_HEADER, -1, &header) == CURLHE_OK ? header->value : NULL;
}

static void header_copy(CURL *easy, const char *name, char *ret_text, size_t capacity)
{
	const char *value = header_of(easy, name);

	snprintf(ret_text, capacity, "%s", value ? value : "");
}

void http_answer_begin(struct http_answer *answer, CURL *easy)
{
	*answer = (struct http_answer){0};
	curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, answer->error);
}

void http_answer_read_head(struct http_answer *answer, CURL *easy)
{
	const char *exception = header_of(easy, "X-ClickHouse-Exception-Code"), *date = header_of(easy, "Date");
	curl_off_t retry_after_s = 0;

	curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &answer->status);
	curl_easy_getinfo(easy, CURLINFO_RETRY_AFTER, &retry_after_s);
	answer->retry_after_s = retry_after_s;
	answer->exception_code = exception ? strtol(exception, NULL, 10) : 0;
	answer->is_clickhouse =
		exception || header_of(easy, "X-ClickHouse-Summary") || header_of(easy, "X-ClickHouse-Query-Id");
	answer->date_unix_s = date ? curl_getdate(date, NULL) : 0;
	header_copy(easy, "Location", answer->location, sizeof(answer->location));
	header_copy(easy, "Content-Type", answer->content_type, sizeof(answer->content_type));
	header_copy(easy, "X-ClickHouse-Exception-Tag", answer->exception_tag, sizeof(answer->exception_tag));
}

bool http_answer_take_body(struct http_answer *answer, const void *data, size_t size)
{
	size_t room = HTTP_BODY_BYTES_MAX - answer->body_size;
	size_t kept = size < room ? size : room;

	memcpy(answer->body + answer->body_size, data, kept);
	answer->body_size += kept;
	answer->body[answer->body_size] = '\0';
	answer->body_bytes += size;
	return answer->body_bytes <= HTTP_BODY_BYTES_READ;
}

/* libcurl reports an unresponsive name server as an ordinary timeout. */
static bool is_without_name(CURL *easy)
{
	curl_off_t found_us = 0;
	long request_bytes = 0; /* a reused connection needs no lookup */

	curl_easy_getinfo(easy, CURLINFO_NAMELOOKUP_TIME_T, &found_us);
	curl_easy_getinfo(easy, CURLINFO_REQUEST_SIZE, &request_bytes);
	return found_us == 0 && request_bytes == 0;
}

void http_answer_end(struct http_answer *answer, CURL *easy, CURLcode code)
{
	curl_off_t sent = 0;

	if (code == CURLE_WRITE_ERROR && answer->body_bytes > HTTP_BODY_BYTES_READ)
		code = CURLE_OK;
	answer->failure = failure_of(code);
	if (answer->failure == HTTP_TIMEOUT && is_without_name(easy))
		answer->failure = HTTP_NO_NAME;
	if (code != CURLE_OK && !answer->error[0])
		snprintf(answer->error, sizeof(answer->error), "%s", curl_easy_strerror(code));
	http_answer_read_head(answer, easy);
	curl_easy_getinfo(easy, CURLINFO_SSL_VERIFYRESULT, &answer->tls_verify_result);
	curl_easy_getinfo(easy, CURLINFO_SIZE_UPLOAD_T, &sent);
	answer->sent_bytes = (uint64_t)sent;
}

/* ---- content --------------------------------------------------------------------- */

int64_t http_answer_exception(const struct http_answer *answer)
{
	const char *found = strstr(answer->body, "Code: ");
	long code;

	if (answer->exception_code != 0)
		return answer->exception_code;
	if (!found || !strstr(found, "Exception"))
		return 0;
	code = strtol(found + strlen("Code: "), NULL, 10);
	return code > 0 ? code : -1;
}

/* Returns true if the body looks like a web page. */
static bool is_page(const struct http_answer *answer)
{
	const char *body = answer->body + strspn(answer->body, " \t\r\n");

	return strncasecmp(answer->content_type, "text/html", 9) == 0 || strncasecmp(body, "<!doctype", 9) == 0 ||
	       strncasecmp(body, "<html", 5) == 0;
}

void http_answer_words(const struct http_answer *answer, char *ret_words, size_t capacity)
{
	const char *begin = strstr(answer->body, "Code: ");
	size_t size;

	begin = begin ? begin : answer->body;
	size = strcspn(begin, "\r\n");
	snprintf(ret_words, capacity, "%.*s", (int)(size < capacity ? size : capacity - 1), begin);
}

/* ---- explanations ------------------------------------------------------------------ */

struct words {
	char *text;
	size_t capacity;
};

#define say(words, ...) snprintf((words)->text, (words)->capacity, __VA_ARGS__)

static void explain_certificate(const struct http_answer *answer, const char *url, const struct words *words)
{
	if (answer->tls_verify_result == X509_ERR_CERT_NOT_YET_VALID)
		say(words, "%s: the certificate is not valid yet: check this host's clock (timedatectl)", url);
	else if (answer->tls_verify_result == X509_ERR_CERT_HAS_EXPIRED)
		say(words,
		    "%s: the certificate has expired: renew it on the server, or "
		    "correct this host's clock (timedatectl)",
		    url);
	else
		say(words,
		    "%s: the certificate is not trusted (%s): set lake.ca-file to "
		    "the authority that signed it, and use the host name in the certificate",
		    url, answer->error);
}

static void explain_failure(const struct http_answer *answer, const char *url, const struct words *words)
{
	const char *error = answer->error;

	switch (answer->failure) {
	case HTTP_NO_NAME:
		say(words, "%s: cannot resolve the host name: check lake.url and DNS (%s)", url, error);
		break;
	case HTTP_NO_PROXY_NAME: say(words, "cannot resolve the proxy's name: check lake.proxy (%s)", error); break;
	case HTTP_NO_CONNECTION:
		say(words, "%s: cannot connect: check that the lake is running, the port and firewalls (%s)", url,
		    error);
		break;
	case HTTP_TIMEOUT: say(words, "%s: timed out (%s): the server hangs or is overloaded", url, error); break;
	case HTTP_CUT: say(words, "%s: the connection was interrupted (%s)", url, error); break;
	case HTTP_TLS_HANDSHAKE:
		say(words,
		    "%s: TLS handshake failed (%s): check that it is an https port "
		    "and whether it requires a client certificate (lake.certificate-file)",
		    url, error);
		break;
	case HTTP_TLS_PEER: explain_certificate(answer, url, words); break;
	case HTTP_TLS_LOCAL: say(words, "lake.ca-file, certificate-file or key-file cannot be used (%s)", error); break;
	default: say(words, "%s: %s", url, error); break;
	}
}

/* Shows only scheme, host and port: the rest of the address may hold a session secret. */
static void explain_redirect(const struct http_answer *answer, const char *url, const struct words *words)
{
	const char *host = strstr(answer->location, "://");
	size_t size = host ? (size_t)(host + 3 - answer->location) + strcspn(host + 3, "/?#@") : 0;

	say(words, "%s: redirects to %.*s, which is not followed; if the lake has moved there, change lake.url", url,
	    (int)(size ? size : strlen("elsewhere")), size ? answer->location : "elsewhere");
}

static void explain_status(const struct http_answer *answer, const char *url, const struct words *words)
{
	long status = answer->status;

	if (status >= 300 && status < 400)
		explain_redirect(answer, url, words);
	else if (status == 407)
		say(words, "the proxy requires authentication: set lake.proxy-user and lake.proxy-password-file");
	else if (status == 413)
		say(words,
		    "%s: a proxy in front of the lake rejects requests of this size "
		    "(status 413): raise its limit (nginx: client_max_body_size)",
		    url);
	else if (is_page(answer))
		say(words,
		    "%s: returned a web page (status %ld): not a ClickHouse server, "
		    "or a proxy or portal in between: check lake.url",
		    url, status);
	else if (status == 401 || status == 403)
		say(words, "%s: access denied (status %ld): check lake.user, lake.password-file or lake.token-file",
		    url, status);
	else if (status == 429)
		say(words, "%s: too many requests: retry later", url);
	else if (status >= 500)
		say(words, "%s: failed with status %ld: see the server's log", url, status);
	else
		say(words, "%s: unexpected response with status %ld, not from ClickHouse: check lake.url", url, status);
}

void http_answer_explain(const struct http_answer *answer, const char *url, char *ret_text, size_t capacity)
{
	const struct words words = {ret_text, capacity};

	if (answer->failure != HTTP_ANSWERED)
		explain_failure(answer, url, &words);
	else
		explain_status(answer, url, &words);
}
