/* What process scans see of running processes: incidents that go on, and end when their process recovers or ends.
 *
 * Stalls: stuck or idle. A process makes progress if its bytes read, written, sent or received change, or if it uses
 * 1% of a processor over a minute. Otherwise it is
 *   stuck  if every scan for two minutes found it in uninterruptible sleep (the kernel's own
 *          hung-task detector waits as long), or if no process of its task has made progress
 *          for half an hour;
 *   idle   if it has made no progress for half an hour, but its task has.
 * Waiting for a child is not a stall, and programs whose purpose is to wait (shells, engines,
 * clients, sleep) are not checked.
 *
 * Zombies hold no processor or memory, but each a process id, of which a cgroup and a host have a limited number.
 * A parent that has held ZOMBIES_LEAST of them in every scan for HELD_NS gets an incident, which is written again
 * when there are twice as many, and ends when they are fewer. Programs that wait for their children one by one hold
 * some for a while: that is no fault. What is orphaned counts for the process that adopted it.
 */
#include "correlator/incidents/ongoing.h"

#include <stdio.h>

#include <utlist.h>

#include "correlator/incidents/incident.h"
#include "correlator/model/group.h"
#include "correlator/model/image.h"
#include "correlator/model/model.h"
#include "correlator/model/process.h"
#include "correlator/model/run.h"
#include "correlator/model/task.h"
#include "correlator/model/tool.h"

#define SECOND_NS UINT64_C(1000000000)
#define STUCK_BLOCKED_NS (120 * SECOND_NS)
#define QUIET_NS (30 * 60 * SECOND_NS)
#define WINDOW_NS (60 * SECOND_NS)
#define WINDOW_CPU_NS (WINDOW_NS / 100)

/* Maximum number of idle incidents per task: a pool of idle workers needs no more. */
#define IDLE_PER_TASK_MAX 8

#define ZOMBIES_LEAST 100
#define HELD_NS (600 * SECOND_NS)

/* ---- reports ---- */

/* The process has been so since then, and until `end_boot_ns` if that is not 0. Its state changes with it. */
static void report(struct model *model, struct process *process, const char *kind, uint64_t since_boot_ns,
		   uint64_t end_boot_ns, const char *what)
{
	const struct image *image = process->image;
	struct row_incident row = incident_row(image->tool->group->task, image->id, kind, since_boot_ns);

	if (end_boot_ns)
		row.end_boot_ns = (int64_t)end_boot_ns;
	incident_add(model, row, NULL, "%s (pid %u) %s", image->tool->name, image->pid, what);
	process_set_changed(model, process);
}

/* ---- stalls ---- */

static void set_mark(struct process *process, uint64_t boot_ns, const struct totals *now)
{
	process->stall.motion.mark_boot_ns = boot_ns;
	process->stall.motion.mark_cpu_ns = now->cpu_ns;
	process->stall.motion.mark_io_bytes = totals_io_bytes(now);
	process->stall.motion.mark_exec_id = process->image->exec_id;
}

/* Whether it has made progress since its mark; the first scan only sets the mark. */
static bool has_moved(struct process *process, uint64_t boot_ns, const struct totals *now)
{
	const struct motion *motion = &process->stall.motion;
	bool first = motion->mark_boot_ns == 0;
	bool moved = !first && (motion->mark_exec_id != process->image->exec_id ||
				motion->mark_io_bytes != totals_io_bytes(now) ||
				now->cpu_ns - motion->mark_cpu_ns > (int64_t)WINDOW_CPU_NS);

	if (first || moved || boot_ns - motion->mark_boot_ns >= WINDOW_NS)
		set_mark(process, boot_ns, now);
	return moved;
}

static void report_stall(struct model *model, struct process *process, uint64_t boot_ns, bool is_over)
{
	static const struct {
		const char *kind, *how;
	} stalls[] = {
		[STALL_BLOCKED] = {"stuck", "in uninterruptible sleep, without CPU or I/O,"},
		[STALL_STUCK] = {"stuck", "without CPU or I/O, like all of its task,"},
		[STALL_IDLE] = {"idle", "without CPU or I/O"},
	};
	uint64_t since = process->stall.since_boot_ns;
	double seconds = boot_ns > since ? (double)(boot_ns - since) / 1e9 : 0.0;
	char what[128];

	snprintf(what, sizeof(what), "%s %s for %s%.0f s", is_over ? "was" : "is", stalls[process->stall.kind].how,
		 is_over ? "" : "more than ", seconds);
	report(model, process, stalls[process->stall.kind].kind, since, is_over ? boot_ns : 0, what);
}

static void begin(struct model *model, struct process *process, enum stall_kind kind, uint64_t since, uint64_t boot_ns)
{
	process->stall.kind = kind;
	process->stall.since_boot_ns = since;
	report_stall(model, process, boot_ns, false);
}

static void stall_end(struct model *model, struct process *process, uint64_t boot_ns)
{
	if (process->stall.kind == STALL_NONE)
		return;
	report_stall(model, process, boot_ns, true);
	process->stall.kind = STALL_NONE;
}

static bool has_running_child(const struct process *process)
{
	const struct process *child;

	DL_FOREACH2 (process->children, child, sibling_next)
		if (!child->ended)
			return true;
	return false;
}

/* Only tools without running children, in a run that is expected to end. */
static bool should_move(const struct process *process)
{
	return process->image->role == RULES_ROLE_TOOL && run_is_workload(process->run) && !has_running_child(process);
}

static void check_idle(struct model *model, struct process *process, uint64_t boot_ns)
{
	struct task *task = process->image->tool->group->task;
	uint64_t since = process->stall.motion.moved_boot_ns;

	if (boot_ns - since < QUIET_NS || !should_move(process))
		return;
	if (boot_ns - task->stall.moved_boot_ns >= QUIET_NS) {
		begin(model, process, STALL_STUCK, since, boot_ns);
	} else if (task->stall.idle_count < IDLE_PER_TASK_MAX) {
		task->stall.idle_count++;
		begin(model, process, STALL_IDLE, since, boot_ns);
	}
}

void ongoing_note_sample(struct model *model, struct process *process, const struct record_exec *sample,
			 const struct totals *now)
{
	struct motion *motion = &process->stall.motion;
	struct task *task = process->image->tool->group->task;
	bool blocked = sample->counters.valid & COUNTER_VALID(uninterruptible_count) &&
		       sample->counters.uninterruptible_count > 0;

	if (process->flags & RECORD_KERNEL_THREAD)
		return;
	if (motion->moved_boot_ns == 0) /* after a restart a stall continues from its start */
		motion->moved_boot_ns = process->stall.kind ? process->stall.since_boot_ns : sample->header.boot_ns;
	if (has_moved(process, sample->header.boot_ns, now)) {
		motion->moved_boot_ns = sample->header.boot_ns;
		stall_end(model, process, sample->header.boot_ns);
	}
	if (motion->moved_boot_ns > task->stall.moved_boot_ns)
		task->stall.moved_boot_ns = motion->moved_boot_ns;
	if (!blocked)
		motion->blocked_boot_ns = 0;
	else if (motion->blocked_boot_ns < motion->moved_boot_ns)
		motion->blocked_boot_ns = sample->header.boot_ns;
	if (process->stall.kind != STALL_NONE)
		return;
	if (blocked && sample->header.boot_ns - motion->blocked_boot_ns >= STUCK_BLOCKED_NS)
		begin(model, process, STALL_BLOCKED, motion->blocked_boot_ns, sample->header.boot_ns);
	else
		check_idle(model, process, sample->header.boot_ns);
}

/* ---- zombies ---- */

static void report_zombies(struct model *model, struct process *process, uint64_t end_boot_ns)
{
	char what[64];

	snprintf(what, sizeof(what), "%s not reaped %u children that ended", end_boot_ns ? "had" : "has",
		 process->zombies.reported_count);
	report(model, process, "zombies", process->zombies.since_boot_ns, end_boot_ns, what);
}

void ongoing_note_zombie(struct model *model, const struct image_key *parent)
{
	struct process *process = process_find(model, process_key_of(parent));

	if (process)
		process->zombies.count++;
}

static void zombies_end(struct model *model, struct process *process, uint64_t boot_ns)
{
	if (process->zombies.reported_count)
		report_zombies(model, process, boot_ns);
	process->zombies = (struct zombies){0};
}

void ongoing_take_zombies(struct model *model, struct process *process, uint64_t boot_ns)
{
	struct zombies *zombies = &process->zombies;
	uint32_t count = zombies->count;

	zombies->count = 0;
	if (!process->sampled_boot_ns) /* since the start only some were noted */
		return;
	if (count < ZOMBIES_LEAST) {
		zombies_end(model, process, boot_ns);
		return;
	}
	if (!zombies->since_boot_ns)
		zombies->since_boot_ns = boot_ns;
	if (boot_ns - zombies->since_boot_ns < HELD_NS || count < 2 * zombies->reported_count)
		return;
	zombies->reported_count = count;
	report_zombies(model, process, 0);
}

void ongoing_end(struct model *model, struct process *process, uint64_t boot_ns)
{
	stall_end(model, process, boot_ns);
	zombies_end(model, process, boot_ns);
}
