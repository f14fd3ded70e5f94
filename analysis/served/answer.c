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

static int parameters_parse(char *const *texts, struct store_parameter ret_parameters[SERVED_PARAMETERS_MAX + 1],
			    struct store_error *ret_error)
{
	size_t count = 0;

	for (; texts[count]; count++) {
		if (count == SERVED_PARAMETERS_MAX)
			return refuse(ret_error, -EINVAL, "a query has at most %d parameters", SERVED_PARAMETERS_MAX);
		if (served_parameter_parse(texts[count], &ret_parameters[count]) < 0)
			return refuse(ret_error, -EINVAL, "%.100s: not a parameter: NAME=i:NUMBER, r:REAL or t:TEXT",
				      texts[count]);
	}
	ret_parameters[count] = (struct store_parameter){0};
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

int served_answer(FILE *out, struct store *store, const char *query, char *const *parameters,
		  struct store_error *ret_error)
{
	struct store_parameter parsed[SERVED_PARAMETERS_MAX + 1];
	struct store_result *result = NULL;
	int error;

	if (!query_text(query) && !store_has_query(query))
		return refuse(ret_error, -ENOENT, "%.100s: no such query", query);
	error = parameters_parse(parameters, parsed, ret_error);
	if (error < 0)
		return error;
	error = query_ask(store, query, parsed, &result);
	if (error == 0)
		error = rows_write(out, store, result);
	store_result_free(result);
	return error < 0 ? refuse(ret_error, error, "%s", store_error_text(store)) : 0;
}
