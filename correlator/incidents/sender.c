/* Who sent a fatal signal, and who had a batch system send it. See sender.h. */
#include "correlator/incidents/sender.h"

#include <stdio.h>
#include <sys/wait.h>

#include <utlist.h>

#include "correlator/model/command.h"
#include "correlator/model/container.h"
#include "correlator/model/container_member.h"
#include "correlator/model/image.h"
#include "correlator/model/model.h"
#include "correlator/model/process.h"
#include "correlator/model/run.h"
#include "correlator/model/sent_signal.h"
#include "correlator/model/task.h"
#include "correlator/model/tool.h"

/* Maximum time that a process may take to clean up after a signal before it ends because of it. */
#define HANDLED_NS (60 * UINT64_C(1000000000))

/* If a job still runs this long after a cancel command, the command may not have cancelled it. */
#define CANCEL_NS (60 * UINT64_C(1000000000))

static bool is_above(const struct process *above, const struct process *process)
{
	for (process = process->parent; process; process = process->parent)
		if (process == above)
			return true;
	return false;
}

/* A user's program of that name ends the user's own jobs for no reason of the batch system's. */
static bool is_batch_daemon(const struct process *sender)
{
	return sender->image->nested && sender->uid == 0;
}

static enum sender_kind kind_of(const struct process *sender, const struct process *target)
{
	const struct image *image = sender->image;

	if (sender == target)
		return SENDER_SELF;
	if (image && image->role == RULES_ROLE_ORIGIN)
		return is_batch_daemon(sender) && target->run && target->run->kind == RUN_BATCH ? SENDER_BATCH
												: SENDER_ORIGIN;
	if (sender == target->parent)
		return SENDER_PARENT;
	if (is_above(sender, target))
		return SENDER_ANCESTOR;
	if (sender->run != target->run)
		return SENDER_OTHER;
	return image && image->traits & RULES_KILLS_FOR_OTHERS ? SENDER_FOR_OTHERS : SENDER_SAME_RUN;
}

bool sender_is_process(const struct record_signal *signal)
{
	return signal->sender.start_boot_ns != 0 && signal->code <= 0;
}

static void fill_sender(const struct record_signal *signal, const struct process *target, const struct process *sender,
			struct sent_signal *sent)
{
	sent->kind = SENDER_KERNEL;
	sent->sender_id = ROW_NULL;
	if (!sender_is_process(signal))
		return;
	sent->kind = SENDER_UNKNOWN;
	sent->sender_pid = signal->sender.pid;
	sent->sender_uid = signal->sender_uid;
	if (!sender)
		return;
	sent->kind = kind_of(sender, target);
	if (!sender->image)
		return;
	sent->sender_id = sender->image->id;
	snprintf(sent->program, sizeof(sent->program), "%s", sender->image->tool->name);
}

/* Only the latest of each number counts. A process that sends itself a signal it has just received
 * does so to die from it (shells, Python): the original sender is kept. */
void sender_note(struct model *model, const struct record_signal *signal, struct process *target,
		 const struct process *sender)
{
	struct sent_signal sent = {.boot_ns = signal->header.boot_ns, .signal = signal->signal}, *place, *other;
	int count;

	fill_sender(signal, target, sender, &sent);
	DL_SEARCH_SCALAR(target->signals, place, signal, sent.signal);
	if (place && sent.kind == SENDER_SELF && sent.boot_ns <= place->boot_ns + HANDLED_NS)
		return;
	DL_COUNT(target->signals, other, count);
	if (!place && count == SENT_SIGNALS_MAX)
		place = target->signals;
	if (place)
		DL_DELETE(target->signals, place);
	else
		place = model_alloc(model, sizeof(*place));
	if (!place)
		return;
	*place = sent;
	DL_APPEND(target->signals, place);
	process_set_changed(model, target);
}

const struct sent_signal *sender_find(const struct image *image)
{
	int64_t signal = WTERMSIG(image->wait_status), code = WEXITSTATUS(image->wait_status);
	const struct sent_signal *signals = image->process->signals, *sent;

	if (!signals)
		return NULL;
	if (signal == 0 && code > 128)
		signal = code - 128; /* convention of shells and many other programs */
	DL_SEARCH_SCALAR(signals, sent, signal, signal);
	if (sent)
		return sent;
	sent = signals->prev; /* the latest */
	return WTERMSIG(image->wait_status) == 0 && image->end_boot_ns <= sent->boot_ns + HANDLED_NS ? sent : NULL;
}

/* ---- commands that cancelled batch jobs ---- */

/* "7", "7.0", "7_1" and "7[]" name job 7. */
static bool argument_names(const char *argument, const char *number)
{
	size_t size = strspn(number, "0123456789");

	return size > 0 && strncmp(argument, number, size) == 0 && strchr("._[", argument[size]);
}

/* A word after an option may be its value. */
static bool command_names(const struct command *command, const char *number)
{
	bool behind_option = false;

	for (size_t i = 1; i < command->subject.argc; i++) {
		const char *word = command->subject.argv[i];

		if (!behind_option && argument_names(word, number))
			return true;
		behind_option = word[0] == '-' && !strchr(word, '=');
	}
	return false;
}

/* Only root and the job's user may cancel it. Root in a container may be anyone. */
void sender_note_cancel(struct model *model, const struct process *process, uint64_t boot_ns)
{
	struct container *container = container_of_process(model, process);
	struct run *run;

	DL_FOREACH (model->runs, run) {
		const char *number = run->run_key ? strchr(run->run_key, ':') : NULL;

		if (run->kind != RUN_BATCH || !number || (process->uid != 0 && process->uid != run->user_id) ||
		    (container && container != run->main->container) || !command_names(process->command, number + 1))
			continue;
		run->cancel =
			(struct cancel){.boot_ns = boot_ns, .pid = (uint32_t)process->key.pid, .uid = process->uid};
		snprintf(run->cancel.program, sizeof(run->cancel.program), "%s", process->command->program);
	}
}

const struct cancel *sender_find_cancel(const struct run *run, uint64_t boot_ns)
{
	uint64_t since = run->cancel.boot_ns;
	bool explains = since != 0 && since <= boot_ns && boot_ns - since < CANCEL_NS;

	return explains ? &run->cancel : NULL;
}
