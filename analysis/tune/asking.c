/* Findings that are made from the account of a run. See asking.h. */
#include "analysis/tune/asking.h"

#include <errno.h>
#include <string.h>

/* ---- thresholds and rows ----------------------------------------------------------- */

double asking_given(const struct asking *asking, const char *name)
{
	for (const struct store_parameter *at = asking->parameters; at->name; at++)
		if (strcmp(at->name, name) == 0)
			return at->type == STORE_REAL ? at->real : (double)at->integer;
	return 0;
}

static void put(struct asking *asking, const char *name, struct store_value value)
{
	const struct question_field *column = question_column(asking->question, name);

	if (!value.data)
		value.data = "";
	if (column)
		asking->values[column - asking->question->columns] = value;
}

void asking_put_integer(struct asking *asking, const char *name, int64_t number)
{
	put(asking, name, (struct store_value){.type = STORE_VALUE_INTEGER, .integer = number});
}

void asking_put_real(struct asking *asking, const char *name, double number)
{
	put(asking, name, (struct store_value){.type = STORE_VALUE_REAL, .real = number});
}

void asking_put_text(struct asking *asking, const char *name, const char *text)
{
	put(asking, name, (struct store_value){.type = STORE_VALUE_TEXT, .data = text, .size = strlen(text)});
}

const struct account_task *asking_task(const struct asking *asking, size_t task)
{
	return &asking->account->tasks[task];
}

const char *asking_name(const struct asking *asking, size_t task)
{
	return asking->account->task_names[asking_task(asking, task)->name].text;
}

void asking_put_task(struct asking *asking, size_t task)
{
	asking_put_integer(asking, "task_id", asking->report->tasks[asking_task(asking, task)->index].id);
	asking_put_text(asking, "name", asking_name(asking, task));
}

int asking_give(struct asking *asking)
{
	return asking->take(asking->context, asking->values);
}

/* ---- tasks ------------------------------------------------------------------------- */

int64_t asking_begin_ns(const struct asking *asking, size_t task)
{
	return asking->account->schedule.tasks[task].begin_ns;
}

int64_t asking_end_ns(const struct asking *asking, size_t task)
{
	return asking->account->schedule.tasks[task].end_ns;
}

int64_t asking_wall_ns(const struct asking *asking)
{
	return asking->account->schedule.end_ns - asking->account->schedule.begin_ns;
}

uint32_t asking_part(const struct asking *asking, size_t task)
{
	return asking->report->tasks[asking_task(asking, task)->index].part;
}

const struct row_run *asking_run(const struct asking *asking, size_t part)
{
	return &ROWS_ITEM(&asking->report->parts, part, part)->run;
}

int asking_compare_places(const void *left, const void *right)
{
	const struct asking_place *a = left, *b = right;

	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	return a->task < b->task ? -1 : a->task > b->task;
}

/* ---- all --------------------------------------------------------------------------- */

int asking_ask(struct asking *asking)
{
	static const struct {
		const char *name;
		int (*ask)(struct asking *asking);
	} findings[] = {
		{"engine_limit", shape_ask_limit},
		{"gaps_between_tasks", shape_ask_gaps},
		{"gpu_bound", gpus_ask},
		{"gpu_oversized", gpus_ask},
		{"gpu_starved", gpus_ask},
		{"gpu_unused", gpus_ask},
		{"idle_tail", shape_ask_tail},
		{"memory_held", memory_ask},
		{"memory_unused", memory_ask},
		{"memory_wait", waits_ask},
		{"network_filesystem_wait", waits_ask},
		{"processor_contention", waits_ask},
		{"serial_task", shape_ask_serial},
		{"short_tasks", shape_ask_short},
		{"storage_wait", waits_ask},
		{"throttled", waits_ask},
	};

	for (size_t i = 0; i < sizeof(findings) / sizeof(findings[0]); i++)
		if (strcmp(findings[i].name, asking->question->name) == 0)
			return findings[i].ask(asking);
	return -EINVAL;
}
