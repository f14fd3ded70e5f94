/* Which sample each task of a run worked on: inferred from the names of files on command lines, or by names that the
 * user gives.
 *
 * A sample is a beginning of file names that recurs in several steps of a pipeline, and in each of them only in some
 * tasks: a reference occurs in all. The result is published only if it fits: most steps must have one task for each
 * sample. How long tasks took does not matter. Thresholds and what they were measured on: docs/samples.md.
 * No I/O.
 */
#pragma once

#include <stddef.h>

#include "analysis/query/sample_names.h"

struct samples_task {
	const char *name;         /* of the step: tasks of the same name do the same to other data */
	const char *const *words; /* of its command lines; paths are reduced to their last part */
	size_t word_count;
	const char *const *samples; /* that rules say; if any task has some, none are inferred */
	size_t sample_count;
};

#define SAMPLES_NONE (-1)   /* works on no sample: overhead */
#define SAMPLES_SHARED (-2) /* on several */
#define SAMPLES_MISFIT_SIZE 96
#define SAMPLES_KEYS_MAX 200000 /* beginnings of words; further ones are not samples */

struct samples {
	char **keys; /* sorted */
	size_t key_count;
	int *of_task;                     /* index of a key, SAMPLES_NONE or SAMPLES_SHARED */
	char misfit[SAMPLES_MISFIT_SIZE]; /* why there is no key, and all tasks have none; else "" */
};

/* `names` is NULL to infer them. Returns 0 or -ENOMEM. */
int samples_find(const struct samples_task *tasks, size_t count, const struct sample_names *names,
		 struct samples *ret_samples);
void samples_deinit(struct samples *samples);
