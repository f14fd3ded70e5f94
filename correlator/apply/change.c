/* See change.h. */
#include "correlator/apply/change.h"

#include "correlator/incidents/assess.h"
#include "correlator/incidents/retry.h"
#include "correlator/model/group.h"
#include "correlator/model/model.h"
#include "correlator/model/process.h"
#include "correlator/placement/place.h"
#include "correlator/placement/placing.h"

void change_place_full(struct model *model, struct process *process, const struct placing *placing)
{
	place_full(model, process, placing);
	assess_opened(model);
}

void change_exec(struct model *model, struct process *process, const struct placing *placing)
{
	bool again = process->place == PLACE_FULL;

	place_exec(model, process, placing);
	if (again && process->is_task_root)
		retry_note_root(model, process->group->task, process, placing->class->role);
	assess_opened(model);
}

void change_place_part(struct model *model, struct process *process)
{
	place_part(model, process);
	assess_opened(model);
}

void change_end_image(struct model *model, struct image *image, enum image_ended how, uint64_t boot_ns,
		      int64_t wait_status, uint32_t exit_flags)
{
	if (image_end(model, image, how, boot_ns, wait_status, exit_flags))
		assess_image(model, image);
}

void change_end_process(struct model *model, struct process *process, int64_t wait_status, uint64_t boot_ns)
{
	if (!process_end(model, process, wait_status, boot_ns))
		return;
	process->seen_scan = model->scan_number; /* a scan that has begun may have missed it */
	assess_process(model, process, wait_status);
}
