/* The engine's own names of tasks, read from one of the engine's files that the user names: `tracer show
 * --names FILE`. Optional; tracer never searches for such files.
 *
 * Supported are Nextflow's trace.txt and .nextflow.log (a task is found by its hash, which is its label),
 * Snakemake's log (by a file of the job on the task's command line, or by rule and wildcards) and
 * its benchmark files as written by --benchmark-extended (by rule and wildcards).
 */
#pragma once

#include "query/report.h"

struct names;

/* Returns 0, or -1 after printing an error with file, line and reason. */
int names_read(const char *path, struct names **ret_names);
void names_free(struct names *names);

/* Sets the report's engine_names of the tasks that are found; counts these. Returns 0 or -errno. */
int names_join(struct names *names, struct report *report, size_t *ret_count);
