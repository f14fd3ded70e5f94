/* A run as JSON, task by task: a run of a hundred thousand processes is never held
 * in memory whole. See report.h.
 */
#include <errno.h>
#include <inttypes.h>

#include "cli/report.h"

static int item_write(FILE *file, json_t *item, bool *first)
{
	int error = item ? 0 : -ENOMEM;

	fputs(*first ? "\n  " : ",\n  ", file);
	*first = false;
	if (error == 0 && json_dumpf(item, file, JSON_COMPACT | JSON_ENSURE_ASCII) < 0)
		error = ferror(file) ? -EIO : -ENOMEM;
	json_decref(item);
	return error;
}

static int rows_write(FILE *file, const char *name, const struct rows *rows)
{
	bool first = true;
	int error = 0;

	fprintf(file, ",\n\"%s\": [", name);
	for (size_t i = 0; i < rows->count && error == 0; i++)
		error = item_write(file, row_to_json(rows->type, (const char *)rows->items +
						     i * rows->type->size), &first);
	fputs("]", file);
	return error;
}

static void set_wall(json_t *object, int64_t begin_boot_ns, int64_t end_boot_ns)
{
	json_set_integer(object, "wall_ns", row_subtract(end_boot_ns, begin_boot_ns));
}

static json_t *tools_to_json(const struct report *report, int64_t task_id)
{
	json_t *array = json_array();
	size_t count;
	const struct row_tool *tools = report_task_tools(report, task_id, &count);

	for (size_t i = 0; i < count; i++) {
		json_t *tool = row_to_json(&row_type_tool, &tools[i]);

		set_wall(tool, tools[i].begin_boot_ns, tools[i].end_boot_ns);
		json_array_append_new(array, tool);
	}
	return array;
}

static json_t *processes_to_json(const struct report *report, const struct row_task *task)
{
	struct rows processes = {0};
	json_t *array;

	if (report_load_processes(report, task, &processes) < 0)
		return NULL;
	array = json_array();
	for (size_t i = 0; i < processes.count; i++) {
		const struct row_process *row = ROWS_ITEM(&processes, process, i);
		json_t *process = row_to_json(&row_type_process, row);

		set_wall(process, row->begin_boot_ns, row->end_boot_ns);
		json_array_append_new(array, process);
	}
	rows_free(&processes);
	return array;
}

static json_t *task_to_json(const struct report *report, const struct row_task *row,
			    bool with_processes)
{
	json_t *task = row_to_json(&row_type_task, row), *processes;

	set_wall(task, row->begin_boot_ns, row->end_boot_ns);
	if (report->engine_names) {
		const struct engine_name *own =
			&report->engine_names[row - (const struct row_task *)report->tasks.items];

		json_set_string(task, "engine_name", own->name);
		json_set_string(task, "engine_label", own->label);
	}
	json_object_set_new(task, "tools", tools_to_json(report, row->id));
	if (!with_processes)
		return task;
	processes = processes_to_json(report, row);
	if (!processes) {
		json_decref(task);
		return NULL;
	}
	json_object_set_new(task, "processes", processes);
	return task;
}

static int run_write(const struct report *report, FILE *file)
{
	const struct row_run *row = report_run(report);
	const struct row_host *host = report_host(report);
	json_t *run = row_to_json(&row_type_run, row);
	int error;

	json_set_string(run, "host", host ? host->hostname : NULL);
	set_wall(run, row->begin_boot_ns, row->end_boot_ns);
	error = json_dumpf(run, file, JSON_COMPACT | JSON_ENSURE_ASCII) < 0 ? -EIO : 0;
	json_decref(run);
	return error;
}

int report_write_json(const struct report *report, FILE *file, bool with_processes)
{
	bool first = true;
	int error;

	fputs("{\"run\": ", file);
	error = run_write(report, file);
	if (error == 0 && report->parts.count > 0)
		error = rows_write(file, "parts", &report->parts);
	fputs(",\n\"tasks\": [", file);
	for (size_t i = 0; i < report->tasks.count && error == 0; i++)
		error = item_write(file, task_to_json(report, ROWS_ITEM(&report->tasks, task, i),
						      with_processes), &first);
	fputs("]", file);
	if (error == 0)
		error = rows_write(file, "incidents", &report->incidents);
	if (error == 0)
		error = rows_write(file, "losses", &report->losses);
	if (error == 0)
		error = rows_write(file, "containers", &report->containers);
	fprintf(file, ",\n\"lower_bounds\": {\"unfinished_count\": %" PRId64 ", \"found_count\": %" PRId64
		", \"partial_count\": %" PRId64 "}", report->doubts.unfinished_count, report->doubts.found_count,
		report->doubts.partial_count);
	fputs("}\n", file);
	return error;
}
