/* Which sample each task of a run worked on: reads the command lines of its tasks for samples_find().
 *
 * Nothing of it is stored. The names identify people's data: docs/privacy.md.
 */
#pragma once

#include <stdbool.h>

#include "analysis/query/rows.h"
#include "analysis/query/samples.h"

#define RUN_SAMPLES_NONE "(no sample)"
#define RUN_SAMPLES_SHARED "(shared)"
/* Command lines of a run that are read, at most 64 of each task: words of further ones are unknown. */
#define RUN_LINES_BYTES_MAX (INT64_C(64) << 20)

struct run_samples_task {
	int64_t id;
	int sample; /* index of a key, SAMPLES_NONE or SAMPLES_SHARED */
};

struct run_samples {
	struct run_samples_task *tasks; /* by id */
	size_t task_count;
	struct samples samples;
};

/* Loads the command lines (row_sample_word, by part and task) of a run, of those of the parts (row_part) that `joined_id`
 * represents. Returns 0, -ENOMEM or the store's error. Free them either way. */
int run_lines_load(struct store *store, const struct rows *parts, int64_t joined_id, struct rows *ret_lines);

/* Finds the samples of a run by its command lines. `names` is NULL to infer them. Returns 0 or -ENOMEM. Free them either
 * way. */
int run_samples_make(const struct rows *lines, const struct sample_names *names, struct run_samples *ret_samples);
/* The same with lines that are read for that alone. Returns 0, -ENOMEM or the store's error. */
int run_samples_load(struct store *store, const struct rows *parts, int64_t joined_id, const struct sample_names *names,
		     struct run_samples *ret_samples);
void run_samples_free(struct run_samples *samples);

/* Returns the sample of a task, RUN_SAMPLES_NONE or RUN_SAMPLES_SHARED. Valid until run_samples_free(). */
const char *run_samples_find(const struct run_samples *samples, int64_t task_id);

/* Whether that is the name of a sample: these begin with a letter or digit. */
bool run_samples_is_name(const char *name);
