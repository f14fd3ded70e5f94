/* Tasks: opening, naming and merging them, and the pipes that make siblings one. */
#include "correlator/internal.h"

#include <stdlib.h>
#include <string.h>

static bool same_process(const struct process_key *key, const struct process *process)
{
	return key->pid == process->key.pid && key->start_boot_ns == process->key.start_boot_ns;
}

/* Makes `process` the root of a group of its own in `task`. */
struct group *group_open(struct model *model, struct task *task, struct process *process,
				const struct placing *placing)
{
	struct group *group = group_new(model, task, process);

	if (!group)
		return NULL;
	if (process->parent)
		group->orchestrator = process->parent->key;
	group->input_pipe = placing->stdin_pipe;
	group->output_pipe = placing->stdout_pipe;
	return group;
}

void task_add_root(struct model *model, struct task *task, struct process *process)
{
	process->is_task_root = true;
	task->outcome.root_count++;
	if (!process->ended)
		task->outcome.living_roots++;
	if (task->root_process_id != ROW_NULL)
		return;
	task->root_process_id = image_id(model, (uint32_t)process->key.pid, process->key.start_boot_ns,
					 process->exec_id);
	task->container = container_of_process(model, process);
	if (process->command)
		model_set_text(model, &task->working_directory, process->command->working_directory);
}

void task_set_orchestrator(struct task *task, struct process *orchestrator)
{
	task->orchestrator_process_id = orchestrator->image ? orchestrator->image->id : ROW_NULL;
	task->orchestrator_group = orchestrator->group;
	orchestrator->group->members++;
}

/* A shell that runs a script, or a rule, names the task it roots; the rest are
 * named after their tools. Hidden scripts (.command.run) say nothing. */
void task_name_by_root(struct model *model, struct task *task, const struct process *process,
			      const struct rules_verdict *verdict)
{
	const char *name = NULL;

	if (!verdict || task->name_fixed)
		return;
	if (verdict->task_name[0])
		name = verdict->task_name;
	else if (verdict_names_script(process, verdict) && verdict->name[0] != '.')
		name = verdict->name;
	if (!name)
		return;
	model_set_text(model, &task->name, name);
	task->name_fixed = true;
}

struct group *task_open(struct model *model, struct process *process, const struct placing *placing,
			       const char *kind, const char *reason)
{
	struct run *run = process->parent->run;
	int64_t root_id = image_id(model, (uint32_t)process->key.pid, process->key.start_boot_ns, 0);
	struct task *task = task_new(model, run, kind, reason, root_id);

	if (!task)
		return NULL;
	run->task_count++;
	task_set_orchestrator(task, process->parent);
	task_add_root(model, task, process);
	task_name_by_root(model, task, process, placing->verdict);
	return group_open(model, task, process, placing);
}

/* Everything of `from` goes to `into`; `from` stays as a row that says so. */
void task_merge(struct model *model, struct task *from, struct task *into)
{
	if (from == into)
		return;
	while (from->groups)
		group_move(model, from->groups, into);
	outcome_add(&into->outcome, &from->outcome);
	allowance_merge(&into->allowance, &from->allowance);
	failure_merge(&into->failure, &from->failure);
	into->failed_commands_told |= from->failed_commands_told;
	from->merged_into_id = into->id;
	from->dirty = into->dirty = true;
	from->run->task_count--;
}

/* ---- pipes */

/* The sibling subtree that writes what we read, or reads what we write; and if we
 * stand between two, those become one. */
static struct group *join_pipeline(struct model *model, struct process *process,
				   const struct placing *placing)
{
	struct process *sibling;
	struct group *joined = NULL;

	if (!placing->stdin_pipe && !placing->stdout_pipe)
		return NULL;
	DL_FOREACH2 (process->parent->children, sibling, sibling_next) {
		struct group *group = sibling->group;

		if (sibling == process || sibling->place != PLACE_FULL || group == joined ||
		    !same_process(&group->orchestrator, process->parent))
			continue;
		bool upstream = placing->stdin_pipe && group->output_pipe == placing->stdin_pipe;
		bool downstream = placing->stdout_pipe && group->input_pipe == placing->stdout_pipe;

		if (!upstream && !downstream)
			continue;
		uint32_t input = upstream ? group->input_pipe : placing->stdin_pipe;
		uint32_t output = downstream ? group->output_pipe : placing->stdout_pipe;

		if (!joined) {
			joined = group;
			joined->input_pipe = input;
			joined->output_pipe = output;
			continue;
		}
		if (upstream)
			joined->input_pipe = group->input_pipe;
		else
			joined->output_pipe = group->output_pipe;
		group->input_pipe = group->output_pipe = 0;
		if (group->task != joined->task)
			task_merge(model, group->task, joined->task);
	}
	return joined;
}

struct group *subtree_join(struct model *model, struct process *process,
			   const struct placing *placing, const char **ret_reason)
{
	struct group *joined = join_pipeline(model, process, placing);

	process->stdin_pipe = placing->stdin_pipe;
	process->stdout_pipe = placing->stdout_pipe;
	if (joined) {
		*ret_reason = "joined to a sibling by a pipe";
		if (joined->task != process->parent->run->main)
			task_add_root(model, joined->task, process);
		return joined;
	}
	if (verdict_opens_subtree(placing))
		return NULL;
	*ret_reason = "helper beneath the orchestrator: its own";
	return process->parent->group;
}

/* A helper that came first and was taken for the orchestrator's own. */
static void adopt(struct model *model, struct process *helper, struct group *group)
{
	const struct tool *before = helper->image->tool;
	struct tool *tool = group_tool(model, group, before->name, before->role);

	if (!tool)
		return;
	process_set_group(helper, group->task->run, group);
	image_set_tool(model, helper->image, tool);
	helper->image->reason = "joined to a sibling by a pipe";
}

void group_adopt_helpers(struct model *model, struct group *group, struct process *orchestrator)
{
	struct process *helper = orchestrator->children;

	if (!same_process(&group->orchestrator, orchestrator))
		return;
	while (helper) {
		bool own = helper->place == PLACE_FULL && helper->group == orchestrator->group &&
			   helper->group != group && helper->image &&
			   helper->image->role == RULES_ROLE_HELPER;
		bool upstream = own && helper->stdout_pipe && helper->stdout_pipe == group->input_pipe;
		bool downstream = own && helper->stdin_pipe && helper->stdin_pipe == group->output_pipe;

		if (!upstream && !downstream) {
			helper = helper->sibling_next;
			continue;
		}
		if (upstream)
			group->input_pipe = helper->stdin_pipe;
		else
			group->output_pipe = helper->stdout_pipe;
		adopt(model, helper, group);
		helper = orchestrator->children; /* it may have been in a row of several */
	}
}
