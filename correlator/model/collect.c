/* See collect.h. */
#include "correlator/model/collect.h"

#include <utlist.h>

#include "correlator/model/cgroup.h"
#include "correlator/model/container.h"
#include "correlator/model/group.h"
#include "correlator/model/image.h"
#include "correlator/model/model.h"
#include "correlator/model/process.h"
#include "correlator/model/run.h"
#include "correlator/model/task.h"
#include "correlator/model/tool.h"
#include "correlator/model/tree.h"

/* A final record comes within 64 ms of the time when its parent reaps the process, or never. While it
 * waits for that, scans see it. */
#define GRACE_FINAL_NS (2 * UINT64_C(1000000000))
#define GRACE_TASK_NS (5 * UINT64_C(1000000000))
/* If a program keeps forking itself without executing anything, at most this many ended ancestors
 * of a process are kept. */
#define LEADING_MAX 64

#define SWEEP_PERIOD_NS (60 * 1000000000ULL)
/* Retention deletes the paths that were written longest ago, so those in use are rewritten. */
#define RENEWAL_PERIOD_NS (3600 * 1000000000ULL)
/* A container restarted within this time is the same one; later, its row starts over. */
#define CONTAINER_GRACE_NS (3600 * 1000000000ULL)
/* One that only its namespace shows, and which any user can make, cannot be restarted. */
#define NAMESPACE_GRACE_NS (60 * 1000000000ULL)
/* So many of each kind may wait for that: if there are more, the oldest no longer do. */
#define CONTAINERS_WAITING_MAX 4096
/* This many new ones are not swept for once a minute, but at once. */
#define CONTAINERS_NEW_MAX 4096

/* ---- processes and tasks */

/* Children that have only been forked still find their run through the process. */
static bool is_needed_by_children(const struct process *process)
{
	const struct process *child;

	DL_FOREACH2 (process->children, child, sibling_next)
		if (child->place != PLACE_FULL)
			return true;
	return false;
}

/* When an orchestrator further out appears, the run's spine is consulted: its
 * processes are kept until the run is over. */
static bool is_on_a_spine(const struct process *process)
{
	return process->spine_index > 0 && process->run->tally.living_count > 0;
}

/* Whether it has LEADING_MAX ended ancestors in a row. */
static bool chain_is_too_long(const struct process *process)
{
	int ended = 0;

	while (ended < LEADING_MAX && process->parent && process->parent->ended) {
		process = process->parent;
		ended++;
	}
	return ended == LEADING_MAX;
}

static void hand_over_children(struct model *model, struct process *process)
{
	struct process *child, *next;

	DL_FOREACH_SAFE2 (process->children, child, next, sibling_next) {
		DL_DELETE2(process->children, child, sibling_prev, sibling_next);
		process_set_parent(child, process->parent);
		process_set_changed(model, child);
	}
}

/* Whether no more records are expected of it and nothing in the model needs it. */
static bool is_over(const struct model *model, const struct process *process)
{
	bool awaits_final = !process->has_final && (process->seen_scan + 1 >= model->scan_number ||
						    model->now_boot_ns <= process->end_boot_ns + GRACE_FINAL_NS);

	return process->ended && !is_on_a_spine(process) && !awaits_final;
}

bool collect_takes_process(const struct model *model, const struct process *process)
{
	return is_over(model, process) && !is_needed_by_children(process);
}

static void collect_processes(struct model *model)
{
	struct process *process, *next;

	DL_FOREACH_SAFE2 (model->unsettled, process, next, unsettled_next) {
		if (!is_over(model, process) || (process->image && process->image->dirty))
			continue;
		if (is_needed_by_children(process)) {
			if (!chain_is_too_long(process))
				continue;
			hand_over_children(model, process);
		}
		process_free(model, process);
	}
}

static void collect_images(struct model *model)
{
	struct image *image, *next;

	DL_FOREACH_SAFE2 (model->ended_images, image, next, linked_next)
		if (!image->process && !image->dirty) {
			tool_keep_tally(model, image->tool);
			image_free(model, image);
		}
}

static bool task_is_in_use(const struct task *task)
{
	const struct group *group;

	DL_FOREACH (task->groups, group)
		if (group->members > 0)
			return true;
	return false;
}

/* Whether it is stored, and nothing may follow. */
static bool task_is_over(const struct model *model, const struct task *task)
{
	struct task_figures figures;

	if (task->dirty)
		return false;
	task_fold(task, &figures);
	return task->run->of_past_boot || model->now_boot_ns > figures.tally.end_boot_ns + GRACE_TASK_NS;
}

/* Whether the task is final. A generic one may still turn out to be part of a larger one
 * until its orchestrator is the run's outermost process. */
static bool task_stands(const struct task *task)
{
	const struct run *run = task->run;

	return task->kind != TASK_GENERIC || run->orchestrator == 0 || run->frozen || run->members == 0;
}

/* Frees a task that is over, or its run, if it is the run's last one. */
static void collect_task(struct model *model, struct task *task)
{
	struct run *run = task->run;

	if (task != run->main) {
		if (task_stands(task) && (!task->retry.awaited || run->members == 0))
			task_free(model, task);
	} else if (run->tasks == task && !task->next && run->members == 0 && !run->dirty && run != model->system) {
		run_free(model, run);
	}
}

/* Tasks in use need not be looked at until something of them is gone. */
static void collect_tasks(struct model *model)
{
	struct task *task, *next;

	DL_FOREACH_SAFE2 (model->maybe_over, task, next, over_next) {
		if (task_is_in_use(task)) {
			task->may_be_over = false;
			DL_DELETE2(model->maybe_over, task, over_prev, over_next);
		} else if (task_is_over(model, task)) {
			collect_task(model, task);
		}
	}
}

/* ---- cgroups and containers */

static void mark_container(const struct model *model, struct container *container)
{
	if (container)
		container->used_boot_ns = model->now_boot_ns;
}

/* Marks what something in memory points to or is in, and what is not in the store yet. */
static void mark_used(struct model *model)
{
	struct process *process;
	struct container *container;
	struct cgroup *cgroup;
	struct image *image;
	struct run *run;
	struct task *task;

	for (container = model->containers; container; container = container->hh.next)
		if (container->dirty || container->living_count > 0)
			mark_container(model, container);
	for (cgroup = model->cgroups; cgroup; cgroup = cgroup->hh.next)
		if (cgroup->dirty)
			cgroup->used_boot_ns = model->now_boot_ns;
	for (process = model->processes; process; process = process->hh.next) {
		cgroup = cgroup_known(model, process->cgroup_id);
		if (cgroup)
			cgroup->used_boot_ns = model->now_boot_ns;
	}
	DL_FOREACH2 (model->ended_images, image, linked_next)
		mark_container(model, image->container);
	DL_FOREACH (model->runs, run)
		DL_FOREACH (run->tasks, task)
			mark_container(model, task->container);
	for (cgroup = model->cgroups; cgroup; cgroup = cgroup->hh.next)
		if (cgroup->used_boot_ns == model->now_boot_ns)
			mark_container(model, cgroup->container);
}

static bool container_is_unused(const struct model *model, const struct container *container)
{
	return container->used_boot_ns != model->now_boot_ns;
}

static bool container_is_waiting(const struct model *model, const struct container *container)
{
	uint64_t last_boot_ns =
		container->end_boot_ns > container->begin_boot_ns ? container->end_boot_ns : container->begin_boot_ns;

	return container_is_unused(model, container) &&
	       model->now_boot_ns <=
		       last_boot_ns + (container->is_of_namespace ? NAMESPACE_GRACE_NS : CONTAINER_GRACE_NS);
}

static void sweep_containers(struct model *model)
{
	struct container *container, *next;
	size_t waiting[2] = {0}; /* of a path; of a namespace */

	for (container = model->containers; container; container = container->hh.next)
		waiting[container->is_of_namespace] += container_is_waiting(model, container);
	HASH_ITER (hh, model->containers, container, next) { /* in the order of their beginning */
		size_t *count = &waiting[container->is_of_namespace];
		bool is_waiting = container_is_waiting(model, container);

		if (!container_is_unused(model, container) || (is_waiting && *count <= CONTAINERS_WAITING_MAX))
			continue;
		*count -= is_waiting;
		model_set_gone(model, container->id);
		container_free(model, container);
	}
	model->containers_swept = HASH_COUNT(model->containers);
}

static void renew_cgroups(struct model *model)
{
	if (model->now_boot_ns < model->next_renewal_boot_ns)
		return;
	model->next_renewal_boot_ns = model->now_boot_ns + RENEWAL_PERIOD_NS;
	for (struct cgroup *cgroup = model->cgroups; cgroup; cgroup = cgroup->hh.next)
		cgroup_set_dirty(model, cgroup);
}

/* Frees unused cgroups and containers, once a minute, and sooner if there are many new containers. */
static void sweep_unused(struct model *model)
{
	struct cgroup *cgroup, *next_cgroup;

	if (model->now_boot_ns < model->next_sweep_boot_ns &&
	    HASH_COUNT(model->containers) < 2 * model->containers_swept + CONTAINERS_NEW_MAX)
		return;
	model->next_sweep_boot_ns = model->now_boot_ns + SWEEP_PERIOD_NS;
	mark_used(model);
	HASH_ITER (hh, model->cgroups, cgroup, next_cgroup)
		if (cgroup->used_boot_ns != model->now_boot_ns)
			cgroup_free(model, cgroup);
	renew_cgroups(model);
	sweep_containers(model);
}

void collect(struct model *model)
{
	collect_processes(model);
	collect_images(model);
	collect_tasks(model);
	sweep_unused(model);
}
