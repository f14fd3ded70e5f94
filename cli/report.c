/* One run with all that belongs to it. See report.h. */
#include "cli/report.h"

#include <stdlib.h>

#include "cli/source.h"

static int compare_tools(const void *left, const void *right)
{
	const struct row_tool *a = left, *b = right;

	if (a->task_id != b->task_id)
		return a->task_id < b->task_id ? -1 : 1;
	if (a->begin_boot_ns != b->begin_boot_ns)
		return a->begin_boot_ns < b->begin_boot_ns ? -1 : 1;
	return a->id < b->id ? -1 : a->id > b->id;
}

int report_load(struct report *report, struct store *store, struct rows *runs)
{
	struct store_parameter run_id[] = {{"run_id", STORE_INTEGER, 0, NULL}, {0}};
	int error;

	*report = (struct report){.store = store, .runs = *runs, .now_boot_ns = ROW_NULL};
	*runs = (struct rows){0};
	run_id[0].integer = report_run(report)->id;
	error = source_load(store, &row_type_host, "hosts", NULL, &report->hosts);
	if (error == 0)
		error = source_load(store, &row_type_task, "tasks", run_id, &report->tasks);
	if (error == 0)
		error = source_load(store, &row_type_tool, "tools", run_id, &report->tools);
	if (error == 0)
		error = source_load(store, &row_type_incident, "incidents", run_id, &report->incidents);
	if (error == 0)
		error = source_load(store, &row_type_loss, "run_losses", run_id, &report->losses);
	if (error == 0)
		error = source_load(store, &row_type_container, "containers", run_id,
				    &report->containers);
	if (error < 0) {
		report_free(report);
		return error;
	}
	qsort(report->tools.items, report->tools.count, sizeof(struct row_tool), compare_tools);
	report->now_boot_ns = source_now_boot_ns(store, report_host(report));
	return 0;
}

void report_free(struct report *report)
{
	rows_free(&report->hosts);
	rows_free(&report->runs);
	rows_free(&report->tasks);
	rows_free(&report->tools);
	rows_free(&report->incidents);
	rows_free(&report->losses);
	rows_free(&report->containers);
}

const struct row_run *report_run(const struct report *report)
{
	return ROWS_ITEM(&report->runs, run, 0);
}

const struct row_host *report_host(const struct report *report)
{
	for (size_t i = 0; i < report->hosts.count; i++)
		if (ROWS_ITEM(&report->hosts, host, i)->id == report_run(report)->host_id)
			return ROWS_ITEM(&report->hosts, host, i);
	return NULL;
}

const struct row_tool *report_task_tools(const struct report *report, int64_t task_id,
					 size_t *ret_count)
{
	const struct row_tool *tools = report->tools.items;
	size_t low = 0, high = report->tools.count, end;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (tools[middle].task_id < task_id)
			low = middle + 1;
		else
			high = middle;
	}
	for (end = low; end < report->tools.count && tools[end].task_id == task_id;)
		end++;
	*ret_count = end - low;
	return tools + low;
}

int64_t report_wall_ns(const struct report *report, int64_t begin_boot_ns, int64_t end_boot_ns)
{
	int64_t end = end_boot_ns == ROW_NULL ? report->now_boot_ns : end_boot_ns;

	return begin_boot_ns == ROW_NULL || end == ROW_NULL || end < begin_boot_ns
		       ? ROW_NULL : end - begin_boot_ns;
}

int report_load_processes(const struct report *report, int64_t task_id, struct rows *ret_rows)
{
	struct store_parameter parameters[] = {{"task_id", STORE_INTEGER, task_id, NULL}, {0}};

	return source_load(report->store, &row_type_process, "task_processes", parameters, ret_rows);
}
