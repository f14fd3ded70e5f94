/* Subtrees of an orchestrator: which pipes make one, and the task that each begins. */
#pragma once

#include "correlator/model/task.h"

struct placing;

/* Beneath an orchestrator: the group of the sibling that a pipe joins `process` to; for
 * helpers the orchestrator's; NULL: it is a subtree of its own. */
struct group *subtree_join(struct model *model, struct process *process, const struct placing *placing,
			   enum reason *ret_reason);
/* A task for it, beneath its parent. */
struct group *subtree_open(struct model *model, struct process *process, const struct placing *placing,
			   enum task_kind kind, enum reason reason);
/* Takes into `group` the helpers that pipes join it to and that came before it. */
void subtree_adopt_helpers(struct model *model, struct group *group, struct process *orchestrator);
