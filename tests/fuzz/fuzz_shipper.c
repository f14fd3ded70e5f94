/* Fuzz target: external input of tracer-shipper.
 *
 * The first byte selects the rest: an answer of whatever server is at the lake's address (head,
 * NUL, body), a configuration, the name of a file in the state directory, a fact about a
 * cloud. In every case a delivery is reached, a refusal says why, and an accepted name is
 * the name that would be written.
 */

#include "shipper/batch.h"
#include "shipper/cloud.h"
#include "shipper/sink.h"
#include "tests/fuzz/fuzz.h"

static const struct sink_type any_sink;

/* The sinks themselves are not tested here. */
const struct sink_type *sink_find(const char *name)
{
	return strcmp(name, "clickhouse") == 0 || strcmp(name, "ndjson") == 0 ? &any_sink : NULL;
}

static void try_answer(const char *data, size_t size)
{
	const struct delivery_context context = {"https://lake", "tracer", "runs", "", 1000000};
	static struct http_answer answer;
	struct delivery delivery;
	size_t head = strnlen(data, size);

	answer = (struct http_answer){
		.status = (long)(size % 600), .exception_code = (int64_t)size % 3 - 1, .is_clickhouse = size & 1};
	snprintf(answer.location, sizeof(answer.location), "%.*s", (int)head, data);
	snprintf(answer.content_type, sizeof(answer.content_type), "%.*s", (int)head, data);
	snprintf(answer.error, sizeof(answer.error), "%.*s", (int)head, data);
	if (head < size)
		http_answer_take_body(&answer, data + head + 1, size - head - 1);
	answer.failure = (enum http_failure)(head % (HTTP_OTHER + 1));
	delivery_read(&answer, &context, &delivery);
	require((delivery.kind == DELIVERY_ACCEPTED) == (delivery.reason[0] == '\0'));
	require(memchr(delivery.reason, '\0', sizeof(delivery.reason)));
	if (delivery.kind == DELIVERY_ACCEPTED)
		require(answer.is_clickhouse && answer.body_size == 0 && answer.exception_code == 0);
}

static void try_settings(const char *data, size_t size)
{
	struct settings_error error = {""};
	struct settings settings;

	require(settings_init(&settings) == 0);
	if (settings_parse(&settings, "fuzz.yaml", data, size, &error) < 0 || settings_check(&settings, &error) < 0)
		require(error.text[0] != '\0' && memchr(error.text, '\0', sizeof(error.text)));
	settings_deinit(&settings);
}

static void try_name(const char *name)
{
	struct batch batch;

	if (batch_parse_name(name, &batch) == 0)
		require(strcmp(batch.name, name) == 0 && !strchr(name, '/'));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char field[CLOUD_TEXT_BYTES], *text = malloc(size + 1);

	require(text);
	memcpy(text, data, size);
	text[size] = '\0';
	switch (size ? text[0] : 0) {
	case 'a': try_answer(text + 1, size - 1); break;
	case 'n': try_name(text + 1); break;
	case 'c':
		cloud_take_field(field, text + 1, size - 1);
		require(memchr(field, '\0', sizeof(field)));
		break;
	default: try_settings(size ? text + 1 : text, size ? size - 1 : 0); break;
	}
	free(text);
	return 0;
}
