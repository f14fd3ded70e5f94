/* See task.h. */
#include "correlator/model/task.h"

#include <utlist.h>

#include "correlator/model/cause.h"
#include "correlator/model/command.h"
#include "correlator/model/container.h"
#include "correlator/model/group.h"
#include "correlator/model/image.h"
#include "correlator/model/model.h"
#include "correlator/model/run.h"
#include "correlator/model/tool.h"

int64_t task_id(const struct run *run, int64_t id_part)
{
	struct identity identity;

	identity_begin(&identity, "task");
	identity_add_u64(&identity, (uint64_t)run->id);
	identity_add_u64(&identity, (uint64_t)id_part);
	return identity_end(&identity);
}

struct task *task_new(struct model *model, struct run *run, enum task_kind kind, enum reason reason, int64_t id_part)
{
	struct task *task = model_alloc(model, sizeof(*task));

	if (!task)
		return NULL;
	task->id = task_id(run, id_part);
	task->run = run;
	task->kind = kind;
	task->reason = reason;
	task->root_process_id = task->orchestrator_process_id = ROW_NULL;
	task->merged_into_id = task->retried_by_id = ROW_NULL;
	task_set_dirty(model, task);
	task->memory = (struct concurrent_memory){ROW_NULL, ROW_NULL};
	outcome_init(&task->outcome);
	DL_APPEND(run->tasks, task);
	return task;
}

void task_fold(const struct task *task, struct tally *ret_tally, struct cgroup_limits *ret_limits,
	       int64_t *ret_lost_count)
{
	const struct group *group;
	const struct tool *tool;

	tally_init(ret_tally);
	cgroup_limits_init(ret_limits);
	*ret_lost_count = 0;
	DL_FOREACH (task->groups, group) {
		cgroup_limits_merge(ret_limits, &group->limits);
		/* The same loss may concern several of its groups: the sum would count it several times. */
		if (group->lost_count > *ret_lost_count)
			*ret_lost_count = group->lost_count;
		DL_FOREACH (group->tools, tool)
			tally_add(ret_tally, &tool->tally, 1);
	}
}

uint64_t task_begin_boot_ns(const struct task *task)
{
	struct cgroup_limits limits;
	struct tally tally;
	int64_t lost_count;

	task_fold(task, &tally, &limits, &lost_count);
	return tally.begin_boot_ns;
}

static bool task_is_running(const struct task *task)
{
	const struct group *group;
	const struct tool *tool;

	DL_FOREACH (task->groups, group)
		DL_FOREACH (group->tools, tool)
			if (tool->tally.living_count > 0)
				return true;
	return false;
}

enum outcome_status task_status(const struct task *task)
{
	return outcome_status(&task->outcome, task_is_running(task));
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
	task->root_process_id =
		image_id(model, (uint32_t)process->key.pid, process->key.start_boot_ns, process->exec_id);
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

void task_set_cause(struct task *task, struct cause *cause)
{
	cause_unref(task->cause);
	task->cause = cause ? cause_ref(cause) : NULL;
}

/* `into` takes the label of `from` if it has none, or if only that of `from` was given by a rule. */
static void merge_label(struct task *into, struct task *from)
{
	if (into->label_fixed || (into->words.data && !from->label_fixed))
		return;
	words_deinit(&into->words);
	free(into->label);
	into->label = from->label;
	into->label_fixed = from->label_fixed;
	into->words = from->words;
	into->words_kind = from->words_kind;
	into->words_rank = from->words_rank;
	from->label = NULL;
	from->words = (struct words){0};
}

/* Moves everything of `from` to `into`; `from` remains as a row that records the merge. */
void task_merge(struct model *model, struct task *from, struct task *into)
{
	if (from == into)
		return;
	while (from->groups)
		group_move(model, from->groups, into);
	outcome_add(&into->outcome, &from->outcome);
	tally_raise(&into->memory.bytes, from->memory.bytes);
	if (!into->cause && from->cause)
		into->cause = cause_ref(from->cause);
	into->crashes_reported += from->crashes_reported;
	into->failed_commands_reported |= from->failed_commands_reported;
	merge_label(into, from);
	run_forget_failed(model, from->run, from);
	from->merged_into_id = into->id;
	task_set_dirty(model, from);
	task_set_dirty(model, into);
	from->run->task_count--;
	run_set_dirty(model, from->run);
}

void task_set_opened(struct model *model, struct task *task)
{
	task->is_opened = true;
	DL_APPEND2(model->opened_tasks, task, opened_prev, opened_next);
}

void task_set_dirty(struct model *model, struct task *task)
{
	MODEL_SET_DIRTY(model->dirty_tasks, task);
}

void task_free(struct model *model, struct task *task)
{
	while (task->groups)
		group_free(model, task->groups);
	if (task->orchestrator_group)
		task->orchestrator_group->members--;
	run_forget_failed(model, task->run, task);
	if (task->is_opened)
		DL_DELETE2(model->opened_tasks, task, opened_prev, opened_next);
	MODEL_FORGET_DIRTY(model->dirty_tasks, task);
	DL_DELETE(task->run->tasks, task);
	model_set_gone(model, task->id);
	free(task->name);
	free(task->label);
	words_deinit(&task->words);
	free(task->working_directory);
	cause_unref(task->cause);
	free(task);
}
