/* Fuzz target: what `tracer serve` and a `tracer` that asks it send each other.
 *
 * A first byte 'p' makes the rest a parameter of a query, as any user may send it; else all is an answer. Nothing may
 * crash or be read behind the end; whatever decodes must, when encoded again, be the same.
 */
#include <stdio.h>

#include <curl/curl.h>

#include "analysis/served/parameters.h"
#include "analysis/served/rows.h"
#include "tests/fuzz/fuzz.h"

static void check_parameter(const char *data, size_t size)
{
	char *text = strndup(data, size), *again = strndup(data, size), *url, *decoded;
	struct store_parameter parameters[2] = {{0}}, list;
	int64_t values[SERVED_LIST_MAX];
	int count = served_list_parse(again, &list, values);

	require(count <= SERVED_LIST_MAX);
	if (count == 0 && served_parameter_parse(text, &parameters[0]) == 0) {
		url = served_parameters_add(strdup(""), parameters);
		decoded = curl_easy_unescape(NULL, url + 1, 0, NULL);
		require(served_parameter_parse(decoded, &list) == 0);
		require(strcmp(list.name, parameters[0].name) == 0 && list.type == parameters[0].type);
		require(list.integer == parameters[0].integer);
		require(memcmp(&list.real, &parameters[0].real, sizeof(list.real)) == 0);
		require(!list.text || strcmp(list.text, parameters[0].text) == 0);
		curl_free(decoded);
		free(url);
	}
	free(text);
	free(again);
}

static void check_answer(const char *data, size_t size)
{
	static struct store_value values[SERVED_COLUMNS_MAX];
	static struct served_head head;
	struct served_rows rows = {data, data + size, 0};
	char *encoded = NULL;
	size_t encoded_size;
	FILE *out;
	int more;

	if (served_head_decode(&rows, &head) < 0)
		return;
	out = open_memstream(&encoded, &encoded_size);
	served_head_encode(out, &head);
	while ((more = served_row_decode(&rows, values, head.width)) > 0)
		served_row_encode(out, values, head.width);
	served_end_encode(out, rows.row_count);
	fclose(out);
	if (more == 0) {
		require(encoded_size == (size_t)(rows.next - data));
		require(memcmp(encoded, data, encoded_size) == 0);
		rows = (struct served_rows){data, data + size, 0};
		require(served_rows_skip(&rows) == 0 && encoded_size == (size_t)(rows.next - data));
	}
	free(encoded);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size > 0 && data[0] == 'p')
		check_parameter((const char *)data + 1, size - 1);
	else
		check_answer((const char *)data, size);
	return 0;
}
