/* Runs queries of query/ on a store or a lake and prints the results, every value with its
 * type: both must print the same.
 *
 *   run_queries FILE|URL < LINES
 *
 * A line is QUERY, then NAME=iNUMBER, NAME=rFRACTION, NAME=tTEXT or NAME=n (NULL), separated by tabs;
 * +QUERY is sent ahead, and its result not printed. The lake's user is set in the environment, as for
 * `tracer --lake`.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/lake/lake.h"
#include "analysis/query/ask.h"
#include "common/text.h"

#define PARAMETERS_MAX 12

static void print_text(const char *data, size_t size)
{
	char *safe = malloc(4 * size + 1);

	if (!safe)
		exit(1);
	text_escape(data, size, safe, 4 * size + 1);
	fputs(safe, stdout);
	free(safe);
}

static void print_value(const struct store_value *value)
{
	switch (value->type) {
	case STORE_VALUE_NULL: fputs("NULL", stdout); break;
	case STORE_VALUE_INTEGER: printf("%" PRId64, value->integer); break;
	case STORE_VALUE_REAL: printf("%.17g", value->real); break;
	case STORE_VALUE_TEXT:
		fputs("'", stdout);
		print_text(value->data, value->size);
		fputs("'", stdout);
		break;
	case STORE_VALUE_BLOB:
		for (size_t i = 0; i < value->size;) {
			size_t size = strnlen(value->data + i, value->size - i);

			fputs("[", stdout);
			print_text(value->data + i, size);
			fputs("]", stdout);
			i += size + 1;
		}
		break;
	}
}

static int print_result(struct store_result *result)
{
	size_t width = store_result_width(result);
	int more;

	for (size_t i = 0; i < width; i++)
		printf("%s%s", i ? "\t" : "", store_result_name(result, i));
	putchar('\n');
	while ((more = store_result_next(result)) > 0) {
		for (size_t i = 0; i < width; i++) {
			struct store_value value = store_result_value(result, i);

			fputs(i ? "\t" : "", stdout);
			print_value(&value);
		}
		putchar('\n');
	}
	return more;
}

static void parameter_parse(char *text, struct store_parameter *ret_parameter)
{
	char *value = strchr(text, '=');

	if (!value)
		exit(2);
	*value++ = '\0';
	*ret_parameter = (struct store_parameter){.name = text, .type = STORE_NULL};
	if (*value == 'i') {
		ret_parameter->type = STORE_INTEGER;
		ret_parameter->integer = strtoll(value + 1, NULL, 10);
	} else if (*value == 'r') {
		ret_parameter->type = STORE_REAL;
		ret_parameter->real = strtod(value + 1, NULL);
	} else if (*value == 't') {
		ret_parameter->type = STORE_TEXT;
		ret_parameter->text = value + 1;
	}
}

static void run(struct store *store, char *line)
{
	struct store_parameter parameters[PARAMETERS_MAX + 1] = {0};
	struct store_result *result;
	char *save, *query = strtok_r(line, "\t\n", &save), *word;
	size_t count = 0;

	while (count < PARAMETERS_MAX && (word = strtok_r(NULL, "\t\n", &save)))
		parameter_parse(word, &parameters[count++]);
	if (*query == '+') {
		query_ask_ahead(store, query + 1, parameters);
		return;
	}
	if (query_ask(store, query, parameters, &result) < 0) {
		printf("failed: %s\n\n", store_error_text(store));
		return;
	}
	if (print_result(result) < 0)
		printf("failed: %s\n", store_error_text(store));
	store_result_free(result);
	putchar('\n');
}

int main(int argc, char **argv)
{
	struct access settings;
	struct store_error error;
	struct store *store;
	char line[4096];
	int failed;

	if (argc != 2)
		return 2;
	if (strstr(argv[1], "://")) {
		failed = lake_settings_load(&settings, argv[1], NULL, "analyst", error.text, sizeof(error.text));
		failed = failed < 0 ? failed : lake_open(&settings, &store, &error);
	} else {
		failed = store_open_reader(argv[1], &store, &error);
	}
	if (failed < 0) {
		fprintf(stderr, "run_queries: %s\n", error.text);
		return 1;
	}
	while (fgets(line, sizeof(line), stdin))
		run(store, line);
	store_close(store);
	return 0;
}
