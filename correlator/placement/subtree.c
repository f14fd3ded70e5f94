/* Pipes that join subtrees of an orchestrator.
 *
 * Siblings connected by a pipe belong to the same task. A group knows the open ends of its
 * pipeline: the pipe that its first process reads and the pipe that its last writes. Helpers
 * that started earlier were assigned to the orchestrator's own group; they are moved when a group
 * turns out to be connected to them. Groups and helpers are looked up by orchestrator and pipe,
 * since a shell may have started thousands; of several matches, the earliest to start is used.
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
#include "correlator/placement/classify.h"
#include "correlator/placement/placing.h"

/* ---- siblings in one pipeline */

/* Returns the first group at that end of the pipe other than `joined`, or NULL. */
static struct group *first_but(struct model *model, const struct process *process, uint32_t inode, enum pipe_use use,
			       const struct group *joined)
{
	struct pipe_end *end = pipe_find(model, &process->parent->key, inode, use);
	struct pipe_user *user = end ? end->users : NULL;

	if (user && user->group == joined)
		user = user->next;
	return user ? user->group : NULL;
}

/* Returns the sibling subtree, other than `joined`, that writes what we read or reads what we write. */
static struct group *group_beside(struct model *model, const struct process *process, const struct placing *placing,
				  const struct group *joined)
{
	struct group *upstream = first_but(model, process, placing->stdin_pipe, PIPE_GROUP_WRITES, joined);
	struct group *downstream = first_but(model, process, placing->stdout_pipe, PIPE_GROUP_READS, joined);

	if (!upstream || !downstream)
		return upstream ? upstream : downstream;
	return downstream->start_boot_ns < upstream->start_boot_ns ? downstream : upstream;
}

/* Joins the sibling subtrees connected by pipes; if there are several, their tasks are merged. */
static struct group *join_pipeline(struct model *model, struct process *process, const struct placing *placing)
{
	uint32_t input = placing->stdin_pipe, output = placing->stdout_pipe;
	struct group *group, *joined = NULL;

	while ((group = group_beside(model, process, placing, joined))) {
		bool upstream = placing->stdin_pipe && group->output_pipe == placing->stdin_pipe;
		bool downstream = placing->stdout_pipe && group->input_pipe == placing->stdout_pipe;

		if (upstream)
			input = group->input_pipe;
		if (downstream && (!upstream || !joined))
			output = group->output_pipe;
		if (!joined) {
			joined = group;
			continue;
		}
		group_set_pipes(model, group, 0, 0);
		if (group->task != joined->task)
			task_merge(model, group->task, joined->task);
	}
	if (joined) {
		group_add_stem(joined, process);
		group_set_pipes(model, joined, input, output);
	}
	return joined;
}

struct group *subtree_join(struct model *model, struct process *process, const struct placing *placing,
			   enum reason *ret_reason)
{
	struct group *joined = join_pipeline(model, process, placing);

	process->stdin_pipe = placing->stdin_pipe;
	process->stdout_pipe = placing->stdout_pipe;
	if (joined) {
		*ret_reason = REASON_PIPE;
		if (joined->task != process->parent->run->main)
			task_add_root(model, joined->task, process);
		return joined;
	}
	if (classify_opens_subtree(placing))
		return NULL;
	*ret_reason = REASON_HELPER;
	helper_set_pipes(model, process);
	return process->parent->group;
}

/* ---- helpers that started earlier */

/* Returns the first helper at that end that has not executed something else since, or NULL. */
static struct process *helper_at(struct model *model, const struct group *group, const struct process *orchestrator,
				 uint32_t inode, enum pipe_use use)
{
	struct pipe_end *end = pipe_find(model, &orchestrator->key, inode, use);
	struct pipe_user *user = end ? end->users : NULL;

	for (; user; user = user->next) {
		struct process *helper = user->helper;

		if (helper->group == orchestrator->group && helper->group != group && helper->image &&
		    helper->image->role == RULES_ROLE_HELPER)
			return helper;
	}
	return NULL;
}

static struct process *helper_beside(struct model *model, const struct group *group, const struct process *orchestrator)
{
	struct process *upstream = helper_at(model, group, orchestrator, group->input_pipe, PIPE_HELPER_WRITES);
	struct process *downstream = helper_at(model, group, orchestrator, group->output_pipe, PIPE_HELPER_READS);

	if (!upstream || !downstream)
		return upstream ? upstream : downstream;
	return downstream->key.start_boot_ns < upstream->key.start_boot_ns ? downstream : upstream;
}

static void adopt(struct model *model, struct process *helper, struct group *group)
{
	const struct tool *before = helper->image->tool;
	struct tool *tool = group_tool(model, group, before->name, before->role);

	helper_forget_pipes(model, helper);
	if (!tool)
		return;
	process_set_group(model, helper, group->task->run, group);
	group_add_stem(group, helper);
	image_set_tool(model, helper->image, tool);
	helper->image->reason = REASON_PIPE;
}

/* A helper may be one of several in a pipeline, so the search repeats at the new ends. */
void subtree_adopt_helpers(struct model *model, struct group *group, struct process *orchestrator)
{
	struct process *helper;

	if (!process_key_is(&group->orchestrator, &orchestrator->key))
		return;
	while ((helper = helper_beside(model, group, orchestrator))) {
		bool upstream = helper->stdout_pipe && helper->stdout_pipe == group->input_pipe;
		uint32_t input = upstream ? helper->stdin_pipe : group->input_pipe;
		uint32_t output = upstream ? group->output_pipe : helper->stdout_pipe;

		adopt(model, helper, group);
		group_set_pipes(model, group, input, output);
	}
}

/* ---- tasks of subtrees */

struct group *subtree_open(struct model *model, struct process *process, const struct placing *placing,
			   enum task_kind kind, enum reason reason)
{
	struct run *run = process->parent->run;
	int64_t root_id = image_id(model, (uint32_t)process->key.pid, process->key.start_boot_ns, 0);
	struct task *task = task_new(model, run, kind, reason, root_id);

	if (!task)
		return NULL;
	run->task_count++;
	task_set_orchestrator(task, process->parent);
	task_add_root(model, task, process);
	task_set_opened(model, task);
	return group_open(model, task, process, placing->stdin_pipe, placing->stdout_pipe);
}
