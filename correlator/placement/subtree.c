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

/* ---- siblings in one pipeline */

/* Returns the sibling across its pipes that started first, or NULL. */
static struct process *first_across(struct model *model, const struct process *process)
{
	struct process *first = NULL;

	for (int side = 0; side < PIPE_SIDES; side++)
		for (struct pipe_end *end = pipe_across(model, process, side); end && pipe_is_of_subtree(end->process);
		     end = end->next)
			if (!first || end->process->key.start_boot_ns < first->key.start_boot_ns)
				first = end->process;
	return first;
}

/* Joins the sibling subtrees connected by pipes; if there are several, their tasks are merged. */
static struct group *join_pipeline(struct model *model, struct process *process)
{
	const struct process *first = first_across(model, process);
	struct pipe_end *end;

	if (!first)
		return NULL;
	for (int side = 0; side < PIPE_SIDES; side++) {
		bool joined = false;

		while ((end = pipe_across(model, process, side)) && pipe_is_of_subtree(end->process)) {
			if (end->process->group->task != first->group->task)
				task_merge(model, end->process->group->task, first->group->task);
			pipe_close(model, end->process, !side);
			joined = true;
		}
		if (joined)
			pipe_close(model, process, side);
	}
	return first->group;
}

struct placement subtree_join(struct model *model, struct process *process, const struct placing *placing)
{
	struct group *joined;

	process->pipes[PIPE_READ].inode = placing->context->stdin_pipe;
	process->pipes[PIPE_WRITTEN].inode = placing->context->stdout_pipe;
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

/* Moves a helper that waits into `group`, unless it has executed something else since. */
static bool adopt(struct model *model, struct process *helper, struct group *group)
{
	struct tool *tool;

	if (pipe_is_of_subtree(helper) || !helper->image || helper->image->role != RULES_ROLE_HELPER)
		return false;
	tool = group_tool(model, group, helper->image->tool->name, helper->image->tool->role);
	if (!tool)
		return false;
	process_set_group(model, helper, group->task->run, group);
	image_set_tool(model, helper->image, tool);
	helper->image->reason = REASON_PIPE;
	return true;
}

/* Adopts the helpers across the pipe, and adds them to the list that ends with `*last`. */
static void adopt_across(struct model *model, struct process *process, enum pipe_side side, struct process **last)
{
	struct pipe_end *end = pipe_across(model, process, side), *next;
	bool joined = false;

	for (; end; end = next) {
		struct process *helper = end->process;

		next = end->next;
		if (!adopt(model, helper, process->group))
			continue;
		pipes_forget(model, helper);
		pipe_close(model, helper, !side);
		helper->adopted_next = NULL;
		*last = (*last)->adopted_next = helper;
		joined = true;
	}
	if (joined)
		pipe_close(model, process, side);
}

/* A helper may be one of several in a pipeline, so the search goes on from each that is adopted. */
void subtree_link(struct model *model, struct process *process)
{
	struct process *last = process;

	for (process->adopted_next = NULL; process; process = process->adopted_next)
		for (int side = 0; side < PIPE_SIDES; side++) {
			if (pipe_is_of_subtree(process))
				adopt_across(model, process, side, &last);
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
