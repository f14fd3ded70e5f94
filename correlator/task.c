/* Tasks: opening, naming and merging them. */
#include "correlator/internal.h"

#include <stdlib.h>
#include <string.h>

/* Makes `process` the root of a group of its own in `task`. */
struct group *group_open(struct model *model, struct task *task, struct process *process,
				const struct placing *placing)
{
	struct group *group = group_new(model, task, process);

	if (!group)
		return NULL;
	if (process->parent)
		group->orchestrator = process->parent->key;
	group_add_stem(group, process);
	group_set_pipes(model, group, placing->stdin_pipe, placing->stdout_pipe);
	return group;
}

void task_add_root(struct model *model, struct task *task, struct process *process)
{
	process->is_task_root = true;
	if (task->root.pid == 0)
		task->root = process->key;
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
	task->orchestrator = orchestrator->key;
	task->orchestrator_group = orchestrator->group;
	orchestrator->group->members++;
}

/* A rule's name for the task counts wherever in it the process is: an engine may start its job
 * through a shell. Of shells, only the root names it, if it runs a script; tasks that have
 * neither are named after their tools. Hidden scripts (.command.run) say nothing. */
static void task_name_by(struct model *model, struct task *task, const struct process *process,
			 const struct rules_verdict *verdict)
{
	const char *name = NULL;

	if (task->name_by == NAMED_BY_RULE)
		return;
	if (verdict->task_name[0])
		name = verdict->task_name;
	else if (task->name_by == NAMED_BY_TOOLS && process->is_task_root &&
		 verdict_names_script(process, verdict) && verdict->name[0] != '.')
		name = verdict->name;
	if (!name)
		return;
	model_set_text(model, &task->name, name);
	task->name_by = verdict->task_name[0] ? NAMED_BY_RULE : NAMED_BY_SCRIPT;
}

void task_note_image(struct model *model, struct task *task, const struct process *process,
		     const struct rules_verdict *verdict)
{
	if (task == task->run->main)
		return;
	task_name_by(model, task, process, verdict);
	label_note_image(model, task, process, verdict);
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
	if (placing->verdict)
		retry_note_root(model, task, process, placing->verdict->role);
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
	if (!into->cause && from->cause)
		into->cause = cause_ref(from->cause);
	into->crashes_told += from->crashes_told;
	into->failed_commands_told |= from->failed_commands_told;
	label_merge(into, from);
	retry_forget(from);
	from->merged_into_id = into->id;
	from->dirty = into->dirty = true;
	from->run->task_count--;
}
