/* Thresholds of findings that a user sets. See thresholds.h. */
#include "analysis/query/thresholds.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "analysis/query/rows.h"

#define TITLE_SIZE 64

bool thresholds_are_of(const struct question *question, const char *kind)
{
	return (question->finding.kind && strcmp(question->finding.kind, kind) == 0) ||
	       (strcmp(kind, "sweep") == 0 && strcmp(question->name, SWEEP_USER_JOBS) == 0);
}

#define refuse(reason, ...) (snprintf(reason, THRESHOLDS_REASON_SIZE, __VA_ARGS__), -EINVAL)

int thresholds_add(struct thresholds *thresholds, const char *text, char ret_reason[THRESHOLDS_REASON_SIZE])
{
	size_t dot = strcspn(text, "."), equals = strcspn(text, "=");

	if (dot == 0 || dot > equals || !text[equals])
		return refuse(ret_reason, "'%s' is not FINDING.PARAMETER=VALUE", text);
	if (thresholds->count == THRESHOLDS_MAX)
		return refuse(ret_reason, "more than %d", THRESHOLDS_MAX);
	thresholds->set[thresholds->count++] = text;
	return 0;
}

static bool is_text(const char *text, size_t size, const char *name)
{
	return strlen(name) == size && strncmp(text, name, size) == 0;
}

/* Whether FINDING.PARAMETER=VALUE sets this parameter. */
static bool sets(const char *text, const struct question *question, const struct question_field *parameter)
{
	size_t dot = strcspn(text, ".");
	const char *name = text + dot + 1;
	size_t size = strcspn(name, "=");
	char title[TITLE_SIZE];

	question_field_title(parameter, '-', title, sizeof(title));
	return is_text(text, dot, question->name) &&
	       (is_text(name, size, parameter->name) || is_text(name, size, title));
}

const char *thresholds_value(const struct thresholds *thresholds, const struct question *question,
			     const struct question_field *parameter)
{
	for (size_t i = thresholds->count; i-- > 0;)
		if (sets(thresholds->set[i], question, parameter))
			return strchr(thresholds->set[i], '=') + 1;
	return parameter->preset;
}

static int check_one(const char *text, const struct catalogue *catalogue, const char *kind, char *ret_reason)
{
	int dot = (int)strcspn(text, ".");
	const char *name = text + dot + 1, *value = strchr(text, '=') + 1;
	const struct question *question;
	struct store_parameter bound;

	for (size_t i = 0; (question = catalogue_get(catalogue, i)); i++) {
		if (!thresholds_are_of(question, kind) || !is_text(text, (size_t)dot, question->name))
			continue;
		for (size_t k = 0; k < question->parameter_count; k++) {
			const struct question_field *parameter = &question->parameters[k];

			if (!sets(text, question, parameter))
				continue;
			return parameter->type != QUESTION_RUN && question_parse_value(parameter, value, &bound) == 0
				       ? 0
				       : refuse(ret_reason, "%.*s takes %s, not '%s'", (int)(value - text) - 1, text,
						question_type_example(parameter->type), value);
		}
		return refuse(ret_reason, "%s has no parameter '%.*s' (see --list)", question->name,
			      (int)strcspn(name, "="), name);
	}
	return refuse(ret_reason, "there is no finding '%.*s' (see --list)", dot, text);
}

int thresholds_check(const struct thresholds *thresholds, const struct catalogue *catalogue, const char *kind,
		     char ret_reason[THRESHOLDS_REASON_SIZE])
{
	int error = 0;

	for (size_t i = 0; i < thresholds->count && error == 0; i++)
		error = check_one(thresholds->set[i], catalogue, kind, ret_reason);
	return error;
}

static bool is_given(const struct store_parameter *given, const char *name)
{
	for (; given && given->name; given++)
		if (strcmp(given->name, name) == 0)
			return true;
	return false;
}

const struct store_parameter *thresholds_bind(struct thresholds *thresholds, const struct question *question,
					      const struct store_parameter *given)
{
	size_t count = 0;

	for (size_t i = 0; i < question->parameter_count; i++) {
		const struct question_field *parameter = &question->parameters[i];
		const char *value = thresholds_value(thresholds, question, parameter);

		if (parameter->type == QUESTION_RUN || !value || is_given(given, parameter->name))
			continue;
		if (question_parse_value(parameter, value, &thresholds->bound[count]) == 0)
			count++;
	}
	for (; given && given->name && count < QUESTION_PARAMETERS_MAX; given++) {
		bool is_wanted = false;

		for (size_t i = 0; i < question->parameter_count; i++)
			is_wanted |= strcmp(question->parameters[i].name, given->name) == 0;
		if (is_wanted)
			thresholds->bound[count++] = *given;
	}
	thresholds->bound[count] = (struct store_parameter){.name = NULL};
	return thresholds->bound;
}

/* ---- the list ---------------------------------------------------------------------- */

bool thresholds_is(const struct question_field *parameter)
{
	return parameter->type != QUESTION_RUN && parameter->type != QUESTION_TIME && parameter->preset;
}

json_t *thresholds_to_json(const struct thresholds *thresholds, const struct catalogue *catalogue, const char *kind)
{
	json_t *findings = json_array();
	const struct question *question;

	for (size_t i = 0; (question = catalogue_get(catalogue, i)); i++) {
		json_t *parameters = json_array();

		for (size_t k = 0; thresholds_are_of(question, kind) && k < question->parameter_count; k++) {
			const struct question_field *parameter = &question->parameters[k];

			if (thresholds_is(parameter))
				json_array_append_new(parameters,
						      json_pack("{ss ss ss ss? ss?}", "name", parameter->name, "type",
								question_type_name(parameter->type), "meaning",
								parameter->meaning, "value",
								thresholds_value(thresholds, question, parameter),
								"source", parameter->source));
		}
		if (thresholds_are_of(question, kind))
			json_array_append_new(findings, json_pack("{ss ss ss so}", "name", question->name, "title",
								  question->title, "explanation", question->explanation,
								  "thresholds", json_incref(parameters)));
		json_decref(parameters);
	}
	return findings;
}
