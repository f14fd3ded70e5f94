/* Tasks, tools and processes as tables of the page. See spans.h. */
#include "web/spans.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/query/command.h"
#include "common/grow.h"
#include "common/progress.h"
#include "web/series.h"

#define COMMAND_SIZE 8192
#define PROGRESS_PROCESSES 4096

/* N(name): a number, D(name): one that is stored as a difference to the row before, R(name): to the sum of the row's
 * parts. */
/* clang-format off */
#define SPAN(N, R) \
	N(wall_us) R(cpu_us) R(wait_us) N(peak_rss_bytes) R(read_bytes) R(write_bytes) R(sent_bytes) R(received_bytes) \
	N(gpu_busy_us) N(gpu_peak_bytes)
#define TASK(N, D, R) \
	N(name) N(label) N(status) N(kind) N(command) N(sample) N(bound_by) N(id_high) N(id_low) N(host) N(user_id) \
	N(parent) N(retried_by) D(begin_us) SPAN(N, R) N(storage_us) N(memory_wait_us) N(concurrent_memory_bytes) \
	N(memory_limit_bytes) N(cgroup_peak_bytes) N(core_limit_milli) N(requested_thread_count) N(process_count) \
	N(failed_count) N(lost_count) N(partial_count) N(exit_code) N(signal) N(out_of_memory) N(critical) \
	N(engine_wall_us) N(engine_cpu_us) N(engine_peak_rss_bytes)
#define TOOL(N, D, R) D(task) N(name) N(role) D(begin_us) SPAN(N, R) N(process_count) N(failed_count)
#define PROCESS(N, D) \
	D(tool) N(parent) D(pid) N(program) N(command) N(user_id) D(begin_us) SPAN(N, N) N(exit_code) N(signal) \
	N(failed) N(oom_killed) N(doubtful)
/* clang-format on */

#define MEMBER(name) int64_t name;
struct web_task {
	TASK(MEMBER, MEMBER, MEMBER)
};
struct web_tool {
	TOOL(MEMBER, MEMBER, MEMBER)
};
struct web_process {
	PROCESS(MEMBER, MEMBER)
};

#define COLUMN_N(name) {#name, offsetof(struct web_row, name), WEB_PLAIN},
#define COLUMN_D(name) {#name, offsetof(struct web_row, name), WEB_DELTA},
#define COLUMN_R(name) {#name, offsetof(struct web_row, name), WEB_REST},
#define web_row web_task
static const struct web_column task_columns[] = {TASK(COLUMN_N, COLUMN_D, COLUMN_R)};
#undef web_row
#define web_row web_tool
static const struct web_column tool_columns[] = {TOOL(COLUMN_N, COLUMN_D, COLUMN_R)};
#undef web_row
#define web_row web_process
static const struct web_column process_columns[] = {PROCESS(COLUMN_N, COLUMN_D)};
#undef web_row

#define TABLE(name, columns, row) \
	(struct web_table) \
	{ \
		name, columns, sizeof(columns) / sizeof(columns[0]), sizeof(struct row) \
	}

/* A process of the task that is being read, until its readings have been. */
struct held {
	int64_t id;
	bool is_found; /* what it used before the probe began is not of this time */
	bool has_readings;
	struct web_point last; /* its begin, then its latest reading */
	struct web_point end;
};

/* Where a process is in the table. */
struct placed {
	int64_t id, parent_id;
	size_t row;
};

struct loading {
	const struct web_spans_request *request;
	struct web_spans *spans;
	struct web_series *series;
	bool *critical;   /* by index in the schedule */
	int64_t shift_ns; /* of the task's host */
	int64_t root_process_id;
	int64_t command_bytes;
	size_t tool_row;
	struct held *held;
	size_t held_count, held_capacity;
	bool held_is_sorted; /* by id */
	struct placed *placed;
	size_t placed_capacity;
	char command[COMMAND_SIZE];
};

/* ---- values ---------------------------------------------------------------------- */

static int64_t us_of(int64_t ns)
{
	return ns == ROW_NULL ? ROW_NULL : ns / 1000;
}

/* A time of the run's clock. */
static int64_t since_begin_us(const struct loading *loading, int64_t boot_ns)
{
	return us_of(row_subtract(boot_ns, report_run(loading->request->report)->begin_boot_ns));
}

static int64_t word(struct loading *loading, const char *text)
{
	return web_texts_add(&loading->spans->texts, text);
}

static int64_t name(struct loading *loading, const char *text)
{
	if (loading->request->pseudonym && text && *text)
		text = loading->request->pseudonym(text);
	return word(loading, text && *text ? text : NULL);
}

#define SPAN_SET(loading, span, row, begin) \
	do { \
		(span)->begin_us = since_begin_us(loading, begin); \
		(span)->wall_us = us_of(row_subtract((row)->end_boot_ns, (row)->begin_boot_ns)); \
		(span)->cpu_us = us_of((row)->cpu_ns); \
		(span)->wait_us = us_of((row)->run_delay_ns); \
		(span)->peak_rss_bytes = (row)->peak_rss_bytes; \
		(span)->read_bytes = (row)->read_bytes; \
		(span)->write_bytes = (row)->write_bytes; \
		(span)->sent_bytes = (row)->sent_bytes; \
		(span)->received_bytes = (row)->received_bytes; \
		(span)->gpu_busy_us = us_of((row)->gpu_busy_ns); \
		(span)->gpu_peak_bytes = (row)->gpu_peak_bytes; \
	} while (0)

/* ---- tasks and tools ------------------------------------------------------------- */

static int64_t task_index(const struct loading *loading, int64_t id)
{
	size_t index = report_find_task(loading->request->report, id);

	return index == REPORT_NO_TASK ? ROW_NULL : (int64_t)index;
}

static int64_t host_index(const struct report *report, const struct row_task *task)
{
	for (size_t i = 0; i < report->hosts.count; i++)
		if (ROWS_ITEM(&report->hosts, host, i)->id == task->host_id)
			return (int64_t)i;
	return ROW_NULL;
}

static const char *bound_name(const struct account *account, size_t index)
{
	size_t task = account->index_of[index];

	return task == SCHEDULE_NO_TASK ? NULL : account_bound_name(account_bound_of(&account->tasks[task].times));
}

/* Which tasks of the schedule are on the critical path. */
static bool *critical_find(const struct schedule *schedule)
{
	bool *critical = calloc(schedule->count + 1, sizeof(*critical));

	for (size_t i = 0; critical && i < schedule->span_count; i++)
		if (schedule->spans[i].owner == SCHEDULE_TASK)
			critical[schedule->spans[i].task] = true;
	return critical;
}

static int task_add(void *context, size_t index, const struct row_task *task, const struct row_tool *tools,
		    size_t count)
{
	struct loading *loading = context;
	const struct web_spans_request *request = loading->request;
	const struct report *report = request->report;
	struct web_table *table = &loading->spans->tasks;
	size_t scheduled = request->account->index_of[index];
	struct web_task *row;

	/* A task that was deleted meanwhile leaves an unknown row: indexes are those of the report. */
	do
		row = web_table_add(table);
	while (row && table->count <= index);
	if (!row)
		return -ENOMEM;
	row->name = name(loading, report_task_name(report, index, task));
	row->label = name(loading, report_task_label(report, index, task));
	row->status = word(loading, task->status);
	row->kind = word(loading, task->kind);
	row->sample = report->samples ? name(loading, report_task_sample(report, index, task)) : ROW_NULL;
	row->bound_by = word(loading, bound_name(request->account, index));
	row->id_high = (int64_t)((uint64_t)task->id >> 32);
	row->id_low = (int64_t)((uint64_t)task->id & UINT32_MAX);
	row->host = host_index(report, task);
	row->parent = task_index(loading, task->parent_task_id);
	row->retried_by = task_index(loading, task->retried_by_id);
	SPAN_SET(loading, row, task, task->begin_boot_ns);
	row->storage_us = us_of(task->block_io_delay_ns);
	row->memory_wait_us = us_of(task->memory_delay_ns);
	row->concurrent_memory_bytes = task->concurrent_memory_bytes;
	row->memory_limit_bytes = task->memory_limit_bytes;
	row->cgroup_peak_bytes = task->cgroup_peak_bytes;
	row->core_limit_milli = task->core_limit_milli;
	row->requested_thread_count = task->requested_thread_count;
	row->process_count = task->process_count;
	row->failed_count = task->failed_count;
	row->lost_count = task->lost_count;
	row->partial_count = task->partial_count;
	row->exit_code = task->exit_code;
	row->signal = task->signal;
	row->out_of_memory = report->tasks[index].out_of_memory;
	row->critical = scheduled != SCHEDULE_NO_TASK && loading->critical[scheduled];
	if (report->engine_names && report->engine_names[index].name) {
		row->engine_wall_us = us_of(report->engine_names[index].wall_ns);
		row->engine_cpu_us = us_of(report->engine_names[index].cpu_ns);
		row->engine_peak_rss_bytes = report->engine_names[index].peak_rss_bytes;
	}
	loading->shift_ns = report_part_shift_ns(report, report->tasks[index].part);
	loading->root_process_id = task->root_process_id;
	loading->held_count = 0;
	loading->held_is_sorted = false;
	return 0;
}

static int tool_add(void *context, const struct row_tool *tool, size_t index)
{
	struct loading *loading = context;
	struct web_tool *row = web_table_add(&loading->spans->tools);

	if (!row)
		return -ENOMEM;
	row->task = (int64_t)loading->spans->tasks.count - 1;
	row->name = name(loading, tool->name);
	row->role = word(loading, tool->role);
	SPAN_SET(loading, row, tool, tool->begin_boot_ns);
	row->process_count = tool->process_count;
	row->failed_count = tool->failed_count;
	return 0;
}

/* ---- processes ------------------------------------------------------------------- */

static int64_t command_add(struct loading *loading, const struct row_process *process)
{
	struct web_spans *spans = loading->spans;

	if (loading->request->pseudonym || !process->arguments.data)
		return ROW_NULL;
	spans->command_known_count++;
	if (loading->command_bytes >= loading->request->command_bytes_max && process->id != loading->root_process_id &&
	    process->failed != 1)
		return ROW_NULL;
	command_text(&process->arguments, process->program, true, loading->command, sizeof(loading->command));
	loading->command_bytes += (int64_t)strlen(loading->command);
	spans->command_count++;
	return word(loading, loading->command);
}

/* Figures that are lower bounds, as `tracer show` counts them. */
static bool is_doubtful(const struct row_process *process)
{
	bool has_ended = process->ended && strcmp(process->ended, "exec") != 0;
	bool is_sampled = strcmp(process->totals, "sample") == 0;

	return process->partial == 1 || strcmp(process->began, "found") == 0 || (has_ended && is_sampled);
}

static int held_add(struct loading *loading, const struct row_process *process)
{
	struct held *held = grow(loading->held, &loading->held_capacity, loading->held_count + 1, sizeof(*held));
	const struct report *report = loading->request->report;
	int64_t begin_ns = row_add(process->begin_boot_ns, loading->shift_ns);
	int64_t end_ns = process->end_boot_ns == ROW_NULL ? report->now_boot_ns
							  : row_add(process->end_boot_ns, loading->shift_ns);

	if (!held)
		return -ENOMEM;
	loading->held = held;
	held[loading->held_count++] = (struct held){
		.id = process->id,
		.is_found = strcmp(process->began, "found") == 0,
		.last.us = since_begin_us(loading, begin_ns),
		.end = {since_begin_us(loading, end_ns), us_of(process->cpu_ns), us_of(process->run_delay_ns),
			process->read_bytes, process->write_bytes, process->sent_bytes, process->received_bytes,
			us_of(process->gpu_busy_ns), process->peak_rss_bytes, process->gpu_peak_bytes, 0},
	};
	return 0;
}

static int placed_add(struct loading *loading, const struct row_process *process, size_t index)
{
	struct placed *placed = grow(loading->placed, &loading->placed_capacity, index + 1, sizeof(*placed));

	if (!placed)
		return -ENOMEM;
	loading->placed = placed;
	placed[index] = (struct placed){process->id, process->parent_id, index};
	return 0;
}

static int process_add(void *context, const struct row_process *process, bool is_last)
{
	struct loading *loading = context;
	struct web_spans *spans = loading->spans;
	struct web_process *row = web_table_add(&spans->processes);
	struct web_task *task = (struct web_task *)spans->tasks.rows + (spans->tasks.count - 1);
	int error;

	if (!row)
		return -ENOMEM;
	row->tool = (int64_t)spans->tools.count - 1;
	row->pid = process->pid;
	row->program = name(loading, process->program);
	row->command = command_add(loading, process);
	row->user_id = loading->request->pseudonym ? ROW_NULL : process->user_id;
	SPAN_SET(loading, row, process, row_add(process->begin_boot_ns, loading->shift_ns));
	row->exit_code = process->exit_code;
	row->signal = process->signal;
	row->failed = process->failed;
	row->oom_killed = process->oom_killed;
	row->doubtful = is_doubtful(process);
	if (process->id == loading->root_process_id) {
		task->command = row->command;
		task->user_id = row->user_id;
	}
	if (spans->processes.count % PROGRESS_PROCESSES == 0)
		progress_show("tracer: %zu of %lld processes", spans->processes.count,
			      (long long)report_run(loading->request->report)->process_count);
	error = placed_add(loading, process, spans->processes.count - 1);
	return error < 0 ? error : held_add(loading, process);
}

static int compare_placed(const void *left, const void *right)
{
	const struct placed *a = left, *b = right;

	return a->id < b->id ? -1 : a->id > b->id;
}

static void parents_find(struct loading *loading)
{
	struct web_table *table = &loading->spans->processes;

	if (table->count == 0)
		return;
	qsort(loading->placed, table->count, sizeof(*loading->placed), compare_placed);
	for (size_t i = 0; i < table->count; i++) {
		const struct placed key = {.id = loading->placed[i].parent_id}, *parent;

		parent = bsearch(&key, loading->placed, table->count, sizeof(key), compare_placed);
		if (parent)
			((struct web_process *)table->rows)[loading->placed[i].row].parent = (int64_t)parent->row;
	}
}

/* ---- over time ------------------------------------------------------------------- */

static int compare_held(const void *left, const void *right)
{
	const struct held *a = left, *b = right;

	return a->id < b->id ? -1 : a->id > b->id;
}

/* Memory since the last reading: what `of` says. */
static int hold(struct web_series *series, const struct held *held, int64_t to_us, const struct web_point *of)
{
	int error = web_series_hold(series, WEB_MEMORY, held->last.us, to_us, of->memory_bytes);

	return error < 0 ? error : web_series_hold(series, WEB_GPU_MEMORY, held->last.us, to_us, of->gpu_memory_bytes);
}

static int reading_add(void *context, const struct row_sample *reading)
{
	struct loading *loading = context;
	struct held key = {.id = reading->process_id}, *held = NULL;
	struct web_point point = {since_begin_us(loading, row_add(reading->boot_ns, loading->shift_ns)),
				  us_of(reading->cpu_ns),
				  us_of(reading->run_delay_ns),
				  reading->read_bytes,
				  reading->write_bytes,
				  reading->sent_bytes,
				  reading->received_bytes,
				  us_of(reading->gpu_busy_ns),
				  reading->memory_bytes,
				  reading->gpu_memory_bytes,
				  reading->uninterruptible_count};
	int error;

	if (loading->held_count > 0 && !loading->held_is_sorted)
		qsort(loading->held, loading->held_count, sizeof(*loading->held), compare_held);
	loading->held_is_sorted = true;
	if (loading->held_count > 0)
		held = bsearch(&key, loading->held, loading->held_count, sizeof(key), compare_held);
	if (!held)
		return 0;
	if (!held->is_found || held->has_readings)
		web_series_add(loading->series, &held->last, &point);
	/* Held since the scan before: how it grew is not known. */
	error = hold(loading->series, held, point.us, &point);
	held->has_readings = true;
	held->last = point;
	return error;
}

static int task_end(void *context)
{
	struct loading *loading = context;
	int error = 0;

	for (size_t i = 0; i < loading->held_count && error == 0; i++) {
		struct held *held = &loading->held[i];

		if (!held->is_found || held->has_readings)
			web_series_add(loading->series, &held->last, &held->end);
		/* A process that no scan has seen counts with its peak. */
		error = hold(loading->series, held, held->end.us, held->has_readings ? &held->last : &held->end);
	}
	return error;
}

/* As the run's parts say: what forks share is in the peak of each, which counts where no scan has seen them. */
static int64_t most_memory_bytes(const struct report *report)
{
	int64_t bytes = 0;

	for (size_t i = 0; i < report->parts.count && bytes != ROW_NULL; i++)
		bytes = row_add(bytes, ROWS_ITEM(&report->parts, part, i)->run.concurrent_memory_bytes);
	return bytes == ROW_NULL ? INT64_MAX : bytes;
}

/* ---- all ------------------------------------------------------------------------- */

int web_spans_load(const struct web_spans_request *request, struct web_spans *ret_spans)
{
	const struct report *report = request->report;
	const struct row_run *run = report_run(report);
	const struct report_writer writer = {.task = task_add,
					     .tool = tool_add,
					     .process = process_add,
					     .reading = reading_add,
					     .task_end = task_end,
					     .by_tool = true,
					     .for_page = true};
	struct loading loading = {.request = request, .spans = ret_spans};
	bool is_running = strcmp(run->status, "running") == 0;
	int64_t wall_us = us_of(report_wall_ns(report, run->begin_boot_ns, is_running ? ROW_NULL : run->end_boot_ns));
	int error;

	*ret_spans = (struct web_spans){
		.tasks = TABLE("tasks", task_columns, web_task),
		.tools = TABLE("tools", tool_columns, web_tool),
		.processes = TABLE("processes", process_columns, web_process),
	};
	ret_spans->tasks.parts = &ret_spans->tools;
	ret_spans->tasks.part_of = "task";
	ret_spans->tools.parts = &ret_spans->processes;
	ret_spans->tools.part_of = "tool";
	web_texts_init(&ret_spans->texts);
	loading.series = web_series_new(wall_us);
	loading.critical = critical_find(&request->account->schedule);
	error = loading.series && loading.critical ? report_walk(report, NULL, 0, &writer, &loading) : -ENOMEM;
	progress_hide();
	if (error == 0) {
		parents_find(&loading);
		ret_spans->step_us = web_series_step_us(loading.series);
		error = web_series_fill(loading.series, most_memory_bytes(report), &ret_spans->series);
	}
	web_series_free(loading.series);
	free(loading.critical);
	free(loading.held);
	free(loading.placed);
	return error;
}

void web_spans_free(struct web_spans *spans)
{
	web_texts_free(&spans->texts);
	web_table_free(&spans->tasks);
	web_table_free(&spans->tools);
	web_table_free(&spans->processes);
	web_table_free(&spans->series);
}
