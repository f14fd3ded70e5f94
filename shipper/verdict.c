/* Judging answers. See verdict.h.
 *
 * In doubt a batch is tried again: it is on disk, and the lake takes the same row twice
 * without harm. It counts as taken only where ClickHouse itself said so, and as refused
 * only where ClickHouse named a fault of its content.
 */
#include "shipper/verdict.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define CLOCK_SKEW_S 300 /* below that a wrong clock is not what breaks a certificate */
#define WORDS_BYTES 200  /* of the server's own words in a reason */

#define X509_ERR_CERT_NOT_YET_VALID 9 /* openssl/x509_vfy.h: part of its stable interface */
#define X509_ERR_CERT_HAS_EXPIRED 10

static void say(struct verdict *verdict, enum verdict_kind kind, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void say(struct verdict *verdict, enum verdict_kind kind, const char *format, ...)
{
	va_list arguments;

	verdict->kind = kind;
	va_start(arguments, format);
	vsnprintf(verdict->reason, sizeof(verdict->reason), format, arguments);
	va_end(arguments);
}

/* ---- no answer ------------------------------------------------------------------- */

static void judge_certificate(const struct http_answer *answer, const struct verdict_context *context,
			      struct verdict *verdict)
{
	if (answer->tls_verify_result == X509_ERR_CERT_NOT_YET_VALID)
		say(verdict, VERDICT_RETRY, "%s: its certificate is not valid yet: is this host's clock "
		    "right (timedatectl)?", context->url);
	else if (answer->tls_verify_result == X509_ERR_CERT_HAS_EXPIRED)
		say(verdict, VERDICT_RETRY, "%s: its certificate has expired: renew it there, or set "
		    "this host's clock right (timedatectl)", context->url);
	else
		say(verdict, VERDICT_RETRY, "%s: its certificate is not to be trusted (%s): name the "
		    "authority that signed it as lake.ca-file, and the host as the certificate does",
		    context->url, answer->error);
}

static void judge_failure(const struct http_answer *answer, const struct verdict_context *context,
			  struct verdict *verdict)
{
	const char *url = context->url, *words = answer->error;

	switch (answer->failure) {
	case HTTP_NO_NAME:
		say(verdict, VERDICT_RETRY, "%s: its name is not known: check lake.url and the name "
		    "servers (%s)", url, words);
		break;
	case HTTP_NO_PROXY_NAME:
		say(verdict, VERDICT_RETRY, "the proxy's name is not known: check lake.proxy (%s)", words);
		break;
	case HTTP_NO_CONNECTION:
		say(verdict, VERDICT_RETRY, "%s: no connection: is the lake up, the port right, the way "
		    "free (%s)?", url, words);
		break;
	case HTTP_TIMEOUT:
		say(verdict, VERDICT_RETRY, "%s: no answer in time (%s): it hangs, is overloaded, or "
		    "lake.timeout is short", url, words);
		break;
	case HTTP_CUT:
		say(verdict, VERDICT_RETRY, "%s: the connection ended in the middle (%s)", url, words);
		break;
	case HTTP_TLS_HANDSHAKE:
		say(verdict, VERDICT_RETRY, "%s: no TLS connection (%s): is it an https port, does it ask "
		    "for a client certificate (lake.certificate-file)?", url, words);
		break;
	case HTTP_TLS_PEER:
		judge_certificate(answer, context, verdict);
		break;
	case HTTP_TLS_LOCAL:
		say(verdict, VERDICT_RETRY, "lake.ca-file, certificate-file or key-file cannot be used "
		    "(%s)", words);
		break;
	default:
		say(verdict, VERDICT_RETRY, "%s: %s", url, words);
		break;
	}
}

/* ---- ClickHouse's exceptions ------------------------------------------------------- */

enum exception_kind { EXCEPTION_CONTENT = 1, EXCEPTION_LOGIN, EXCEPTION_RIGHTS, EXCEPTION_SCHEMA,
		      EXCEPTION_PASSING };

/* src/Common/ErrorCodes.cpp; the numbers never change. */
static const struct {
	int code;
	enum exception_kind kind;
} exceptions[] = {
	{6, EXCEPTION_CONTENT},    /* CANNOT_PARSE_TEXT */
	{16, EXCEPTION_CONTENT},   /* NO_SUCH_COLUMN_IN_TABLE */
	{25, EXCEPTION_CONTENT},   /* CANNOT_PARSE_ESCAPE_SEQUENCE */
	{26, EXCEPTION_CONTENT},   /* CANNOT_PARSE_QUOTED_STRING */
	{27, EXCEPTION_CONTENT},   /* CANNOT_PARSE_INPUT_ASSERTION_FAILED */
	{38, EXCEPTION_CONTENT},   /* CANNOT_PARSE_DATE */
	{41, EXCEPTION_CONTENT},   /* CANNOT_PARSE_DATETIME */
	{53, EXCEPTION_CONTENT},   /* TYPE_MISMATCH */
	{69, EXCEPTION_CONTENT},   /* ARGUMENT_OUT_OF_BOUND */
	{70, EXCEPTION_CONTENT},   /* CANNOT_CONVERT_TYPE */
	{72, EXCEPTION_CONTENT},   /* CANNOT_PARSE_NUMBER */
	{117, EXCEPTION_CONTENT},  /* INCORRECT_DATA */
	{130, EXCEPTION_CONTENT},  /* CANNOT_READ_ARRAY_FROM_TEXT */
	{131, EXCEPTION_CONTENT},  /* TOO_LARGE_STRING_SIZE */
	{190, EXCEPTION_CONTENT},  /* SIZES_OF_ARRAYS_DONT_MATCH */
	{252, EXCEPTION_PASSING},  /* TOO_MANY_PARTS */
	{307, EXCEPTION_CONTENT},  /* TOO_MANY_BYTES */
	{321, EXCEPTION_CONTENT},  /* VALUE_IS_OUT_OF_RANGE_OF_DATA_TYPE */
	{349, EXCEPTION_CONTENT},  /* CANNOT_INSERT_NULL_IN_ORDINARY_COLUMN */
	{469, EXCEPTION_CONTENT},  /* VIOLATED_CONSTRAINT */
	{60, EXCEPTION_SCHEMA},    /* UNKNOWN_TABLE */
	{81, EXCEPTION_SCHEMA},    /* UNKNOWN_DATABASE */
	{192, EXCEPTION_LOGIN},    /* UNKNOWN_USER */
	{193, EXCEPTION_LOGIN},    /* WRONG_PASSWORD */
	{194, EXCEPTION_LOGIN},    /* REQUIRED_PASSWORD */
	{516, EXCEPTION_LOGIN},    /* AUTHENTICATION_FAILED */
	{195, EXCEPTION_RIGHTS},   /* IP_ADDRESS_NOT_ALLOWED */
	{291, EXCEPTION_RIGHTS},   /* DATABASE_ACCESS_DENIED */
	{497, EXCEPTION_RIGHTS},   /* ACCESS_DENIED */
};

static enum exception_kind exception_kind(int64_t code)
{
	for (size_t i = 0; i < sizeof(exceptions) / sizeof(exceptions[0]); i++)
		if (exceptions[i].code == code)
			return exceptions[i].kind;
	return EXCEPTION_PASSING;
}

/* "Code: 60. DB::Exception: ...": also in the middle of an answer that began as a 200. */
static int64_t body_exception(const struct http_answer *answer)
{
	const char *found = strstr(answer->body, "Code: ");
	long code;

	if (!found || !strstr(found, "Exception"))
		return 0;
	code = strtol(found + strlen("Code: "), NULL, 10);
	return code > 0 ? code : -1;
}

/* The server's words as one short line. */
static const char *body_words(const struct http_answer *answer, char words[WORDS_BYTES])
{
	const char *begin = strstr(answer->body, "Code: ");
	size_t size;

	begin = begin ? begin : answer->body;
	size = strcspn(begin, "\r\n");
	snprintf(words, WORDS_BYTES, "%.*s", (int)(size < WORDS_BYTES ? size : WORDS_BYTES - 1), begin);
	return words;
}

static void judge_exception(const struct http_answer *answer, int64_t code,
			    const struct verdict_context *context, struct verdict *verdict)
{
	const char *user = context->user ? context->user : "default";
	char words[WORDS_BYTES];

	body_words(answer, words);
	switch (exception_kind(code)) {
	case EXCEPTION_CONTENT:
		say(verdict, VERDICT_REFUSED, "the lake refuses rows of %s: %s", context->entity, words);
		break;
	case EXCEPTION_LOGIN:
		say(verdict, VERDICT_RETRY, "%s: the lake does not know user %s with this password: check "
		    "lake.user and lake.password-file (code %" PRId64 ")", context->url, user, code);
		break;
	case EXCEPTION_RIGHTS:
		say(verdict, VERDICT_RETRY, "%s: user %s may not insert into %s.%s_rows: grant it, see tracer "
		    "lake init (code %" PRId64 ")", context->url, user, context->database,
		    context->entity, code);
		break;
	case EXCEPTION_SCHEMA:
		say(verdict, VERDICT_RETRY, "%s: there is no table %s.%s_rows: make it with tracer lake init, "
		    "or check lake.database (code %" PRId64 ")", context->url, context->database,
		    context->entity, code);
		break;
	default:
		say(verdict, VERDICT_RETRY, "%s: the lake cannot take it now: %s", context->url,
		    words[0] ? words : "no reason given");
		break;
	}
}

/* ---- other answers ----------------------------------------------------------------- */

static bool looks_like_a_page(const struct http_answer *answer)
{
	const char *body = answer->body + strspn(answer->body, " \t\r\n");

	return strncasecmp(answer->content_type, "text/html", 9) == 0 ||
	       strncasecmp(body, "<!doctype", 9) == 0 || strncasecmp(body, "<html", 5) == 0;
}

/* Scheme, host and port: what is behind them may hold a session's secret. */
static void judge_redirect(const struct http_answer *answer, const struct verdict_context *context,
			   struct verdict *verdict)
{
	const char *host = strstr(answer->location, "://");
	size_t size = host ? (size_t)(host + 3 - answer->location) + strcspn(host + 3, "/?#@")
			   : 0;

	say(verdict, VERDICT_RETRY, "%s: answers with a redirect to %.*s: not followed; if the lake has "
	    "moved there, change lake.url", context->url, (int)(size ? size : strlen("elsewhere")),
	    size ? answer->location : "elsewhere");
}

static void judge_status(const struct http_answer *answer, const struct verdict_context *context,
			 struct verdict *verdict)
{
	const char *url = context->url;
	long status = answer->status;

	if (status >= 300 && status < 400)
		judge_redirect(answer, context, verdict);
	else if (status == 407)
		say(verdict, VERDICT_RETRY, "the proxy asks who we are: lake.proxy-user and "
		    "lake.proxy-password-file");
	else if (looks_like_a_page(answer))
		say(verdict, VERDICT_RETRY, "%s: answers with a web page (status %ld): it is no ClickHouse, "
		    "or a proxy or portal stands between: check lake.url", url, status);
	else if (status == 401 || status == 403)
		say(verdict, VERDICT_RETRY, "%s: refuses us (status %ld): check lake.user, "
		    "lake.password-file or lake.token-file", url, status);
	else if (status == 413)
		say(verdict, VERDICT_RETRY, "%s: something before the lake refuses bodies of this size: "
		    "raise its limit, or lower send.rows for what comes", url);
	else if (status == 429)
		say(verdict, VERDICT_RETRY, "%s: too many requests: we wait", url);
	else if (status >= 500)
		say(verdict, VERDICT_RETRY, "%s: fails with status %ld: see its log", url, status);
	else
		say(verdict, VERDICT_RETRY, "%s: answers with status %ld, but not as ClickHouse does: "
		    "check lake.url", url, status);
}

static bool clock_is_wrong(const struct http_answer *answer, const struct verdict_context *context)
{
	int64_t skew = answer->date_unix_s - context->now_unix_s;

	return answer->date_unix_s > 0 && (skew > CLOCK_SKEW_S || skew < -CLOCK_SKEW_S);
}

void verdict_reach(const struct http_answer *answer, const struct verdict_context *context,
		   struct verdict *ret_verdict)
{
	int64_t code = answer->exception_code ? answer->exception_code : body_exception(answer);

	*ret_verdict = (struct verdict){.retry_after_s = answer->retry_after_s};
	if (answer->failure != HTTP_ANSWERED)
		judge_failure(answer, context, ret_verdict);
	else if (code != 0)
		judge_exception(answer, code, context, ret_verdict);
	else if (answer->status == 200 && answer->is_clickhouse && answer->body_size == 0)
		ret_verdict->kind = VERDICT_ACCEPTED;
	else
		judge_status(answer, context, ret_verdict);
	/* Who signs requests or checks tokens by time says only "denied". */
	if (ret_verdict->kind == VERDICT_RETRY && clock_is_wrong(answer, context) &&
	    (answer->status == 401 || answer->status == 403))
		say(ret_verdict, VERDICT_RETRY, "%s: refuses us (status %ld), and its clock and ours differ "
		    "by %" PRId64 " s: set this host's clock right (timedatectl)", context->url,
		    answer->status, answer->date_unix_s - context->now_unix_s);
}
