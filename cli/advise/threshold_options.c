/* Thresholds as options of verbs. See threshold_options.h. */
#include "cli/advise/threshold_options.h"

#include <errno.h>

#include "cli/screen/document.h"
#include "cli/site_rules.h"

#define TITLE_SIZE 64

struct thresholds thresholds_given;

int threshold_options_take(const struct options *options, const char *text)
{
	char reason[THRESHOLDS_REASON_SIZE];

	return thresholds_add(&thresholds_given, text, reason) == 0 ? 0 : options_misuse(options, "--set: %s", reason);
}

int threshold_options_check(const struct options *options, const struct catalogue *catalogue, const char *kind)
{
	char reason[THRESHOLDS_REASON_SIZE];

	return thresholds_check(&thresholds_given, catalogue, kind, reason) == 0
		       ? 0
		       : options_misuse(options, "--set: %s", reason);
}

static int print(const struct output *output, const struct catalogue *catalogue, const char *kind)
{
	const struct question *question;
	char title[TITLE_SIZE];

	for (size_t i = 0; (question = catalogue_get(catalogue, i)); i++) {
		if (!thresholds_are_of(question, kind))
			continue;
		output_print(output, STYLE_TITLE, "%s", question->name);
		output_print(output, STYLE_PLAIN, "  %s\n", question->title);
		for (size_t k = 0; k < question->parameter_count; k++) {
			const struct question_field *parameter = &question->parameters[k];

			if (!thresholds_is(parameter))
				continue;
			output_print(output, STYLE_PLAIN, "  %s.%s=%s", question->name,
				     question_field_title(parameter, '-', title, sizeof(title)),
				     thresholds_value(&thresholds_given, question, parameter));
			output_print(output, STYLE_DIM, "  %s%s%s\n", parameter->meaning,
				     parameter->source ? "; source: " : "", parameter->source ? parameter->source : "");
		}
	}
	return ferror(output->file) ? -EIO : 0;
}

int threshold_options_list(const struct options *options, const char *kind)
{
	struct catalogue *catalogue = site_queries_load(NULL);
	struct output output;
	int error;

	output_init(&output, stdout, (enum output_color)options->color);
	if (!catalogue)
		return VERB_FAILED;
	error = threshold_options_check(options, catalogue, kind);
	if (error == 0)
		error = options->format
				? document_print(json_pack("{s:o}", "findings",
							   thresholds_to_json(&thresholds_given, catalogue, kind)),
						 "findings", NULL, options->format)
				: print(&output, catalogue, kind);
	catalogue_free(catalogue);
	return error < 0 ? VERB_FAILED : error;
}
