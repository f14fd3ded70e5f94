/* Interpretation of answers. See delivery.h.
 *
 * If in doubt, a batch is retried: it is on disk, and sending a row twice is
 * harmless. It counts as accepted only if ClickHouse itself said so, and as refused
 * only if ClickHouse reported an error in its content.
 */
#include "shipper/delivery.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#define CLOCK_SKEW_S 300 /* a smaller skew does not explain a certificate failure */
#define WORDS_BYTES 200  /* of the server's message quoted in a reason */

__attribute__((format(printf, 3, 4))) static void say(struct delivery *delivery, enum delivery_kind kind,
						      const char *format, ...)
{
	va_list arguments;

	delivery->kind = kind;
	va_start(arguments, format);
	vsnprintf(delivery->reason, sizeof(delivery->reason), format, arguments);
	va_end(arguments);
}

/* ---- ClickHouse's exceptions ------------------------------------------------------- */

enum exception_kind {
	EXCEPTION_CONTENT = 1,
	EXCEPTION_LOGIN,
	EXCEPTION_RIGHTS,
	EXCEPTION_SCHEMA,
	EXCEPTION_EFFORT,
	EXCEPTION_PASSING
};

/* src/Common/ErrorCodes.cpp; the numbers never change. */
static const struct {
	int code;
	enum exception_kind kind;
} exceptions[] = {
	{6, EXCEPTION_CONTENT},   /* CANNOT_PARSE_TEXT */
	{16, EXCEPTION_CONTENT},  /* NO_SUCH_COLUMN_IN_TABLE */
	{25, EXCEPTION_CONTENT},  /* CANNOT_PARSE_ESCAPE_SEQUENCE */
	{26, EXCEPTION_CONTENT},  /* CANNOT_PARSE_QUOTED_STRING */
	{27, EXCEPTION_CONTENT},  /* CANNOT_PARSE_INPUT_ASSERTION_FAILED */
	{38, EXCEPTION_CONTENT},  /* CANNOT_PARSE_DATE */
	{41, EXCEPTION_CONTENT},  /* CANNOT_PARSE_DATETIME */
	{53, EXCEPTION_CONTENT},  /* TYPE_MISMATCH */
	{69, EXCEPTION_CONTENT},  /* ARGUMENT_OUT_OF_BOUND */
	{70, EXCEPTION_CONTENT},  /* CANNOT_CONVERT_TYPE */
	{72, EXCEPTION_CONTENT},  /* CANNOT_PARSE_NUMBER */
	{117, EXCEPTION_CONTENT}, /* INCORRECT_DATA */
	{130, EXCEPTION_CONTENT}, /* CANNOT_READ_ARRAY_FROM_TEXT */
	{131, EXCEPTION_CONTENT}, /* TOO_LARGE_STRING_SIZE */
	{190, EXCEPTION_CONTENT}, /* SIZES_OF_ARRAYS_DONT_MATCH */
	{159, EXCEPTION_EFFORT},  /* TIMEOUT_EXCEEDED */
	{241, EXCEPTION_EFFORT},  /* MEMORY_LIMIT_EXCEEDED */
	{252, EXCEPTION_PASSING}, /* TOO_MANY_PARTS: smaller batches would make more */
	{307, EXCEPTION_CONTENT}, /* TOO_MANY_BYTES */
	{321, EXCEPTION_CONTENT}, /* VALUE_IS_OUT_OF_RANGE_OF_DATA_TYPE */
	{349, EXCEPTION_CONTENT}, /* CANNOT_INSERT_NULL_IN_ORDINARY_COLUMN */
	{469, EXCEPTION_CONTENT}, /* VIOLATED_CONSTRAINT */
	{60, EXCEPTION_SCHEMA},   /* UNKNOWN_TABLE */
	{81, EXCEPTION_SCHEMA},   /* UNKNOWN_DATABASE */
	{192, EXCEPTION_LOGIN},   /* UNKNOWN_USER */
	{193, EXCEPTION_LOGIN},   /* WRONG_PASSWORD */
	{194, EXCEPTION_LOGIN},   /* REQUIRED_PASSWORD */
	{516, EXCEPTION_LOGIN},   /* AUTHENTICATION_FAILED */
	{195, EXCEPTION_RIGHTS},  /* IP_ADDRESS_NOT_ALLOWED */
	{291, EXCEPTION_RIGHTS},  /* DATABASE_ACCESS_DENIED */
	{497, EXCEPTION_RIGHTS},  /* ACCESS_DENIED */
};

static enum exception_kind exception_kind(int64_t code)
{
	for (size_t i = 0; i < sizeof(exceptions) / sizeof(exceptions[0]); i++)
		if (exceptions[i].code == code)
			return exceptions[i].kind;
	return EXCEPTION_PASSING;
}

static void assess_exception(const struct http_answer *answer, int64_t code, const struct delivery_context *context,
			     struct delivery *delivery)
{
	const char *user = context->user[0] ? context->user : "default";
	char words[WORDS_BYTES];

	http_answer_words(answer, words, sizeof(words));
	switch (exception_kind(code)) {
	case EXCEPTION_CONTENT:
		say(delivery, DELIVERY_REFUSED, "the lake rejected rows of %s: %s", context->entity, words);
		break;
	case EXCEPTION_LOGIN:
		say(delivery, DELIVERY_RETRY,
		    "%s: the lake rejected user %s with this password: check "
		    "lake.user and lake.password-file (code %" PRId64 ")",
		    context->url, user, code);
		break;
	case EXCEPTION_RIGHTS:
		say(delivery, DELIVERY_RETRY,
		    "%s: user %s may not insert into %s.%s_rows: grant this, see tracer lake init (code %" PRId64 ")",
		    context->url, user, context->database, context->entity, code);
		break;
	case EXCEPTION_SCHEMA:
		say(delivery, DELIVERY_RETRY,
		    "%s: there is no table %s.%s_rows: create it with tracer lake init, "
		    "or check lake.database (code %" PRId64 ")",
		    context->url, context->database, context->entity, code);
		break;
	case EXCEPTION_EFFORT:
	default:
		say(delivery, exception_kind(code) == EXCEPTION_EFFORT ? DELIVERY_TOO_MUCH : DELIVERY_RETRY,
		    "%s: the lake cannot accept it now: %s", context->url, words[0] ? words : "no reason given");
		break;
	}
}

/* ---- other answers ----------------------------------------------------------------- */

static bool clock_is_wrong(const struct http_answer *answer, const struct delivery_context *context)
{
	int64_t skew = answer->date_unix_s - context->now_unix_s;

	return answer->date_unix_s > 0 && (skew > CLOCK_SKEW_S || skew < -CLOCK_SKEW_S);
}

void delivery_read(const struct http_answer *answer, const struct delivery_context *context,
		   struct delivery *ret_delivery)
{
	int64_t code = http_answer_exception(answer);

	*ret_delivery = (struct delivery){.kind = DELIVERY_RETRY, .retry_after_s = answer->retry_after_s};
	if (answer->failure == HTTP_ANSWERED && code != 0)
		assess_exception(answer, code, context, ret_delivery);
	else if (answer->failure == HTTP_ANSWERED && answer->status == 200 && answer->is_clickhouse &&
		 answer->body_size == 0)
		ret_delivery->kind = DELIVERY_ACCEPTED;
	else
		http_answer_explain(answer, context->url, ret_delivery->reason, sizeof(ret_delivery->reason));
	if (answer->failure == HTTP_TIMEOUT)
		strncat(ret_delivery->reason, ", or lake.timeout is too short",
			sizeof(ret_delivery->reason) - strlen(ret_delivery->reason) - 1);
	if (answer->failure == HTTP_ANSWERED && answer->status == 413)
		ret_delivery->kind = DELIVERY_TOO_LARGE;
	/* A server that checks signatures or tokens by time says only "denied". */
	if (ret_delivery->kind == DELIVERY_RETRY && clock_is_wrong(answer, context) &&
	    (answer->status == 401 || answer->status == 403))
		say(ret_delivery, DELIVERY_RETRY,
		    "%s: access denied (status %ld), and its clock and this host's "
		    "differ by %" PRId64 " s: correct this host's clock (timedatectl)",
		    context->url, answer->status, answer->date_unix_s - context->now_unix_s);
}
