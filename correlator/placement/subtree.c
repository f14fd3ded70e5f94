/* Pipes: which subtrees of an orchestrator they make one.
 *
 * A sibling that reads what another writes belongs to the same task. A group knows the open
 * ends of its pipeline: what the first of its row reads and the last writes. Helpers that came
 * first were taken for the orchestrator's own, and are fetched when a group turns out to be
 * beside them. Both are found by orchestrator and pipe, since a shell may have started
 * thousands of others; of several, the one that began first.
 */
#include "correlator/placement/subtree.h"

#include "correlator/model/group.h"
#include "correlator/model/image.h"
#include "correlator/model/pipe.h"
#include "correlator/model/run.h"
#include "correlator/model/tool.h"
#include "correlator/placement/classify.h"
#include "correlator/placement/placing.h"

/* ---- siblings that are one */

/* The first group there but `joined`. */
static struct group *first_but(struct model *model, const struct process *process, uint32_t inode, enum pipe_use use,
			       const struct group *joined)
{
	struct pipe_end *end = pipe_find(model, &process->parent->key, inode, use);
	struct pipe_user *user = end ? end->users : NULL;

	if (user && user->group == joined)
		user = user->next;
	return user ? user->group : NULL;
}

/* The sibling subtree that writes what we read, or reads what we write, `joined` left out. */
static struct group *group_beside(struct model *model, const struct process *process, const struct placing *placing,
				  const struct group *joined)
{
	struct group *upstream = first_but(model, process, placing->stdin_pipe, PIPE_GROUP_WRITES, joined);
	struct group *downstream = first_but(model, process, placing->stdout_pipe, PIPE_GROUP_READS, joined);

	if (!upstream || !downstream)
		return upstream ? upstream : downstream;
	return downstream->start_boot_ns < upstream->start_boot_ns ? downstream : upstream;
}

/* If we stand between two subtrees, or more, those become one. */
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

/* ---- helpers that came first */

/* The first of them there. It may have executed something else since. */
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
	process_set_group(helper, group->task->run, group);
	group_add_stem(group, helper);
	image_set_tool(model, helper->image, tool);
	helper->image->reason = REASON_PIPE;
}

/* It may have been in a row of several, so the next is looked for at the new ends. */
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

/* ---- a subtree that is a task */

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
