/* The engine's own names of tasks, read from one of the engine's files that the user names: `--names FILE`. Optional;
 * tracer never searches for such files. A file that has tasks of a run is kept for that run (names_kept.h), and used when
 * none is given.
 *
 * Supported are Nextflow's trace.txt and .nextflow.log (a task is found by its hash, which is its label),
 * Snakemake's log (by a file of the job on the task's command line, or by rule and wildcards) and
 * its benchmark files as written by --benchmark-extended (by rule and wildcards).
 */
#pragma once

#include "analysis/query/report.h"
#include "cli/source.h"

struct names;

/* For verbs in which -n is another option. */
#define OPTION_SPEC_NAMES(path) \
	{ \
		"names", 0, "FILE", "file", \
			"use the engine's task names from its trace.txt, log or benchmark; none: forget", .text = path \
	}

/* Returns 0, or -1 after printing an error with file, line and reason. */
int names_read(const char *path, struct names **ret_names);
void names_free(struct names *names);
/* source_show() with the names of the file. NULL: `*names` is NULL, and set once a run is known for which a file was kept;
 * "none": as if none was kept, and forgets it. */
int names_show(const char *path, struct names **names, const struct options *options, int (*show)(struct view *view));

/* Sets the report's engine_names of the tasks that are found; says so if a file was given that has none of them. Returns 0
 * or -errno. */
int names_join_run(struct names **names, struct report *report);

/* Learns the names of tasks from the first of these runs that the file has tasks of, or for which one was kept; says so if a
 * file was given, and there is none. Returns 0, -errno or, after printing an error, an exit status. */
int names_learn(struct names **names, struct store *store, const int64_t *run_ids, size_t count);
/* Returns the engine's name of a task: as learned or, of a task of another run, the one that all tasks of its name have;
 * else its own. `names` may be NULL, `task_id` ROW_NULL. */
const char *names_of(const struct names *names, int64_t task_id, const char *name);
