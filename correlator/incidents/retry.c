/* Whether a failed task was retried, tolerated or fatal.
 *
 * A run remembers its last few failed tasks while the orchestrator that began them runs. A later
 * task beneath the same orchestrator that does the same work is the next attempt: its root has
 * the same command line in the same directory, apart from the number of the attempt. If the engine
 * gives each attempt its own directory and script (Nextflow), the retry is recognized by the failed
 * command being executed again.
 *
 * When the orchestrator ends, the failures that did not make it fail were tolerated. If it fails, too,
 * the end of the process above it decides, and so on up to the root of the run: a script may tolerate the
 * failure of a make.
 */
#include "correlator/incidents/retry.h"

#include <utlist.h>

#include "correlator/incidents/incident.h"
#include "correlator/model/cause.h"
#include "correlator/model/command.h"
#include "correlator/model/group.h"
#include "correlator/model/image.h"
#include "correlator/model/process.h"
#include "correlator/model/run.h"
#include "correlator/model/task.h"
#include "correlator/model/tree.h"
#include "correlator/model/tool.h"

static void clear_fatal(struct model *model, struct task *task)
{
	if (!task->reports.fatal)
		return;
	task->reports.fatal = false;
	incident_report_task(model, task);
}

static struct task *attempt_before(const struct task *task)
{
	struct task *attempt;

	DL_FOREACH2 (task->run->awaited, attempt, retry.next)
		if (attempt->retried_by_id == task->id)
			return attempt;
	return NULL;
}

/* Clears the mark of the earlier, failed attempts of a task that has succeeded. */
static void clear_fatal_attempts(struct model *model, const struct task *task)
{
	struct task *attempt;

	while ((attempt = attempt_before(task))) {
		clear_fatal(model, attempt);
		task_forget_retry(model, attempt);
		clear_fatal_attempts(model, attempt);
	}
}

void retry_note_end(struct model *model, struct task *task)
{
	enum outcome_status status = task_status(task);

	if (task->kind == TASK_MAIN)
		return;
	if (status == OUTCOME_SUCCEEDED) {
		clear_fatal_attempts(model, task);
		return;
	}
	if (task->retry.awaited || !task->cause || status < OUTCOME_FAILED)
		return;
	task->reports.fatal = true;
	task->retry.awaits = task->orchestrator;
	task->retry.awaits_cause_id = task->cause->process_id;
	task_await_retry(model, task);
}

/* ---- retries of the same work */

static bool may_be_retried(const struct task *failed, const struct task *task, uint64_t begin_boot_ns)
{
	return failed != task && failed->retried_by_id == ROW_NULL &&
	       process_key_is(&failed->orchestrator, &task->orchestrator) &&
	       failed->outcome.end_boot_ns <= begin_boot_ns;
}

/* What the orchestrator remembers of the task, or NULL. */
static struct ending *ending_of(const struct process *orchestrator, const struct task *task)
{
	struct ending *ending;

	DL_FOREACH (orchestrator->endings, ending)
		if (ending->pid == task->root.pid && ending->start_boot_ns == task->root.start_boot_ns)
			return ending;
	return NULL;
}

static void link_attempts(struct model *model, struct task *failed, struct task *task)
{
	struct process *orchestrator = process_find(model, task->orchestrator);
	struct ending *ending = orchestrator ? ending_of(orchestrator, failed) : NULL;

	failed->retried_by_id = task->id;
	task_set_dirty(model, failed);
	if (!ending)
		return;
	ending->kind = ENDING_RETRIED; /* it explains nothing any more */
	process_set_changed(model, orchestrator);
}

void retry_note_root(struct model *model, struct task *task, const struct process *root, enum rules_role role)
{
	struct task *failed;

	if (!root->command)
		return;
	task->retry.wraps = role == RULES_ROLE_WRAPPER;
	task->retry.work = command_work(root->command, true);
	DL_FOREACH2 (task->run->awaited, failed, retry.next)
		if (task->retry.work != 0 && failed->retry.work == task->retry.work &&
		    may_be_retried(failed, task, root->fork_boot_ns)) {
			link_attempts(model, failed, task);
			return;
		}
}

void retry_note_exec(struct model *model, const struct process *process)
{
	struct task *task = process->group ? process->group->task : NULL;
	struct task *failed;
	struct task_figures figures;
	int64_t work = 0;

	if (!task || !task->retry.wraps || !process->command || !task->run->awaited)
		return;
	task_fold(task, &figures);
	DL_FOREACH2 (task->run->awaited, failed, retry.next) {
		if (!failed->retry.wraps || failed->cause->work == 0 ||
		    !may_be_retried(failed, task, figures.tally.begin_boot_ns))
			continue;
		work = work ? work : command_work(process->command, false);
		if (failed->cause->work == work) {
			link_attempts(model, failed, task);
			return;
		}
	}
}

/* ---- end of the orchestrator */

/* Below another of its kind, it may have been told by that one to keep going. */
static bool stops_at_failure(const struct process *engine)
{
	const struct image *above = engine->parent ? engine->parent->image : NULL;

	return engine->image->traits & RULES_STOPS_AT_FAILURE &&
	       !(above && strcmp(above->tool->name, engine->image->tool->name) == 0);
}

/* Whether the engine ignored the failure: it went on, or only wanted the output of the command. */
static bool is_ignored(const struct process *engine, const struct task *task)
{
	const struct ending *ending = ending_of(engine, task);

	return ending && ((ending->is_captured && engine->image->traits & RULES_IGNORES_CAPTURED) ||
			  (ending->followed != FOLLOWED_BY_NOTHING && stops_at_failure(engine)));
}

/* Several tasks may make an engine fail, but a shell fails only because of the one behind its status. */
static bool failed_of(const struct process *orchestrator, const struct task *task)
{
	const struct image *image = orchestrator->image;

	if (orchestrator->cause->process_id == task->retry.awaits_cause_id)
		return true;
	if (!image || image->role != RULES_ROLE_ORCHESTRATOR ||
	    task->cause->sender_process_id == image->id) /* it ended the task itself */
		return false;
	return !is_ignored(orchestrator, task);
}

static bool await_above(struct model *model, const struct process *process, struct task *task)
{
	if (process->is_run_root || !process->parent || process->parent->run != task->run)
		return false;
	task->retry.awaits = process->parent->key;
	if (process->cause)
		task->retry.awaits_cause_id = process->cause->process_id;
	task_set_dirty(model, task);
	return true;
}

void retry_settle(struct model *model, const struct process *process, int64_t wait_status)
{
	bool failed = wait_status != 0 && process->cause;
	struct task *task, *next;

	if (!process->run)
		return;
	if (wait_status == ROW_NULL)
		failed = true; /* unknown: assume that it failed */
	DL_FOREACH_SAFE2 (process->run->awaited, task, next, retry.next) {
		if (!process_key_is(&task->retry.awaits, &process->key))
			continue;
		if (!failed || (process->cause && !failed_of(process, task)))
			clear_fatal(model, task);
		else if (await_above(model, process, task))
			continue;
		task_forget_retry(model, task);
	}
}
