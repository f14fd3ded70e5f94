/* One run with all that belongs to it. See report.h. */
#include "cli/report.h"

#include <stdlib.h>
#include <string.h>

#include "cli/joined.h"
#include "cli/source.h"

#define ATTEMPTS_MAX 64 /* of one task; a store may be anybody's */

static int compare_tools(const void *left, const void *right)
{
	const struct row_tool *a = left, *b = right;

	if (a->task_id != b->task_id)
		return a->task_id < b->task_id ? -1 : 1;
	if (a->begin_boot_ns != b->begin_boot_ns)
		return a->begin_boot_ns < b->begin_boot_ns ? -1 : 1;
	return a->id < b->id ? -1 : a->id > b->id;
}

/* The pseudo-tasks first, then as they began. */
static int compare_tasks(const void *left, const void *right)
{
	const struct row_task *a = left, *b = right;
	bool a_is_main = strcmp(a->kind, "main") == 0, b_is_main = strcmp(b->kind, "main") == 0;

	if (a_is_main != b_is_main)
		return a_is_main ? -1 : 1;
	if (a->begin_boot_ns != b->begin_boot_ns)
		return a->begin_boot_ns < b->begin_boot_ns ? -1 : 1;
	return a->id < b->id ? -1 : a->id > b->id;
}

static void shift(int64_t *boot_ns, int64_t by_ns)
{
	*boot_ns = row_add(*boot_ns, by_ns);
}

/* From the boot clock of a part's host to that of the run's, by way of the wall clocks. */
static void part_shift(const struct row_run *run, const struct row_run *part, struct rows *tasks,
		       struct rows *tools)
{
	int64_t by_ns = row_subtract(row_subtract(part->started_unix_ns, part->begin_boot_ns),
				     row_subtract(run->started_unix_ns, run->begin_boot_ns));

	for (size_t i = 0; i < tasks->count; i++) {
		shift(&ROWS_ITEM(tasks, task, i)->begin_boot_ns, by_ns);
		shift(&ROWS_ITEM(tasks, task, i)->end_boot_ns, by_ns);
	}
	for (size_t i = 0; i < tools->count; i++) {
		shift(&ROWS_ITEM(tools, tool, i)->begin_boot_ns, by_ns);
		shift(&ROWS_ITEM(tools, tool, i)->end_boot_ns, by_ns);
	}
}

static int doubts_load(struct report *report, const struct row_run *part)
{
	struct store_parameter run_id[] = {
		{"run_id", STORE_INTEGER, part->id, NULL},
		{"host_id", STORE_INTEGER, part->host_id, NULL}, {0},
	};
	struct report_doubts *doubts = &report->doubts;
	struct store_result *result;
	int more, error = source_query(report->store, "run_doubts", run_id, &result);

	if (error < 0)
		return error;
	while ((more = source_next(report->store, result)) > 0) {
		doubts->unfinished_count += store_result_get(result, "unfinished_count").integer;
		doubts->found_count += store_result_get(result, "found_count").integer;
		doubts->partial_count += store_result_get(result, "partial_count").integer;
	}
	store_result_free(result);
	return more;
}

/* What a run has of its own on one host, put behind what is there. */
static int part_load(struct report *report, const struct row_run *part)
{
	struct store_parameter run_id[] = {
		{"run_id", STORE_INTEGER, part->id, NULL},
		{"host_id", STORE_INTEGER, part->host_id, NULL}, {0},
	};
	struct {
		const struct row_type *type;
		const char *query;
		struct rows *rows, more;
	} loads[] = {
		{&row_type_task, "tasks", &report->tasks, {0}},
		{&row_type_tool, "tools", &report->tools, {0}},
		{&row_type_incident, "incidents", &report->incidents, {0}},
		{&row_type_loss, "run_losses", &report->losses, {0}},
		{&row_type_container, "containers", &report->containers, {0}},
	};
	size_t count = sizeof(loads) / sizeof(loads[0]);
	int error = 0;

	for (size_t i = 0; i < count && error == 0; i++)
		error = source_load(report->store, loads[i].type, loads[i].query, run_id, &loads[i].more);
	if (error == 0 && part->id != report_run(report)->id)
		part_shift(report_run(report), part, &loads[0].more, &loads[1].more);
	for (size_t i = 0; i < count && error == 0; i++)
		error = rows_append(loads[i].rows, &loads[i].more);
	for (size_t i = 0; i < count; i++)
		rows_free(&loads[i].more);
	return error < 0 ? error : doubts_load(report, part);
}

/* The run itself, or all parts of it: only what has a key can have some. */
static int parts_load(struct report *report, const struct row_run *run)
{
	int error = run->run_key ? joined_load(report->store, run, INT64_MIN + 1, &report->parts) : 0;

	report->whole = report->parts.count > 0
				? joined_sum(report->parts.items, report->parts.count) : *run;
	if (error == 0 && report->parts.count == 0)
		error = part_load(report, run);
	for (size_t i = 0; i < report->parts.count && error == 0; i++)
		error = part_load(report, &ROWS_ITEM(&report->parts, part, i)->run);
	return error;
}

int report_load(struct report *report, struct store *store, struct rows *runs)
{
	int error;

	*report = (struct report){.store = store, .runs = *runs, .now_boot_ns = ROW_NULL};
	*runs = (struct rows){0};
	error = source_load(store, &row_type_host, "hosts", NULL, &report->hosts);
	if (error == 0)
		error = parts_load(report, ROWS_ITEM(&report->runs, run, 0));
	if (error < 0) {
		report_free(report);
		return error;
	}
	if (report->parts.count > 0)
		qsort(report->tasks.items, report->tasks.count, sizeof(struct row_task), compare_tasks);
	if (report->tools.count > 0)
		qsort(report->tools.items, report->tools.count, sizeof(struct row_tool), compare_tools);
	report->now_boot_ns = source_now_boot_ns(store, report_host(report));
	return 0;
}

void report_free(struct report *report)
{
	rows_free(&report->hosts);
	rows_free(&report->runs);
	rows_free(&report->parts);
	rows_free(&report->tasks);
	rows_free(&report->tools);
	rows_free(&report->incidents);
	rows_free(&report->losses);
	rows_free(&report->containers);
	free(report->engine_names);
}

const struct row_run *report_run(const struct report *report)
{
	return &report->whole;
}

const struct row_host *report_host_of(const struct report *report, const struct row_run *run)
{
	for (size_t i = 0; i < report->hosts.count; i++)
		if (ROWS_ITEM(&report->hosts, host, i)->id == run->host_id)
			return ROWS_ITEM(&report->hosts, host, i);
	return NULL;
}

const struct row_host *report_host(const struct report *report)
{
	return report_host_of(report, report_run(report));
}

static const struct engine_name *engine_name(const struct report *report, const struct row_task *task)
{
	static const struct engine_name none;
	const struct row_task *first = report->tasks.items;

	return report->engine_names ? &report->engine_names[task - first] : &none;
}

const char *report_task_name(const struct report *report, const struct row_task *task)
{
	const char *name = engine_name(report, task)->name;

	return name ? name : task->name;
}

const char *report_task_label(const struct report *report, const struct row_task *task)
{
	const struct engine_name *own = engine_name(report, task);

	return own->name ? own->label : task->label ? task->label : "";
}

const struct row_task *report_task(const struct report *report, int64_t id)
{
	for (size_t i = 0; id != ROW_NULL && i < report->tasks.count; i++)
		if (ROWS_ITEM(&report->tasks, task, i)->id == id)
			return ROWS_ITEM(&report->tasks, task, i);
	return NULL;
}

bool report_has_failed(const char *status)
{
	return strcmp(status, "failed") == 0 || strcmp(status, "killed") == 0;
}

const struct row_task *report_last_attempt(const struct report *report, const struct row_task *task)
{
	for (int i = 0; i < ATTEMPTS_MAX; i++) {
		const struct row_task *next = report_task(report, task->retried_by_id);

		if (!next)
			break;
		task = next;
	}
	return task;
}

enum report_verdict report_judge(const struct report *report, const struct row_incident *incident)
{
	const struct row_task *task = report_task(report, incident->task_id);
	const struct row_task *last = task ? report_last_attempt(report, task) : NULL;

	if (strcmp(incident->kind, "stuck") == 0 || strcmp(incident->kind, "idle") == 0)
		return REPORT_VERDICT_COUNT;
	if (last && last != task && strcmp(last->status, "succeeded") == 0)
		return REPORT_RETRIED;
	if (incident->fatal == 0 || last != task || strcmp(report_run(report)->status, "succeeded") == 0)
		return REPORT_HARMLESS;
	return REPORT_FATAL;
}

const struct row_tool *report_task_tools(const struct report *report, int64_t task_id,
					 size_t *ret_count)
{
	const struct row_tool *tools = report->tools.items;

	return tools + rows_find(&report->tools, offsetof(struct row_tool, task_id), task_id,
				 ret_count);
}

bool report_task_failed(const struct row_task *task)
{
	return strcmp(task->status, "failed") == 0 || strcmp(task->status, "killed") == 0;
}

int64_t report_wall_ns(const struct report *report, int64_t begin_boot_ns, int64_t end_boot_ns)
{
	int64_t end = end_boot_ns == ROW_NULL ? report->now_boot_ns : end_boot_ns;

	return end < begin_boot_ns ? ROW_NULL : row_subtract(end, begin_boot_ns);
}

int report_load_processes(const struct report *report, const struct row_task *task,
			  struct rows *ret_rows)
{
	struct store_parameter parameters[] = {
		{"task_id", STORE_INTEGER, task->id, NULL},
		{"host_id", STORE_INTEGER, task->host_id, NULL}, {0},
	};

	return source_load(report->store, &row_type_process, "task_processes", parameters, ret_rows);
}
