/* Thresholds of findings that a user sets. See thresholds.h. */
#include "cli/advise/thresholds.h"

#include <errno.h>
#include <string.h>

#include "cli/site_rules.h"

#define TITLE_SIZE 64
#define SITE_QUERIES TRACER_CONFIG_DIR "/queries.d"

bool finding_is(const struct question *question, const char *kind)
{
	return question->finding.kind && strcmp(question->finding.kind, kind) == 0;
}

/* The question that tracer sweep --by user asks is no finding, but has thresholds. */
static bool has_thresholds(const struct question *question, const char *kind)
{
	return finding_is(question, kind) ||
	       (strcmp(kind, "sweep") == 0 && strcmp(question->name, SWEEP_USER_JOBS) == 0);
}

int thresholds_take(struct thresholds *thresholds, const struct options *options, const char *text)
{
	size_t dot = strcspn(text, "."), equals = strcspn(text, "=");

	if (dot == 0 || dot > equals || !text[equals])
		return options_misuse(options, "--set takes FINDING.PARAMETER=VALUE, not '%s'", text);
	if (thresholds->count == THRESHOLDS_MAX)
		return options_misuse(options, "--set: more than %d", THRESHOLDS_MAX);
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

/* Returns the value as written: what was set last, else the default. */
static const char *value_of(const struct thresholds *thresholds, const struct question *question,
			    const struct question_field *parameter)
{
	for (size_t i = thresholds->count; i-- > 0;)
		if (sets(thresholds->set[i], question, parameter))
			return strchr(thresholds->set[i], '=') + 1;
	return parameter->preset;
}

static int check_one(const char *text, const struct options *options, const struct catalogue *catalogue,
		     const char *kind)
{
	int dot = (int)strcspn(text, ".");
	const char *name = text + dot + 1, *value = strchr(text, '=') + 1;
	const struct question *question;
	struct store_parameter bound;

	for (size_t i = 0; (question = catalogue_get(catalogue, i)); i++) {
		if (!has_thresholds(question, kind) || !is_text(text, (size_t)dot, question->name))
			continue;
		for (size_t k = 0; k < question->parameter_count; k++) {
			const struct question_field *parameter = &question->parameters[k];

			if (!sets(text, question, parameter))
				continue;
			return parameter->type != QUESTION_RUN && question_parse_value(parameter, value, &bound) == 0
				       ? 0
				       : options_misuse(options, "--set: %.*s takes %s, not '%s'",
							(int)(value - text) - 1, text,
							question_type_example(parameter->type), value);
		}
		return options_misuse(options, "--set: %s has no parameter '%.*s' (see --list)", question->name,
				      (int)strcspn(name, "="), name);
	}
	return options_misuse(options, "--set: there is no finding '%.*s' (see --list)", dot, text);
}

int thresholds_check(const struct thresholds *thresholds, const struct options *options,
		     const struct catalogue *catalogue, const char *kind)
{
	int error = 0;

	for (size_t i = 0; i < thresholds->count && error == 0; i++)
		error = check_one(thresholds->set[i], options, catalogue, kind);
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
		const char *value = value_of(thresholds, question, parameter);

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

/* What the verb sets itself is no threshold. */
static bool is_threshold(const struct question_field *parameter)
{
	return parameter->type != QUESTION_RUN && parameter->type != QUESTION_TIME && parameter->preset;
}

static int print(const struct thresholds *thresholds, const struct output *output, const struct catalogue *catalogue,
		 const char *kind)
{
	const struct question *question;
	char title[TITLE_SIZE];

	for (size_t i = 0; (question = catalogue_get(catalogue, i)); i++) {
		if (!has_thresholds(question, kind))
			continue;
		output_print(output, STYLE_TITLE, "%s", question->name);
		output_print(output, STYLE_PLAIN, "  %s\n", question->title);
		for (size_t k = 0; k < question->parameter_count; k++) {
			const struct question_field *parameter = &question->parameters[k];

			if (!is_threshold(parameter))
				continue;
			output_print(output, STYLE_PLAIN, "  %s.%s=%s", question->name,
				     question_field_title(parameter, '-', title, sizeof(title)),
				     value_of(thresholds, question, parameter));
			output_print(output, STYLE_DIM, "  %s%s%s\n", parameter->meaning,
				     parameter->source ? "; source: " : "", parameter->source ? parameter->source : "");
		}
	}
	return ferror(output->file) ? -EIO : 0;
}

static int print_document(const struct thresholds *thresholds, const struct catalogue *catalogue, const char *kind,
			  enum format format)
{
	json_t *root = json_object(), *findings = json_array();
	const struct question *question;

	for (size_t i = 0; (question = catalogue_get(catalogue, i)); i++) {
		json_t *parameters = json_array();

		for (size_t k = 0; has_thresholds(question, kind) && k < question->parameter_count; k++) {
			const struct question_field *parameter = &question->parameters[k];

			if (is_threshold(parameter))
				json_array_append_new(parameters,
						      json_pack("{ss ss ss ss? ss?}", "name", parameter->name, "type",
								question_type_name(parameter->type), "meaning",
								parameter->meaning, "value",
								value_of(thresholds, question, parameter), "source",
								parameter->source));
		}
		if (has_thresholds(question, kind))
			json_array_append_new(findings, json_pack("{ss ss ss so}", "name", question->name, "title",
								  question->title, "explanation", question->explanation,
								  "thresholds", json_incref(parameters)));
		json_decref(parameters);
	}
	json_object_set_new(root, "findings", findings);
	return document_print(root, "findings", NULL, format);
}

int thresholds_list(const struct thresholds *thresholds, const struct options *options, const char *kind)
{
	struct catalogue *catalogue;
	struct output output;
	int error;

	output_init(&output, stdout, (enum output_color)options->color);
	if (thresholds_catalogue(&catalogue) < 0)
		return say("tracer: out of memory");
	error = thresholds_check(thresholds, options, catalogue, kind);
	if (error == 0)
		error = options->format ? print_document(thresholds, catalogue, kind, options->format)
					: print(thresholds, &output, catalogue, kind);
	catalogue_free(catalogue);
	return error < 0 ? VERB_FAILED : error;
}

/* ---- loading ----------------------------------------------------------------------- */

static void say_refused(const struct tree_error *error, void *data)
{
	site_rules_say(error);
}

int thresholds_catalogue(struct catalogue **ret_catalogue)
{
	return catalogue_load(SITE_QUERIES, say_refused, NULL, ret_catalogue);
}
