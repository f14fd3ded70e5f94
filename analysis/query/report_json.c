/* A run as JSON, row by row. See report.h. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "analysis/query/figures.h"

struct writing {
	const struct report *report;
	struct json_writer json;
	const struct row_type *type; /* of the rows to write */
	const char *between;         /* separator before the next row; "" before the first */
	const char *array;           /* name of the task's open array */
	bool is_empty;               /* that array */
	bool with_processes, with_series, as_lines;
	size_t line_count, most; /* of rows as lines; most: 0: all */
};

/* Writes the members of a row, and its wall time. */
#define ROW_WRITE(json, name, row) \
	do { \
		json_write_row(json, &row_type_##name, row); \
		json_write_integer(json, "wall_ns", row_subtract((row)->end_boot_ns, (row)->begin_boot_ns)); \
	} while (0)

/* Begins the next object of an array. */
static void item_begin(struct writing *writing)
{
	json_write_text(&writing->json, writing->between);
	json_write_text(&writing->json, "\n  ");
	json_write_object(&writing->json);
	writing->between = ",";
}

/* What the engine reported about the task, unknown if its name is. */
static void engine_figures_write(struct json_writer *json, const struct engine_name *engine)
{
	json_write_integer(json, "engine_wall_ns", engine->name ? engine->wall_ns : ROW_NULL);
	json_write_integer(json, "engine_cpu_ns", engine->name ? engine->cpu_ns : ROW_NULL);
	json_write_integer(json, "engine_peak_rss_bytes", engine->name ? engine->peak_rss_bytes : ROW_NULL);
}

/* `index` is REPORT_NO_TASK for the names of the members alone. */
static void task_members_write(struct writing *writing, size_t index, const struct row_task *task)
{
	static const struct engine_name unknown;
	const struct report *report = writing->report;
	const struct engine_name *names = &unknown;

	if (report->engine_names && index != REPORT_NO_TASK)
		names = &report->engine_names[index];
	ROW_WRITE(&writing->json, task, task);
	if (report->engine_names) {
		json_write_string(&writing->json, "engine_name", names->name);
		json_write_string(&writing->json, "engine_label", names->label);
		engine_figures_write(&writing->json, names);
	}
	if (report->samples)
		json_write_string(&writing->json, "sample",
				  index == REPORT_NO_TASK ? NULL : report_task_sample(report, index, task));
}

/* Writes what precedes an item of this array; closes another array that is open. */
static void array_go_on(struct writing *writing, const char *name)
{
	bool is_open = strcmp(writing->array, name) == 0;

	json_write_text(&writing->json, !is_open ? "],\"" : writing->is_empty ? "" : ",");
	writing->is_empty = false;
	json_write_text(&writing->json, is_open ? "" : name);
	json_write_text(&writing->json, is_open ? "" : "\":[");
	writing->array = name;
}

/* Begins a row: a line, or an object in an array of the task. */
static void row_begin(struct writing *writing, const char *array)
{
	if (writing->as_lines) {
		json_write_line(&writing->json);
		return;
	}
	array_go_on(writing, array);
	json_write_object(&writing->json);
}

/* Ends it. Returns -ECANCELED after the last line that is wanted. */
static int row_end(struct writing *writing)
{
	if (!writing->as_lines) {
		json_write_text(&writing->json, "}");
		return 0;
	}
	json_write_line_end(&writing->json);
	if (writing->json.error < 0)
		return writing->json.error;
	return ++writing->line_count == writing->most ? -ECANCELED : 0;
}

static int task_write(void *context, size_t index, const struct row_task *task, const struct row_tool *tools,
		      size_t count)
{
	struct writing *writing = context;

	if (writing->as_lines) {
		json_write_line(&writing->json);
		task_members_write(writing, index, task);
		return row_end(writing);
	}
	item_begin(writing);
	task_members_write(writing, index, task);
	json_write_text(&writing->json, ",\"tools\":[");
	writing->array = "tools";
	writing->is_empty = true;
	return 0;
}

static int tool_write(void *context, const struct row_tool *tool, size_t index)
{
	struct writing *writing = context;

	row_begin(writing, "tools");
	ROW_WRITE(&writing->json, tool, tool);
	return row_end(writing);
}

static int process_write(void *context, const struct row_process *process, bool is_last)
{
	struct writing *writing = context;

	row_begin(writing, "processes");
	ROW_WRITE(&writing->json, process, process);
	return row_end(writing);
}

static int reading_write(void *context, const struct row_sample *reading)
{
	struct writing *writing = context;

	row_begin(writing, "series");
	json_write_row(&writing->json, &row_type_sample, reading);
	return row_end(writing);
}

static int task_end(void *context)
{
	struct writing *writing = context;

	if (writing->with_processes && strcmp(writing->array, "tools") == 0)
		array_go_on(writing, "processes");
	if (writing->with_series && strcmp(writing->array, "series") != 0)
		array_go_on(writing, "series");
	json_write_text(&writing->json, "]}");
	return writing->json.error;
}

static int item_write(void *context, const void *row)
{
	struct writing *writing = context;

	item_begin(writing);
	json_write_row(&writing->json, writing->type, row);
	json_write_text(&writing->json, "}");
	return 0;
}

static void array_begin(struct writing *writing, const char *name, const struct row_type *type)
{
	json_write_text(&writing->json, ",\n\"");
	json_write_text(&writing->json, name);
	json_write_text(&writing->json, "\": [");
	writing->between = "";
	writing->type = type;
}

static int items_write(struct writing *writing, const char *name, const struct row_type *type, enum report_rows rows)
{
	int error;

	array_begin(writing, name, type);
	error = report_each(writing->report, rows, item_write, writing);
	json_write_text(&writing->json, "]");
	return error;
}

static void parts_write(struct writing *writing)
{
	array_begin(writing, "parts", &row_type_part);
	for (size_t i = 0; i < writing->report->parts.count; i++)
		item_write(writing, ROWS_ITEM(&writing->report->parts, part, i));
	json_write_text(&writing->json, "]");
}

static int tasks_write(struct writing *writing)
{
	const struct report_writer writer = {
		.task = task_write,
		.tool = tool_write,
		.task_end = task_end,
		.process = writing->with_processes ? process_write : NULL,
		.reading = writing->with_series ? reading_write : NULL,
	};
	int error;

	array_begin(writing, "tasks", NULL);
	error = report_walk(writing->report, NULL, 0, &writer, writing);
	json_write_text(&writing->json, "]");
	return error;
}

static void group_members_write(struct json_writer *json, const struct report_group *group)
{
	const struct figures *figures = &group->figures;

	json_write_string(json, "sample", group->name);
	json_write_integer(json, "task_count", (int64_t)group->member_count);
	json_write_integer(json, "failed_count", group->failed_count);
	json_write_integer(json, "wall_ns", figures->wall_ns);
	json_write_integer(json, "cpu_ns", figures->cpu_ns);
	json_write_integer(json, "run_delay_ns", figures->run_delay_ns);
	json_write_integer(json, "peak_rss_bytes", figures->peak_rss_bytes);
	json_write_integer(json, "gpu_busy_ns", figures->gpu_busy_ns);
	json_write_integer(json, "gpu_peak_bytes", figures->gpu_peak_bytes);
	json_write_integer(json, "read_bytes", figures->read_bytes);
	json_write_integer(json, "write_bytes", figures->write_bytes);
	json_write_integer(json, "sent_bytes", figures->sent_bytes);
	json_write_integer(json, "received_bytes", figures->received_bytes);
}

static int samples_write(struct writing *writing)
{
	const char *misfit = writing->report->samples->samples.misfit;
	struct report_group *groups;
	int error = report_group_samples(writing->report, &groups);

	json_write_string(&writing->json, "sample_misfit", *misfit ? misfit : NULL);
	array_begin(writing, "samples", NULL);
	for (const struct report_group *group = groups; group && error == 0; group = group->hh.next) {
		item_begin(writing);
		group_members_write(&writing->json, group);
		json_write_text(&writing->json, "}");
	}
	json_write_text(&writing->json, "]");
	report_groups_free(groups);
	return error;
}

static void run_write(struct writing *writing)
{
	const struct row_run *run = report_run(writing->report);
	const struct row_host *host = report_host(writing->report);

	json_write_text(&writing->json, "{\"run\": ");
	json_write_object(&writing->json);
	json_write_row(&writing->json, &row_type_run, run);
	json_write_string(&writing->json, "host", host ? host->hostname : NULL);
	json_write_integer(&writing->json, "wall_ns", row_subtract(run->end_boot_ns, run->begin_boot_ns));
	json_write_text(&writing->json, "}");
}

int report_write_json(const struct report *report, FILE *file, bool with_processes, bool with_series)
{
	struct writing writing = {
		.report = report, .json.file = file, .with_processes = with_processes, .with_series = with_series};
	const struct report_doubts *doubts = &report->doubts;
	int error = 0;

	run_write(&writing);
	if (report->parts.count > 1)
		parts_write(&writing);
	if (report->samples)
		error = samples_write(&writing);
	if (error == 0)
		error = tasks_write(&writing);
	if (error == 0)
		error = items_write(&writing, "incidents", &row_type_incident, REPORT_INCIDENTS);
	if (error == 0)
		error = items_write(&writing, "losses", &row_type_loss, REPORT_LOSSES);
	if (error == 0)
		error = items_write(&writing, "containers", &row_type_container, REPORT_CONTAINERS);
	if (json_write_end(&writing.json) < 0)
		return writing.json.error;
	fprintf(file,
		",\n\"lower_bounds\": {\"unfinished_count\": %" PRId64 ", \"found_count\": %" PRId64
		", \"partial_count\": %" PRId64 "%s}}\n",
		doubts->unfinished_count, doubts->found_count, doubts->partial_count,
		doubts->is_partial ? ", \"is_partial\": true" : "");
	return error;
}

/* ---- rows as lines ----------------------------------------------------------- */

static int group_line(struct writing *writing, const struct report_group *group)
{
	json_write_line(&writing->json);
	group_members_write(&writing->json, group);
	return row_end(writing);
}

static int group_lines_write(struct writing *writing)
{
	struct report_group *groups;
	int error = report_group_samples(writing->report, &groups);

	for (const struct report_group *group = groups; group && error == 0; group = group->hh.next)
		error = group_line(writing, group);
	report_groups_free(groups);
	return error;
}

static void names_write(struct writing *writing, enum report_lines lines)
{
	writing->json.form = ROW_AS_CSV_NAMES;
	switch (lines) {
	case REPORT_LINES_TASKS: task_write(writing, REPORT_NO_TASK, &(const struct row_task){0}, NULL, 0); break;
	case REPORT_LINES_TOOLS: tool_write(writing, &(const struct row_tool){0}, 0); break;
	case REPORT_LINES_PROCESSES: process_write(writing, &(const struct row_process){0}, false); break;
	case REPORT_LINES_SERIES: reading_write(writing, &(const struct row_sample){0}); break;
	case REPORT_LINES_SAMPLES: group_line(writing, &(const struct report_group){0}); break;
	}
	writing->json.form = ROW_AS_CSV;
	writing->line_count = 0;
}

int report_write_lines(const struct report *report, FILE *file, enum report_lines lines, size_t most, bool as_csv)
{
	const struct report_writer writer = {
		.task = lines == REPORT_LINES_TASKS ? task_write : NULL,
		.tool = lines == REPORT_LINES_TOOLS ? tool_write : NULL,
		.process = lines == REPORT_LINES_PROCESSES ? process_write : NULL,
		.reading = lines == REPORT_LINES_SERIES ? reading_write : NULL,
	};
	struct writing writing = {.report = report, .json.file = file, .most = most, .as_lines = true};
	int error;

	if (as_csv)
		names_write(&writing, lines);
	error = lines == REPORT_LINES_SAMPLES ? group_lines_write(&writing)
					      : report_walk(report, NULL, 0, &writer, &writing);
	if (json_write_end(&writing.json) < 0)
		return writing.json.error;
	return error == -ECANCELED ? 0 : error;
}
