/* See parameters.h. */
#include "analysis/served/parameters.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *value_format(const struct store_parameter *parameter)
{
	char *text = NULL;
	int size = -1;

	switch (parameter->type) {
	case STORE_INTEGER: size = asprintf(&text, "i:%lld", (long long)parameter->integer); break;
	case STORE_REAL: size = asprintf(&text, "r:%a", parameter->real); break; /* exact */
	case STORE_TEXT: size = asprintf(&text, "t:%s", parameter->text); break;
	default: break; /* no query has a blob */
	}
	return size < 0 ? NULL : text;
}

static char *parameter_add(char *url, const struct store_parameter *parameter)
{
	char *value = value_format(parameter), *longer = NULL;
	/* An integer stays as it is: lists are made of those (reader.c). */
	char *escaped = !value                             ? NULL
			: parameter->type == STORE_INTEGER ? strdup(value)
							   : curl_easy_escape(NULL, value, 0);

	if (escaped && asprintf(&longer, "%s%c%s=%s", url, strchr(url, '?') ? '&' : '?', parameter->name, escaped) < 0)
		longer = NULL;
	free(escaped);
	free(value);
	free(url);
	return longer;
}

char *served_parameters_add(char *url, const struct store_parameter *parameters)
{
	for (; url && parameters && parameters->name; parameters++)
		if (parameters->type != STORE_NULL) /* one that is missing is NULL */
			url = parameter_add(url, parameters);
	return url;
}

static int parse_real(const char *text, double *ret_real)
{
	char *end;

	errno = 0;
	*ret_real = strtod(text, &end);
	return end == text || *end || errno ? -EINVAL : 0;
}

static int parse_integer(const char *text, int64_t *ret_integer)
{
	char *end;

	errno = 0;
	*ret_integer = strtoll(text, &end, 10);
	return end == text || *end || errno ? -EINVAL : 0;
}

/* Returns what follows "name=", and ends the name there; NULL if there is none, or it cannot be one of a query. */
static char *name_take(char *text)
{
	size_t size = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_");

	if (size == 0 || text[size] != '=')
		return NULL;
	text[size] = '\0';
	return text + size + 1;
}

static bool is_list(const char *text)
{
	const char *value = strchr(text, '=');

	return value && strncmp(value + 1, "l:", 2) == 0;
}

int served_list_parse(char *text, struct store_parameter *ret_parameter, int64_t ret_values[SERVED_LIST_MAX])
{
	char *number, *next;
	int count = 0;

	if (!is_list(text))
		return 0;
	number = name_take(text);
	if (!number)
		return -EINVAL;
	*ret_parameter = (struct store_parameter){.name = text, .type = STORE_INTEGER};
	for (number += strlen("l:"); number; number = next) {
		next = strchr(number, ',');
		if (next)
			*next++ = '\0';
		if (count == SERVED_LIST_MAX || parse_integer(number, &ret_values[count++]) < 0)
			return -EINVAL;
	}
	return count;
}

int served_parameter_parse(char *text, struct store_parameter *ret_parameter)
{
	char *value = name_take(text);

	if (!value || !*value || value[1] != ':')
		return -EINVAL;
	*ret_parameter = (struct store_parameter){.name = text};
	switch (*value) {
	case 'i': ret_parameter->type = STORE_INTEGER; return parse_integer(value + 2, &ret_parameter->integer);
	case 'r': ret_parameter->type = STORE_REAL; return parse_real(value + 2, &ret_parameter->real);
	case 't':
		ret_parameter->type = STORE_TEXT;
		ret_parameter->text = value + 2;
		return 0;
	default: return -EINVAL;
	}
}
