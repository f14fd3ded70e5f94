/* Who sent a fatal signal. See sender.h. */
#include "correlator/incidents/sender.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>

#include "correlator/incidents/cancel.h"
#include "correlator/model/image.h"
#include "correlator/model/model.h"
#include "correlator/model/process.h"
#include "correlator/model/run.h"
#include "correlator/model/sent_signal.h"
#include "correlator/model/tool.h"

/* Maximum time that a process may take to clean up after a signal before it ends because of it. */
#define HANDLED_NS (60 * UINT64_C(1000000000))

void signal_name(int64_t signal, char *text, size_t size)
{
	const char *name = signal > 0 && signal < 64 ? sigabbrev_np((int)signal) : NULL;

	if (name)
		snprintf(text, size, "SIG%s", name);
	else
		snprintf(text, size, "signal %" PRId64, signal);
}

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
static void keep(struct sent_signals *signals, const struct sent_signal *sent)
{
	unsigned gone = 0;

	while (gone < signals->count && signals->item[gone].signal != sent->signal)
		gone++;
	if (gone < signals->count && sent->kind == SENDER_SELF &&
	    sent->boot_ns <= signals->item[gone].boot_ns + HANDLED_NS)
		return;
	if (gone == signals->count && signals->count == SENT_SIGNALS_MAX)
		gone = 0;
	if (gone < signals->count) {
		signals->count--;
		memmove(&signals->item[gone], &signals->item[gone + 1], (signals->count - gone) * sizeof(*sent));
	}
	signals->item[signals->count++] = *sent;
}

void sender_note(struct model *model, const struct record_signal *signal, struct process *target,
		 const struct process *sender)
{
	struct sent_signal sent = {.boot_ns = signal->header.boot_ns, .signal = signal->signal};

	if (!target->signals)
		target->signals = model_alloc(model, sizeof(*target->signals));
	if (!target->signals)
		return;
	fill_sender(signal, target, sender, &sent);
	keep(target->signals, &sent);
	process_set_changed(model, target);
}

const struct sent_signal *sender_find(const struct process *process, int64_t wait_status, uint64_t end_boot_ns)
{
	int64_t signal = wait_status & 0x7f, code = wait_status >> 8 & 0xff;
	const struct sent_signals *signals = process->signals;
	const struct sent_signal *latest;

	if (!signals || signals->count == 0)
		return NULL;
	if (signal == 0 && code > 128)
		signal = code - 128; /* convention of shells and many other programs */
	for (unsigned i = signals->count; i > 0; i--)
		if (signals->item[i - 1].signal == signal)
			return &signals->item[i - 1];
	latest = &signals->item[signals->count - 1];
	if ((wait_status & 0x7f) == 0 && end_boot_ns <= latest->boot_ns + HANDLED_NS)
		return latest;
	return NULL;
}

/* User names are local to a host; only root is the same everywhere. */
static void describe_user(uint32_t uid, char *text, size_t size)
{
	if (uid == 0)
		snprintf(text, size, "user root");
	else
		snprintf(text, size, "uid %" PRIu32, uid);
}

static const char *kernel_source(uint32_t signal)
{
	switch (signal) {
	case SIGINT: return "the terminal (^C)";
	case SIGQUIT: return "the terminal (^\\)";
	case SIGHUP: return "the terminal";
	default: return "the kernel";
	}
}

void sender_describe(const struct sent_signal *sent, char *text, size_t size)
{
	char user[32];

	describe_user(sent->sender_uid, user, sizeof(user));
	switch (sent->kind) {
	case SENDER_KERNEL: snprintf(text, size, "%s", kernel_source(sent->signal)); break;
	case SENDER_SELF: snprintf(text, size, "itself"); break;
	default:
		snprintf(text, size, "%s (pid %" PRIu32 ", %s)", sent->program[0] ? sent->program : "a process",
			 sent->sender_pid, user);
	}
}

static const char *kernel_reason(uint32_t signal)
{
	switch (signal) {
	case SIGINT: return "it was interrupted at its terminal";
	case SIGQUIT: return "it was quit at its terminal";
	case SIGHUP: return "its terminal was closed";
	case SIGXCPU: return "it reached its CPU time limit (RLIMIT_CPU)";
	case SIGXFSZ: return "it reached its file size limit (RLIMIT_FSIZE)";
	case SIGALRM: return "its own timer expired";
	default: return NULL;
	}
}

static void explain_batch(const struct sent_signal *sent, const struct run *run, char *text, size_t size)
{
	const struct cancel *cancel = cancel_find(run, sent->boot_ns);
	char user[32];

	if (!cancel) {
		snprintf(text, size,
			 "%s, the batch system's daemon, ended the job: its time limit or another limit "
			 "was reached, or it was cancelled",
			 sent->program);
		return;
	}
	describe_user(cancel->uid, user, sizeof(user));
	snprintf(text, size, "%s, the batch system's daemon, ended the job: %s (pid %" PRIu32 ", %s) cancelled it",
		 sent->program, cancel->program, cancel->pid, user);
}

bool sender_explain(const struct sent_signal *sent, const struct run *run, char *text, size_t size)
{
	static const struct {
		const char *before, *behind;
	} words[] = {
		[SENDER_PARENT] = {"its parent ", ""},
		[SENDER_ANCESTOR] = {"its ancestor ", ""},
		[SENDER_ORIGIN] = {"", ", which starts services and sessions,"},
		[SENDER_SAME_RUN] = {"", " of the same run"},
		[SENDER_FOR_OTHERS] = {"", " of the same run"},
		[SENDER_OTHER] = {"", ", which is not part of its run,"},
	};
	const char *program = sent->program[0] ? sent->program : "an unnamed process";
	const char *reason;

	switch (sent->kind) {
	case SENDER_KERNEL:
		reason = kernel_reason(sent->signal);
		snprintf(text, size, "%s", reason ? reason : "");
		return reason;
	case SENDER_SELF: snprintf(text, size, "it sent the signal to itself"); return true;
	case SENDER_BATCH: explain_batch(sent, run, text, size); return true;
	case SENDER_UNKNOWN: return false;
	default:
		snprintf(text, size, "%s%s%s ended it", words[sent->kind].before, program, words[sent->kind].behind);
		return true;
	}
}
