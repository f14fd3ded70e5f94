/* tracer tune --right-size: what to request for tasks, as text, JSON or configuration. */
#pragma once

#include "cli/source.h"

/* Values of `--format`. */
#define RIGHT_SIZE_FORMATS "text json nextflow snakemake slurm"

/* `format` is one of RIGHT_SIZE_FORMATS; NULL: text, or JSON with --json. `input_bytes` is the size of an input to
 * extrapolate to, or ROW_NULL. Each operand is the name of tasks or runs, or a run as in source_find_run(); none: all
 * tasks. Returns 0, -errno or, after printing an error, an exit status. */
int right_size_show(struct view *view, const char *format, int64_t input_bytes, const char *const *operands,
		    size_t count);
