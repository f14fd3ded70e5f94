/* Failures of a run. See failure.h. */
#include "analysis/query/failure.h"

#include <stdio.h>
#include <string.h>

#include "analysis/query/ask.h"
#include "analysis/query/units.h"

#define PREVIOUS_MAX 20 /* rows of run_previous.sql */

static int task_load(const struct report *report, const struct row_incident *incident, struct failure *failure)
{
	int error = 0;

	failure->index = report_find_task(report, incident->task_id);
	if (failure->index != REPORT_NO_TASK)
		error = report_load_task(report, failure->index, &failure->tasks);
	failure->task = failure->tasks.count > 0 ? failure->tasks.items : NULL;
	return error;
}

static int process_load(const struct report *report, const struct row_incident *incident, struct failure *failure)
{
	struct store_parameter parameters[] =
		QUERY_PARAMETERS_OF("process_id", incident->process_id, incident->host_id);
	struct rows *line = &failure->processes;
	int error;

	if (incident->process_id == ROW_NULL)
		return 0;
	error = rows_load(line, &row_type_process, report->store, "ancestors", parameters);
	for (size_t i = 0; error == 0 && i < line->count && !failure->process; i++)
		if (ROWS_ITEM(line, process, i)->arguments.data)
			failure->process = ROWS_ITEM(line, process, i);
	return error;
}

int failure_load(const struct report *report, const struct row_incident *incident, struct failure *ret_failure)
{
	int error;

	*ret_failure = (struct failure){.effect = report_effect_of(report, incident)};
	error = task_load(report, incident, ret_failure);
	return error < 0 ? error : process_load(report, incident, ret_failure);
}

void failure_free(struct failure *failure)
{
	rows_free(&failure->tasks);
	rows_free(&failure->processes);
	*failure = (struct failure){0};
}

/* ---- JSON -------------------------------------------------------------------- */

static const char *const effect_names[] = {"fatal", "retried", "harmless"};

static const char *const members[] = {"id", "name", "label", "status", "exit_code", "signal"}; /* of a task */

static json_t *task_to_json(const struct report *report, const struct failure *failure)
{
	json_t *task = json_object(), *row;

	if (!failure->task) {
		json_decref(task);
		return json_null();
	}
	row = row_to_json(&row_type_task, failure->task);
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
		char escaped[32];

		snprintf(escaped, sizeof(escaped), "%s_escaped", members[i]);
		json_object_set(task, members[i], json_object_get(row, members[i]));
		json_object_set(task, escaped, json_object_get(row, escaped)); /* does nothing if it is missing */
	}
	json_decref(row);
	if (report->engine_names) {
		json_set_string(task, "engine_name", report->engine_names[failure->index].name);
		json_set_string(task, "engine_label", report->engine_names[failure->index].label);
	}
	json_set_integer(task, "wall_ns", row_subtract(failure->task->end_boot_ns, failure->task->begin_boot_ns));
	json_set_integer(task, "last_attempt_id", report->tasks[report_last_attempt(report, failure->index)].id);
	return task;
}

struct listing {
	const struct report *report;
	json_t *failures;
};

static int incident_to_json(void *context, const void *row)
{
	struct listing *listing = context;
	struct store_value command = {.type = STORE_VALUE_NULL};
	struct failure failure = {.effect = report_effect_of(listing->report, row)};
	json_t *incident;
	int error = 0;

	if (failure.effect == REPORT_EFFECT_COUNT)
		return 0;
	error = failure_load(listing->report, row, &failure);
	if (error == 0) {
		if (failure.process)
			command = (struct store_value){.type = STORE_VALUE_BLOB,
						       .data = failure.process->arguments.data,
						       .size = failure.process->arguments.size};
		incident = row_to_json(&row_type_incident, row);
		json_object_set_new(incident, "task", task_to_json(listing->report, &failure));
		json_set_value(incident, "command", &command);
		json_set_string(incident, "effect", effect_names[failure.effect]);
		json_array_append_new(listing->failures, incident);
	}
	failure_free(&failure);
	return error;
}

int failures_to_json(const struct report *report, json_t **ret_failures)
{
	struct listing listing = {report, json_array()};
	int error = report_each(report, REPORT_INCIDENTS, incident_to_json, &listing);

	if (error < 0)
		json_decref(listing.failures);
	else
		*ret_failures = listing.failures;
	return error;
}

json_t *failure_columns(bool with_engine_names)
{
	json_t *columns = row_to_json(&row_type_incident, &(const struct row_incident){0}), *task = json_object();

	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
		json_object_set_new(task, members[i], json_null());
	if (with_engine_names)
		json_object_update_new(task, json_pack("{s:n, s:n}", "engine_name", "engine_label"));
	json_object_update_new(task, json_pack("{s:n, s:n}", "wall_ns", "last_attempt_id"));
	json_object_set_new(columns, "task", task);
	json_object_update_new(columns, json_pack("{s:n, s:n}", "command", "effect"));
	return columns;
}

/* ---- as text ----------------------------------------------------------------- */

const char *failure_sentence(const struct row_incident *incident)
{
	static const char *const heads[] = {" failed: ", " was killed: ", " was interrupted: "};

	if (strncmp(incident->sentence, "task ", 5) != 0 && strncmp(incident->sentence, "run ", 4) != 0)
		return incident->sentence;
	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		const char *found = strstr(incident->sentence, heads[i]);

		if (found)
			return found + strlen(heads[i]);
	}
	return incident->sentence;
}

const char *failure_result(const struct row_run *run)
{
	const char *result = units_result(run->exit_code, run->signal);

	return report_has_failed(run->status) && strcmp(result, "ok") != 0 ? result : "";
}

const char *failure_effect(const struct report *report, char *text, size_t capacity)
{
	const struct row_run *run = report_run(report);
	const char *driver = run->engine && *run->engine ? run->engine : run->name;
	bool has_failed = report_has_failed(run->status);
	size_t failed = 0, standing = 0;
	int used;

	for (size_t i = 0; i < report->task_count; i++) {
		const struct report_task *task = &report->tasks[i];

		standing += !task->is_main;
		failed += !task->is_main && task->failed &&
			  report_find_task(report, task->retried_by_id) == REPORT_NO_TASK;
	}
	used = snprintf(text, capacity, "%.200s %s%s", driver, has_failed ? "ended with " : "is ",
			has_failed ? failure_result(run) : run->status);
	if (standing > 0)
		snprintf(text + used, capacity - (size_t)used, "; of %zu %s that began, %zu failed", standing,
			 units_plural((int64_t)standing, "task", "tasks"), failed);
	return text;
}

size_t failure_attempts_before(const struct report *report, const struct failure *failure)
{
	size_t count = 0;

	for (size_t i = 0; failure->task && i < report->task_count; i++)
		count += i != failure->index && report->tasks[i].retried_by_id != ROW_NULL &&
			 report_last_attempt(report, i) == failure->index;
	return count;
}

int failure_streak_load(struct store *store, const struct row_run *run, struct failure_streak *ret_streak)
{
	const struct store_parameter parameters[] = QUERY_PARAMETERS_OF("run_id", run->id, run->host_id);
	struct rows previous = {0};
	int error = rows_load(&previous, &row_type_run, store, "run_previous", parameters);
	size_t count = 0;

	while (count < previous.count && report_has_failed(ROWS_ITEM(&previous, run, count)->status))
		count++;
	*ret_streak = (struct failure_streak){
		.count = count,
		.is_more = count == PREVIOUS_MAX,
		.begin_unix_ns = count ? ROWS_ITEM(&previous, run, count - 1)->started_unix_ns : ROW_NULL,
	};
	rows_free(&previous);
	return error;
}
