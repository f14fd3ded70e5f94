/* Subtrees of an orchestrator: how pipes join them, and the task that each begins. */
#pragma once

#include "correlator/model/task.h"

struct model;
struct process;
struct placing;

/* Returns the group that `process`, a child of an orchestrator, belongs to: that of a sibling joined
 * to it by a pipe, or for helpers the orchestrator's; NULL if it is a subtree of its own. */
struct group *subtree_join(struct model *model, struct process *process, const struct placing *placing,
			   enum reason *ret_reason);
/* Opens a task for it beneath its parent. Returns the task's first group, or NULL if out of memory. */
struct group *subtree_open(struct model *model, struct process *process, enum task_kind kind, enum reason reason);
/* Moves into the subtree of `process`, now placed, the helpers that are joined to it by pipes and were placed
 * before it. What its pipes do not join waits for others. */
void subtree_link(struct model *model, struct process *process);
