/* tracer tune --right-size: what to request for tasks, as text, JSON or configuration. */
#pragma once

#include "cli/report/names.h"
#include "cli/source.h"

/* Values of `--format` that follow those of all verbs. */
#define RIGHT_SIZE_FORMATS "nextflow snakemake slurm"
enum { RIGHT_SIZE_NEXTFLOW = FORMAT_COUNT, RIGHT_SIZE_SNAKEMAKE, RIGHT_SIZE_SLURM };

struct right_size_request {
	int64_t input_bytes;         /* also for an input of this size; ROW_NULL: none */
	struct engine_names **names; /* of the engine: as for names_learn(); or NULL */
};

/* Each operand is the name of tasks or runs, or a run as in source_find_run(); none: all tasks. Returns 0, -errno or, after
 * printing an error, an exit status. */
int right_size_show(struct view *view, const struct right_size_request *request, const char *const *operands,
		    size_t count);
