/* Outcome of a task, derived from its root processes. */
#pragma once

#include <stdbool.h>

#include "common/store/rows.h"

/* S(name, text of the row) */
#define OUTCOME_STATUSES(S) \
	S(RUNNING, "running") \
	S(ENDED, "ended") /* outcome unknown */ \
	S(SUCCEEDED, "succeeded") \
	S(FAILED, "failed") \
	S(KILLED, "killed")

enum outcome_status {
#define S(name, text) OUTCOME_##name,
	OUTCOME_STATUSES(S)
#undef S
};

struct outcome {
	int64_t exit_code, signal; /* of the root that decides; ROW_NULL: unknown */
	int root_count, living_roots;
	uint64_t end_boot_ns; /* latest end of a root */
};

void outcome_init(struct outcome *outcome);
void outcome_add_root(struct outcome *outcome, bool has_ended);
/* A root ended with `wait_status` (ROW_NULL unknown). Returns true if it failed and that decides the outcome. */
bool outcome_note(struct outcome *outcome, int64_t wait_status, uint64_t boot_ns);
/* The same, of a task that is merged into another. */
bool outcome_add(struct outcome *sum, const struct outcome *part);
/* `is_running`: whether any image of it runs. */
enum outcome_status outcome_status(const struct outcome *outcome, bool is_running);
