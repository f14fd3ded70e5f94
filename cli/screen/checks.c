/* Findings, each with what to do about it. See checks.h. */
#include "cli/screen/checks.h"

#include <string.h>

#include "common/text.h"

static const char *const level_names[] = {
	[CHECK_OK] = "ok",
	[CHECK_LIMITED] = "limited",
	[CHECK_MISSING] = "missing",
};

struct check *checks_add(struct checks *checks, enum check_level level, const char *topic, const char *format, ...)
{
	struct check *check;
	char raw[sizeof(check->text)];
	va_list arguments;

	if (checks->count == CHECKS_MAX)
		checks->count--;
	check = &checks->items[checks->count++];
	*check = (struct check){.level = level};
	snprintf(check->topic, sizeof(check->topic), "%s", topic);
	va_start(arguments, format);
	vsnprintf(raw, sizeof(raw), format, arguments);
	va_end(arguments);
	text_escape(raw, strlen(raw), check->text, sizeof(check->text));
	return check;
}

void check_fix(struct check *check, const char *format, ...)
{
	char raw[sizeof(check->fix)];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(raw, sizeof(raw), format, arguments);
	va_end(arguments);
	text_escape(raw, strlen(raw), check->fix, sizeof(check->fix));
}

bool checks_work(const struct checks *checks)
{
	for (size_t i = 0; i < checks->count; i++)
		if (checks->items[i].level == CHECK_MISSING)
			return false;
	return true;
}

static void print(const struct checks *checks, const struct output *whole)
{
	static const enum style styles[] = {
		[CHECK_OK] = STYLE_GOOD,
		[CHECK_LIMITED] = STYLE_WARNING,
		[CHECK_MISSING] = STYLE_BAD,
	};
	struct output_flow flow;
	const struct output *output = &flow.inner;

	output_flow_begin(&flow, whole);
	for (size_t i = 0; i < checks->count; i++) {
		const struct check *check = &checks->items[i];

		output_print(output, styles[check->level], "%-8s", level_names[check->level]);
		fprintf(output->file, "%-18s %s\n", check->topic, check->text);
		if (*check->fix)
			fprintf(output->file, "%26s %s %s\n", "", output->unicode ? "→" : "->", check->fix);
	}
	output_flow_end(&flow, 27);
}

static json_t *to_json(const struct checks *checks)
{
	json_t *array = json_array();

	for (size_t i = 0; i < checks->count; i++) {
		const struct check *check = &checks->items[i];

		json_array_append_new(array, json_pack("{s:s, s:s, s:s, s:s?}", "level", level_names[check->level],
						       "topic", check->topic, "text", check->text, "fix",
						       *check->fix ? check->fix : NULL));
	}
	return array;
}

void checks_show(const struct checks *checks, enum output_color color, enum format format, json_t *json)
{
	struct output output;

	output_init(&output, stdout, color);
	json_object_set_new(json, "checks", to_json(checks));
	if (format == FORMAT_TABLE)
		print(checks, &output);
	else
		document_print(json_incref(json), "checks", NULL, format);
	json_decref(json);
}
