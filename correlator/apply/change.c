/* See change.h. */
#include "correlator/apply/change.h"

#include "correlator/incidents/assess.h"
#include "correlator/incidents/loss.h"
#include "correlator/model/account.h"
#include "correlator/model/command.h"
#include "correlator/model/model.h"
#include "correlator/model/process.h"
#include "correlator/model/process_memory.h"
#include "correlator/placement/classify.h"

struct process *change_begin_process(struct model *model, const struct image_key *key, struct process *parent,
				     uint32_t user_id)
{
	if (!account_has_room(model->accounts, user_id)) {
		loss_note_unrecorded(model, parent);
		return NULL;
	}
	struct process *process = process_new(model, key, parent);

	if (process)
		process->account = account_charge_process(&model->accounts, user_id);
	return process;
}

struct command *change_read_command(struct model *model, const struct record *record)
{
	struct command *command =
		command_new(record, rules_secrets(model->options.rules), model->options.arguments, &model->accounts);

	if (!command)
		model->out_of_memory = true;
	return command;
}

struct command *change_read_exec(struct model *model, const struct process *process, const struct record *record)
{
	const struct latest_command *latest = &model->latest_command;

	/* Only beneath the same parent, or an ancestor could share it, and classify() links those. */
	if (latest->command && latest->parent == process->parent && command_is_of(latest->command, record))
		return command_ref(latest->command);
	return change_read_command(model, record);
}

void change_program(struct model *model, struct process *process, struct command *command,
		    const struct record_context *context, struct rules_class *ret_class)
{
	command_unref(process->command);
	process->command = command_ref(command);
	process->pid_namespace = context->pid_namespace;
	process->mount_namespace = context->mount_namespace;
	process->output_pipe = context->stdout_pipe;
	process_set_context(process, context->cgroup_id, context->uid, context->pgid, context->flags);
	process_set_core_limit(process, model, context->core_limit_milli);
	process_set_changed(model, process);
	classify(model, process, ret_class);
	process->ignored = ret_class->role == RULES_ROLE_IGNORE;
}

void change_end_image(struct model *model, struct image *image, enum image_ended how, uint64_t boot_ns,
		      int64_t wait_status, uint32_t exit_flags)
{
	if (!image_end(model, image, how, boot_ns, wait_status, exit_flags))
		return;
	memory_note_end(model, image);
	assess_image(model, image);
}

void change_end_process(struct model *model, struct process *process, int64_t wait_status, uint64_t boot_ns)
{
	if (!process_end(model, process, wait_status, boot_ns))
		return;
	process->seen_scan = model->scan_number; /* a scan that has begun may have missed it */
	assess_process(model, process, wait_status);
}

void change_end_unknown(struct model *model, struct process *process, enum image_ended how, uint64_t boot_ns)
{
	if (process->image)
		change_end_image(model, process->image, how, boot_ns, ROW_NULL, 0);
	change_end_process(model, process, ROW_NULL, boot_ns);
	process->has_final = true;
}
