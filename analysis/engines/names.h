/* The engine's own names of tasks, with what it measured of them, read from one of the engine's files that a user names:
 * Nextflow's trace.txt and .nextflow.log (a task is found by its hash, which is its label), Snakemake's log (by a file of the
 * job on the task's command line, or by rule and wildcards) and its benchmark files as written by --benchmark-extended (by
 * rule and wildcards). It neither prints nor exits.
 */
#pragma once

#include <limits.h>
#include <stdio.h>

#include "analysis/query/report.h"

#define ENGINE_NAMES_REASON_SIZE (PATH_MAX + 640)

struct engine_names;

/* Returns 0, or -errno with a reason that begins with file and line; its text is from the file, and not safe to display. */
int engine_names_read(const char *path, struct engine_names **ret_names, char reason[ENGINE_NAMES_REASON_SIZE]);
/* The same, of a file that is open, and is closed. */
int engine_names_parse(FILE *file, const char *path, struct engine_names **ret_names,
		       char reason[ENGINE_NAMES_REASON_SIZE]);
void engine_names_free(struct engine_names *names);

/* Sets the report's engine_names of the tasks that are found, and their number. Returns 0 or -errno. */
int engine_names_join(struct engine_names *names, struct report *report, size_t *ret_count);

/* Learns the names of a run's tasks, and sets their number: the names of tasks of other runs follow from them. Returns 0 or
 * -errno. */
int engine_names_learn(struct engine_names *names, struct store *store, int64_t run_id, size_t *ret_count);
/* Returns the engine's name of a task: as learned or, of a task of another run, the one that all tasks of its name have;
 * else its own. `names` may be NULL, `task_id` ROW_NULL. */
const char *engine_names_of(const struct engine_names *names, int64_t task_id, const char *name);
