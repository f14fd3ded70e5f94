/* Answers of a receiver of OpenTelemetry. https://opentelemetry.io/docs/specs/otlp/#otlphttp-response says which requests are
 * sent again. See delivery.h. */
#include <inttypes.h>
#include <string.h>

#include <jansson.h>

#include "shipper/delivery.h"

#define WORDS_BYTES 200 /* of the receiver's message quoted in a reason */

/* A number in protobuf's JSON, which may be a text. */
static int64_t number_of(const json_t *value)
{
	int64_t number = 0;

	if (json_is_string(value))
		sscanf(json_string_value(value), "%" SCNd64, &number);
	return json_is_integer(value) ? json_integer_value(value) : number;
}

/* An ExportTraceServiceResponse: it may say that some of the spans were not taken; those must not be sent again. Returns
 * false if the answer is none. */
static bool success_read(const struct http_answer *answer, const struct delivery_context *context,
			 struct delivery *delivery)
{
	json_t *root = json_loadb(answer->body, answer->body_size, 0, NULL);
	const json_t *partial = json_object_get(root, "partialSuccess");
	const char *message = json_string_value(json_object_get(partial, "errorMessage"));
	int64_t rejected = number_of(json_object_get(partial, "rejectedSpans"));
	bool is_response = json_is_object(root) || answer->body_size == 0;

	delivery->rejected_count = rejected > 0 ? (uint64_t)rejected : 0;
	if (rejected > 0)
		snprintf(delivery->reason, sizeof(delivery->reason), "%s: the receiver rejected %llu spans: %.*s",
			 context->url, (unsigned long long)delivery->rejected_count, WORDS_BYTES,
			 message ? message : "no reason given");
	else if (message && message[0])
		snprintf(delivery->reason, sizeof(delivery->reason), "%s: the receiver warns: %.*s", context->url,
			 WORDS_BYTES, message);
	json_decref(root);
	return is_response;
}

/* 407 is the answer of a proxy on the way, not the receiver's. */
static bool is_retryable(long status)
{
	return status < 400 || status == 407 || status == 429 || status == 502 || status == 503 || status == 504;
}

void delivery_read_otlp(const struct http_answer *answer, const struct delivery_context *context,
			struct delivery *ret_delivery)
{
	char words[WORDS_BYTES];

	*ret_delivery = (struct delivery){.kind = DELIVERY_RETRY, .retry_after_s = answer->retry_after_s};
	if (answer->failure == HTTP_ANSWERED && answer->status >= 200 && answer->status < 300) {
		if (success_read(answer, context, ret_delivery))
			ret_delivery->kind = DELIVERY_ACCEPTED;
		else
			snprintf(ret_delivery->reason, sizeof(ret_delivery->reason),
				 "%s: answered as no OTLP receiver does (status %ld): a proxy or portal in between, or "
				 "another server: check lake.url",
				 context->url, answer->status);
		return;
	}
	http_answer_explain(answer, context->url, ret_delivery->reason, sizeof(ret_delivery->reason));
	if (answer->failure != HTTP_ANSWERED || is_retryable(answer->status))
		return;
	if (answer->status == 413) {
		ret_delivery->kind = DELIVERY_TOO_LARGE;
		return;
	}
	ret_delivery->kind = DELIVERY_INVALID;
	http_answer_words(answer, words, sizeof(words));
	snprintf(ret_delivery->reason, sizeof(ret_delivery->reason), "%s: the receiver rejected %s (status %ld): %s",
		 context->url, context->entity, answer->status, words[0] ? words : "no reason given");
}
