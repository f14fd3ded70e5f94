/* See assess.h. */
#include "correlator/incidents/assess.h"

#include <utlist.h>

#include "correlator/incidents/incident.h"
#include "correlator/incidents/ongoing.h"
#include "correlator/incidents/retry.h"
#include "correlator/incidents/root_cause.h"
#include "correlator/model/group.h"
#include "correlator/model/image.h"
#include "correlator/model/model.h"
#include "correlator/model/process.h"
#include "correlator/model/run.h"
#include "correlator/model/task.h"

void assess_image(struct model *model, struct image *image)
{
	ongoing_end(model, image->process, image->end_boot_ns);
	if (image->ended != IMAGE_EXIT || image->wait_status == 0)
		return;
	root_cause_note(model, image);
	incident_note_failure(model, image);
}

void assess_process(struct model *model, struct process *process, int64_t wait_status)
{
	if (process_decides_task(process)) {
		incident_note_task(model, process->group->task);
		retry_note_end(model, process->group->task);
	} else if (process->is_run_root) {
		incident_note_task(model, process->run->main);
	}
	retry_settle(model, process, wait_status);
}

/* The root may have executed something, and ended, before the task was opened. */
static void assess_task(struct model *model, struct task *task)
{
	const struct process *root = process_find(model, task->root);

	if (!root)
		return;
	if (root->image && root->image->began != IMAGE_FORK)
		retry_note_root(model, task, root, root->image->role);
	if (root->ended) {
		incident_note_task(model, task);
		retry_note_end(model, task);
	}
}

void assess_opened(struct model *model)
{
	struct task *task;

	while ((task = model->opened_tasks)) {
		LL_DELETE2(model->opened_tasks, task, next_opened);
		if (!model->opened_tasks)
			model->last_opened_task = NULL;
		assess_task(model, task);
	}
}
