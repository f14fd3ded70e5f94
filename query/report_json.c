/* A run as JSON, row by row. See report.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "query/report.h"

struct writing {
	const struct report *report;
	FILE *file;
	const struct row_type *type; /* of the rows that come */
	const char *between; /* the next one and the one before; "" for the first */
	const char *array; /* of the task, that is open */
	bool with_processes, with_samples;
};

static void wall_write(FILE *file, int64_t begin_boot_ns, int64_t end_boot_ns)
{
	int64_t wall_ns = row_subtract(end_boot_ns, begin_boot_ns);

	if (wall_ns == ROW_NULL)
		fputs(",\"wall_ns\":null", file);
	else
		fprintf(file, ",\"wall_ns\":%" PRId64, wall_ns);
}

/* The members of a row, and how long it lasted. */
#define ROW_WRITE(file, name, row, ret_error) do { \
		*(ret_error) = row_write_json(file, &row_type_##name, row); \
		wall_write(file, (row)->begin_boot_ns, (row)->end_boot_ns); \
	} while (0)

static int text_member_write(FILE *file, const char *name, const char *text)
{
	json_t *object = json_object();
	char *members;

	json_set_string(object, name, text);
	members = json_dumps(object, JSON_COMPACT | JSON_ENSURE_ASCII);
	json_decref(object);
	if (!members)
		return -ENOMEM;
	fprintf(file, ",%.*s", (int)strlen(members) - 2, members + 1);
	free(members);
	return 0;
}

static int task_write(void *context, size_t index, const struct row_task *task,
		      const struct row_tool *tools, size_t count)
{
	struct writing *writing = context;
	const struct engine_name *names = writing->report->engine_names;
	int error;

	fprintf(writing->file, "%s\n  {", writing->between);
	writing->array = "tools";
	ROW_WRITE(writing->file, task, task, &error);
	if (error == 0 && names)
		error = text_member_write(writing->file, "engine_name", names[index].name);
	if (error == 0 && names)
		error = text_member_write(writing->file, "engine_label", names[index].label);
	fputs(",\"tools\":[", writing->file);
	return error;
}

static int tool_write(void *context, const struct row_tool *tool, size_t index)
{
	struct writing *writing = context;
	int error;

	fputs(index > 0 ? ",{" : "{", writing->file);
	ROW_WRITE(writing->file, tool, tool, &error);
	putc('}', writing->file);
	return error;
}

/* What stands before an item of this array: where another is open, that ends. */
static void array_go_on(struct writing *writing, const char *name)
{
	if (strcmp(writing->array, name) == 0) {
		putc(',', writing->file);
		return;
	}
	fprintf(writing->file, "],\"%s\":[", name);
	writing->array = name;
}

static int process_write(void *context, const struct row_process *process, bool is_last)
{
	struct writing *writing = context;
	int error;

	array_go_on(writing, "processes");
	putc('{', writing->file);
	ROW_WRITE(writing->file, process, process, &error);
	putc('}', writing->file);
	return error;
}

static int sample_write(void *context, const struct row_sample *sample)
{
	struct writing *writing = context;
	int error;

	array_go_on(writing, "samples");
	putc('{', writing->file);
	error = row_write_json(writing->file, &row_type_sample, sample);
	putc('}', writing->file);
	return error;
}

static int task_end(void *context)
{
	struct writing *writing = context;

	if (writing->with_processes && strcmp(writing->array, "tools") == 0)
		array_go_on(writing, "processes");
	if (writing->with_samples && strcmp(writing->array, "samples") != 0)
		array_go_on(writing, "samples");
	fputs("]}", writing->file);
	writing->between = ",";
	return ferror(writing->file) ? -EIO : 0;
}

static int item_write(void *context, const void *row)
{
	struct writing *writing = context;
	int error;

	fprintf(writing->file, "%s\n  {", writing->between);
	writing->between = ",";
	error = row_write_json(writing->file, writing->type, row);
	putc('}', writing->file);
	return error;
}

typedef int each_row(const struct report *report, report_use_row *use, void *context);

static int each_part(const struct report *report, report_use_row *use, void *context)
{
	int error = 0;

	for (size_t i = 0; i < report->parts.count && error == 0; i++)
		error = use(context, ROWS_ITEM(&report->parts, part, i));
	return error;
}

static int items_write(struct writing *writing, const char *name, const struct row_type *type, each_row *each)
{
	int error;

	fprintf(writing->file, ",\n\"%s\": [", name);
	writing->between = "";
	writing->type = type;
	error = each(writing->report, item_write, writing);
	putc(']', writing->file);
	return error;
}

static int run_write(const struct report *report, FILE *file)
{
	const struct row_run *run = report_run(report);
	const struct row_host *host = report_host(report);
	int error;

	fputs("{\"run\": {", file);
	error = row_write_json(file, &row_type_run, run);
	if (error == 0)
		error = text_member_write(file, "host", host ? host->hostname : NULL);
	wall_write(file, run->begin_boot_ns, run->end_boot_ns);
	return error;
}

int report_write_json(const struct report *report, FILE *file, bool with_processes, bool with_samples)
{
	struct writing writing = {.report = report, .file = file, .between = "",
				  .with_processes = with_processes, .with_samples = with_samples};
	const struct report_writer writer = {
		.task = task_write, .tool = tool_write, .task_end = task_end,
		.process = with_processes ? process_write : NULL, .sample = with_samples ? sample_write : NULL,
	};
	int error = run_write(report, file);

	fputs("}", file);
	if (error == 0 && report->parts.count > 0)
		error = items_write(&writing, "parts", &row_type_part, each_part);
	fputs(",\n\"tasks\": [", file);
	writing.between = "";
	if (error == 0)
		error = report_walk(report, NULL, 0, &writer, &writing);
	fputs("]", file);
	if (error == 0)
		error = items_write(&writing, "incidents", &row_type_incident, report_each_incident);
	if (error == 0)
		error = items_write(&writing, "losses", &row_type_loss, report_each_loss);
	if (error == 0)
		error = items_write(&writing, "containers", &row_type_container, report_each_container);
	fprintf(file, ",\n\"lower_bounds\": {\"unfinished_count\": %" PRId64 ", \"found_count\": %" PRId64
		", \"partial_count\": %" PRId64 "}}\n", report->doubts.unfinished_count, report->doubts.found_count,
		report->doubts.partial_count);
	return error;
}
