/* Store queries for ClickHouse. See statement.h. */
#include "analysis/lake/statement.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct store_parameter *parameter_find(const struct store_parameter *parameters, const char *name,
						    size_t size)
{
	for (; parameters && parameters->name; parameters++)
		if (strlen(parameters->name) == size && strncmp(parameters->name, name, size) == 0)
			return parameters;
	return NULL;
}

static void parameter_write(FILE *file, const struct store_parameter *parameter)
{
	if (!parameter || parameter->type == STORE_NULL)
		fputs("NULL", file);
	else
		fprintf(file, "{%s:%s}", parameter->name,
			parameter->type == STORE_INTEGER ? "Int64"
			: parameter->type == STORE_REAL  ? "Float64"
							 : "String");
}

static void statement_write(FILE *file, const char *sql, const struct store_parameter *parameters)
{
	const char *last = sql + strlen(sql), *name;
	size_t size;

	while (last > sql && (isspace((unsigned char)last[-1]) || last[-1] == ';'))
		last--; /* one statement per request, without a trailing ; */
	for (; (name = store_next_parameter(sql, &size)); sql = name + size) {
		fwrite(sql, 1, (size_t)(name - 1 - sql), file);
		parameter_write(file, parameter_find(parameters, name, size));
	}
	fwrite(sql, 1, (size_t)(last - sql), file);
}

static bool statement_has(const char *sql, const char *name)
{
	size_t size;

	while ((sql = store_next_parameter(sql, &size)))
		if (strlen(name) == size && strncmp(sql, name, size) == 0)
			return true;
	return false;
}

int statement_translate(const char *sql, const struct store_parameter *parameters, char **ret_sql)
{
	char *text = NULL;
	size_t size;
	FILE *file;

	for (const struct store_parameter *each = parameters; each && each->name; each++)
		if (!statement_has(sql, each->name))
			return -EINVAL;
	file = open_memstream(&text, &size);
	if (!file)
		return -ENOMEM;
	statement_write(file, sql, parameters);
	if (fclose(file) != 0) {
		free(text);
		return -ENOMEM;
	}
	*ret_sql = text;
	return 0;
}

void statement_drop_materialized(char *sql)
{
	static const char word[] = " AS MATERIALIZED (";

	while ((sql = strstr(sql, word)))
		memset(sql + strlen(" AS "), ' ', strlen("MATERIALIZED"));
}

/* ---- values ------------------------------------------------------------------- */

static void write_encoded(FILE *file, char c)
{
	if (isalnum((unsigned char)c) || strchr("-._~", c))
		fputc(c, file);
	else
		fprintf(file, "%%%02X", (unsigned char)c);
}

/* The server parses the value as a TabSeparated field, with backslash escapes. */
static void write_text(FILE *file, const char *text)
{
	static const struct {
		char c;
		const char *escaped;
	} escapes[] = {{'\\', "%5C%5C"}, {'\t', "%5Ct"}, {'\n', "%5Cn"}, {'\r', "%5Cr"}};

	for (; *text; text++) {
		const char *escaped = NULL;

		for (size_t i = 0; i < sizeof(escapes) / sizeof(escapes[0]); i++)
			if (*text == escapes[i].c)
				escaped = escapes[i].escaped;
		if (escaped)
			fputs(escaped, file);
		else
			write_encoded(file, *text);
	}
}

char *statement_format_parameters(const struct store_parameter *parameters)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	if (!file)
		return NULL;
	for (; parameters && parameters->name; parameters++) {
		if (parameters->type == STORE_NULL)
			continue;
		fprintf(file, "&param_%s=", parameters->name);
		if (parameters->type == STORE_INTEGER)
			fprintf(file, "%lld", (long long)parameters->integer);
		else if (parameters->type == STORE_REAL)
			fprintf(file, "%.17g", parameters->real);
		else
			write_text(file, parameters->text);
	}
	if (fclose(file) != 0) {
		free(text);
		return NULL;
	}
	return text;
}
