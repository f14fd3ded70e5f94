/* Subtrees of an orchestrator: how pipes join them, and the task that each begins. */
#pragma once

#include "correlator/model/task.h"
#include "correlator/placement/placing.h"

struct model;
struct process;

/* Returns the group that `process`, a child of an orchestrator, belongs to: that of a sibling joined
 * to it by a pipe, or for helpers the orchestrator's; none if it is a subtree of its own. */
struct placement subtree_join(struct model *model, struct process *process, const struct placing *placing);
/* Opens a task for it beneath its parent, and the task's first group. */
struct placement subtree_open(struct model *model, struct process *process, enum task_kind kind, enum reason reason);
/* Moves into the subtree of `process`, now placed, the helpers that are joined to it by pipes and were placed
 * before it. What its pipes do not join waits for others. */
void subtree_link(struct model *model, struct process *process);
