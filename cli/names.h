/* The engine's own names of tasks, from a file of the engine's that the user gives: `tracer show
 * --names FILE`. Never needed, never searched for.
 *
 * Read are Nextflow's trace.txt and .nextflow.log (a task is found by its hash, which is its label),
 * Snakemake's log (by a file of the job on the task's command line, or by rule and wildcards) and
 * its benchmark files, as --benchmark-extended writes them (by rule and wildcards).
 */
#pragma once

#include "query/report.h"

struct names;

/* 0 and `*ret_names`, or -1: said, with file, line and reason. */
int names_read(const char *path, struct names **ret_names);
void names_free(struct names *names);

/* Fills the report's engine_names with those of the tasks that are found. 0 or -errno. */
int names_join(struct names *names, struct report *report, size_t *ret_count);
