/* See routes.h. */
#include "cli/serve/routes.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OF_RUN "host user"
#define OF_LIST "limit since until user host"
#define FORMATS "format"

const struct route routes[] = {
	{"/api/v1/openapi.json", .kind = ROUTE_OPENAPI, .describe = "this description, as OpenAPI 3.1"},
	{"/api/v1/runs", "runs", .options = FORMATS " all name status " OF_LIST},
	{"/api/v1/runs/{run}", "show", .options = FORMATS " by processes series all limit " OF_RUN},
	{"/api/v1/runs/{run}/failures", "failed", .options = FORMATS " all limit " OF_RUN},
	{"/api/v1/runs/{run}/tune", "tune", .options = FORMATS " by limit " OF_RUN},
	{"/api/v1/runs/{run}/cost", "cost", .options = FORMATS " by limit co2 carbon-intensity " OF_RUN,
	 .needs_all = true},
	{"/api/v1/runs/{run}/page", "report", "--format=data", "commands-size no-findings with-previous share " OF_RUN,
	 .type = "application/octet-stream", .describe = "the data of the run's page (docs/page.md)"},
	{"/api/v1/runs/{run}/export/{format}", "export", .options = OF_RUN},
	{"/api/v1/compare/{a}/{b}", "compare", .options = FORMATS " by last limit " OF_RUN},
	{"/api/v1/trends/{trend}", "tune", .options = FORMATS " limit " OF_RUN},
	{"/api/v1/right-sizes", "tune", "--right-size", FORMATS " limit input-size " OF_RUN},
	{"/api/v1/right-sizes/{name}", "tune", "--right-size", FORMATS " limit input-size " OF_RUN},
	{"/api/v1/explain/{subject}", "explain", .options = FORMATS " " OF_RUN},
	{"/api/v1/top", "top", "--once", FORMATS " sort all limit " OF_RUN, .is_of_one_host = true},
	{"/api/v1/hosts", "host", .options = FORMATS " since until limit host", .needs_all = true},
	{"/api/v1/sweep", "sweep", .options = FORMATS " by since limit " OF_RUN, .needs_all = true},
	{"/api/v1/cost", "cost", .options = FORMATS " by co2 carbon-intensity " OF_LIST, .needs_all = true},
	{"/api/v1/status", "status", .options = FORMATS, .needs_all = true, .is_check = true},
	{"/api/v1/summary", "query", "summary", FORMATS, ROUTE_QUESTION},
	{"/api/v1/queries", "query", "--list", FORMATS},
	{"/api/v1/queries/{query}", "query", .options = FORMATS, .kind = ROUTE_QUESTION,
	 .describe = "ask a question (docs/queries.md)"},
	{"/api/v1/rows/{query}", .kind = ROUTE_ROWS, .type = "application/octet-stream",
	 .describe = "the rows of a query, for the command tracer of the same release"},
	{"/metrics", "metrics", .type = "application/openmetrics-text; version=1.0.0; charset=utf-8",
	 .needs_all = true},
	{.path = NULL},
};

bool route_lists(const char *list, const char *word)
{
	size_t size = strlen(word);

	for (const char *at = list; at && *at; at += strspn(at, " ")) {
		size_t length = strcspn(at, " ");

		if (length == size && memcmp(at, word, size) == 0)
			return true;
		at += length;
	}
	return false;
}

const char *route_next_name(const char *path, size_t *ret_size)
{
	const char *open = strchr(path, '{');

	if (open)
		*ret_size = strcspn(open + 1, "}");
	return open ? open + 1 : NULL;
}

const struct option_spec *route_option(const struct verb *verb, const char *name)
{
	for (const struct option_spec *spec = verb->options; spec->name; spec++)
		if (strcmp(spec->name, name) == 0)
			return spec;
	return NULL;
}

static int problem(char *text, size_t capacity, const char *format, ...) __attribute__((format(printf, 3, 4)));
static int problem(char *text, size_t capacity, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, capacity, format, arguments);
	va_end(arguments);
	return -EINVAL;
}

/* Returns 0, -ENOMEM, or -E2BIG if there are too many words. */
static int word_add(struct route_command *command, const char *format, ...) __attribute__((format(printf, 2, 3)));
static int word_add(struct route_command *command, const char *format, ...)
{
	va_list arguments;
	int size;

	if (command->word_count == ROUTE_WORDS_MAX)
		return -E2BIG;
	va_start(arguments, format);
	size = vasprintf(&command->words[command->word_count], format, arguments);
	va_end(arguments);
	if (size < 0) {
		command->words[command->word_count] = NULL;
		return -ENOMEM;
	}
	command->word_count++;
	return 0;
}

/* Content types by the values of --format, also those of tracer export; of all others, JSON. */
static const struct {
	const char *format, *type;
} types[] = {
	{"ndjson", "application/x-ndjson"},
	{"csv", "text/csv; charset=utf-8"},
	{"otlp", "application/x-ndjson"},
	{"trace", "text/tab-separated-values; charset=utf-8"},
	{"benchmark", "text/tab-separated-values; charset=utf-8"},
	{"versions", "application/yaml"},
	{"methods", "text/plain; charset=utf-8"},
};

static const char *type_of(const char *format, size_t size)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (strlen(types[i].format) == size && memcmp(types[i].format, format, size) == 0)
			return types[i].type;
	return "application/json";
}

/* ---- the path */

/* What stands in a path for {NAME}, by index of the name. */
#define NAMES_MAX 2
struct operands {
	const char *values[NAMES_MAX];
	size_t sizes[NAMES_MAX];
};

static bool path_matches(const char *pattern, const char *path, struct operands *ret_operands)
{
	size_t count = 0;

	while (*pattern && *path) {
		if (*pattern != '{') {
			if (*pattern++ != *path++)
				return false;
			continue;
		}
		ret_operands->values[count] = path;
		ret_operands->sizes[count] = strcspn(path, "/");
		path += ret_operands->sizes[count];
		if (ret_operands->sizes[count++] == 0)
			return false;
		pattern += strcspn(pattern, "}") + 1;
	}
	return !*pattern && !*path;
}

static const struct route *route_find(const char *path, struct operands *ret_operands)
{
	for (const struct route *route = routes; route->path; route++)
		if (path_matches(route->path, path, ret_operands))
			return route;
	return NULL;
}

/* Adds the names in the path that are options of the verb, or those that are operands. */
static int operands_add(struct route_command *command, const struct verb *verb, const struct operands *operands,
			bool are_options)
{
	const char *name = command->route->path;
	size_t size = 0;
	int error = 0;

	for (size_t i = 0; error == 0 && (name = route_next_name(name, &size)); i++, name += size) {
		char option[ROUTE_WORD_BYTES];

		snprintf(option, sizeof(option), "%.*s", (int)size, name);
		if ((verb && route_option(verb, option)) != are_options)
			continue;
		if (strcmp(option, "format") == 0)
			command->type = type_of(operands->values[i], operands->sizes[i]);
		error = are_options
				? word_add(command, "--%s=%.*s", option, (int)operands->sizes[i], operands->values[i])
				: word_add(command, "%.*s", (int)operands->sizes[i], operands->values[i]);
	}
	return error;
}

/* ---- the query string */

static int flag_add(struct route_command *command, const struct route_parameter *parameter, char *text, size_t capacity)
{
	const char *value = parameter->value;

	if (!*value || strcmp(value, "1") == 0 || strcmp(value, "true") == 0)
		return word_add(command, "--%s", parameter->name);
	return strcmp(value, "0") == 0 || strcmp(value, "false") == 0
		       ? 0
		       : problem(text, capacity, "%s takes true or false", parameter->name);
}

static int format_take(struct route_command *command, const char *value, char *text, size_t capacity)
{
	if (!route_lists("json ndjson csv", value))
		return problem(text, capacity, "format is json, ndjson or csv");
	command->type = type_of(value, strlen(value));
	return word_add(command, "--format=%s", value);
}

static int parameter_add(struct route_command *command, const struct verb *verb,
			 const struct route_parameter *parameter, char *text, size_t capacity)
{
	const struct route *route = command->route;
	const char *name = parameter->name;
	const struct option_spec *spec = verb ? route_option(verb, name) : NULL;

	if (strlen(name) >= ROUTE_WORD_BYTES || strlen(parameter->value) >= ROUTE_WORD_BYTES)
		return problem(text, capacity, "a parameter is longer than %d bytes", ROUTE_WORD_BYTES - 1);
	if (route->kind == ROUTE_ROWS && *name != '-')
		return word_add(command, "%s=%s", name, parameter->value);
	if (spec && route_lists(route->options, name)) {
		if (strcmp(name, "format") == 0)
			return format_take(command, parameter->value, text, capacity);
		return spec->argument ? word_add(command, "--%s=%s", name, parameter->value)
				      : flag_add(command, parameter, text, capacity);
	}
	if (route->kind == ROUTE_QUESTION && !strchr(name, '='))
		return word_add(command, "--param=%s=%s", name, parameter->value);
	return problem(text, capacity, "no parameter '%s' here: /api/v1/openapi.json lists them", name);
}

/* ---- the command */

static int words_add(struct route_command *command, const char *words)
{
	int error = 0;

	for (const char *at = words; error == 0 && at && *at; at += strspn(at, " ")) {
		size_t size = strcspn(at, " ");

		error = word_add(command, "%.*s", (int)size, at);
		at += size;
	}
	return error;
}

static int command_make(struct route_command *command, const struct operands *operands,
			const struct route_parameter *parameters, const char *source, char *text, size_t capacity)
{
	const struct route *route = command->route;
	const struct verb *verb = route->verb ? verb_find(route->verb) : NULL;
	int error = word_add(command, "%s", route->verb ? route->verb : "");

	command->type = route->type ? route->type : "application/json";
	/* What is set later wins. */
	if (error == 0 && route_lists(route->options, "format"))
		error = word_add(command, "--format=json");
	if (error == 0 && route->kind != ROUTE_OPENAPI && !route_lists(route->words, "--list"))
		error = word_add(command, "%s", source);
	if (error == 0)
		error = words_add(command, route->words);
	if (error == 0)
		error = operands_add(command, verb, operands, true);
	for (const struct route_parameter *parameter = parameters; error == 0 && parameter->name; parameter++)
		error = parameter_add(command, verb, parameter, text, capacity);
	if (error == 0 && (verb || route->kind == ROUTE_ROWS))
		error = word_add(command, "--");
	if (error == 0)
		error = operands_add(command, verb, operands, false);
	return error == -E2BIG ? problem(text, capacity, "too many parameters") : error;
}

int route_resolve(const char *path, const struct route_parameter *parameters, const char *source,
		  struct route_command *ret_command, char *ret_problem, size_t capacity)
{
	struct operands operands = {0};
	int error;

	*ret_command = (struct route_command){.route = route_find(path, &operands)};
	if (!ret_command->route)
		return -ENOENT;
	for (size_t i = 0; i < NAMES_MAX; i++)
		if (operands.sizes[i] >= ROUTE_WORD_BYTES)
			return problem(ret_problem, capacity, "a part of the path is longer than %d bytes",
				       ROUTE_WORD_BYTES - 1);
	error = command_make(ret_command, &operands, parameters, source, ret_problem, capacity);
	if (error < 0)
		route_command_free(ret_command);
	return error;
}

void route_command_free(struct route_command *command)
{
	for (int i = 0; i < command->word_count; i++)
		free(command->words[i]);
	*command = (struct route_command){0};
}
