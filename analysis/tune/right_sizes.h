/* Right sizes (right_size.h) of tasks in a store or a lake, by name. */
#pragma once

#include <jansson.h>

#include "analysis/engines/names.h"
#include "analysis/tune/right_size.h"
#include "common/store/store.h"

/* Which tasks: those of a name or of the runs of a name, or those of a run. All NULL and ROW_NULL: all. */
struct right_sizes_selection {
	const char *name;
	int64_t run_id, host_id;
	const struct store_parameter *filter; /* only those of :host and :user_id; NULL: all */
};

struct right_sizes_name {
	const char *name;
	struct right_size size;
};

struct right_sizes {
	struct right_sizes_name *items; /* by name */
	size_t count;
	struct right_sizes_task *tasks;
	size_t task_count, task_capacity;
	char **texts;
	size_t text_count, text_capacity;
};

/* Adds the selected tasks; one that was added before counts once. Returns their number, or -errno. Zero `sizes` before
 * the first call; free them after an error, too. */
int64_t right_sizes_add(struct right_sizes *sizes, struct store *store, const struct right_sizes_selection *selection);
/* Writes the ids of the runs of all tasks, each once, to an array that the caller frees. Returns 0 or -ENOMEM. */
int right_sizes_runs(const struct right_sizes *sizes, int64_t **ret_ids, size_t *ret_count);
/* Gives each task the engine's name for it, borrowed. */
void right_sizes_rename(struct right_sizes *sizes, const struct engine_names *names);
/* Computes `items` from all tasks that were added; call it once. `input_bytes` as in right_size_find(). Returns 0
 * or -ENOMEM. */
int right_sizes_find(struct right_sizes *sizes, int64_t input_bytes);
/* The object of `tracer tune --right-size --json` (docs/json.md). */
json_t *right_sizes_to_json(const struct right_sizes *sizes, int64_t input_bytes);
/* What each name has, as an object. */
json_t *right_sizes_columns(void);
/* Writes configuration: "nextflow", "snakemake", "slurm". Returns false if there is no such format. */
bool right_sizes_write(const struct right_sizes *sizes, const char *format, bool has_engine_names, FILE *file);
void right_sizes_free(struct right_sizes *sizes);
