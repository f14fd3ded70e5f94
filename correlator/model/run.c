/* See run.h. */
#include "correlator/model/run.h"

#include <utlist.h>

#include "correlator/model/command.h"
#include "correlator/model/container.h"
#include "correlator/model/image.h"
#include "correlator/model/model.h"
#include "correlator/model/siblings.h"
#include "correlator/model/task.h"

/* A session computes if its processes have used so much CPU time, and 1/COMPUTES_SHARE of a processor: more than a
 * shell, a terminal server or an agent that watches a host. */
#define COMPUTES_CPU_NS (60 * INT64_C(1000000000))
#define COMPUTES_SHARE 10

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
	run->root_process_id = run->origin_process_id = run->user_id = ROW_NULL;
	run->orchestrator = -1;
	run->name_priority = RUN_NAME_NONE;
	run_set_dirty(model, run);
	cgroup_limits_init(&run->limits);
	outcome_init(&run->outcome);
	tally_init(&run->tally);
	run->memory = (struct concurrent_memory){ROW_NULL, ROW_NULL};
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

void run_set_name(struct model *model, struct run *run, const char *name, enum run_name_priority priority)
{
	if (priority <= run->name_priority)
		return;
	model_set_text(model, &run->name, name);
	run->name_priority = priority;
	run_set_dirty(model, run);
}

void run_set_root(struct model *model, struct run *run, const struct process *process)
{
	run->root_process_id =
		image_id(model, (uint32_t)process->key.pid, process->key.start_boot_ns, process->exec_id);
	run->main->root_process_id = run->root_process_id;
	run->user_id = process->uid;
	run->container = container_of_process(model, process);
	run->main->container = run->container;
	if (process->command)
		model_set_text(model, &run->working_directory, process->command->working_directory);
	if (run->container && run->container->run_id == ROW_NULL) {
		run->container->run_id = run->id;
		container_set_dirty(model, run->container);
	}
}

bool run_is_workload(const struct run *run)
{
	return run->kind <= RUN_CONTAINER;
}

bool run_is_session(const struct run *run)
{
	return run->kind == RUN_SESSION;
}

void run_become_session(struct model *model, struct run *run)
{
	run->kind = RUN_SESSION;
	run->reason = REASON_SESSION;
	run_set_dirty(model, run);
}

void run_note_cpu(struct model *model, struct run *run)
{
	bool is_unlisted = run->kind == RUN_SESSION || (run->kind == RUN_HOST_SERVICE && run->reason == REASON_OF_USER);
	int64_t cpu_ns = run->tally.totals.cpu_ns;

	if (!is_unlisted || cpu_ns < COMPUTES_CPU_NS ||
	    cpu_ns * COMPUTES_SHARE < (int64_t)(model->now_boot_ns - run->tally.begin_boot_ns))
		return;
	run->kind = RUN_SERVICE;
	run_set_dirty(model, run);
}

/* ---- failed tasks that may be retried */

void run_forget_failed_at(struct model *model, struct run *run, int index)
{
	run->failed[index]->awaited = false;
	task_set_dirty(model, run->failed[index]);
	run->failed_count--;
	memmove(&run->failed[index], &run->failed[index + 1],
		(size_t)(run->failed_count - index) * sizeof(run->failed[0]));
}

void run_forget_failed(struct model *model, struct run *run, struct task *task)
{
	for (int i = 0; i < run->failed_count; i++)
		if (run->failed[i] == task) {
			run_forget_failed_at(model, run, i);
			return;
		}
}

bool run_await_retry(struct run *run, struct task *task)
{
	if (run->failed_count == RUN_FAILED_TASKS_MAX)
		return false;
	task->awaited = true;
	run->failed[run->failed_count++] = task;
	return true;
}

/* ---- end of a run */

void run_end_boot(struct model *model, struct run *run)
{
	if (run->boundary_key)
		HASH_DELETE(hh, model->runs_by_boundary, run);
	run->boundary_key = 0;
	run->of_past_boot = true;
}

void run_set_dirty(struct model *model, struct run *run)
{
	MODEL_SET_DIRTY(model->dirty_runs, run);
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
	siblings_free(run);
	model_set_gone(model, run->id);
	if (model->system == run)
		model->system = NULL;
	free(run->name);
	free(run->working_directory);
	free(run);
}
