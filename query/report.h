/* One run with all that belongs to it, for whoever shows it: a terminal, JSON, a page, an export.
 *
 * It prints nothing and never ends the program; what fails is a negative errno, and the store has the
 * words (store_error_text(); none for -ENOMEM). A run is never in memory whole: a report keeps the
 * run, its hosts and parts, and of each task a few numbers. Tasks, tools and processes are read
 * when they are shown, and given to a writer one by one.
 */
#pragma once

#include "query/rows.h"

/* What the engine calls a task; borrowed from whoever set it. NULL: not known. */
struct engine_name {
	const char *name, *label;
};

/* Processes whose figures are lower bounds. */
struct report_doubts {
	int64_t unfinished_count; /* ended, and the last record did not come */
	int64_t found_count;      /* ran before the probe */
	int64_t partial_count;    /* the kernel side could not keep all of it */
};

/* What became of what an incident tells. */
enum report_verdict {
	REPORT_FATAL,         /* the run failed of it, or may yet */
	REPORT_RETRIED,       /* the same work was done again, with success */
	REPORT_HARMLESS,      /* the run went on without it */
	REPORT_VERDICT_COUNT, /* it is no failure: something stands still */
};

/* What is kept of every task. Times are on the run's clock. */
struct report_task {
	int64_t id, parent_task_id, retried_by_id;
	int64_t begin_boot_ns, end_boot_ns;
	int64_t process_count;
	uint32_t part; /* index of the host's part */
	bool is_main;  /* the run's own pseudo-task */
	bool failed, succeeded;
	bool out_of_memory; /* it failed of the OOM killer */
};

struct report {
	struct store *store; /* borrowed: rows are read when they are shown */
	struct rows hosts;
	struct rows parts;         /* of a run that several hosts share, the first first; else itself */
	struct row_run whole;      /* all of its parts together */
	struct report_task *tasks; /* the pseudo-tasks first, then as they began */
	size_t task_count;
	size_t *by_id;                    /* indexes of tasks */
	struct engine_name *engine_names; /* of each task, NULL: none were asked for */
	struct report_doubts doubts;
	size_t verdict_counts[REPORT_VERDICT_COUNT + 1]; /* of its incidents */
	bool out_of_memory;                              /* a task failed of the OOM killer */
	int64_t now_boot_ns;                             /* of the run's host, when it was last heard of */
};

/* `run` is copied; `with_containers`: they will be read, too. 0 or -errno. */
int report_load(struct report *report, struct store *store, const struct row_run *run, bool with_containers);
void report_free(struct report *report);

/* With the figures of all of its parts, and the id and the clock of the first. */
const struct row_run *report_run(const struct report *report);
/* NULL where the store knows none. */
const struct row_host *report_host(const struct report *report);
const struct row_host *report_host_of(const struct report *report, const struct row_run *run);
size_t report_hosts_count(const struct report *report);
/* Of all hosts that the run was on; ROW_NULL where that is not known. */
int64_t report_processors_count(const struct report *report);

/* The boot clock of a host when it was last heard of: its stream's latest event, or, as a lake
 * has it, its latest pass. ROW_NULL where nothing is known. `host` may be NULL. */
int64_t report_now_boot_ns(struct store *store, const struct row_host *host);
/* From `begin` to `end`, or to `now` for what has not ended; ROW_NULL if that cannot be told. */
int64_t report_span_ns(int64_t begin_boot_ns, int64_t end_boot_ns, int64_t now_boot_ns);
int64_t report_wall_ns(const struct report *report, int64_t begin_boot_ns, int64_t end_boot_ns);

/* Whether a status says so. */
bool report_has_failed(const char *status);

/* ---- tasks ---------------------------------------------------------------------- */

#define REPORT_NO_TASK SIZE_MAX

/* Its index, REPORT_NO_TASK where the report has none of that id. */
size_t report_find_task(const struct report *report, int64_t id);
/* The last attempt at the same work, the task itself where there was no other. */
size_t report_last_attempt(const struct report *report, size_t task);
/* Name and label of a task as they are shown: the engine's own, where they are known. */
const char *report_task_name(const struct report *report, size_t index, const struct row_task *task);
const char *report_task_label(const struct report *report, size_t index, const struct row_task *task);
/* One task whole. 0 or -errno. */
int report_load_task(const struct report *report, size_t index, struct rows *ret_rows);

/* ---- reading it ------------------------------------------------------------------ */

/* Callbacks that are NULL are not called, and what they would get is not read if it need not be. All
 * return 0, or a negative errno that ends it all and is returned. Rows are there until the callback
 * returns; the tools of a task until its `task_end`. */
struct report_writer {
	/* `tools` as they began, all `count` of them; none where neither `tool` nor `with_tools` is. */
	int (*task)(void *context, size_t index, const struct row_task *task, const struct row_tool *tools,
		    size_t count);
	int (*tool)(void *context, const struct row_tool *tool, size_t index);
	/* `is_last`: of its tool; known only where they come by tool. */
	int (*process)(void *context, const struct row_process *process, bool is_last);
	/* Behind the processes, whether they are wanted or not: of each process, as time went on. */
	int (*sample)(void *context, const struct row_sample *sample);
	int (*task_end)(void *context);
	bool with_tools;
	bool by_tool; /* processes come behind their tool; else behind all, as they began */
};

/* What is held at a time of a lake: tasks and tools of so many processes. */
#define REPORT_PROCESSES_HELD_MAX 4096

/* The tasks of these indexes; all, as they are, where `order` is NULL. */
int report_walk(const struct report *report, const size_t *order, size_t count, const struct report_writer *writer,
		void *context);

typedef int report_use_row(void *context, const void *row);
/* Rows of the run that belong to no task, in their order. */
enum report_rows { REPORT_INCIDENTS, REPORT_LOSSES, REPORT_CONTAINERS };
int report_each(const struct report *report, enum report_rows rows, report_use_row *use, void *context);

enum report_verdict report_judge(const struct report *report, const struct row_incident *incident);

/* The processes of a task as they began: `use` returns above 0 to have no more. */
int report_each_process(const struct report *report, const struct row_task *task, report_use_row *use, void *context);

/* The object that docs and tests know: run, tasks with tools, incidents, ... What could not be
 * written shows in ferror(). */
int report_write_json(const struct report *report, FILE *file, bool with_processes, bool with_samples);
