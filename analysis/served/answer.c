/* What the server answers. See served.h. */
#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "analysis/query/ask.h"
#include "analysis/served/parameters.h"
#include "analysis/served/rows.h"
#include "analysis/served/served.h"
#include "common/text.h"

/* Names come from the client: they are escaped. */
__attribute__((format(printf, 3, 4))) static int refuse(struct store_error *ret_error, int error, const char *format,
							...)
{
	char raw[sizeof(ret_error->text)];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(raw, sizeof(raw), format, arguments);
	va_end(arguments);
	text_escape(raw, strlen(raw), ret_error->text, sizeof(ret_error->text));
	return error;
}

/* What a query is asked with: each of a list of values for one of its parameters; a query without a list is run once. */
struct asked {
	struct store_parameter parameters[SERVED_PARAMETERS_MAX + 1];
	struct store_parameter *listed; /* NULL: none */
	int64_t values[SERVED_LIST_MAX];
	int value_count;
};

/* Returns 0 or -EINVAL. */
static int parameter_parse(struct asked *asked, char *text, struct store_parameter *parameter)
{
	int count = asked->listed ? 0 : served_list_parse(text, parameter, asked->values);

	if (count == 0)
		return served_parameter_parse(text, parameter);
	asked->listed = parameter;
	asked->value_count = count;
	return count < 0 ? count : 0;
}

static int parameters_parse(char *const *texts, struct asked *asked, struct store_error *ret_error)
{
	for (size_t count = 0; texts[count]; count++) {
		if (count == SERVED_PARAMETERS_MAX)
			return refuse(ret_error, -EINVAL, "a query has at most %d parameters", SERVED_PARAMETERS_MAX);
		if (parameter_parse(asked, texts[count], &asked->parameters[count]) < 0)
			return refuse(ret_error, -EINVAL,
				      "%.100s: not a parameter: NAME=i:NUMBER, r:REAL, t:TEXT or l:NUMBER,...",
				      texts[count]);
	}
	return 0;
}

static void head_write(FILE *out, const struct store *store, const struct store_result *result, uint32_t width)
{
	struct served_head head = {
		.schema_version = (uint32_t)store_schema_version(),
		.is_restricted = store_is_restricted(store),
		.width = width,
	};

	for (uint32_t i = 0; i < width; i++)
		head.names[i] = store_result_name(result, i);
	served_head_encode(out, &head);
}

static int rows_write(FILE *out, struct store *store, struct store_result *result)
{
	struct store_value values[SERVED_COLUMNS_MAX];
	uint32_t width = (uint32_t)store_result_width(result);
	uint64_t row_count = 0;
	int more;

	if (width > SERVED_COLUMNS_MAX)
		return -EFBIG;
	head_write(out, store, result, width);
	for (; (more = store_result_next(result)) > 0 && !ferror(out); row_count++) {
		for (uint32_t i = 0; i < width; i++)
			values[i] = store_result_value(result, i);
		served_row_encode(out, values, width);
	}
	if (more == 0)
		served_end_encode(out, row_count);
	return more < 0 ? more : ferror(out) ? -EIO : 0;
}

static int answer_write(FILE *out, struct store *store, const char *query, const struct store_parameter *parameters)
{
	struct store_result *result = NULL;
	int error = query_ask(store, query, parameters, &result);

	if (error == 0)
		error = rows_write(out, store, result);
	store_result_free(result);
	return error;
}

int served_answer(FILE *out, struct store *store, const char *query, char *const *parameters,
		  struct store_error *ret_error)
{
	struct asked asked = {.value_count = 1};
	int error;

	if (!query_text(query) && !store_has_query(query))
		return refuse(ret_error, -ENOENT, "%.100s: no such query", query);
	error = parameters_parse(parameters, &asked, ret_error);
	if (error < 0)
		return error;
	for (int i = 0; i < asked.value_count && error == 0; i++) {
		if (asked.listed)
			asked.listed->integer = asked.values[i];
		error = answer_write(out, store, query, asked.parameters);
	}
	return error < 0 ? refuse(ret_error, error, "%s", store_error_text(store)) : 0;
}
