/* See task.h. */
#include "correlator/model/task.h"

#include <utlist.h>

#include "correlator/model/cause.h"
#include "correlator/model/model.h"
#include "correlator/model/run.h"

int64_t task_id(const struct run *run, int64_t id_part)
{
	struct identity identity;

	identity_begin(&identity, "task");
	identity_add_u64(&identity, (uint64_t)run->id);
	return identity_add(identity_end(&identity), id_part);
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
	set_memory_init(&task->memory);
	memory_beside_init(&task->beside);
	outcome_init(&task->outcome);
	DL_APPEND(run->tasks, task);
	task_may_be_over(model, task);
	return task;
}

void task_may_be_over(struct model *model, struct task *task)
{
	if (task->may_be_over)
		return;
	task->may_be_over = true;
	DL_APPEND2(model->maybe_over, task, over_prev, over_next);
}

void task_set_cause(struct task *task, struct cause *cause)
{
	cause_unref(task->cause);
	task->cause = cause ? cause_ref(cause) : NULL;
}

void task_forget_retry(struct model *model, struct task *task)
{
	if (!task->retry.awaited)
		return;
	task->retry.awaited = false;
	DL_DELETE2(task->run->awaited, task, retry.prev, retry.next);
	task->run->awaited_count--;
	task_set_dirty(model, task);
}

void task_await_retry(struct model *model, struct task *task)
{
	struct run *run = task->run;

	if (run->awaited_count == RUN_AWAITED_TASKS_MAX)
		task_forget_retry(model, run->awaited->retry.prev); /* that of the first is the last */
	task->retry.awaited = true;
	DL_PREPEND2(run->awaited, task, retry.prev, retry.next);
	run->awaited_count++;
}
