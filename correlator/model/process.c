/* See process.h. */
#include "correlator/model/process.h"

#include <utlist.h>

#include "common/pid_namespace.h"
#include "correlator/model/account.h"
#include "correlator/model/cause.h"
#include "correlator/model/command.h"
#include "correlator/model/group.h"
#include "correlator/model/model.h"
#include "correlator/model/run.h"
#include "correlator/model/task.h"

/* Every event looks up two processes; this takes a tenth of the time of uthash's own function. Keys
 * cannot be chosen: the nanosecond in which a process starts cannot be controlled. */
static unsigned process_hash(const struct process_key *key)
{
	return (unsigned)(((key->start_boot_ns ^ key->pid << 40) * UINT64_C(0x9e3779b97f4a7c15)) >> 32);
}

struct process *process_find(struct model *model, struct process_key key)
{
	struct process *process;

	HASH_FIND_BYHASHVALUE(hh, model->processes, &key, sizeof(key), process_hash(&key), process);
	return process;
}

static bool started_at(const struct process_key *key, uint64_t pid, uint64_t start_boot_ns)
{
	return key->pid == pid && key->start_boot_ns / PROCESS_TICK_NS == start_boot_ns / PROCESS_TICK_NS;
}

/* The few processes that use a device are reported twice a second each: those are remembered, others searched for. */
struct process *process_find_by_ticks(struct model *model, uint64_t pid, uint64_t start_boot_ns)
{
	struct process_key *latest = &model->reported[pid % MODEL_REPORTED_MAX];
	struct process *process = started_at(latest, pid, start_boot_ns) ? process_find(model, *latest) : NULL;

	for (struct process *next = model->processes; !process && next; next = next->hh.next)
		if (started_at(&next->key, pid, start_boot_ns))
			process = next;
	if (process)
		*latest = process->key;
	return process;
}

void process_add(struct model *model, struct process *process)
{
	process->seen_scan = model->scan_number; /* a scan that has begun may miss it */
	HASH_ADD_BYHASHVALUE(hh, model->processes, key, sizeof(process->key), process_hash(&process->key), process);
	process_set_changed(model, process);
}

void process_set_parent(struct process *process, struct process *parent)
{
	process->parent = parent;
	process->parent_key = parent->key;
	DL_APPEND2(parent->children, process, sibling_prev, sibling_next);
}

struct process *process_new(struct model *model, const struct image_key *key, struct process *parent)
{
	struct process *process = model_alloc(model, sizeof(*process));

	if (!process)
		return NULL;
	process->key = process_key_of(key);
	process->exec_id = key->exec_id;
	process->fork_boot_ns = key->start_boot_ns; /* unless its fork is recorded */
	process->spine_index = -1;
	process->parent_image_id = ROW_NULL;
	process_memory_init(&process->memory);
	while (parent && parent->ignored)
		parent = parent->parent;
	if (parent) {
		process_set_parent(process, parent);
		if (parent->command)
			process->command = command_ref(parent->command);
	}
	process_add(model, process);
	return process;
}

void process_set_context(struct process *process, uint64_t cgroup_id, uint32_t uid, uint32_t pgid, uint32_t flags)
{
	process->cgroup_id = cgroup_id;
	process->uid = uid;
	process->pgid = pgid;
	process->flags = flags;
}

bool process_has_namespace(const struct process *process)
{
	return process->pid_namespace != 0 && process->pid_namespace != PID_NAMESPACE_INITIAL;
}

void process_set_core_limit(struct process *process, const struct model *model, uint64_t limit_milli)
{
	uint64_t host_milli = (uint64_t)model->host.cpu_count * 1000;

	process->core_limit_milli = (uint32_t)(host_milli && limit_milli > host_milli ? host_milli : limit_milli);
}

void process_set_changed(struct model *model, struct process *process)
{
	process->state_is_stored = false;
	if (process->is_unsettled)
		return;
	process->is_unsettled = true;
	DL_APPEND2(model->unsettled, process, unsettled_prev, unsettled_next);
}

void process_set_group(struct model *model, struct process *process, struct run *run, struct group *group)
{
	process->run = run;
	process->group = group;
	process->group_id = group->id;
	process_set_changed(model, process);
}

bool process_decides_task(const struct process *process)
{
	const struct process_key *orchestrator;

	if (!process->group || !process->is_task_root)
		return false;
	orchestrator = &process->group->task->orchestrator;
	return orchestrator->pid == 0 || process_key_is(orchestrator, &process->group->orchestrator);
}

/* Updates the outcome of a task that it is a root of. */
static void note_root(struct model *model, const struct process *process, struct task *task, int64_t wait_status)
{
	if (outcome_note(&task->outcome, wait_status, process->end_boot_ns))
		task_set_cause(task, process->cause);
	task_set_dirty(model, task);
}

bool process_end(struct model *model, struct process *process, int64_t wait_status, uint64_t boot_ns)
{
	if (process->ended)
		return false;
	process->ended = true;
	account_discharge_process(&process->account);
	process->end_boot_ns = boot_ns > process->fork_boot_ns ? boot_ns : process->fork_boot_ns;
	process_set_changed(model, process);
	if (process_decides_task(process))
		note_root(model, process, process->group->task, wait_status);
	if (process->is_run_root) {
		note_root(model, process, process->run->main, wait_status);
		run_set_dirty(model, process->run);
	}
	return true;
}

int64_t process_row_id(const struct model *model, const struct process *process)
{
	return image_id(model, &process->key, UINT32_MAX);
}
