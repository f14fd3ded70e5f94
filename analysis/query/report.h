/* One run with everything that belongs to it, for all kinds of output: a terminal, JSON, a page, an export.
 *
 * It prints nothing and never exits; errors are returned as a negative errno, with the message in
 * store_error_text() (except for -ENOMEM). A run is never held in memory as a whole: a report keeps the
 * run, its hosts and parts, and a few numbers per task. Tasks, tools and processes are read
 * when they are shown, and passed to a writer one by one.
 */
#pragma once

#include "analysis/query/labels.h"
#include "analysis/query/run_samples.h"

/* What the engine calls a task, borrowed; NULL if unknown. And what it reported about it, only if the name is known; each is
 * ROW_NULL if it did not. */
struct engine_name {
	const char *name, *label;
	int64_t wall_ns, cpu_ns, peak_rss_bytes;
};

/* Processes whose figures are lower bounds. */
struct report_doubts {
	int64_t unfinished_count; /* ended, but the last record is missing */
	int64_t found_count;      /* started before the probe */
	int64_t partial_count;    /* the kernel side could not keep everything */
	bool is_partial;          /* the run was recorded without a probe: all of them are, and more may be missing */
};

/* The consequence of an incident. */
enum report_effect {
	REPORT_FATAL,        /* the run failed because of it, or may yet */
	REPORT_RETRIED,      /* the same work was retried successfully */
	REPORT_HARMLESS,     /* the run continued without it */
	REPORT_EFFECT_COUNT, /* not a failure: a standstill, zombies, a clock that was set */
};

/* The data kept for every task. Times are on the run's clock. */
struct report_task {
	int64_t id, parent_task_id, retried_by_id;
	int64_t begin_boot_ns, end_boot_ns;
	int64_t process_count;
	int64_t active_ns; /* of its own processes, not those of its parts: on a processor, or waiting for one or for devices;
			    * ROW_NULL: unknown, or it used GPUs */
	uint32_t part; /* index of the host's part */
	bool is_main;  /* the run's own pseudo-task */
	bool failed, succeeded;
	bool out_of_memory; /* the OOM killer made it fail */
};

struct report {
	struct store *store; /* borrowed: rows are read when they are shown */
	struct rows hosts;
	struct rows parts;    /* of a run that several hosts share, or attempts at the same work, by start; else the
				    * run itself */
	int64_t *shifts_ns;   /* by part: report_part_shift_ns() */
	bool of_attempts;     /* parts are attempts, the last one of them the run: see report_load_attempts() */
	struct row_run whole; /* all parts combined */
	struct report_task *tasks; /* pseudo-tasks first, then by start */
	size_t task_count;
	size_t *by_id;                    /* indexes into tasks, sorted by id */
	struct engine_name *engine_names; /* one per task, NULL if not requested */
	struct rows *lines;               /* report_load_lines(); NULL: not yet */
	struct run_samples *samples;      /* NULL if not requested */
	struct labels labels;             /* of tasks without one in the store; none if not requested */
	struct report_doubts doubts;
	size_t effect_counts[REPORT_EFFECT_COUNT + 1]; /* of its incidents */
	bool out_of_memory;                            /* the OOM killer made a task fail */
	int64_t now_boot_ns;                           /* boot clock of the run's host when last heard of */
	void (*advance)(size_t done, size_t count);    /* called for each task that is read, NULL: not */
};

/* Copies `run`. `with_containers` announces that containers will be read, too. Returns 0 or -errno. */
int report_load(struct report *report, struct store *store, const struct row_run *run, bool with_containers);
/* The same with the attempts before it at the same work (run_previous.sql) since the last one that succeeded. On the run's
 * clock each begins when the one before it ended: the time between them is left out. */
int report_load_attempts(struct report *report, struct store *store, const struct row_run *run, bool with_containers);
/* Loads the command lines of its tasks (run_samples.h), unless they are loaded. Returns 0 or -errno. */
int report_load_lines(struct report *report);
/* Finds out which sample each task worked on. `names` is NULL to infer them. Returns 0 or -errno. */
int report_load_samples(struct report *report, const struct sample_names *names);
/* Makes the labels of tasks that have none in the store: in all rows of tasks that are read from now on. Returns 0 or
 * -errno. */
int report_load_labels(struct report *report);
void report_free(struct report *report);

/* The run with the combined figures of all parts, and the id and clock of the first part. */
const struct row_run *report_run(const struct report *report);
/* Return NULL if the host is unknown. */
const struct row_host *report_host(const struct report *report);
const struct row_host *report_host_of(const struct report *report, const struct row_run *run);
size_t report_hosts_count(const struct report *report);
/* Returns the processors that the run was allowed to use on all its hosts, in thousandths, or ROW_NULL if unknown. */
int64_t report_cores_milli(const struct report *report);
/* The same of all that these hosts have. */
int64_t report_host_cores_milli(const struct report *report);
/* The processors that the run was allowed to use on the host of one part. */
int64_t report_part_cores_milli(const struct report *report, size_t part);
/* Whether a sampler reported GPUs that it used. */
bool report_has_gpus(const struct report *report);

/* Returns what to add to times of the boot clock of a part's host to get those of the run's clock. */
int64_t report_part_shift_ns(const struct report *report, size_t part);

/* Returns the boot clock of a host when it was last heard of: at the latest event of its stream or,
 * in a lake, at its latest process scan. ROW_NULL if unknown. `host` may be NULL. */
int64_t report_now_boot_ns(struct store *store, const struct row_host *host);
/* Returns the time from begin to end, or to now if it has not ended; ROW_NULL if unknown. */
int64_t report_span_ns(int64_t begin_boot_ns, int64_t end_boot_ns, int64_t now_boot_ns);
int64_t report_wall_ns(const struct report *report, int64_t begin_boot_ns, int64_t end_boot_ns);

/* Whether a status is "failed" or "killed". */
bool report_has_failed(const char *status);
/* What to say of a run whose figures still grow; NULL if it has ended. */
const char *report_unended(const struct row_run *run);
/* Whether the run was recorded without a probe. */
bool report_is_partial(const struct row_run *run);

/* ---- tasks ---------------------------------------------------------------------- */

#define REPORT_NO_TASK SIZE_MAX

/* Returns the index of the task, or REPORT_NO_TASK if the report has no task of that id. */
size_t report_find_task(const struct report *report, int64_t id);
/* Returns the last attempt at the same work: the task itself if it was not retried. */
size_t report_last_attempt(const struct report *report, size_t task);
/* What tasks are grouped by. */
typedef const char *report_key(const struct report *report, size_t index, const struct row_task *task);
/* Name and label of a task for display: the engine's own if they are known. */
report_key report_task_name;
const char *report_task_label(const struct report *report, size_t index, const struct row_task *task);
/* The sample of a task (run_samples_find()); only if samples were loaded. */
report_key report_task_sample;
/* Loads all columns of one task. Returns 0 or -errno. */
int report_load_task(const struct report *report, size_t index, struct rows *ret_rows);

/* ---- reading --------------------------------------------------------------------- */

/* Callbacks that are NULL are not called, and their rows are not read unless needed otherwise. All
 * return 0, or a negative errno that stops the walk and is returned. Rows are valid until the callback
 * returns; the tools of a task until its `task_end`. */
struct report_writer {
	/* All `count` tools of the task by start; none unless `tool` or `with_tools` is set. */
	int (*task)(void *context, size_t index, const struct row_task *task, const struct row_tool *tools,
		    size_t count);
	int (*tool)(void *context, const struct row_tool *tool, size_t index);
	/* `is_last`: the last of its tool; set only with `by_tool`. */
	int (*process)(void *context, const struct row_process *process, bool is_last);
	/* After the processes, even if these are not read: by process, then by time. */
	int (*reading)(void *context, const struct row_sample *reading);
	int (*task_end)(void *context);
	bool with_tools;
	bool by_tool;  /* processes follow their tool; else they follow all tools, by start */
	bool for_page; /* with `by_tool`: of tools, processes and readings, only the members of row_type_page_tool and so
			* on are set */
};

/* Bounds what is held in memory at a time: tasks and tools with so many processes. */
#define REPORT_PROCESSES_HELD_MAX 16384

/* Walks the tasks of these indexes, or all tasks in their order if `order` is NULL. */
int report_walk(const struct report *report, const size_t *order, size_t count, const struct report_writer *writer,
		void *context);

/* Rows outside the tree of tasks, in their order. */
enum report_rows { REPORT_INCIDENTS, REPORT_LOSSES, REPORT_CONTAINERS };
int report_each(const struct report *report, enum report_rows rows, rows_take *use, void *context);

enum report_effect report_effect_of(const struct report *report, const struct row_incident *incident);

/* Reads the processes of a task by start; `use` returns a value above 0 to stop. */
int report_each_process(const struct report *report, const struct row_task *task, rows_take *use, void *context);

/* Writes the object described in docs/json.md: run, tasks with tools, incidents, ... Check ferror()
 * for write errors. */
int report_write_json(const struct report *report, FILE *file, bool with_processes, bool with_series);

/* Writes the rows of one kind, each a line: an object of JSON, or CSV with a line of names first. The samples are those
 * that tasks worked on, which must be loaded; the series what was measured of processes over time. */
enum report_lines {
	REPORT_LINES_TASKS,
	REPORT_LINES_TOOLS,
	REPORT_LINES_PROCESSES,
	REPORT_LINES_SERIES,
	REPORT_LINES_SAMPLES,
};
/* At most `most` rows; 0: all. */
int report_write_lines(const struct report *report, FILE *file, enum report_lines lines, size_t most, bool as_csv);
