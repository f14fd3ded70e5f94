/* The trace-event format that Perfetto, speedscope and chrome://tracing read:
 * https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
 *
 * A "process" of the trace is a name of tasks, a "thread" is a lane: complete events (X) of one thread may nest, but
 * not overlap. A task takes as many neighbouring lanes as its processes need; it lies on the first, its tools on
 * and below it, and the processes of a tool on and below that. Times are whole microseconds since the run began: readers
 * add them as floating point numbers, and spans whose ends differ by a rounding error do not nest.
 * Perfetto finds the name of a thread by its id alone, and takes thread 0 for the idle one and a thread with the id of
 * its process for the main one: so ids of threads are distinct, and none is a process's.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <uthash.h>

#include "analysis/export/formats.h"
#include "common/grow.h"
#include "common/yaml/arena.h"

#define NS_PER_US 1000
#define LANES_MAX 100000 /* of a process: beyond, ids of threads are not distinct, and some names are wrong */

/* What overlaps in time lies on different lanes. */
struct lanes {
	int64_t *free_from; /* one per lane */
	size_t count, capacity;
};

/* Tasks of the same name. */
struct group {
	UT_hash_handle hh;
	size_t number; /* the "process id" */
	struct lanes lanes;
	size_t named_count; /* of the lanes */
	char name[];
};

struct process {
	struct export_span span;
	size_t lane; /* in its tool */
	int64_t pid, cpu_ns, peak_rss_bytes, gpu_busy_ns, gpu_peak_bytes, exit_code, signal;
	const char *program;
};

/* A tool and its processes. */
struct tool {
	struct export_span span;
	size_t lane, width;  /* in its task */
	size_t first, count; /* of the task's processes */
	struct lanes lanes;
	const struct row_tool *row;
};

struct writing {
	const struct report *report;
	struct json_writer json;
	int64_t begin_unix_ns, now_unix_ns;
	struct group *groups;
	const char *separator;
	/* The task that is being read. */
	const struct row_task *task;
	struct group *group;
	struct export_span span;
	size_t number; /* of the task */
	struct tool *tools;
	size_t tool_count;
	struct process *processes;
	size_t process_count, process_capacity;
	struct arena texts;
};

/* ---- lanes -------------------------------------------------------------------------- */

static size_t lane_find(const struct lanes *lanes, int64_t begin, size_t width)
{
	size_t first = 0;

	for (size_t i = 0; i < lanes->count && i - first < width; i++)
		if (lanes->free_from[i] > begin)
			first = i + 1;
	return first;
}

/* Occupies `width` neighbouring lanes from `begin` to `end`, the lowest that are free; add spans in order of begin.
 * Returns the first of them, or SIZE_MAX if out of memory. */
static size_t lanes_take(struct lanes *lanes, int64_t begin, int64_t end, size_t width)
{
	size_t first = lane_find(lanes, begin, width), past = first + width;
	int64_t *free_from;

	free_from = grow(lanes->free_from, &lanes->capacity, past, sizeof(*free_from));
	if (!free_from)
		return SIZE_MAX;
	lanes->free_from = free_from;
	for (size_t i = first; i < past; i++)
		lanes->free_from[i] = end;
	if (past > lanes->count)
		lanes->count = past;
	return first;
}

static void lanes_free(struct lanes *lanes)
{
	free(lanes->free_from);
	*lanes = (struct lanes){0};
}

/* ---- events ------------------------------------------------------------------------- */

static void event_begin(struct writing *writing)
{
	json_write_text(&writing->json, writing->separator);
	json_write_text(&writing->json, "\n");
	json_write_object(&writing->json);
	writing->separator = ",";
}

static int64_t thread_id(const struct group *group, size_t lane)
{
	return (int64_t)(group->number * LANES_MAX + lane + 1);
}

/* Writes an event up to its "args", which the caller completes with event_end(). */
static void span_begin(struct writing *writing, const char *category, const char *name, struct export_span span,
		       size_t lane)
{
	int64_t begin_us = (span.begin_unix_ns - writing->begin_unix_ns) / NS_PER_US;
	int64_t end_us = (span.end_unix_ns - writing->begin_unix_ns) / NS_PER_US;

	event_begin(writing);
	json_write_string(&writing->json, "ph", "X");
	json_write_string(&writing->json, "cat", category);
	export_json_text(&writing->json, "name", name);
	json_write_integer(&writing->json, "pid", (int64_t)writing->group->number);
	json_write_integer(&writing->json, "tid", thread_id(writing->group, lane));
	json_write_integer(&writing->json, "ts", begin_us);
	json_write_integer(&writing->json, "dur", end_us - begin_us);
	json_write_text(&writing->json, ",\"args\":");
	json_write_object(&writing->json);
}

static void event_end(struct writing *writing)
{
	json_write_text(&writing->json, "}}");
}

/* Writes metadata of a process, or of one of its lanes, up to its value. */
static void metadata_begin(struct writing *writing, const struct group *group, int64_t tid, const char *name)
{
	event_begin(writing);
	json_write_string(&writing->json, "ph", "M");
	json_write_string(&writing->json, "name", name);
	json_write_integer(&writing->json, "pid", (int64_t)group->number);
	if (tid)
		json_write_integer(&writing->json, "tid", tid);
	json_write_text(&writing->json, ",\"args\":");
	json_write_object(&writing->json);
}

static void group_announce(struct writing *writing, const struct group *group)
{
	metadata_begin(writing, group, 0, "process_name");
	export_json_text(&writing->json, "name", group->name);
	event_end(writing);
	metadata_begin(writing, group, 0, "process_sort_index");
	json_write_integer(&writing->json, "sort_index", (int64_t)group->number);
	event_end(writing);
}

/* Those that no task has used before. */
static void lanes_announce(struct writing *writing, struct group *group)
{
	char name[32];

	for (; group->named_count < group->lanes.count; group->named_count++) {
		int64_t tid = thread_id(group, group->named_count);

		snprintf(name, sizeof(name), "lane %zu", group->named_count + 1);
		metadata_begin(writing, group, tid, "thread_name");
		json_write_string(&writing->json, "name", name);
		event_end(writing);
		metadata_begin(writing, group, tid, "thread_sort_index");
		json_write_integer(&writing->json, "sort_index", (int64_t)group->named_count);
		event_end(writing);
	}
}

/* ---- reading a task ------------------------------------------------------------------ */

static struct group *group_of(struct writing *writing, const char *name)
{
	size_t size = strlen(name);
	struct group *group;

	HASH_FIND(hh, writing->groups, name, size, group);
	if (group)
		return group;
	group = calloc(1, sizeof(*group) + size + 1);
	if (!group)
		return NULL;
	memcpy(group->name, name, size);
	group->number = HASH_COUNT(writing->groups) + 1;
	HASH_ADD(hh, writing->groups, name, size, group);
	group_announce(writing, group);
	return group;
}

static struct export_span within(struct export_span span, struct export_span outer)
{
	span.begin_unix_ns = row_least(row_most(span.begin_unix_ns, outer.begin_unix_ns), outer.end_unix_ns);
	span.end_unix_ns = row_most(row_least(span.end_unix_ns, outer.end_unix_ns), span.begin_unix_ns);
	return span;
}

static int task_read(void *context, size_t index, const struct row_task *task, const struct row_tool *tools,
		     size_t count)
{
	struct writing *writing = context;
	struct export_span span = EXPORT_SPAN(task, writing->now_unix_ns);

	writing->task = task;
	writing->number = index;
	writing->tool_count = 0;
	writing->process_count = 0;
	writing->tools = calloc(count + 1, sizeof(*writing->tools));
	writing->group = group_of(writing, report_task_name(writing->report, index, task));
	if (!writing->tools || !writing->group)
		return -ENOMEM;
	span.begin_unix_ns = row_most(span.begin_unix_ns, writing->begin_unix_ns);
	writing->span = within(span, span);
	return writing->json.error;
}

static int tool_read(void *context, const struct row_tool *row, size_t index)
{
	struct writing *writing = context;

	writing->tools[writing->tool_count++] = (struct tool){
		.row = row,
		.span = within(EXPORT_SPAN(row, writing->span.end_unix_ns), writing->span),
		.first = writing->process_count,
	};
	return 0;
}

static int process_read(void *context, const struct row_process *row, bool is_last)
{
	struct writing *writing = context;
	struct tool *tool = &writing->tools[writing->tool_count - 1];
	struct process *process, *grown = grow(writing->processes, &writing->process_capacity,
					       writing->process_count + 1, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	writing->processes = grown;
	process = &grown[writing->process_count++];
	*process = (struct process){
		.span = within(EXPORT_SPAN(row, tool->span.end_unix_ns), tool->span),
		.pid = row->pid,
		.cpu_ns = row->cpu_ns,
		.peak_rss_bytes = row->peak_rss_bytes,
		.gpu_busy_ns = row->gpu_busy_ns,
		.gpu_peak_bytes = row->gpu_peak_bytes,
		.exit_code = row->exit_code,
		.signal = row->signal,
		.program = arena_copy(&writing->texts, row->program, strlen(row->program)),
	};
	process->lane = lanes_take(&tool->lanes, process->span.begin_unix_ns, process->span.end_unix_ns, 1);
	tool->count++;
	return process->program && process->lane != SIZE_MAX ? 0 : -ENOMEM;
}

/* ---- writing a task ------------------------------------------------------------------ */

static void outcome_write(struct json_writer *json, int64_t exit_code, int64_t signal)
{
	json_write_integer(json, "exit_code", exit_code);
	if (signal > 0)
		json_write_integer(json, "signal", signal);
}

/* Few processes use a GPU. */
static void gpu_write(struct json_writer *json, int64_t busy_ns, int64_t peak_bytes)
{
	if (busy_ns != ROW_NULL)
		json_write_integer(json, "gpu_busy_ns", busy_ns);
	if (peak_bytes != ROW_NULL)
		json_write_integer(json, "gpu_peak_bytes", peak_bytes);
}

static void process_write(struct writing *writing, const struct process *process, size_t lane)
{
	struct json_writer *json = &writing->json;

	span_begin(writing, "process", process->program, process->span, lane + process->lane);
	json_write_integer(json, "pid", process->pid);
	json_write_integer(json, "cpu_ns", process->cpu_ns);
	json_write_integer(json, "peak_rss_bytes", process->peak_rss_bytes);
	gpu_write(json, process->gpu_busy_ns, process->gpu_peak_bytes);
	outcome_write(json, process->exit_code, process->signal);
	event_end(writing);
}

static void tool_write(struct writing *writing, const struct tool *tool, size_t lane)
{
	struct json_writer *json = &writing->json;

	span_begin(writing, "tool", tool->row->name, tool->span, lane + tool->lane);
	json_write_integer(json, "process_count", tool->row->process_count);
	json_write_integer(json, "cpu_ns", tool->row->cpu_ns);
	json_write_integer(json, "run_delay_ns", tool->row->run_delay_ns);
	json_write_integer(json, "peak_rss_bytes", tool->row->peak_rss_bytes);
	gpu_write(json, tool->row->gpu_busy_ns, tool->row->gpu_peak_bytes);
	json_write_integer(json, "read_bytes", tool->row->read_bytes);
	json_write_integer(json, "write_bytes", tool->row->write_bytes);
	event_end(writing);
	for (size_t i = 0; i < tool->count; i++)
		process_write(writing, &writing->processes[tool->first + i], lane + tool->lane);
}

static void task_write(struct writing *writing, size_t lane)
{
	const struct row_task *task = writing->task;
	struct json_writer *json = &writing->json;

	span_begin(writing, "task", report_task_name(writing->report, writing->number, task), writing->span, lane);
	export_json_text(json, "label", report_task_label(writing->report, writing->number, task));
	json_write_string(json, "status", task->status);
	json_write_integer(json, "cpu_ns", task->cpu_ns);
	json_write_integer(json, "run_delay_ns", task->run_delay_ns);
	json_write_integer(json, "peak_rss_bytes", task->peak_rss_bytes);
	gpu_write(json, task->gpu_busy_ns, task->gpu_peak_bytes);
	json_write_integer(json, "concurrent_memory_bytes", task->concurrent_memory_bytes);
	json_write_integer(json, "read_bytes", task->read_bytes);
	json_write_integer(json, "write_bytes", task->write_bytes);
	outcome_write(json, task->exit_code, task->signal);
	event_end(writing);
	for (size_t i = 0; i < writing->tool_count; i++)
		tool_write(writing, &writing->tools[i], lane);
}

static void task_free(struct writing *writing)
{
	for (size_t i = 0; writing->tools && i < writing->tool_count; i++)
		lanes_free(&writing->tools[i].lanes);
	free(writing->tools);
	writing->tools = NULL;
	arena_deinit(&writing->texts);
	writing->texts = (struct arena){0};
}

/* Lays out the task's tools, then the task among its likes. */
static int task_end(void *context)
{
	struct writing *writing = context;
	struct lanes lanes = {0};
	size_t lane = 0;

	for (size_t i = 0; i < writing->tool_count && lane != SIZE_MAX; i++) {
		struct tool *tool = &writing->tools[i];

		tool->width = tool->lanes.count ? tool->lanes.count : 1;
		tool->lane = lane = lanes_take(&lanes, tool->span.begin_unix_ns, tool->span.end_unix_ns, tool->width);
	}
	if (lane != SIZE_MAX)
		lane = lanes_take(&writing->group->lanes, writing->span.begin_unix_ns, writing->span.end_unix_ns,
				  lanes.count ? lanes.count : 1);
	if (lane != SIZE_MAX) {
		lanes_announce(writing, writing->group);
		task_write(writing, lane);
	}
	lanes_free(&lanes);
	task_free(writing);
	return lane == SIZE_MAX ? -ENOMEM : writing->json.error;
}

static void groups_free(struct writing *writing)
{
	struct group *group, *next;

	HASH_ITER (hh, writing->groups, group, next) {
		HASH_DEL(writing->groups, group);
		lanes_free(&group->lanes);
		free(group);
	}
}

int export_perfetto(const struct report *report, FILE *file)
{
	const struct report_writer writer = {
		.task = task_read, .tool = tool_read, .process = process_read, .task_end = task_end, .by_tool = true};
	const struct row_run *run = report_run(report);
	struct writing writing = {
		.report = report,
		.json.file = file,
		.begin_unix_ns = run->started_unix_ns < 0 ? 0 : run->started_unix_ns,
		.now_unix_ns = export_now_unix_ns(report),
		.separator = "",
	};
	int error;

	json_write_object(&writing.json);
	json_write_string(&writing.json, "displayTimeUnit", "ms");
	json_write_text(&writing.json, ",\"otherData\":");
	json_write_object(&writing.json);
	export_json_text(&writing.json, "run", run->name);
	json_write_integer(&writing.json, "run_id", run->id);
	json_write_integer(&writing.json, "started_unix_ns", run->started_unix_ns);
	json_write_text(&writing.json, "},\"traceEvents\":[");
	error = report_walk(report, NULL, 0, &writer, &writing);
	json_write_text(&writing.json, "\n]}\n");
	task_free(&writing);
	groups_free(&writing);
	free(writing.processes);
	return json_write_end(&writing.json) < 0 ? writing.json.error : error;
}
