/* What an engine reported about a task in its trace or benchmark file: to be shown beside what the kernel counted. */
#pragma once

#include "analysis/query/report.h"

/* Columns of Nextflow's trace.txt, with trace.raw or without, and of Snakemake's benchmark files. */
enum names_figure {
	NAMES_REALTIME, /* Nextflow: time that the task's script took */
	NAMES_CPU_SHARE,
	NAMES_PEAK_RSS,
	NAMES_SECONDS, /* Snakemake */
	NAMES_CPU_TIME,
	NAMES_MAX_RSS,
	NAMES_FIGURE_COUNT,
};
extern const char *const names_figure_columns[NAMES_FIGURE_COUNT];

/* `texts` are NULL where the file has no such column. What is missing, "-", or NA is ROW_NULL. */
void names_figures_read(const char *const texts[NAMES_FIGURE_COUNT], struct engine_name *ret_name);
