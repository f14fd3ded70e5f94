/* Pipes that join subtrees of an orchestrator.
 *
 * Siblings connected by a pipe belong to the same task: a new one joins the subtrees at the other
 * ends of its pipes. Once joined, an end joins nothing else: a pipe to which all steps of a script
 * write, as of `exec > >(tee log)`, does not make one task of them. Helpers that started earlier were
 * assigned to the orchestrator's own group; they are moved when a subtree turns out to be connected to
 * them, directly or by other helpers.
 */
#include "correlator/placement/subtree.h"

#include "correlator/model/group.h"
#include "correlator/model/image.h"
#include "correlator/model/model.h"
#include "correlator/model/pipe.h"
#include "correlator/model/process.h"
#include "correlator/model/run.h"
#include "correlator/model/tool.h"
#include "correlator/model/tree.h"

/* Whether it is in a subtree of its parent, not in its parent's own group. */
static bool is_of_subtree(const struct process *process)
{
	return process->parent && process->group && process->group != process->parent->group;
}

/* Joins the open ends across the pipe to `to`, if `joins` does so with their processes. */
static void join_across(struct model *model, struct process *process, enum pipe_side side, struct process *to,
			bool (*joins)(struct model *model, struct process *other, struct process *to))
{
	struct pipe_end *end = pipe_across(model, process, side), *next;
	bool joined = false;

	for (; end; end = next) {
		struct process *other = end->process;

		next = end->next;
		if (!joins(model, other, to))
			continue;
		pipe_close(model, other, !side);
		joined = true;
	}
	if (joined)
		pipe_close(model, process, side);
}

/* ---- siblings in one pipeline */

/* Returns the sibling across its pipes that started first, or NULL. */
static struct process *first_across(struct model *model, const struct process *process)
{
	struct process *first = NULL;

	for (int side = 0; side < PIPE_SIDES; side++)
		for (struct pipe_end *end = pipe_across(model, process, side); end; end = end->next)
			if (is_of_subtree(end->process) &&
			    (!first || end->process->key.start_boot_ns < first->key.start_boot_ns))
				first = end->process;
	return first;
}

static bool merge(struct model *model, struct process *other, struct process *first)
{
	if (!is_of_subtree(other))
		return false;
	task_merge(model, other->group->task, first->group->task);
	return true;
}

/* Joins the sibling subtrees connected by pipes; if there are several, their tasks are merged. */
static struct group *join_pipeline(struct model *model, struct process *process)
{
	struct process *first = first_across(model, process);

	for (int side = 0; first && side < PIPE_SIDES; side++)
		join_across(model, process, side, first, merge);
	return first ? first->group : NULL;
}

struct placement subtree_join(struct model *model, struct process *process, const struct placing *placing)
{
	struct group *joined;

	process->pipe_inodes[PIPE_READ] = placing->context->stdin_pipe;
	process->pipe_inodes[PIPE_WRITTEN] = placing->context->stdout_pipe;
	joined = join_pipeline(model, process);
	if (joined) {
		if (joined->task != process->parent->run->main)
			task_add_root(model, joined->task, process);
		return (struct placement){joined, REASON_PIPE};
	}
	/* Helpers and components neither open a task nor count as subtrees. */
	if (!placing->class ||
	    (placing->class->role != RULES_ROLE_HELPER && placing->class->role != RULES_ROLE_COMPONENT))
		return (struct placement){NULL};
	return (struct placement){process->parent->group, REASON_HELPER};
}

/* ---- helpers that started earlier */

/* Moves a helper that waits into the group of `process`, unless it has executed something else since. Others may wait
 * for it in turn: it is added to the list. */
static bool adopt(struct model *model, struct process *helper, struct process *process)
{
	struct group *group = process->group;
	struct tool *tool;

	if (is_of_subtree(helper) || !helper->image || helper->image->role != RULES_ROLE_HELPER)
		return false;
	tool = group_tool(model, group, helper->image->tool->name, helper->image->tool->role);
	if (!tool)
		return false;
	process_set_group(model, helper, group->task->run, group);
	image_set_tool(model, helper->image, tool);
	helper->image->reason = REASON_PIPE;
	pipes_forget(model, helper);
	helper->adopted_next = process->adopted_next;
	process->adopted_next = helper;
	return true;
}

/* A helper may be one of several in a pipeline, so the search goes on from each that is adopted. */
void subtree_link(struct model *model, struct process *process)
{
	for (process->adopted_next = NULL; process; process = process->adopted_next)
		for (int side = 0; side < PIPE_SIDES; side++) {
			if (is_of_subtree(process))
				join_across(model, process, side, process, adopt);
			pipe_open(model, process, side);
		}
}

/* ---- tasks of subtrees */

struct placement subtree_open(struct model *model, struct process *process, enum task_kind kind, enum reason reason)
{
	int64_t root_id = image_id(model, &process->key, 0);
	struct task *task = task_open(model, process->parent, kind, reason, root_id);

	if (!task)
		return (struct placement){NULL};
	task_add_root(model, task, process);
	return (struct placement){group_open(model, task, process), reason};
}
