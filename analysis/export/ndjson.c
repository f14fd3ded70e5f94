/* All rows of a run, one object a line: {"type": "task", ...}. Columns as in docs/model.md. */
#include "analysis/export/formats.h"

struct lines {
	const struct report *report;
	struct json_writer json;
	const char *type; /* of the rows outside the tree of tasks */
	const struct row_type *row_type;
};

static void line_write(struct lines *lines, const char *type, const struct row_type *row_type, const void *row)
{
	json_write_object(&lines->json);
	json_write_string(&lines->json, "type", type);
	json_write_row(&lines->json, row_type, row);
	json_write_text(&lines->json, "}\n");
}

static int task_write(void *context, size_t index, const struct row_task *task, const struct row_tool *tools,
		      size_t count)
{
	struct lines *lines = context;

	line_write(lines, "task", &row_type_task, task);
	return lines->json.error;
}

static int tool_write(void *context, const struct row_tool *tool, size_t index)
{
	struct lines *lines = context;

	line_write(lines, "tool", &row_type_tool, tool);
	return lines->json.error;
}

static int process_write(void *context, const struct row_process *process, bool is_last)
{
	struct lines *lines = context;

	line_write(lines, "process", &row_type_process, process);
	return lines->json.error;
}

static int other_write(void *context, const void *row)
{
	struct lines *lines = context;

	line_write(lines, lines->type, lines->row_type, row);
	return lines->json.error;
}

static int others_write(struct lines *lines, const char *type, const struct row_type *row_type, enum report_rows rows)
{
	lines->type = type;
	lines->row_type = row_type;
	return report_each(lines->report, rows, other_write, lines);
}

int export_ndjson(const struct report *report, FILE *file)
{
	const struct report_writer writer = {
		.task = task_write, .tool = tool_write, .process = process_write, .by_tool = true};
	struct lines lines = {.report = report, .json.file = file};
	int error;

	for (size_t i = 0; i < report->hosts.count; i++)
		line_write(&lines, "host", &row_type_host, ROWS_ITEM(&report->hosts, host, i));
	for (size_t i = 0; i < report->parts.count; i++)
		line_write(&lines, "run", &row_type_run, &ROWS_ITEM(&report->parts, part, i)->run);
	error = report_walk(report, NULL, 0, &writer, &lines);
	if (error == 0)
		error = others_write(&lines, "incident", &row_type_incident, REPORT_INCIDENTS);
	if (error == 0)
		error = others_write(&lines, "loss", &row_type_loss, REPORT_LOSSES);
	if (error == 0)
		error = others_write(&lines, "container", &row_type_container, REPORT_CONTAINERS);
	return json_write_end(&lines.json) < 0 ? lines.json.error : error;
}
