/* One run with all that belongs to it, loaded to be shown.
 *
 * report_print() shows it to people, report_write_json() to machines.
 */
#ifndef TRACER_CLI_REPORT_H
#define TRACER_CLI_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/output.h"
#include "cli/rows.h"

/* What the engine calls a task; borrowed from `struct names`. NULL: not known. */
struct engine_name {
	const char *name, *label;
};

/* Processes whose figures are lower bounds. */
struct report_doubts {
	int64_t unfinished_count; /* ended, and the last record did not come */
	int64_t found_count;      /* ran before the probe */
	int64_t partial_count;    /* the kernel side could not keep all of it */
};

struct report {
	struct store *store; /* borrowed: processes are read when they are shown */
	struct rows hosts;
	struct rows runs; /* exactly one, as it was asked for */
	struct rows parts; /* of a run that several hosts share: all, the first first; else none */
	struct row_run whole; /* it, or all of its parts together */
	struct rows tasks; /* the pseudo-task first, then as they began */
	struct rows tools; /* by task, then as they began */
	struct rows incidents;
	struct rows losses;
	struct rows containers;
	struct engine_name *engine_names; /* of each task, NULL: none were asked for */
	struct report_doubts doubts;
	int64_t now_boot_ns; /* of the run's host, when it was last heard of */
};

enum report_view { REPORT_TREE, REPORT_TABLE, REPORT_TOOLS };

struct report_style {
	enum report_view view;
	bool with_processes; /* tree: processes beneath their tools */
	bool all;            /* every task, every helper, on a terminal too */
	bool raw;
};

/* `runs` holds one run and becomes the report's. 0 or -errno, said. */
int report_load(struct report *report, struct store *store, struct rows *runs);
void report_free(struct report *report);

/* With the figures of all of its parts, and the id and the clock of the first. */
const struct row_run *report_run(const struct report *report);
/* NULL where the store knows none. */
const struct row_host *report_host(const struct report *report);
const struct row_host *report_host_of(const struct report *report, const struct row_run *run);

/* Name and label of a task as they are shown: the engine's own, where they are known. */
const char *report_task_name(const struct report *report, const struct row_task *task);
const char *report_task_label(const struct report *report, const struct row_task *task);

/* NULL where the report has none of that id. */
const struct row_task *report_task(const struct report *report, int64_t id);
/* The last attempt at the same work, `task` itself where there was no other. */
const struct row_task *report_last_attempt(const struct report *report, const struct row_task *task);
/* Whether a status says so. */
bool report_has_failed(const char *status);

/* What became of what an incident tells. */
enum report_verdict {
	REPORT_FATAL,    /* the run failed of it, or may yet */
	REPORT_RETRIED,  /* the same work was done again, with success */
	REPORT_HARMLESS, /* the run went on without it */
	REPORT_VERDICT_COUNT, /* it is no failure: something stands still */
};
enum report_verdict report_judge(const struct report *report, const struct row_incident *incident);

/* The tools of a task: the first one and how many. */
const struct row_tool *report_task_tools(const struct report *report, int64_t task_id,
					 size_t *ret_count);

/* Whether it is over, and not well. */
bool report_task_failed(const struct row_task *task);

/* From `begin` to `end`, or to now for what has not ended; ROW_NULL if that cannot
 * be told. */
int64_t report_wall_ns(const struct report *report, int64_t begin_boot_ns, int64_t end_boot_ns);

/* The processes of a task as they began. 0 or -errno, said. */
int report_load_processes(const struct report *report, const struct row_task *task,
			  struct rows *ret_rows);

/* 0 or -errno, said. What could not be written shows in output_finish(). */
int report_print(const struct report *report, const struct output *output,
		 const struct report_style *style);

/* The object that docs and tests know: run, tasks with tools, incidents, ... */
int report_write_json(const struct report *report, FILE *file, bool with_processes);

#endif
