/* See tree.h. */
#include "correlator/model/tree.h"

#include <utlist.h>

#include "correlator/model/cause.h"
#include "correlator/model/cgroup.h"
#include "correlator/model/command.h"
#include "correlator/model/container.h"
#include "correlator/model/container_member.h"
#include "correlator/model/group.h"
#include "correlator/model/image.h"
#include "correlator/model/model.h"
#include "correlator/model/pending.h"
#include "correlator/model/pipe.h"
#include "correlator/model/process.h"
#include "correlator/model/sent_signal.h"
#include "correlator/model/tool.h"

struct run *run_new(struct model *model, const struct process *root, enum run_kind kind, uint64_t boundary_key)
{
	struct run *run = model_alloc(model, sizeof(*run));
	struct identity identity;

	if (!run)
		return NULL;
	model_begin_identity(model, "run", &identity);
	if (root) {
		identity_add_u64(&identity, root->key.pid);
		identity_add_u64(&identity, root->key.start_boot_ns);
	}
	model_add_generation(model, &identity);
	run->id = identity_end(&identity);
	run->kind = kind;
	run->boundary_key = boundary_key;
	run->origin_process_id = run->user_id = ROW_NULL;
	run->orchestrator = -1;
	run->name_priority = RUN_NAME_NONE;
	run_set_dirty(model, run);
	cgroup_limits_init(&run->limits);
	tally_init(&run->tally);
	set_memory_init(&run->memory);
	memory_beside_init(&run->beside);
	DL_APPEND(model->runs, run);
	if (boundary_key)
		HASH_ADD(hh, model->runs_by_boundary, boundary_key, sizeof(boundary_key), run);
	run->main = task_new(model, run, TASK_MAIN, REASON_MAIN, 0);
	return run;
}

struct run *run_of_system(struct model *model)
{
	if (!model->system) {
		model->system = run_new(model, NULL, RUN_SYSTEM, 0);
		if (model->system) {
			model->system->reason = REASON_SYSTEM;
			run_set_name(model, model->system, "system", RUN_NAME_FIXED);
		}
	}
	return model->system;
}

void run_set_root(struct model *model, struct run *run, const struct process *process)
{
	struct container *container = container_of_process(model, process);

	run->main->root_process_id = image_id(model, &process->key, process->exec_id);
	run->main->container = container;
	run->user_id = process->uid;
	if (process->command)
		model_set_text(model, &run->working_directory, process->command->working_directory);
	task_set_dirty(model, run->main);
	run_set_dirty(model, run);
	if (container && container->run_id == ROW_NULL) {
		container->run_id = run->id;
		container_set_dirty(model, container);
		container_name_run(model, container, run);
	}
}

/* What a task may use is what its programs may: those outside its container, and shells, only start others. */
static int64_t task_core_limit(const struct task *task, const struct tally *all)
{
	int64_t programs_milli = ROW_NULL, inner_programs_milli = ROW_NULL;
	const struct group *group;
	const struct tool *tool;

	DL_FOREACH (task->groups, group) {
		DL_FOREACH (group->tools, tool) {
			if (tool->role == RULES_ROLE_SHELL)
				continue;
			tally_raise(&programs_milli, tool->core_limit_milli);
			tally_raise(&inner_programs_milli, tool->inner_core_limit_milli);
		}
	}
	if (all->inner_core_limit_milli != ROW_NULL)
		return inner_programs_milli != ROW_NULL ? inner_programs_milli : all->inner_core_limit_milli;
	return programs_milli != ROW_NULL ? programs_milli : all->core_limit_milli;
}

void task_fold(const struct task *task, struct task_figures *ret)
{
	const struct group *group;
	const struct tool *tool;
	struct tally room;

	tally_init(&ret->tally);
	cgroup_limits_init(&ret->limits);
	ret->lost_count = 0;
	DL_FOREACH (task->groups, group) {
		cgroup_limits_merge(&ret->limits, &group->limits);
		/* The same loss may concern several of its groups: the sum would count it several times. */
		if (group->lost_count > ret->lost_count)
			ret->lost_count = group->lost_count;
		DL_FOREACH (group->tools, tool) {
			tally_add(&ret->tally, tool_tally(tool, &room), 1);
			tally_raise(&ret->tally.core_limit_milli, tool->core_limit_milli);
			tally_raise(&ret->tally.inner_core_limit_milli, tool->inner_core_limit_milli);
		}
	}
	ret->core_limit_milli = task_core_limit(task, &ret->tally);
}

enum outcome_status task_status(const struct task *task)
{
	struct task_figures figures;

	task_fold(task, &figures);
	return outcome_status(&task->outcome, figures.tally.living_count > 0);
}

void task_add_root(struct model *model, struct task *task, struct process *process)
{
	process->is_task_root = true;
	if (task->root.pid == 0)
		task->root = process->key;
	outcome_add_root(&task->outcome, process->ended);
	if (task->root_process_id != ROW_NULL)
		return;
	task->root_process_id = image_id(model, &process->key, process->exec_id);
	task->container = container_of_process(model, process);
	if (process->command)
		model_set_text(model, &task->working_directory, process->command->working_directory);
}

struct task *task_open(struct model *model, struct process *orchestrator, enum task_kind kind, enum reason reason,
		       int64_t id_part)
{
	struct task *task = task_new(model, orchestrator->run, kind, reason, id_part);

	if (!task)
		return NULL;
	orchestrator->run->task_count++;
	task->orchestrator_process_id = orchestrator->image ? orchestrator->image->id : ROW_NULL;
	task->orchestrator = orchestrator->key;
	task->orchestrator_group = orchestrator->group;
	task->orchestrator_group_id = orchestrator->group->id;
	orchestrator->group->members++;
	LL_APPEND_ELEM2(model->opened_tasks, model->last_opened_task, task, next_opened);
	model->last_opened_task = task;
	return task;
}

struct group *group_open(struct model *model, struct task *task, const struct process *process)
{
	struct group *group = model_alloc(model, sizeof(*group));
	struct identity identity;

	if (!group)
		return NULL;
	identity_begin(&identity, "group");
	identity_add_u64(&identity, (uint64_t)task->run->id);
	group->id = identity_add(identity_end(&identity), process_row_id(model, process));
	group->task = task;
	cgroup_limits_init(&group->limits);
	DL_APPEND(task->groups, group);
	group->root_process_id = image_id(model, &process->key, process->exec_id);
	if (process->parent)
		group->orchestrator = process->parent->key;
	return group;
}

void group_move(struct model *model, struct group *group, struct task *task)
{
	struct task *from = group->task;
	struct tool *tool;
	struct image *image;

	if (from == task)
		return;
	DL_DELETE(from->groups, group);
	DL_APPEND(task->groups, group);
	group->task = task;
	DL_FOREACH (group->tools, tool) {
		tool->moved = true;
		tool_set_dirty(model, tool);
		DL_FOREACH (tool->images, image)
			image_set_dirty(model, image);
	}
	task_set_dirty(model, from);
	task_set_dirty(model, task);
	task_may_be_over(model, from);
	/* Tasks beneath an orchestrator in this group have another parent task now. */
	struct task *other;

	DL_FOREACH (task->run->tasks, other)
		if (other->orchestrator_group == group)
			task_set_dirty(model, other);
}

/* Moves everything of `from` to `into`; `from` remains as a row that records the merge. */
void task_merge(struct model *model, struct task *from, struct task *into)
{
	if (from == into)
		return;
	while (from->groups)
		group_move(model, from->groups, into);
	outcome_add(&into->outcome, &from->outcome);
	set_memory_merge(model, &into->memory, &from->memory);
	tally_raise(&into->beside.bytes, from->beside.bytes);
	if (!into->cause && from->cause)
		into->cause = cause_ref(from->cause);
	into->reports.crashes += from->reports.crashes;
	into->reports.failed_commands |= from->reports.failed_commands;
	if (!into->label) {
		into->label = from->label;
		from->label = NULL;
	}
	task_forget_retry(model, from);
	from->merged_into_id = into->id;
	task_set_dirty(model, from);
	task_set_dirty(model, into);
	from->run->task_count--;
	run_set_dirty(model, from->run);
}

void group_join_spine(struct model *model, struct group *group)
{
	group->spine = model_alloc(model, sizeof(*group->spine));
	if (!group->spine)
		return;
	set_memory_init(&group->spine->inner);
	set_memory_init(&group->spine->outer);
}

void group_leave_spine(struct group *group)
{
	if (!group->spine)
		return;
	set_memory_deinit(&group->spine->inner);
	set_memory_deinit(&group->spine->outer);
	free(group->spine);
	group->spine = NULL;
}

static void tool_free(struct model *model, struct tool *tool)
{
	while (tool->images)
		image_free(model, tool->images);
	MODEL_FORGET_DIRTY(model->dirty_tools, tool);
	DL_DELETE(tool->group->tools, tool);
	struct memory_part *part;

	LL_FOREACH2(tool->parts, part, next_of_tool)
	part->tool = NULL;
	set_memory_deinit(&tool->memory);
	free(tool->tally);
	free(tool->name);
	free(tool);
}

static void group_free(struct model *model, struct group *group)
{
	while (group->tools)
		tool_free(model, group->tools);
	DL_DELETE(group->task->groups, group);
	group_leave_spine(group);
	free(group);
}

void task_free(struct model *model, struct task *task)
{
	while (task->groups)
		group_free(model, task->groups);
	if (task->orchestrator_group) {
		task->orchestrator_group->members--;
		task_may_be_over(model, task->orchestrator_group->task);
	}
	if (task->may_be_over)
		DL_DELETE2(model->maybe_over, task, over_prev, over_next);
	task_forget_retry(model, task);
	MODEL_FORGET_DIRTY(model->dirty_tasks, task);
	DL_DELETE(task->run->tasks, task);
	model_set_gone(model, task->id);
	set_memory_deinit(&task->memory);
	free(task->name);
	free(task->label);
	free(task->working_directory);
	cause_unref(task->cause);
	free(task);
}

void run_free(struct model *model, struct run *run)
{
	struct task *task;

	/* Tasks point into one another's groups: clear these pointers first. */
	DL_FOREACH (run->tasks, task)
		task->orchestrator_group = NULL;
	while (run->tasks)
		task_free(model, run->tasks);
	if (run->boundary_key)
		HASH_DELETE(hh, model->runs_by_boundary, run);
	MODEL_FORGET_DIRTY(model->dirty_runs, run);
	DL_DELETE(model->runs, run);
	model_set_gone(model, run->id);
	if (model->system == run)
		model->system = NULL;
	set_memory_deinit(&run->memory);
	free(run->name);
	free(run->engine);
	free(run->run_key);
	free(run->working_directory);
	free(run);
}

void process_free(struct model *model, struct process *process)
{
	struct sent_signal *signal, *next_signal;
	struct process *child, *next;

	DL_FOREACH_SAFE2 (process->children, child, next, sibling_next)
		child->parent = NULL;
	if (process->parent)
		DL_DELETE2(process->parent->children, process, sibling_prev, sibling_next);
	if (process->group && process->group->spine_root == process)
		process->group->spine_root = NULL;
	pipes_forget(model, process);
	if (process->is_unsettled)
		DL_DELETE2(model->unsettled, process, unsettled_prev, unsettled_next);
	if (process->image)
		process->image->process = NULL;
	if (process->has_state)
		model_set_gone(model, process_row_id(model, process));
	account_discharge_process(&process->account);
	command_unref(process->command);
	command_forget_latest(&model->latest_command);
	DL_FOREACH_SAFE (process->signals, signal, next_signal)
		free(signal);
	endings_free(&process->endings);
	cause_unref(process->cause);
	HASH_DELETE(hh, model->processes, process);
	free(process);
}

void model_forget_all(struct model *model)
{
	struct container *container, *next_container;
	struct process *process, *next;

	HASH_ITER (hh, model->processes, process, next)
		process_free(model, process);
	while (model->runs)
		run_free(model, model->runs);
	cgroup_forget_all(model);
	HASH_ITER (hh, model->containers, container, next_container)
		container_free(model, container);
}

void model_free(struct model *model)
{
	model_forget_all(model);
	pending_clear(model);
	free(model->gone);
	free(model->gpus);
	free(model);
}

#define D(kind) \
	void kind##_set_dirty(struct model *model, struct kind *kind) \
	{ \
		MODEL_SET_DIRTY(model->dirty_##kind##s, kind); \
	}
MODEL_DIRTY(D)
#undef D
