/* Findings, each with what to do about it. See findings.h. */
#include "cli/findings.h"

#include <string.h>

#include "common/text.h"

static const char *const level_names[] = {
	[FINDING_OK] = "ok",
	[FINDING_LIMITED] = "limited",
	[FINDING_MISSING] = "missing",
};

struct finding *findings_add(struct findings *findings, enum finding_level level, const char *topic, const char *format,
			     ...)
{
	struct finding *finding;
	char raw[sizeof(finding->text)];
	va_list arguments;

	if (findings->count == FINDINGS_MAX)
		findings->count--;
	finding = &findings->items[findings->count++];
	*finding = (struct finding){.level = level};
	snprintf(finding->topic, sizeof(finding->topic), "%s", topic);
	va_start(arguments, format);
	vsnprintf(raw, sizeof(raw), format, arguments);
	va_end(arguments);
	text_escape(raw, strlen(raw), finding->text, sizeof(finding->text));
	return finding;
}

void finding_fix(struct finding *finding, const char *format, ...)
{
	char raw[sizeof(finding->fix)];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(raw, sizeof(raw), format, arguments);
	va_end(arguments);
	text_escape(raw, strlen(raw), finding->fix, sizeof(finding->fix));
}

enum finding_level findings_worst(const struct findings *findings)
{
	enum finding_level worst = FINDING_OK;

	for (size_t i = 0; i < findings->count; i++)
		if (findings->items[i].level > worst)
			worst = findings->items[i].level;
	return worst;
}

static void print(const struct findings *findings, const struct output *whole)
{
	static const enum style styles[] = {
		[FINDING_OK] = STYLE_GOOD,
		[FINDING_LIMITED] = STYLE_WARNING,
		[FINDING_MISSING] = STYLE_BAD,
	};
	struct output_flow flow;
	const struct output *output = &flow.inner;

	output_flow_begin(&flow, whole);
	for (size_t i = 0; i < findings->count; i++) {
		const struct finding *finding = &findings->items[i];

		output_print(output, styles[finding->level], "%-8s", level_names[finding->level]);
		fprintf(output->file, "%-18s %s\n", finding->topic, finding->text);
		if (*finding->fix)
			fprintf(output->file, "%26s %s %s\n", "", output->unicode ? "→" : "->", finding->fix);
	}
	output_flow_end(&flow, 27);
}

static json_t *to_json(const struct findings *findings)
{
	json_t *array = json_array();

	for (size_t i = 0; i < findings->count; i++) {
		const struct finding *finding = &findings->items[i];

		json_array_append_new(array, json_pack("{s:s, s:s, s:s, s:s?}", "level", level_names[finding->level],
						       "topic", finding->topic, "text", finding->text, "fix",
						       *finding->fix ? finding->fix : NULL));
	}
	return array;
}

void findings_show(const struct findings *findings, const struct options *options, json_t *json)
{
	struct output output;

	output_init(&output, stdout, options->color);
	json_object_set_new(json, "findings", to_json(findings));
	if (options->json)
		json_print(json);
	else
		print(findings, &output);
	json_decref(json);
}
