/* See openapi.h. */
#include "cli/serve/openapi.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "analysis/query/catalogue.h"
#include "cli/serve/routes.h"
#include "cli/site_rules.h"

/* ---- parameters */

static json_t *words_of(const char *words)
{
	json_t *array = json_array();

	for (const char *at = words; at && *at; at += strspn(at, " ")) {
		size_t size = strcspn(at, " ");

		json_array_append_new(array, json_stringn(at, size));
		at += size;
	}
	return array;
}

static json_t *option_schema(const struct option_spec *spec)
{
	if (spec->flag)
		return json_pack("{s:s}", "type", "boolean");
	if (spec->choice || (spec->values && strchr(spec->values, ' ')))
		return json_pack("{s:s, s:o}", "type", "string", "enum", words_of(spec->values));
	if (spec->number && !spec->parse) {
		json_t *schema = json_pack("{s:s, s:I}", "type", "integer", "minimum", (json_int_t)spec->least);

		if (spec->most)
			json_object_set_new(schema, "maximum", json_integer((json_int_t)spec->most));
		return schema;
	}
	return json_pack("{s:s}", "type", "string");
}

static void parameter_add(json_t *parameters, const char *name, const char *where, const char *help, json_t *schema)
{
	bool is_path = strcmp(where, "path") == 0;

	json_array_append_new(parameters, json_pack("{s:s, s:s, s:b, s:s, s:o}", "name", name, "in", where, "required",
						    is_path, "description", help, "schema", schema));
}

static void options_add(json_t *parameters, const struct route *route, const struct verb *verb)
{
	for (const struct option_spec *spec = verb->options; spec->name; spec++)
		if (route_lists(route->options, spec->name) && strcmp(spec->name, "format") != 0)
			parameter_add(parameters, spec->name, "query", spec->help, option_schema(spec));
	if (route_lists(route->options, "format"))
		parameter_add(parameters, "format", "query", "json, ndjson (a row a line) or csv",
			      json_pack("{s:s, s:[sss], s:s}", "type", "string", "enum", "json", "ndjson", "csv",
					"default", "json"));
}

static void path_names_add(json_t *parameters, const struct route *route, const struct verb *verb)
{
	const char *name = route->path;
	size_t size = 0;

	for (; (name = route_next_name(name, &size)); name += size) {
		char text[64];
		const struct option_spec *spec;

		snprintf(text, sizeof(text), "%.*s", (int)size, name);
		spec = verb ? route_option(verb, text) : NULL;
		parameter_add(parameters, text, "path",
			      spec                       ? spec->help
			      : strcmp(text, "run") == 0 ? "the beginning of its id, its name, or latest"
							 : "as on the command line",
			      spec ? option_schema(spec) : json_pack("{s:s}", "type", "string"));
	}
}

/* ---- answers */

static json_t *responses_of(const char *type, json_t *schema)
{
	json_t *content = json_object();

	json_object_set_new(content, type, schema ? json_pack("{s:o}", "schema", schema) : json_object());
	return json_pack("{s:{s:s, s:o}, s:{s:s, s:{s:{s:{s:s}}}}}", "200", "description", "the answer", "content",
			 content, "default", "description", "why there is none", "content", "application/json",
			 "schema", "$ref", "#/components/schemas/Problem");
}

static json_t *operation(const char *id, const char *summary, const char *description, json_t *parameters,
			 json_t *responses)
{
	json_t *made = json_pack("{s:s, s:s, s:o, s:o}", "operationId", id, "summary", summary, "parameters",
				 parameters, "responses", responses);

	if (description)
		json_object_set_new(made, "description", json_string(description));
	return json_pack("{s:o}", "get", made);
}

/* "/api/v1/runs/{run}/page" is "runs_run_page". */
static const char *id_of(const char *path, char *text, size_t capacity)
{
	size_t size = 0;

	path += strncmp(path, "/api/v1/", 8) == 0 ? 8 : 1;
	for (; *path && size + 1 < capacity; path++)
		if (!strchr("{}", *path))
			text[size++] = strchr("/-.", *path) ? '_' : *path;
	text[size] = '\0';
	return text;
}

/* ---- questions: each is a path of its own, with its parameters and columns */

static json_t *field_schema(const struct question_field *field)
{
	const char *type = field->type == QUESTION_SHARE || field->type == QUESTION_NUMBER ? "number"
			   : field->type == QUESTION_TEXT || field->type == QUESTION_ARGUMENTS ||
					   field->type == QUESTION_ID || field->type == QUESTION_RUN
				   ? "string"
				   : "integer";

	return json_pack("{s:[ss], s:s, s:s}", "type", type, "null", "description", field->meaning, "x-unit",
			 question_type_unit(field->type));
}

static json_t *rows_schema(const struct question *question)
{
	json_t *columns = json_object();

	for (size_t i = 0; i < question->column_count; i++)
		json_object_set_new(columns, question->columns[i].name, field_schema(&question->columns[i]));
	return json_pack("{s:s, s:{s:{s:s, s:{s:s, s:o}}}}", "type", "object", "properties", "rows", "type", "array",
			 "items", "type", "object", "properties", columns);
}

static void question_add(json_t *paths, const struct route *route, const struct question *question, const char *path)
{
	json_t *parameters = json_array();
	char name[64], id[128];

	options_add(parameters, route, verb_find("query"));
	for (size_t i = 0; i < question->parameter_count; i++) {
		const struct question_field *field = &question->parameters[i];
		json_t *schema = json_pack("{s:s}", "type", "string");

		if (field->preset && strcmp(field->preset, "none") != 0)
			json_object_set_new(schema, "default", json_string(field->preset));
		question_field_title(field, '-', name, sizeof(name));
		parameter_add(parameters, name, "query", field->meaning, schema);
		if (!field->preset)
			json_object_set_new(json_array_get(parameters, json_array_size(parameters) - 1), "required",
					    json_true());
	}
	json_object_set_new(paths, path,
			    operation(id_of(path, id, sizeof(id)), question->title, question->explanation, parameters,
				      responses_of("application/json", rows_schema(question))));
}

/* All questions, or the one of the route. */
static void questions_add(json_t *paths, const struct route *route)
{
	const char *only = strchr(route->path, '{') ? NULL : route->words;
	struct catalogue *catalogue = site_queries_load(NULL);
	const struct question *question;

	for (size_t i = 0; catalogue && (question = catalogue_get(catalogue, i)); i++) {
		char path[128];

		snprintf(path, sizeof(path), "/api/v1/queries/%s", question->name);
		if (!question->of_account && (!only || strcmp(question->name, only) == 0))
			question_add(paths, route, question, only ? route->path : path);
	}
	catalogue_free(catalogue);
}

/* ---- all of it */

static void route_add(json_t *paths, const struct route *route)
{
	const struct verb *verb = route->verb ? verb_find(route->verb) : NULL;
	const char *summary = verb && !route->describe ? verb->summary : route->describe;
	json_t *parameters = json_array();
	char id[128];

	path_names_add(parameters, route, verb);
	if (verb)
		options_add(parameters, route, verb);
	json_object_set_new(paths, route->path,
			    operation(id_of(route->path, id, sizeof(id)), summary, verb ? verb->description : NULL,
				      parameters, responses_of(route->type ? route->type : "application/json", NULL)));
}

static json_t *document_make(void)
{
	json_t *paths = json_object();

	for (const struct route *route = routes; route->path; route++)
		if (route->kind == ROUTE_QUESTION)
			questions_add(paths, route);
		else
			route_add(paths, route);
	return json_pack("{s:s, s:{s:s, s:s, s:s}, s:o, s:{s:{s:{s:s, s:{s:{s:s}}}}, s:{s:{s:s, s:s}}}, s:[{s:[]}]}",
			 "openapi", "3.1.0", "info", "title", "Tracer", "version", TRACER_VERSION, "description",
			 "What ran, with what it used. docs/json.md describes the answers.", "paths", paths,
			 "components", "schemas", "Problem", "type", "object", "properties", "error", "type", "string",
			 "securitySchemes", "token", "type", "http", "scheme", "bearer", "security", "token");
}

int openapi_print(void)
{
	json_t *document = document_make();

	int error = document ? json_dumpf(document, stdout, JSON_INDENT(1) | JSON_ENSURE_ASCII) : -1;

	json_decref(document);
	return error < 0 ? -ENOMEM : 0;
}
