/* See sentence.h. */
#include "correlator/incidents/sentence.h"

#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/wait.h>

#include <utlist.h>

#include "common/duration.h"
#include "correlator/incidents/cancel.h"
#include "correlator/model/cgroup.h"
#include "correlator/model/device.h"
#include "correlator/model/group.h"
#include "correlator/model/image.h"
#include "correlator/model/process.h"
#include "correlator/model/model.h"
#include "correlator/model/run.h"
#include "correlator/model/sent_signal.h"
#include "correlator/model/task.h"
#include "correlator/model/tree.h"
#include "correlator/model/tool.h"

/* The kernel charges memory in per-processor batches of pages: a limit counts as reached
 * when the counter is this close to it. */
#define OOM_MARGIN_BYTES (1024 * 1024)

/* Of timeout(1), and of what imitates it. */
#define TIME_LIMIT_CODE 124

#define MIB(bytes) ((double)(bytes) / (1024.0 * 1024.0))

__attribute__((format(printf, 2, 3))) static void add(struct sentence *sentence, const char *format, ...)
{
	size_t room = sizeof(sentence->text) - sentence->size;
	va_list arguments;
	int size;

	va_start(arguments, format);
	size = vsnprintf(sentence->text + sentence->size, room, format, arguments);
	va_end(arguments);
	if (size > 0)
		sentence->size += (size_t)size < room ? (size_t)size : room - 1;
}

static void add_duration(struct sentence *sentence, uint64_t since_boot_ns, uint64_t until_boot_ns)
{
	char text[DURATION_SIZE];

	add(sentence, "%s",
	    duration_format(text, until_boot_ns > since_boot_ns ? until_boot_ns - since_boot_ns : 0, "µs"));
}

/* User names are local to a host; only root is the same everywhere. */
static void add_user(struct sentence *sentence, uint32_t pid, uint32_t uid)
{
	if (uid == 0)
		add(sentence, " (pid %" PRIu32 ", user root)", pid);
	else
		add(sentence, " (pid %" PRIu32 ", uid %" PRIu32 ")", pid, uid);
}

/* ---- signals */

static const struct signal {
	int number;
	const char *source;    /* if the kernel sent it; NULL: "the kernel" */
	const char *by_kernel; /* why the kernel sent it */
	const char *reason;    /* why a process died from it, by any sender */
} signals[] = {
	{SIGINT, "the terminal (^C)", "it was interrupted at its terminal", NULL},
	{SIGQUIT, "the terminal (^\\)", "it was quit at its terminal", NULL},
	{SIGHUP, "the terminal", "its terminal was closed", NULL},
	{SIGALRM, NULL, "its own timer expired", NULL},
#define CPU_LIMIT "it reached its CPU time limit (RLIMIT_CPU)"
	{SIGXCPU, NULL, CPU_LIMIT, CPU_LIMIT},
#define FILE_LIMIT "it reached its file size limit (RLIMIT_FSIZE)"
	{SIGXFSZ, NULL, FILE_LIMIT, FILE_LIMIT},
	{SIGSEGV, NULL, NULL, "invalid memory access"},
	{SIGBUS, NULL, NULL, "invalid memory access"},
	{SIGILL, NULL, NULL, "invalid instruction for this processor"},
	{SIGFPE, NULL, NULL, "arithmetic error, such as a division by zero"},
	{SIGABRT, NULL, NULL, "it called abort(3), as programs do when they detect an internal error"},
	{SIGPIPE, NULL, NULL, "it wrote to a pipe or socket whose reader had closed it"},
};

static const struct signal *signal_find(int64_t number)
{
	static const struct signal unknown;

	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		if (signals[i].number == number)
			return &signals[i];
	return &unknown;
}

/* "SIGTERM", or "signal 70" if it has no name. */
static void add_signal(struct sentence *sentence, int64_t number)
{
	const char *name = number > 0 && number < 64 ? sigabbrev_np((int)number) : NULL;

	if (name)
		add(sentence, "SIG%s", name);
	else
		add(sentence, "signal %" PRId64, number);
}

/* What follows "SIGTERM from ": "slurmstepd (pid 7, user root)", "the terminal (^C)". */
static void add_sender(struct sentence *sentence, const struct sent_signal *sent)
{
	const char *source = signal_find(sent->signal)->source;

	if (sent->kind == SENDER_KERNEL) {
		add(sentence, "%s", source ? source : "the kernel");
	} else if (sent->kind == SENDER_SELF) {
		add(sentence, "itself");
	} else {
		add(sentence, "%s", sent->program[0] ? sent->program : "a process");
		add_user(sentence, sent->sender_pid, sent->sender_uid);
	}
}

/* ---- what happened */

static void add_signal_end(struct sentence *sentence, const struct image *image, const struct sent_signal *sent)
{
	add(sentence, "was killed by ");
	add_signal(sentence, WTERMSIG(image->wait_status));
	if (sent) {
		add(sentence, " from ");
		add_sender(sentence, sent);
	}
	add(sentence, "%s after ", WCOREDUMP(image->wait_status) ? " and dumped core" : "");
	add_duration(sentence, image->begin_boot_ns, image->end_boot_ns);
}

/* A program that runs others is said to have failed itself: it has a cause of its own only if none of them explains
 * its end. */
static void add_exit(struct sentence *sentence, const struct image *image, const struct sent_signal *sent)
{
	bool is_driver = image->role == RULES_ROLE_SHELL || image->role == RULES_ROLE_WRAPPER ||
			 image->role == RULES_ROLE_ORCHESTRATOR;

	add(sentence, "%sexited with code %" PRId64 " after ", is_driver ? "itself " : "",
	    WEXITSTATUS(image->wait_status));
	add_duration(sentence, image->begin_boot_ns, image->end_boot_ns);
	if (!sent)
		return;
	add(sentence, ", ");
	add_duration(sentence, sent->boot_ns, image->end_boot_ns);
	add(sentence, " after ");
	add_signal(sentence, sent->signal);
	add(sentence, " from ");
	add_sender(sentence, sent);
}

void sentence_add_end(struct sentence *sentence, const struct image *image, enum cause_kind kind,
		      const struct sent_signal *sent)
{
	add(sentence, "%s (pid %u) ", image->tool->name, image->pid);
	if (kind == CAUSE_OOM) {
		add(sentence, "was killed by the kernel's OOM killer after ");
		add_duration(sentence, image->begin_boot_ns, image->end_boot_ns);
	} else if (kind == CAUSE_COMMAND) {
		add(sentence, "could not execute a command (code %" PRId64 ")", WEXITSTATUS(image->wait_status));
	} else if (WTERMSIG(image->wait_status)) {
		add_signal_end(sentence, image, sent);
	} else {
		add_exit(sentence, image, sent);
	}
}

/* ---- GPUs */

/* The names of NVIDIA's catalogue of Xid errors: of those that are not only for its own use. */
static const struct {
	uint32_t code;
	const char *name;
} xids[] = {
	{13, "graphics engine exception"},
	{31, "GPU memory page fault"},
	{32, "invalid or corrupted push buffer stream"},
	{43, "GPU stopped processing"},
	{48, "double bit ECC error"},
	{62, "internal micro-controller halt"},
	{63, "memory row remapping"},
	{64, "memory row remapping failed"},
	{74, "NVLink error"},
	{79, "GPU has fallen off the bus"},
	{94, "contained memory error"},
	{95, "uncontained memory error"},
	{109, "context switch timeout"},
	{119, "GSP RPC timeout"},
	{120, "GSP error"},
};

/* "nvidia0 reported Xid 31 (GPU memory page fault)" */
static void add_device_error(struct sentence *sentence, const struct device_error *error)
{
	bool is_xid = strncmp(error->device, "nvidia", strlen("nvidia")) == 0;

	add(sentence, "%s reported %s %" PRIu32, error->device, is_xid ? "Xid" : "error", error->code);
	for (size_t i = 0; is_xid && i < sizeof(xids) / sizeof(xids[0]); i++)
		if (xids[i].code == error->code)
			add(sentence, " (%s)", xids[i].name);
}

static void add_other_holders(struct sentence *sentence, const struct device_error *error)
{
	if (error->holder_count > 1)
		add(sentence, ", which %" PRIu32 " processes held", error->holder_count);
}

void sentence_add_device_error(struct sentence *sentence, const struct image *image)
{
	add(sentence, "%s (pid %u) held a GPU with an error: ", image->tool->name, image->pid);
	add_device_error(sentence, image->device_error);
	add_other_holders(sentence, image->device_error);
}

/* ---- why */

static void add_device_reason(struct sentence *sentence, const struct image *image)
{
	const struct device_error *error = image->device_error;

	add_device_error(sentence, error);
	add(sentence, " ");
	add_duration(sentence, error->boot_ns, image->end_boot_ns);
	add(sentence, " before");
	add_other_holders(sentence, error);
}

static void add_oom_reason(struct sentence *sentence, struct model *model, const struct image *image)
{
	const struct cgroup *cgroup = cgroup_find(model, image->process->cgroup_id);
	int64_t limit = cgroup ? cgroup->limits.memory_limit_bytes : ROW_NULL;
	int64_t peak = cgroup ? cgroup->limits.cgroup_peak_bytes : ROW_NULL;

	if (peak == ROW_NULL)
		add(sentence, "memory ran out; the memory limit of its cgroup is unknown");
	else if (limit == ROW_NULL)
		add(sentence, "the host ran out of memory: its cgroup %s has no limit and used at most %.1f MiB",
		    cgroup->path, MIB(peak));
	else if (peak >= limit - OOM_MARGIN_BYTES)
		add(sentence, "its cgroup %s reached its memory limit of %.1f MiB (at most %.1f MiB used)",
		    cgroup->path, MIB(limit), MIB(peak));
	else
		add(sentence,
		    "a parent cgroup or the host ran out of memory; its own cgroup %s used at most %.1f MiB of its "
		    "limit of %.1f MiB",
		    cgroup->path, MIB(peak), MIB(limit));
}

static void add_batch_reason(struct sentence *sentence, const struct sent_signal *sent, const struct run *run)
{
	const struct cancel *cancel = cancel_find(run, sent->boot_ns);

	add(sentence, "%s, the batch system's daemon, ended the job: ", sent->program);
	if (!cancel) {
		add(sentence, "its time limit or another limit was reached, or it was cancelled");
		return;
	}
	add(sentence, "%s", cancel->program);
	add_user(sentence, cancel->pid, cancel->uid);
	add(sentence, " cancelled it");
}

/* Why it was sent, as far as that is known. Returns false if it is not. */
static bool add_sender_reason(struct sentence *sentence, const struct sent_signal *sent, const struct run *run)
{
	static const struct {
		const char *before, *behind;
	} words[SENDER_KINDS] = {
		[SENDER_PARENT] = {"its parent ", ""},
		[SENDER_ANCESTOR] = {"its ancestor ", ""},
		[SENDER_ORIGIN] = {"", ", which starts services and sessions,"},
		[SENDER_SAME_RUN] = {"", " of the same run"},
		[SENDER_FOR_OTHERS] = {"", " of the same run"},
		[SENDER_OTHER] = {"", ", which is not part of its run,"},
	};
	const char *reason = signal_find(sent->signal)->by_kernel;

	if (sent->kind == SENDER_UNKNOWN || (sent->kind == SENDER_KERNEL && !reason))
		return false;
	if (sent->kind == SENDER_KERNEL)
		add(sentence, "%s", reason);
	else if (sent->kind == SENDER_SELF)
		add(sentence, "it sent the signal to itself");
	else if (sent->kind == SENDER_BATCH)
		add_batch_reason(sentence, sent, run);
	else
		add(sentence, "%s%s%s ended it", words[sent->kind].before,
		    sent->program[0] ? sent->program : "an unnamed process", words[sent->kind].behind);
	return true;
}

/* The last command that failed before: its status is not the status of this process, so it is
 * unknown whether it is the cause; it is not if another one was started since. Then the limits under which
 * programs fail in their own way. */
static void add_possible_reason(struct sentence *sentence, const struct image *image)
{
	const struct ending *endings = image->process->endings, *ending, *last = NULL;
	const struct ending *before = ending_before(endings, image->end_boot_ns);

	DL_FOREACH (endings, ending)
		if (ending->kind == ENDING_FAILED)
			last = ending;
	if (before)
		add(sentence, "possibly because %s", before->cause->what);
	else if (image->exit_flags & RECORD_EXIT_MEMORY_LIMIT)
		add(sentence, "possibly because its address space was limited (RLIMIT_AS, ulimit -v)");
	else if (image->exit_flags & RECORD_EXIT_FILE_LIMIT)
		add(sentence, "possibly because the size of its files was limited (RLIMIT_FSIZE, ulimit -f)");
	else if (last)
		add(sentence, "its last failed command: %s", last->cause->what);
}

static void add_code_reason(struct sentence *sentence, const struct image *image, enum cause_kind kind)
{
	bool is_shell = image->role == RULES_ROLE_SHELL;
	int64_t code = WEXITSTATUS(image->wait_status);

	if (kind == CAUSE_COMMAND) {
		add(sentence, code == 127 ? "the command does not exist" : "the command exists but cannot be executed");
	} else if (image->traits & RULES_LIMITS_TIME && code == TIME_LIMIT_CODE) {
		add(sentence, "its time limit was reached");
	} else if (is_shell && code == 127) {
		add(sentence, "shells exit with 127 if a command does not exist");
	} else if (is_shell && code == 126) {
		add(sentence, "shells exit with 126 if a command cannot be executed");
	} else if (is_shell && code > 128 && code < 128 + 64) {
		add(sentence, "shells exit with %" PRId64 " if ", code);
		add_signal(sentence, code - 128);
		add(sentence, " killed a command");
	} else {
		add_possible_reason(sentence, image);
	}
}

void sentence_add_reason(struct sentence *sentence, struct model *model, const struct image *image,
			 enum cause_kind kind, const struct sent_signal *sent)
{
	const char *reason = signal_find(WTERMSIG(image->wait_status))->reason;

	if (kind == CAUSE_OOM)
		add_oom_reason(sentence, model, image);
	else if (kind == CAUSE_GPU)
		add_device_reason(sentence, image);
	else if (sent && sent->kind == SENDER_SELF && image->traits & RULES_LIMITS_TIME)
		add(sentence, "its time limit was reached, and it terminated its command and itself");
	else if (sent && add_sender_reason(sentence, sent, image->tool->group->task->run))
		return;
	else if (sent && sent->kind == SENDER_KERNEL && sent->signal == SIGKILL &&
		 image->exit_flags & RECORD_EXIT_CPU_LIMIT)
		add(sentence, "%s", CPU_LIMIT);
	else if (WTERMSIG(image->wait_status))
		add(sentence, "%s", reason ? reason : "");
	else
		add_code_reason(sentence, image, kind);
}

/* ---- tasks and stalls */

void sentence_add_task(struct sentence *sentence, const struct task *task)
{
	const struct run *run = task->run;
	const char *name = task == run->main && run->name ? run->name : task->name;
	bool is_killed = task_status(task) == OUTCOME_KILLED;

	add(sentence, "%s %s %s: %s", task == run->main ? "run" : "task", name ? name : "",
	    task->cause->kind == CAUSE_INTERRUPTED ? "was interrupted"
	    : is_killed                            ? "was killed"
						   : "failed",
	    task->cause->what);
}

void sentence_add_stall(struct sentence *sentence, const struct process *process, uint64_t boot_ns, bool is_over)
{
	static const char *const how[] = {
		[STALL_BLOCKED] = "in uninterruptible sleep, without CPU or I/O,",
		[STALL_STUCK] = "without CPU or I/O, like all of its task,",
		[STALL_IDLE] = "without CPU or I/O",
	};
	uint64_t since = process->stall.since_boot_ns;

	add(sentence, "%s (pid %u) %s %s for %s%.0f s", process->image->tool->name, process->image->pid,
	    is_over ? "was" : "is", how[process->stall.kind], is_over ? "" : "more than ",
	    boot_ns > since ? (double)(boot_ns - since) / 1e9 : 0.0);
}
