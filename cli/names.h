/* The engine's own names of tasks, read from one of the engine's files that the user names: `--names FILE`. Optional;
 * tracer never searches for such files.
 *
 * Supported are Nextflow's trace.txt and .nextflow.log (a task is found by its hash, which is its label),
 * Snakemake's log (by a file of the job on the task's command line, or by rule and wildcards) and
 * its benchmark files as written by --benchmark-extended (by rule and wildcards).
 */
#pragma once

#include "cli/source.h"
#include "query/report.h"

struct names;

/* For verbs in which -n is another option. */
#define OPTION_SPEC_NAMES(path) \
	{ \
		"names", 0, "FILE", "file", \
			"use the engine's task names from its trace.txt, .nextflow.log, log or benchmark", \
			.text = path \
	}

/* Returns 0, or -1 after printing an error with file, line and reason. */
int names_read(const char *path, struct names **ret_names);
void names_free(struct names *names);
/* source_show() with the names of the file; `path` may be NULL. */
int names_show(const char *path, struct names **names, const struct options *options, int (*show)(struct view *view));

/* Sets the report's engine_names of the tasks that are found; counts these. Returns 0 or -errno. */
int names_join(struct names *names, struct report *report, size_t *ret_count);
/* The same, for a run's own page: says so if the file has none of its tasks. */
int names_join_run(struct names *names, struct report *report);

/* Learns the names of tasks from the first of these runs that the file has tasks of; says so if there is none. Returns 0,
 * -errno or, after printing an error, an exit status. */
int names_learn(struct names *names, struct store *store, const int64_t *run_ids, size_t count);
/* Returns the engine's name of a task: as learned or, of a task of another run, the one that all tasks of its name have;
 * else its own. `task_id` may be ROW_NULL. */
const char *names_of(const struct names *names, int64_t task_id, const char *name);
