/* Making, finding and freeing the entities of the model. See entities.h. */
#include "correlator/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/identity.h"

/* An allocation that fails ends the correlator at its next check of the flag; the
 * probe keeps everything that was not acknowledged. */
void *model_alloc(struct model *model, size_t size)
{
	void *memory = calloc(1, size);

	if (!memory)
		model->out_of_memory = true;
	return memory;
}

void model_set_text(struct model *model, char **text, const char *value)
{
	char *copy = strdup(value);

	if (!copy) {
		model->out_of_memory = true;
		return;
	}
	free(*text);
	*text = copy;
}
void identity_add_generation(struct identity *identity, const struct model *model)
{
	if (model->generation)
		identity_add_u64(identity, (uint64_t)model->generation);
}

/* ---- processes */

/* Every event looks for two of them: this is a tenth of what uthash's own function takes. Nobody
 * chooses in which nanosecond a process starts. */
static unsigned process_hash(const struct process_key *key)
{
	return (unsigned)(((key->start_boot_ns ^ key->pid << 40) * UINT64_C(0x9e3779b97f4a7c15)) >> 32);
}

struct process *process_find(struct model *model, uint32_t pid, uint64_t start_boot_ns)
{
	const struct process_key key = {.start_boot_ns = start_boot_ns, .pid = pid};
	struct process *process;

	HASH_FIND_BYHASHVALUE(hh, model->processes, &key, sizeof(key), process_hash(&key), process);
	return process;
}

struct process *process_new(struct model *model, const struct image_key *key, struct process *parent)
{
	struct process *process = model_alloc(model, sizeof(*process));

	if (!process)
		return NULL;
	process->key = (struct process_key){.start_boot_ns = key->start_boot_ns, .pid = key->pid};
	process->exec_id = key->exec_id;
	process->spine_index = -1;
	process->parent_image_id = ROW_NULL;
	process->seen_pass = model->pass_number;
	while (parent && parent->ignored)
		parent = parent->parent;
	if (parent) {
		process->parent = parent;
		DL_APPEND2(parent->children, process, sibling_prev, sibling_next);
		if (parent->command)
			process->command = command_ref(parent->command);
	}
	HASH_ADD_BYHASHVALUE(hh, model->processes, key, sizeof(process->key), process_hash(&process->key),
			     process);
	return process;
}

void process_set_group(struct process *process, struct run *run, struct group *group)
{
	run->members++;
	group->members++;
	if (process->run)
		process->run->members--;
	if (process->group)
		process->group->members--;
	process->run = run;
	process->group = group;
}

void process_free(struct model *model, struct process *process)
{
	struct process *child, *next;

	DL_FOREACH_SAFE2 (process->children, child, next, sibling_next)
		child->parent = NULL;
	if (process->parent)
		DL_DELETE2(process->parent->children, process, sibling_prev, sibling_next);
	if (process->spine_index >= 0)
		process->run->spine[process->spine_index] = NULL;
	process_leave_pipes(model, process);
	if (process->run)
		process->run->members--;
	if (process->group)
		process->group->members--;
	if (process->image)
		process->image->process = NULL;
	if (process->has_checkpoint)
		checkpoint_drop_process(model, process);
	command_unref(process->command);
	free(process->signals);
	endings_free(process->endings);
	cause_unref(process->cause);
	HASH_DELETE(hh, model->processes, process);
	free(process);
}

/* ---- runs, tasks, groups, tools */

struct run *run_new(struct model *model, const struct process *root, const char *kind,
		    uint64_t boundary_key)
{
	struct run *run = model_alloc(model, sizeof(*run));
	struct identity identity;

	if (!run)
		return NULL;
	identity_begin(&identity, "run");
	identity_add_u64(&identity, (uint64_t)model->host.id);
	identity_add_bytes(&identity, model->boot_id, strlen(model->boot_id));
	if (root) {
		identity_add_u64(&identity, root->key.pid);
		identity_add_u64(&identity, root->key.start_boot_ns);
	}
	identity_add_generation(&identity, model);
	run->id = identity_end(&identity);
	run->kind = kind;
	run->boundary_key = boundary_key;
	run->root_process_id = run->origin_process_id = run->user_id = ROW_NULL;
	run->orchestrator = -1;
	run->name_priority = -1;
	run->dirty = true;
	allowance_init(&run->allowance);
	outcome_init(&run->outcome);
	tally_init(&run->tally);
	DL_APPEND(model->runs, run);
	if (boundary_key)
		HASH_ADD(hh, model->runs_by_boundary, boundary_key, sizeof(boundary_key), run);
	run->main = task_new(model, run, "main", "the run's own", 0);
	return run;
}

struct task *task_new(struct model *model, struct run *run, const char *kind, const char *reason,
		      int64_t id_part)
{
	struct task *task = model_alloc(model, sizeof(*task));
	struct identity identity;

	if (!task)
		return NULL;
	identity_begin(&identity, "task");
	identity_add_u64(&identity, (uint64_t)run->id);
	identity_add_u64(&identity, (uint64_t)id_part);
	task->id = identity_end(&identity);
	task->run = run;
	task->kind = kind;
	task->reason = reason;
	task->root_process_id = task->orchestrator_process_id = ROW_NULL;
	task->merged_into_id = task->retried_by_id = ROW_NULL;
	task->dirty = true;
	allowance_init(&task->allowance);
	outcome_init(&task->outcome);
	tally_init(&task->tally);
	DL_APPEND(run->tasks, task);
	return task;
}

struct group *group_new(struct model *model, struct task *task, const struct process *root)
{
	struct group *group = model_alloc(model, sizeof(*group));
	struct identity identity;

	if (!group)
		return NULL;
	identity_begin(&identity, "group");
	identity_add_u64(&identity, (uint64_t)task->run->id);
	identity_add_u64(&identity, root->key.pid);
	identity_add_u64(&identity, root->key.start_boot_ns);
	group->id = identity_end(&identity);
	group->task = task;
	group->root_process_id = image_id(model, (uint32_t)root->key.pid, root->key.start_boot_ns,
					  root->exec_id);
	DL_APPEND(task->groups, group);
	return group;
}

static struct tool *tool_new(struct model *model, struct group *group, const char *name,
			     enum rules_role role)
{
	struct tool *tool = model_alloc(model, sizeof(*tool));
	struct identity identity;

	if (!tool)
		return NULL;
	identity_begin(&identity, "tool");
	identity_add_u64(&identity, (uint64_t)group->id);
	identity_add_u64(&identity, role);
	identity_add_bytes(&identity, name, strlen(name));
	tool->id = identity_end(&identity);
	tool->group = group;
	tool->name = strdup(name);
	tool->role = role;
	if (!tool->name)
		model->out_of_memory = true;
	tally_init(&tool->tally);
	DL_APPEND(group->tools, tool);
	return tool;
}

struct tool *group_tool(struct model *model, struct group *group, const char *name, enum rules_role role)
{
	struct tool *tool;
	int count = 0;

	DL_FOREACH (group->tools, tool) {
		if (tool->role == role && strcmp(tool->name, name) == 0)
			return tool;
		count++;
	}
	if (count < GROUP_TOOLS_MAX || strcmp(name, GROUP_TOOL_OTHERS) == 0)
		return tool_new(model, group, name, role);
	return group_tool(model, group, GROUP_TOOL_OTHERS, RULES_ROLE_TOOL);
}

/* Stored processes follow their tool at the next commit. Sums of the task that is
 * left are made anew: a maximum cannot be taken back. */
static void task_sum_up(struct task *task)
{
	struct tally *tally = &task->tally, before = *tally;
	struct group *group;
	struct tool *tool;

	tally_init(tally);
	tally->concurrent_memory_bytes = before.concurrent_memory_bytes;
	tally->lost_count = before.lost_count;
	DL_FOREACH (task->groups, group)
		DL_FOREACH (group->tools, tool)
			tally_add(tally, &tool->tally, 1);
	task->dirty = true;
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
		tool->moved = tool->dirty = true;
		DL_FOREACH (tool->images, image)
			image_set_dirty(model, image);
	}
	task_sum_up(from);
	task_sum_up(task);
	task->run->dirty = true;
	/* Tasks beneath an orchestrator of this group have another parent now. */
	struct task *other;

	DL_FOREACH (task->run->tasks, other)
		if (other->orchestrator_group == group)
			other->dirty = true;
}

static void tool_free(struct model *model, struct tool *tool)
{
	while (tool->images)
		image_free(model, tool->images);
	DL_DELETE(tool->group->tools, tool);
	if (tool->has_checkpoint)
		checkpoint_drop(model, tool->id);
	free(tool->name);
	free(tool);
}

static void group_free(struct model *model, struct group *group)
{
	while (group->tools)
		tool_free(model, group->tools);
	group_set_pipes(model, group, 0, 0);
	DL_DELETE(group->task->groups, group);
	free(group);
}

static void task_free(struct model *model, struct task *task)
{
	while (task->groups)
		group_free(model, task->groups);
	if (task->orchestrator_group)
		task->orchestrator_group->members--;
	retry_forget(task);
	DL_DELETE(task->run->tasks, task);
	checkpoint_drop(model, task->id);
	free(task->name);
	free(task->label);
	words_deinit(&task->words);
	free(task->working_directory);
	cause_unref(task->cause);
	free(task);
}

void run_end_boot(struct model *model, struct run *run)
{
	if (run->boundary_key)
		HASH_DELETE(hh, model->runs_by_boundary, run);
	run->boundary_key = 0;
	run->of_past_boot = true;
}

void run_free(struct model *model, struct run *run)
{
	struct task *task;

	/* Tasks point into one another's groups: let go of those first. */
	DL_FOREACH (run->tasks, task)
		task->orchestrator_group = NULL;
	while (run->tasks)
		task_free(model, run->tasks);
	if (run->boundary_key)
		HASH_DELETE(hh, model->runs_by_boundary, run);
	DL_DELETE(model->runs, run);
	siblings_free(run);
	checkpoint_drop(model, run->id);
	if (model->system == run)
		model->system = NULL;
	free(run->name);
	free(run->working_directory);
	free(run);
}

/* ---- what has ended, is on disk and cannot be needed again */

/* Of a program that forks itself on and on without executing anything, so many that have ended
 * are remembered, one above the other. */
#define LEADING_MAX 64

/* A process that only forked still leads its children to their run. */
static bool leads_somewhere(const struct process *process)
{
	const struct process *child;

	DL_FOREACH2 (process->children, child, sibling_next)
		if (child->place != PLACE_FULL)
			return true;
	return false;
}

/* Where an orchestrator further out shows itself, the run's spine is asked what it
 * was: its processes are kept until the run is over. */
static bool is_on_a_spine(const struct process *process)
{
	return process->spine_index > 0 && process->run->tally.living_count > 0;
}

/* Whether it stands behind so many others that have ended that the line is long enough. */
static bool leads_too_far(const struct process *process)
{
	int ended = 0;

	while (ended < LEADING_MAX && process->parent && process->parent->ended) {
		process = process->parent;
		ended++;
	}
	return ended == LEADING_MAX;
}

static void hand_over_children(struct process *process)
{
	struct process *child, *next;

	DL_FOREACH_SAFE2 (process->children, child, next, sibling_next) {
		DL_DELETE2(process->children, child, sibling_prev, sibling_next);
		DL_APPEND2(process->parent->children, child, sibling_prev, sibling_next);
		child->parent = process->parent;
		child->checkpointed = false;
	}
}

/* Whether nothing more comes of it, and nothing in the model needs it to go on. */
static bool is_over(const struct model *model, const struct process *process)
{
	return process->ended && !is_on_a_spine(process) &&
	       (process->has_final || model->now_boot_ns > process->end_boot_ns + GRACE_FINAL_NS);
}

bool process_is_done(const struct model *model, const struct process *process)
{
	return is_over(model, process) && !leads_somewhere(process);
}

static void collect_processes(struct model *model)
{
	struct process *process, *next;

	HASH_ITER (hh, model->processes, process, next) {
		if (!is_over(model, process) || (process->image && process->image->dirty))
			continue;
		if (leads_somewhere(process)) {
			if (!leads_too_far(process))
				continue;
			hand_over_children(process);
		}
		process_free(model, process);
	}
}

static void collect_images(struct model *model, struct tool *tool)
{
	struct image *image, *next;

	DL_FOREACH_SAFE (tool->images, image, next)
		if (!image->process && image->ended != IMAGE_LIVING && !image->dirty)
			image_free(model, image);
}

/* Whether every image of the task is gone from memory and nobody points to it. */
static bool task_is_idle(struct model *model, const struct task *task)
{
	struct group *group;
	struct tool *tool;
	bool idle = true;

	DL_FOREACH (task->groups, group) {
		DL_FOREACH (group->tools, tool) {
			collect_images(model, tool);
			idle = idle && !tool->images;
		}
		idle = idle && group->members == 0;
	}
	return idle && !task->dirty &&
	       (task->run->of_past_boot ||
		model->now_boot_ns > task->tally.end_boot_ns + GRACE_TASK_NS);
}

/* Generic tasks may still turn out to be parts of a larger one, until their
 * orchestrator is the run's outermost process. */
static bool task_stands(const struct task *task)
{
	const struct run *run = task->run;

	return strcmp(task->kind, "generic") != 0 || run->orchestrator == 0 || run->frozen ||
	       run->members == 0;
}

void model_collect(struct model *model)
{
	struct run *run, *next_run;
	struct task *task, *next_task;

	collect_processes(model);
	DL_FOREACH_SAFE (model->runs, run, next_run) {
		bool idle = true;

		DL_FOREACH_SAFE (run->tasks, task, next_task) {
			bool task_idle = task_is_idle(model, task);

			idle = idle && task_idle;
			if (task_idle && task != run->main && task_stands(task) &&
			    (!task->awaited || run->members == 0))
				task_free(model, task);
		}
		if (idle && run->members == 0 && !run->dirty && run != model->system)
			run_free(model, run);
	}
	places_sweep(model);
}
