/* Findings, each with what to do about it. See remarks.h. */
#include "cli/screen/remarks.h"

#include <string.h>

#include "common/text.h"

static const char *const level_names[] = {
	[REMARK_OK] = "ok",
	[REMARK_LIMITED] = "limited",
	[REMARK_MISSING] = "missing",
};

struct remark *remarks_add(struct remarks *remarks, enum remark_level level, const char *topic, const char *format, ...)
{
	struct remark *remark;
	char raw[sizeof(remark->text)];
	va_list arguments;

	if (remarks->count == REMARKS_MAX)
		remarks->count--;
	remark = &remarks->items[remarks->count++];
	*remark = (struct remark){.level = level};
	snprintf(remark->topic, sizeof(remark->topic), "%s", topic);
	va_start(arguments, format);
	vsnprintf(raw, sizeof(raw), format, arguments);
	va_end(arguments);
	text_escape(raw, strlen(raw), remark->text, sizeof(remark->text));
	return remark;
}

void remark_fix(struct remark *remark, const char *format, ...)
{
	char raw[sizeof(remark->fix)];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(raw, sizeof(raw), format, arguments);
	va_end(arguments);
	text_escape(raw, strlen(raw), remark->fix, sizeof(remark->fix));
}

bool remarks_work(const struct remarks *remarks)
{
	for (size_t i = 0; i < remarks->count; i++)
		if (remarks->items[i].level == REMARK_MISSING)
			return false;
	return true;
}

static void print(const struct remarks *remarks, const struct output *whole)
{
	static const enum style styles[] = {
		[REMARK_OK] = STYLE_GOOD,
		[REMARK_LIMITED] = STYLE_WARNING,
		[REMARK_MISSING] = STYLE_BAD,
	};
	struct output_flow flow;
	const struct output *output = &flow.inner;

	output_flow_begin(&flow, whole);
	for (size_t i = 0; i < remarks->count; i++) {
		const struct remark *remark = &remarks->items[i];

		output_print(output, styles[remark->level], "%-8s", level_names[remark->level]);
		fprintf(output->file, "%-18s %s\n", remark->topic, remark->text);
		if (*remark->fix)
			fprintf(output->file, "%26s %s %s\n", "", output->unicode ? "→" : "->", remark->fix);
	}
	output_flow_end(&flow, 27);
}

static json_t *to_json(const struct remarks *remarks)
{
	json_t *array = json_array();

	for (size_t i = 0; i < remarks->count; i++) {
		const struct remark *remark = &remarks->items[i];

		json_array_append_new(array, json_pack("{s:s, s:s, s:s, s:s?}", "level", level_names[remark->level],
						       "topic", remark->topic, "text", remark->text, "fix",
						       *remark->fix ? remark->fix : NULL));
	}
	return array;
}

void remarks_show(const struct remarks *remarks, enum output_color color, enum format format, json_t *json)
{
	struct output output;

	output_init(&output, stdout, color);
	json_object_set_new(json, "findings", to_json(remarks));
	if (format == FORMAT_TABLE)
		print(remarks, &output);
	else
		document_print(json_incref(json), "findings", NULL, format);
	json_decref(json);
}
