/* One run with everything that belongs to it. See report.h. */
#include "analysis/query/report.h"

#include <errno.h>
#include <string.h>

#include "analysis/query/ask.h"
#include "analysis/query/joined.h"
#include "common/grow.h"

#define ATTEMPTS_MAX 64 /* of one task; a store is untrusted */

/* ---- parts ---------------------------------------------------------------------- */

static const struct row_run *part_run(const struct report *report, size_t part)
{
	return &ROWS_ITEM(&report->parts, part, part)->run;
}

int64_t report_part_shift_ns(const struct report *report, size_t part)
{
	return report->shifts_ns[part];
}

#define PART_PARAMETERS(run) QUERY_PARAMETERS_OF("run_id", (run)->id, (run)->host_id)

/* `use` may return a value above 0 to stop. */
static int each_row(const struct report *report, const struct row_type *type, const char *query,
		    const struct store_parameter *parameters, rows_take *use, void *context)
{
	int result = rows_each(type, report->store, query, parameters, use, context);

	return result < 0 ? result : 0;
}

int report_each(const struct report *report, enum report_rows rows, rows_take *use, void *context)
{
	static const struct {
		const struct row_type *type;
		const char *query;
	} kinds[] = {
		[REPORT_INCIDENTS] = {&row_type_incident, "incidents"},
		[REPORT_LOSSES] = {&row_type_loss, "run_losses"},
		[REPORT_CONTAINERS] = {&row_type_container, "containers"},
	};
	int error = 0;

	for (size_t i = 0; i < report->parts.count && error == 0; i++) {
		const struct store_parameter parameters[] = PART_PARAMETERS(part_run(report, i));

		error = each_row(report, kinds[rows].type, kinds[rows].query, parameters, use, context);
	}
	return error;
}

static int each_of_task(const struct report *report, const struct row_task *task, const struct row_type *type,
			const char *query, rows_take *use, void *context)
{
	const struct store_parameter parameters[] = QUERY_PARAMETERS_OF("task_id", task->id, task->host_id);

	return each_row(report, type, query, parameters, use, context);
}

int report_each_process(const struct report *report, const struct row_task *task, rows_take *use, void *context)
{
	return each_of_task(report, task, &row_type_process, "task_processes", use, context);
}

/* ---- loading -------------------------------------------------------------------- */

/* Pseudo-tasks first, then by start. */
static int compare_tasks(const void *left, const void *right)
{
	const struct report_task *a = left, *b = right;

	if (a->is_main != b->is_main)
		return a->is_main ? -1 : 1;
	if (a->begin_boot_ns != b->begin_boot_ns)
		return a->begin_boot_ns < b->begin_boot_ns ? -1 : 1;
	return a->id < b->id ? -1 : a->id > b->id;
}

static int compare_ids(const void *left, const void *right, void *context)
{
	const struct report_task *tasks = context;
	int64_t a = tasks[*(const size_t *)left].id, b = tasks[*(const size_t *)right].id;

	return a < b ? -1 : a > b;
}

static void task_read(const struct report *report, size_t part, struct store_result *result,
		      struct report_task *ret_task)
{
	int64_t shift_ns = report_part_shift_ns(report, part);
	const char *status = store_result_get(result, "status").data;

	*ret_task = (struct report_task){
		.id = result_integer(result, "id"),
		.parent_task_id = result_integer(result, "parent_task_id"),
		.retried_by_id = result_integer(result, "retried_by_id"),
		.begin_boot_ns = row_add(result_integer(result, "begin_boot_ns"), shift_ns),
		.end_boot_ns = row_add(result_integer(result, "end_boot_ns"), shift_ns),
		.process_count = result_integer(result, "process_count"),
		.active_ns = result_integer(result, "active_ns"),
		.part = (uint32_t)part,
		.is_main = strcmp(store_result_get(result, "kind").data, "main") == 0,
		.failed = report_has_failed(status),
		.succeeded = strcmp(status, "succeeded") == 0,
	};
}

static int tasks_load(struct report *report, size_t part, size_t *capacity)
{
	const struct store_parameter parameters[] = PART_PARAMETERS(part_run(report, part));
	struct report_task *tasks;
	struct store_result *result;
	int more = query_ask(report->store, "task_index", parameters, &result);

	if (more < 0)
		return more;
	while ((more = store_result_next(result)) > 0) {
		tasks = grow(report->tasks, capacity, report->task_count + 1, sizeof(*tasks));
		if (!tasks) {
			more = -ENOMEM;
			break;
		}
		report->tasks = tasks;
		task_read(report, part, result, &report->tasks[report->task_count++]);
	}
	store_result_free(result);
	return more;
}

static int tasks_order(struct report *report)
{
	report->by_id = calloc(report->task_count + 1, sizeof(*report->by_id));
	if (!report->by_id)
		return -ENOMEM;
	if (report->task_count == 0)
		return 0;
	qsort(report->tasks, report->task_count, sizeof(*report->tasks), compare_tasks);
	for (size_t i = 0; i < report->task_count; i++)
		report->by_id[i] = i;
	qsort_r(report->by_id, report->task_count, sizeof(*report->by_id), compare_ids, report->tasks);
	return 0;
}

static int doubts_load(struct report *report, size_t part)
{
	const struct store_parameter parameters[] = PART_PARAMETERS(part_run(report, part));
	struct report_doubts *doubts = &report->doubts;
	struct store_result *result;
	int more = query_ask(report->store, "run_doubts", parameters, &result);

	doubts->is_partial = doubts->is_partial || report_is_partial(part_run(report, part));
	if (more < 0)
		return more;
	while ((more = store_result_next(result)) > 0) {
		doubts->unfinished_count += store_result_get(result, "unfinished_count").integer;
		doubts->found_count += store_result_get(result, "found_count").integer;
		doubts->partial_count += store_result_get(result, "partial_count").integer;
	}
	store_result_free(result);
	return more;
}

static int incident_count(void *context, const void *row)
{
	const struct row_incident *incident = row;
	struct report *report = context;
	size_t task = report_find_task(report, incident->task_id);

	report->effect_counts[report_effect_of(report, incident)]++;
	if (strcmp(incident->kind, "oom-kill") == 0 && incident->fatal == 1) {
		report->out_of_memory = true;
		if (task != REPORT_NO_TASK)
			report->tasks[task].out_of_memory = true;
	}
	return 0;
}

/* The queries that follow, in this order; the last only if `with_containers`. */
static void ask_ahead(struct store *store, const struct row_run *run, bool with_containers)
{
	static const char *const queries[] = {"task_index", "run_doubts", "incidents", "containers"};
	const struct store_parameter parameters[] = PART_PARAMETERS(run);

	for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]) - !with_containers; i++)
		query_ask_ahead(store, queries[i], parameters);
}

/* Loads the attempts before a run since the last one that succeeded, by start. */
static int attempts_load(struct report *report, const struct row_run *run)
{
	const struct store_parameter parameters[] = PART_PARAMETERS(run);
	const struct row_part own = {*run, run->id};
	struct rows previous = {0};
	size_t count = 0;
	int error = rows_load(&previous, &row_type_run, report->store, "run_previous", parameters);

	while (count < previous.count && strcmp(ROWS_ITEM(&previous, run, count)->status, "succeeded") != 0)
		count++;
	while (count > 0 && error == 0) {
		const struct row_part part = {*ROWS_ITEM(&previous, run, --count), run->id};

		error = rows_add(&report->parts, &row_type_part, &part);
	}
	if (error == 0)
		error = rows_add(&report->parts, &row_type_part, &own);
	rows_free(&previous);
	return error;
}

/* Loads all parts of a run, or the run itself: only a run with a key can have several. */
static int joined_parts_load(struct report *report, const struct row_run *run)
{
	const struct row_part own = {*run, run->id};
	int error = run->run_key ? joined_load(report->store, run, INT64_MIN + 1, &report->parts) : 0;

	return error == 0 && report->parts.count == 0 ? rows_add(&report->parts, &row_type_part, &own) : error;
}

/* The clocks of several hosts differ: their wall clocks say how much. */
static int64_t host_shift_ns(const struct report *report, size_t part)
{
	const struct row_run *first = part_run(report, 0), *own = part_run(report, part);

	return part == 0 ? 0
			 : row_subtract(row_subtract(own->started_unix_ns, own->begin_boot_ns),
					row_subtract(first->started_unix_ns, first->begin_boot_ns));
}

/* All attempts together: their result is that of the last one. */
static void attempts_sum(struct report *report)
{
	const struct row_run *last = part_run(report, report->parts.count - 1);
	struct row_run *whole = &report->whole;

	whole->end_boot_ns = whole->begin_boot_ns;
	for (size_t i = 0; i < report->parts.count; i++) {
		const struct row_run *run = part_run(report, i);

		report->shifts_ns[i] = row_subtract(whole->end_boot_ns, run->begin_boot_ns);
		whole->end_boot_ns = row_add(whole->end_boot_ns, row_subtract(run->end_boot_ns, run->begin_boot_ns));
	}
	whole->id = last->id;
	whole->status = last->status;
	whole->exit_code = last->exit_code;
	whole->signal = last->signal;
}

static int parts_load(struct report *report, const struct row_run *run)
{
	size_t capacity = 0;
	int error = report->of_attempts ? attempts_load(report, run) : joined_parts_load(report, run);

	report->shifts_ns = calloc(report->parts.count + 1, sizeof(*report->shifts_ns));
	if (!report->shifts_ns)
		return -ENOMEM;
	if (error < 0)
		return error;
	report->whole = joined_sum(report->parts.items, report->parts.count);
	for (size_t i = 0; i < report->parts.count; i++)
		report->shifts_ns[i] = host_shift_ns(report, i);
	if (report->of_attempts)
		attempts_sum(report);
	for (size_t i = 0; i < report->parts.count && error == 0; i++) {
		error = tasks_load(report, i, &capacity);
		if (error == 0)
			error = doubts_load(report, i);
	}
	return error;
}

/* Loads the hosts of all parts, which share the run's key. */
static int hosts_load(struct report *report, const struct row_run *run)
{
	const struct store_parameter parameters[] = {
		{"host_id", STORE_INTEGER, run->host_id, NULL},
		{"run_key", run->run_key ? STORE_TEXT : STORE_NULL, 0, run->run_key},
		{0},
	};

	return rows_load(&report->hosts, &row_type_host, report->store, "run_hosts", parameters);
}

static int load(struct report *report, struct store *store, const struct row_run *run, bool of_attempts,
		bool with_containers)
{
	int error;

	*report = (struct report){.store = store, .of_attempts = of_attempts, .now_boot_ns = ROW_NULL};
	ask_ahead(store, run, with_containers);
	error = hosts_load(report, run);
	if (error == 0)
		error = parts_load(report, run);
	if (error == 0)
		error = tasks_order(report);
	if (error == 0)
		error = report_each(report, REPORT_INCIDENTS, incident_count, report);
	if (error < 0)
		report_free(report);
	else
		report->now_boot_ns = row_add(report_now_boot_ns(store, report_host(report)),
					      of_attempts ? report->shifts_ns[report->parts.count - 1] : 0);
	return error;
}

int report_load(struct report *report, struct store *store, const struct row_run *run, bool with_containers)
{
	return load(report, store, run, false, with_containers);
}

int report_load_attempts(struct report *report, struct store *store, const struct row_run *run, bool with_containers)
{
	return load(report, store, run, true, with_containers);
}

int report_load_lines(struct report *report)
{
	if (report->lines)
		return 0;
	report->lines = calloc(1, sizeof(*report->lines));
	return report->lines ? run_lines_load(report->store, &report->parts,
					      ROWS_ITEM(&report->parts, part, 0)->joined_id, report->lines)
			     : -ENOMEM;
}

int report_load_samples(struct report *report, const struct sample_names *names)
{
	int error = report_load_lines(report);

	report->samples = calloc(1, sizeof(*report->samples));
	if (error < 0 || !report->samples)
		return error < 0 ? error : -ENOMEM;
	return run_samples_make(report->lines, names, report->samples);
}

int report_load_labels(struct report *report)
{
	return labels_load(report->store, &report->parts, &report->labels);
}

void report_free(struct report *report)
{
	labels_free(&report->labels);
	if (report->lines)
		rows_free(report->lines);
	free(report->lines);
	if (report->samples)
		run_samples_free(report->samples);
	free(report->samples);
	rows_free(&report->hosts);
	rows_free(&report->parts);
	free(report->shifts_ns);
	free(report->tasks);
	free(report->by_id);
	free(report->engine_names);
	*report = (struct report){0};
}

/* ---- the run -------------------------------------------------------------------- */

const struct row_run *report_run(const struct report *report)
{
	return &report->whole;
}

const struct row_host *report_host_of(const struct report *report, const struct row_run *run)
{
	return joined_host(&report->hosts, run);
}

const struct row_host *report_host(const struct report *report)
{
	return report_host_of(report, report_run(report));
}

size_t report_hosts_count(const struct report *report)
{
	size_t count = 0;

	for (size_t i = 0; i < report->parts.count; i++)
		count += joined_is_new_host(report->parts.items, i);
	return count;
}

static int64_t host_cores_milli(const struct row_host *host)
{
	if (!host || host->cpu_count == ROW_NULL)
		return ROW_NULL;
	return host->core_limit_milli != ROW_NULL ? host->core_limit_milli : host->cpu_count * 1000;
}

/* The limit is that of one process of the run. If the run used more, others have other processors (ranks of MPI, each
 * bound to its own), and it may use the host's. */
int64_t report_part_cores_milli(const struct report *report, size_t part)
{
	const struct row_run *run = part_run(report, part);
	int64_t host = host_cores_milli(report_host_of(report, run));
	int64_t now = row_subtract(report->now_boot_ns, report_part_shift_ns(report, part));
	int64_t wall_ns = report_span_ns(run->begin_boot_ns, run->end_boot_ns, now);

	if (run->core_limit_milli == ROW_NULL ||
	    (wall_ns > 0 && run->cpu_ns != ROW_NULL &&
	     (double)run->cpu_ns * 1000 > 1.01 * (double)wall_ns * (double)run->core_limit_milli))
		return host;
	return run->core_limit_milli;
}

static int64_t cores_milli(const struct report *report, bool allowed)
{
	int64_t sum = 0;

	for (size_t i = 0; i < report->parts.count; i++)
		if (joined_is_new_host(report->parts.items, i))
			sum = row_add(sum, allowed ? report_part_cores_milli(report, i)
						   : host_cores_milli(report_host_of(report, part_run(report, i))));
	return sum;
}

bool report_has_gpus(const struct report *report)
{
	const struct row_run *run = report_run(report);

	return run->gpu_busy_ns != ROW_NULL || run->gpu_peak_bytes != ROW_NULL;
}

int64_t report_cores_milli(const struct report *report)
{
	return cores_milli(report, true);
}

int64_t report_host_cores_milli(const struct report *report)
{
	return cores_milli(report, false);
}

int64_t report_now_boot_ns(struct store *store, const struct row_host *host)
{
	struct store_stream stream;

	if (store_read_stream(store, &stream) == 0)
		return (int64_t)stream.committed_boot_ns;
	return host ? row_subtract(host->last_seen_unix_ns, host->boot_unix_ns) : ROW_NULL;
}

int64_t report_span_ns(int64_t begin_boot_ns, int64_t end_boot_ns, int64_t now_boot_ns)
{
	int64_t end = end_boot_ns == ROW_NULL ? now_boot_ns : end_boot_ns;

	return end < begin_boot_ns ? ROW_NULL : row_subtract(end, begin_boot_ns);
}

int64_t report_wall_ns(const struct report *report, int64_t begin_boot_ns, int64_t end_boot_ns)
{
	return report_span_ns(begin_boot_ns, end_boot_ns, report->now_boot_ns);
}

bool report_is_partial(const struct row_run *run)
{
	return run->reason && strcmp(run->reason, ROW_REASON_PARTIAL) == 0;
}

const char *report_unended(const struct row_run *run)
{
	if (run->end_boot_ns != ROW_NULL)
		return NULL;
	return strcmp(run->status, "running") == 0
		       ? "The run has not ended: this is how it looks so far."
		       : "Its first process has ended, but what it started still runs: this "
			 "is how it looks so far.";
}

bool report_has_failed(const char *status)
{
	return strcmp(status, "failed") == 0 || strcmp(status, "killed") == 0;
}

/* ---- tasks ---------------------------------------------------------------------- */

size_t report_find_task(const struct report *report, int64_t id)
{
	size_t low = 0, high = id == ROW_NULL ? 0 : report->task_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2, found = report->by_id[middle];

		if (report->tasks[found].id == id)
			return found;
		if (report->tasks[found].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return REPORT_NO_TASK;
}

size_t report_last_attempt(const struct report *report, size_t task)
{
	for (int i = 0; i < ATTEMPTS_MAX; i++) {
		size_t next = report_find_task(report, report->tasks[task].retried_by_id);

		if (next == REPORT_NO_TASK)
			break;
		task = next;
	}
	return task;
}

enum report_effect report_effect_of(const struct report *report, const struct row_incident *incident)
{
	size_t task = report_find_task(report, incident->task_id);
	size_t last = task == REPORT_NO_TASK ? task : report_last_attempt(report, task);

	if (strcmp(incident->kind, "stuck") == 0 || strcmp(incident->kind, "idle") == 0 ||
	    strcmp(incident->kind, "zombies") == 0 || strcmp(incident->kind, "clock") == 0)
		return REPORT_EFFECT_COUNT;
	if (last != task && report->tasks[last].succeeded)
		return REPORT_RETRIED;
	if (report->of_attempts && incident->fatal == 1 && incident->run_id != report_run(report)->id)
		return strcmp(report_run(report)->status, "succeeded") == 0 ? REPORT_RETRIED : REPORT_FATAL;
	if (incident->fatal == 0 || last != task || strcmp(report_run(report)->status, "succeeded") == 0)
		return REPORT_HARMLESS;
	return REPORT_FATAL;
}

static const struct engine_name *engine_name(const struct report *report, size_t index)
{
	static const struct engine_name none;

	return report->engine_names ? &report->engine_names[index] : &none;
}

const char *report_task_name(const struct report *report, size_t index, const struct row_task *task)
{
	const char *name = engine_name(report, index)->name;

	return name ? name : task->name;
}

const char *report_task_sample(const struct report *report, size_t index, const struct row_task *task)
{
	return run_samples_find(report->samples, task->id);
}

const char *report_task_label(const struct report *report, size_t index, const struct row_task *task)
{
	const struct engine_name *own = engine_name(report, index);

	return own->name ? own->label : task->label ? task->label : "";
}

/* ---- tasks and their tools, in windows ------------------------------------------- */

/* Consecutive tasks of a part. */
struct window {
	struct rows tasks; /* by id */
	struct rows tools; /* by task, then as they began */
	bool is_loaded;
};

struct walk {
	const struct report *report;
	const struct report_writer *writer;
	void *context;
	struct window *windows; /* one per part */
	struct rows held;       /* a process */
	bool goes_on;           /* the task after it is walked next, so reading ahead pays */
};

/* Converts times to the run's clock, and adds labels. */
static void window_complete(const struct report *report, size_t part, struct window *window)
{
	int64_t by_ns = report_part_shift_ns(report, part);

	for (size_t i = 0; i < window->tasks.count; i++) {
		struct row_task *task = ROWS_ITEM(&window->tasks, task, i);

		task->begin_boot_ns = row_add(task->begin_boot_ns, by_ns);
		task->end_boot_ns = row_add(task->end_boot_ns, by_ns);
		if (!task->label)
			task->label = labels_find(&report->labels, task->id);
	}
	for (size_t i = 0; i < window->tools.count; i++) {
		struct row_tool *tool = ROWS_ITEM(&window->tools, tool, i);

		tool->begin_boot_ns = row_add(tool->begin_boot_ns, by_ns);
		tool->end_boot_ns = row_add(tool->end_boot_ns, by_ns);
	}
}

static void window_free(struct window *window)
{
	rows_free(&window->tasks);
	rows_free(&window->tools);
	window->is_loaded = false;
}

/* Returns the last task of the same part that fits into one window with `index`. */
static size_t window_end(const struct walk *walk, size_t index)
{
	const struct report *report = walk->report;
	int64_t process_count = report->tasks[index].process_count;
	size_t end = index;

	if (!walk->goes_on || report->tasks[index].is_main)
		return index;
	for (size_t i = index + 1; i < report->task_count && process_count < REPORT_PROCESSES_HELD_MAX; i++) {
		if (report->tasks[i].part != report->tasks[index].part)
			continue;
		process_count = row_add(process_count, report->tasks[i].process_count);
		if (process_count == ROW_NULL)
			break;
		end = i;
	}
	return end;
}

/* Loads the window that begins with the task of that index. */
static int window_load(const struct walk *walk, size_t index, bool with_tools, struct window *window)
{
	const struct report *report = walk->report;
	size_t part = report->tasks[index].part, end = window_end(walk, index);
	const struct row_run *run = part_run(report, part);
	int64_t shift_ns = report_part_shift_ns(report, part);
	bool one = end == index;
	const struct store_parameter parameters[] = {
		{"host_id", STORE_INTEGER, run->host_id, NULL},
		{"task_id", one ? STORE_INTEGER : STORE_NULL, report->tasks[index].id, NULL},
		{"run_id", one ? STORE_NULL : STORE_INTEGER, run->id, NULL},
		{"first_boot_ns", one ? STORE_NULL : STORE_INTEGER,
		 row_subtract(report->tasks[index].begin_boot_ns, shift_ns), NULL},
		{"last_boot_ns", one ? STORE_NULL : STORE_INTEGER,
		 row_subtract(report->tasks[end].begin_boot_ns, shift_ns), NULL},
		{0},
	};
	bool for_page = walk->writer->for_page;
	const char *tools_query = for_page ? "page_tools" : "tools_between";
	int error;

	window_free(window);
	if (with_tools)
		query_ask_ahead(report->store, tools_query, parameters);
	error = rows_load(&window->tasks, &row_type_task, report->store, "tasks_between", parameters);
	if (error == 0 && with_tools)
		error = rows_load(&window->tools, for_page ? &row_type_page_tool : &row_type_tool, report->store,
				  tools_query, parameters);
	if (error < 0)
		return error;
	window_complete(report, part, window);
	window->is_loaded = true;
	return 0;
}

static const struct row_task *window_find(const struct window *window, int64_t id)
{
	size_t count, at = rows_find(&window->tasks, offsetof(struct row_task, id), id, &count);

	return window->is_loaded && count > 0 ? ROWS_ITEM(&window->tasks, task, at) : NULL;
}

int report_load_task(const struct report *report, size_t index, struct rows *ret_rows)
{
	const struct row_run *run = part_run(report, report->tasks[index].part);
	const struct store_parameter parameters[] =
		QUERY_PARAMETERS_OF("task_id", report->tasks[index].id, run->host_id);
	int error = rows_load(ret_rows, &row_type_task, report->store, "tasks_between", parameters);

	if (error == 0 && ret_rows->count == 0)
		return -ENOENT;
	if (error == 0) {
		struct row_task *task = ROWS_ITEM(ret_rows, task, 0);

		task->begin_boot_ns = report->tasks[index].begin_boot_ns;
		task->end_boot_ns = report->tasks[index].end_boot_ns;
		if (!task->label)
			task->label = labels_find(&report->labels, task->id);
	}
	return error;
}

/* ---- processes ------------------------------------------------------------------- */

static int process_give(void *context, const void *row)
{
	const struct walk *walk = context;

	return walk->writer->process(walk->context, row, false);
}

static int reading_give(void *context, const void *row)
{
	const struct walk *walk = context;

	return walk->writer->reading(walk->context, row);
}

/* The processes of a task, tool by tool, with one row of lookahead. */
struct process_stream {
	struct row_cursor cursor;
	const struct row_type *type;
	struct row_process next;
	struct rows *held; /* the row before it */
	int more;          /* result of row_cursor_next() */
};

/* Walks the processes of one tool. Copies each: only the next row shows whether it was the last. */
static int stream_walk(const struct walk *walk, struct process_stream *stream, int64_t tool_id)
{
	int error = 0;

	while (error == 0 && stream->more > 0 && stream->next.tool_id == tool_id) {
		rows_clear(stream->held);
		error = rows_add(stream->held, stream->type, &stream->next);
		if (error == 0)
			error = row_cursor_next(&stream->cursor, &stream->next);
		stream->more = error;
		if (error >= 0)
			error = walk->writer->process(walk->context, stream->held->items,
						      !stream->more || stream->next.tool_id != tool_id);
	}
	return error;
}

/* The query for the processes of a task, and for their samples. */
static const char *processes_query(const struct report_writer *writer)
{
	return writer->for_page ? "page_processes" : writer->by_tool ? "task_processes_by_tool" : "task_processes";
}

static const char *samples_query(const struct report_writer *writer)
{
	return writer->for_page ? "page_samples" : "task_samples";
}

static int tools_walk(struct walk *walk, const struct row_task *task, const struct row_tool *tools, size_t count)
{
	const struct store_parameter parameters[] = QUERY_PARAMETERS_OF("task_id", task->id, task->host_id);
	bool by_tool = walk->writer->process && walk->writer->by_tool;
	struct process_stream stream = {
		.type = walk->writer->for_page ? &row_type_page_process : &row_type_process,
		.held = &walk->held,
	};
	int error = 0;

	if (by_tool)
		error = row_cursor_open(&stream.cursor, stream.type, walk->report->store, processes_query(walk->writer),
					parameters);
	if (error < 0)
		return error;
	if (by_tool)
		error = stream.more = row_cursor_next(&stream.cursor, &stream.next);
	for (size_t i = 0; i < count && error >= 0; i++) {
		error = walk->writer->tool(walk->context, &tools[i], i);
		if (error == 0)
			error = stream_walk(walk, &stream, tools[i].id);
	}
	if (by_tool)
		row_cursor_close(&stream.cursor);
	return error < 0 ? error : 0;
}

/* ---- the walk -------------------------------------------------------------------- */

static int task_walk(struct walk *walk, size_t index)
{
	const struct report *report = walk->report;
	const struct report_writer *writer = walk->writer;
	struct window *window = &walk->windows[report->tasks[index].part];
	bool with_tools = writer->tool || writer->with_tools;
	const struct row_task *task = window_find(window, report->tasks[index].id);
	const struct row_tool *tools;
	size_t count;
	int error = task ? 0 : window_load(walk, index, with_tools, window);

	if (error < 0)
		return error;
	task = window_find(window, report->tasks[index].id);
	if (!task)
		return 0; /* deleted meanwhile: queries to a lake share no snapshot */
	tools = (const struct row_tool *)window->tools.items +
		rows_find(&window->tools, offsetof(struct row_tool, task_id), task->id, &count);
	error = writer->task ? writer->task(walk->context, index, task, tools, count) : 0;
	if (error == 0 && writer->tool)
		error = tools_walk(walk, task, tools, count);
	if (error == 0 && writer->process && !writer->by_tool)
		error = report_each_process(report, task, process_give, walk);
	if (error == 0 && writer->reading)
		error = each_of_task(report, task, writer->for_page ? &row_type_page_sample : &row_type_sample,
				     samples_query(writer), reading_give, walk);
	if (error == 0 && writer->task_end)
		error = writer->task_end(walk->context);
	return error;
}

/* The queries that a walk asks of each task; the last is NULL. */
static void walk_queries(const struct report_writer *writer, const char *ret_queries[3])
{
	size_t count = 0;

	if (writer->process)
		ret_queries[count++] = processes_query(writer);
	if (writer->reading)
		ret_queries[count++] = samples_query(writer);
	ret_queries[count] = NULL;
}

/* Announces what will be asked of the next tasks, until they have as many processes as may be held. */
static void tasks_ask_ahead(const struct report *report, const size_t *order, size_t next, size_t count,
			    const char *const *queries)
{
	size_t most = store_ahead_most(report->store) / (queries[0] && queries[1] ? 2 : 1);
	int64_t process_count = 0;

	for (size_t i = next; queries[0] && i < count && i < next + most; i++) {
		const struct report_task *task = &report->tasks[order ? order[i] : i];
		const struct store_parameter parameters[] =
			QUERY_PARAMETERS_OF("task_id", task->id, part_run(report, task->part)->host_id);

		process_count = row_add(process_count, task->process_count);
		if (process_count == ROW_NULL || process_count > REPORT_PROCESSES_HELD_MAX)
			return;
		for (const char *const *query = queries; *query; query++)
			query_ask_ahead(report->store, *query, parameters);
	}
}

int report_walk(const struct report *report, const size_t *order, size_t count, const struct report_writer *writer,
		void *context)
{
	struct walk walk = {report, writer, context, .windows = calloc(report->parts.count, sizeof(struct window)),
			    .goes_on = true};
	const char *queries[3];
	int error = walk.windows ? 0 : -ENOMEM;

	walk_queries(writer, queries);
	count = order ? count : report->task_count;
	for (size_t i = 0; i < count && error == 0; i++) {
		walk.goes_on = !order || (i + 1 < count && order[i + 1] == order[i] + 1);
		tasks_ask_ahead(report, order, i, count, queries);
		error = task_walk(&walk, order ? order[i] : i);
		if (report->advance)
			report->advance(i, count);
	}
	for (size_t i = 0; walk.windows && i < report->parts.count; i++)
		window_free(&walk.windows[i]);
	free(walk.windows);
	rows_free(&walk.held);
	return error;
}
