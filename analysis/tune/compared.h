/* Runs of two sides, read from a store or a lake and compared (compare.h). */
#pragma once

#include <jansson.h>

#include "analysis/engines/names.h"
#include "analysis/tune/compare.h"
#include "analysis/tune/history.h"

/* One of the two sides. */
struct compared_side {
	struct rows run; /* the run that the user named, or the last of that name */
	int64_t id;      /* 0: all runs of its name */
	const char *name;
	struct history history;
};

struct compared {
	struct compared_side sides[COMPARE_SIDES];
	struct steps_task *tasks;
	int *side_of_run;
	bool by_sample;
	size_t task_count, run_count;
	struct compare compare;
};

bool compared_are_same(const struct compared *compared);
/* Reads the last runs of both sides (0: all); one that is compared with the others of its name is not among them. A side may
 * have none then. `filter` as in struct history_request. Returns 0, -ENOMEM or the store's error. */
int compared_load(struct compared *compared, struct store *store, size_t last, const struct store_parameter *filter);
/* Puts the tasks of both sides into one array, with runs of both sides. Returns 0 or -ENOMEM. */
int compared_join(struct compared *compared);
/* Writes the ids of the runs of both sides, the latest first, to an array that the caller frees. Returns 0 or -ENOMEM. */
int compared_runs(const struct compared *compared, int64_t **ret_ids);
/* Gives all tasks of a name the engine's name for them, borrowed, if there is one for all. */
void compared_rename(struct compared *compared, const struct engine_names *names);
/* Compares them. Returns 0 or -ENOMEM. */
int compared_find(struct compared *compared);
void compared_free(struct compared *compared);

const char *compare_result_name(enum compare_result result);
/* NAN is ROW_NULL. */
int64_t compare_whole(double value);
/* The object of `tracer compare --json` (docs/json.md). */
json_t *compared_to_json(const struct compared *compared);
/* What each step has, as an object. */
json_t *compared_columns(void);
