/* Incidents: what went wrong, each described in one factual sentence. */
#include "correlator/incidents/incident.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>

#include "common/duration.h"
#include "correlator/incidents/sender.h"
#include "correlator/model/cause.h"
#include "correlator/model/cgroup.h"
#include "correlator/model/command.h"
#include "correlator/model/group.h"
#include "correlator/model/image.h"
#include "correlator/model/model.h"
#include "correlator/model/pending.h"
#include "correlator/model/process.h"
#include "correlator/model/run.h"
#include "correlator/model/sent_signal.h"
#include "correlator/model/task.h"
#include "correlator/model/tool.h"
#include "correlator/model/tree.h"
#include "correlator/placement/task_name.h"

#define SENTENCE_MAX 512

/* Maximum number of crashes reported per task: a program may crash repeatedly. */
#define CRASHES_PER_TASK_MAX 16

/* The kernel charges memory in per-processor batches of pages: a limit counts as reached
 * when the counter is this close to it. */
#define OOM_MARGIN_BYTES (1024 * 1024)

/* Of timeout(1), and of what imitates it. */
#define TIME_LIMIT_CODE 124

int64_t incident_id(int64_t subject, const char *kind)
{
	struct identity identity;

	identity_begin(&identity, "incident");
	identity_add_u64(&identity, (uint64_t)subject);
	identity_add_bytes(&identity, kind, strlen(kind));
	return identity_end(&identity);
}

/* ---- what happened, and why ---- */

static int64_t exit_code(const struct image *image)
{
	return image->wait_status & 0x7f ? ROW_NULL : image->wait_status >> 8 & 0xff;
}

/* Whether it is a child forked for a command that could not be executed: shells, env, nohup,
 * xargs and others exit with these codes then. */
static bool is_failed_command(const struct image *image)
{
	return image->began == IMAGE_FORK && (exit_code(image) == 126 || exit_code(image) == 127);
}

static const char *after(const struct image *image, uint64_t since_boot_ns, char text[DURATION_SIZE])
{
	uint64_t end_boot_ns = image->end_boot_ns;

	return duration_format(text, end_boot_ns > since_boot_ns ? end_boot_ns - since_boot_ns : 0, "µs");
}

/* "was killed by SIGTERM from slurmstepd (pid 7, user root) after 2.3 s" */
static void describe_signal(const struct image *image, const struct sent_signal *sent, const char *duration, char *text,
			    size_t size)
{
	char name[32], sender[128] = "";

	signal_name(image->wait_status & 0x7f, name, sizeof(name));
	if (sent)
		sender_describe(sent, sender, sizeof(sender));
	snprintf(text, size, "was killed by %s%s%s%s after %s", name, sent ? " from " : "", sender,
		 image->wait_status & 0x80 ? " and dumped core" : "", duration);
}

/* Whether it is a program that runs others; called when none of them explains its end. */
static bool is_driver(const struct image *image)
{
	return image->role == RULES_ROLE_SHELL || image->role == RULES_ROLE_WRAPPER ||
	       image->role == RULES_ROLE_ORCHESTRATOR;
}

static void describe_exit(const struct image *image, const struct sent_signal *sent, const char *duration, char *text,
			  size_t size)
{
	char name[32], sender[128], since[DURATION_SIZE];
	int used = snprintf(text, size, "%sexited with code %" PRId64 " after %s", is_driver(image) ? "itself " : "",
			    exit_code(image), duration);

	if (!sent || used < 0 || (size_t)used >= size)
		return;
	signal_name(sent->signal, name, sizeof(name));
	sender_describe(sent, sender, sizeof(sender));
	snprintf(text + used, size - (size_t)used, ", %s after %s from %s", after(image, sent->boot_ns, since), name,
		 sender);
}

/* "samtools sort (pid 71) was killed by ..." */
static void describe(const struct image *image, const struct sent_signal *sent, char *text, size_t size)
{
	char what[SENTENCE_MAX / 2], duration[DURATION_SIZE];

	after(image, image->begin_boot_ns, duration);
	if (image->oom_killed)
		snprintf(what, sizeof(what), "was killed by the kernel's OOM killer after %s", duration);
	else if (is_failed_command(image))
		snprintf(what, sizeof(what), "could not execute a command (code %" PRId64 ")", exit_code(image));
	else if (image->wait_status & 0x7f)
		describe_signal(image, sent, duration, what, sizeof(what));
	else
		describe_exit(image, sent, duration, what, sizeof(what));
	snprintf(text, size, "%s (pid %u) %s", image->tool->name, image->pid, what);
}

/* Formats bytes for display; "no limit" for ROW_NULL. */
static const char *mebibytes(int64_t bytes, char text[32])
{
	if (bytes == ROW_NULL)
		return "no limit";
	snprintf(text, 32, "%.1f MiB", (double)bytes / (1024.0 * 1024.0));
	return text;
}

static void explain_oom(struct model *model, const struct image *image, char *text, size_t size)
{
	const struct cgroup *cgroup = image->process ? cgroup_find(model, image->process->cgroup_id) : NULL;
	const struct cgroup_limits *limits = cgroup ? &cgroup->limits : NULL;
	char limit[32], peak[32];

	if (!limits || limits->cgroup_peak_bytes == ROW_NULL) {
		snprintf(text, size, "memory ran out; the memory limit of its cgroup is unknown");
		return;
	}
	mebibytes(limits->cgroup_peak_bytes, peak);
	if (limits->memory_limit_bytes == ROW_NULL)
		snprintf(text, size, "the host ran out of memory: its cgroup %s has no limit and used at most %s",
			 cgroup->path, peak);
	else if (limits->cgroup_peak_bytes >= limits->memory_limit_bytes - OOM_MARGIN_BYTES)
		snprintf(text, size, "its cgroup %s reached its memory limit of %s (at most %s used)", cgroup->path,
			 mebibytes(limits->memory_limit_bytes, limit), peak);
	else
		snprintf(text, size,
			 "a parent cgroup or the host ran out of memory; its own cgroup %s used at most %s of its "
			 "limit of %s",
			 cgroup->path, peak, mebibytes(limits->memory_limit_bytes, limit));
}

/* Limits under which programs fail in their own way. */
static void explain_limits(const struct image *image, char *text, size_t size)
{
	if (image->exit_flags & RECORD_EXIT_MEMORY_LIMIT)
		snprintf(text, size, "possibly because its address space was limited (RLIMIT_AS, ulimit -v)");
	else if (image->exit_flags & RECORD_EXIT_FILE_LIMIT)
		snprintf(text, size, "possibly because the size of its files was limited (RLIMIT_FSIZE, ulimit -f)");
}

/* Mentions the last command that failed before: its status is not the status of this process, so it is
 * unknown whether it is the cause; it is not if another one was started since. */
static void explain_before(const struct image *image, char *text, size_t size)
{
	const struct endings *endings = image->process ? image->process->endings : NULL;
	const struct ending *before = ending_before(endings, image->end_boot_ns);

	if (before) {
		snprintf(text, size, "possibly because %s", before->cause->what);
		return;
	}
	explain_limits(image, text, size);
	for (unsigned i = endings && !*text ? endings->count : 0; i > 0; i--)
		if (endings->item[i - 1].kind == ENDING_FAILED) {
			snprintf(text, size, "its last failed command: %s", endings->item[i - 1].cause->what);
			return;
		}
}

static void explain_code(const struct image *image, char *text, size_t size)
{
	int64_t code = exit_code(image);
	char name[32];

	if (is_failed_command(image))
		snprintf(text, size,
			 code == 127 ? "the command does not exist" : "the command exists but cannot be executed");
	else if (image->traits & RULES_LIMITS_TIME && code == TIME_LIMIT_CODE)
		snprintf(text, size, "its time limit was reached");
	else if (image->role == RULES_ROLE_SHELL && code == 127)
		snprintf(text, size, "shells exit with 127 if a command does not exist");
	else if (image->role == RULES_ROLE_SHELL && code == 126)
		snprintf(text, size, "shells exit with 126 if a command cannot be executed");
	else if (image->role == RULES_ROLE_SHELL && code > 128 && code < 128 + 64) {
		signal_name(code - 128, name, sizeof(name));
		snprintf(text, size, "shells exit with %" PRId64 " if %s killed a command", code, name);
	} else {
		explain_before(image, text, size);
	}
}

static const char *signal_reason(int64_t signal)
{
	switch (signal) {
	case SIGSEGV:
	case SIGBUS: return "invalid memory access";
	case SIGILL: return "invalid instruction for this processor";
	case SIGFPE: return "arithmetic error, such as a division by zero";
	case SIGABRT: return "it called abort(3), as programs do when they detect an internal error";
	case SIGPIPE: return "it wrote to a pipe or socket whose reader had closed it";
	case SIGXCPU: return "it reached its CPU time limit (RLIMIT_CPU)";
	case SIGXFSZ: return "it reached its file size limit (RLIMIT_FSIZE)";
	default: return "";
	}
}

/* Writes why it failed, facts only; "" if nothing is known. */
static void explain(struct model *model, const struct image *image, const struct sent_signal *sent, char *text,
		    size_t size)
{
	text[0] = '\0';
	if (image->oom_killed)
		explain_oom(model, image, text, size);
	else if (sent && sent->kind == SENDER_SELF && image->traits & RULES_LIMITS_TIME)
		snprintf(text, size, "its time limit was reached, and it terminated its command and itself");
	else if (sent && sender_explain(sent, image->tool->group->task->run, text, size))
		return;
	else if (sent && sent->kind == SENDER_KERNEL && sent->signal == SIGKILL &&
		 image->exit_flags & RECORD_EXIT_CPU_LIMIT)
		snprintf(text, size, "%s", signal_reason(SIGXCPU));
	else if (image->wait_status & 0x7f)
		snprintf(text, size, "%s", signal_reason(image->wait_status & 0x7f));
	else
		explain_code(image, text, size);
}

/* ---- causes ---- */

static bool is_crash(int64_t signal)
{
	return signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE || signal == SIGABRT ||
	       signal == SIGTRAP || signal == SIGSYS;
}

static bool is_interruption(const struct sent_signal *sent)
{
	return sent && sent->kind == SENDER_KERNEL &&
	       (sent->signal == SIGINT || sent->signal == SIGQUIT || sent->signal == SIGHUP);
}

static enum cause_kind kind_of(const struct image *image, const struct sent_signal *sent)
{
	int64_t signal = image->wait_status & 0x7f;

	if (image->oom_killed)
		return CAUSE_OOM;
	if (is_crash(signal) && (!sent || sent->kind <= SENDER_SELF))
		return CAUSE_CRASH;
	if (is_interruption(sent))
		return CAUSE_INTERRUPTED;
	if (signal)
		return CAUSE_SIGNAL;
	return is_failed_command(image) ? CAUSE_COMMAND : CAUSE_EXIT_CODE;
}

struct cause *incident_describe(struct model *model, const struct image *image)
{
	const struct sent_signal *sent =
		image->process ? sender_find(image->process, image->wait_status, image->end_boot_ns) : NULL;
	struct cause *cause = model_alloc(model, sizeof(*cause));
	char what[SENTENCE_MAX], why[SENTENCE_MAX];

	if (!cause)
		return NULL;
	describe(image, sent, what, sizeof(what));
	explain(model, image, sent, why, sizeof(why));
	*cause = (struct cause){
		.references = 1,
		.kind = kind_of(image, sent),
		.what = strdup(what),
		.why = strdup(why),
		.process_id = image->id,
		.sender_process_id = ROW_NULL,
		.sender_user_id = ROW_NULL,
		.work = image->own_command && image->role == RULES_ROLE_TOOL && image->command
				? command_work(image->command, false)
				: 0,
	};
	if (!cause->what || !cause->why) {
		model->out_of_memory = true;
		cause_unref(cause);
		return NULL;
	}
	if (!sent || sent->kind == SENDER_KERNEL)
		return cause;
	cause->sender_process_id = sent->sender_id;
	cause->sender_user_id = sent->sender_uid;
	snprintf(cause->sender_program, sizeof(cause->sender_program), "%s", sent->program);
	return cause;
}

/* ---- rows ---- */

static const char *const kinds[] = {
	[CAUSE_EXIT_CODE] = "exit-code",    [CAUSE_SIGNAL] = "signal", [CAUSE_INTERRUPTED] = "interrupted",
	[CAUSE_COMMAND] = "failed-command", [CAUSE_CRASH] = "crash",   [CAUSE_OOM] = "oom-kill",
};

/* Whether a process that fails this way has its own incident, whatever the outcome of its task. */
static bool stands_alone(enum cause_kind kind)
{
	return kind >= CAUSE_COMMAND;
}

/* Returns an incident row with the columns taken from a cause. */
static struct row_incident cause_row(const struct cause *cause, const struct task *task)
{
	return (struct row_incident){
		.id = stands_alone(cause->kind) ? incident_id(cause->process_id, kinds[cause->kind])
						: incident_id(task->id, "task"),
		.run_id = task->run->id,
		.task_id = task->id,
		.process_id = cause->process_id,
		.kind = kinds[cause->kind],
		.end_boot_ns = ROW_NULL,
		.sender_process_id = cause->sender_process_id,
		.sender_program = cause->sender_program[0] ? cause->sender_program : NULL,
		.sender_user_id = cause->sender_user_id,
	};
}

/* Limits repeated reports: per task, one of commands that could not be executed for each code, and a
 * bounded number of crashes. */
static bool report_allowed(struct model *model, struct task *task, const struct image *image, enum cause_kind kind)
{
	int bit = exit_code(image) == 127 ? 2 : 1;

	if (task->run == model->system && kind != CAUSE_OOM)
		return false;
	if (kind == CAUSE_COMMAND) {
		if (task->reports.failed_commands & bit)
			return false;
		task->reports.failed_commands |= bit;
	} else if (task->reports.crashes++ >= CRASHES_PER_TASK_MAX) {
		return false;
	}
	task_set_dirty(model, task);
	return true;
}

void incident_add(struct model *model, struct row_incident row, const char *sentence, const char *why)
{
	row.host_id = model->host.id;
	row.unix_ns = model_unix_ns(model, (uint64_t)row.boot_ns);
	row.sentence = sentence;
	row.cause = why && *why ? why : NULL;
	pending_add_incident(model, &row);
}

void incident_note_failure(struct model *model, struct image *image)
{
	const struct cause *cause = image->process ? image->process->cause : NULL;
	struct task *task = image->tool->group->task;
	struct row_incident row;

	if (!cause || cause->process_id != image->id || !stands_alone(cause->kind) ||
	    !report_allowed(model, task, image, cause->kind))
		return;
	row = cause_row(cause, task);
	row.boot_ns = (int64_t)image->end_boot_ns;
	incident_add(model, row, cause->what, cause->why);
}

static const char *how_it_ended(const struct task *task)
{
	if (task->cause->kind == CAUSE_INTERRUPTED)
		return "was interrupted";
	return task_status(task) == OUTCOME_KILLED ? "was killed" : "failed";
}

static bool has_failed(const struct task *task)
{
	return task_status(task) >= OUTCOME_FAILED;
}

/* If the process has its own incident, the task's replaces it, as it reports both. A cause reported
 * for an inner task is not reported again for the enclosing tasks that it made fail. */
void incident_note_task(struct model *model, struct task *task)
{
	struct cause *cause = task->cause;

	if (!cause || cause->reported || !has_failed(task) || task->run == model->system || run_is_session(task->run))
		return;
	cause->reported = true;
	task->reports.fatal = true;
	task->reports.incident_boot_ns = (int64_t)task->outcome.end_boot_ns;
	task_set_dirty(model, task);
	incident_report_task(model, task);
}

void incident_report_task(struct model *model, struct task *task)
{
	const struct cause *cause = task->cause;
	struct row_incident row;
	const char *name;
	char text[SENTENCE_MAX * 2];

	if (task->reports.incident_boot_ns == 0 || !cause)
		return;
	task_name_set(task);
	name = task == task->run->main && task->run->name ? task->run->name : task->name;
	snprintf(text, sizeof(text), "%s %s %s: %s", task == task->run->main ? "run" : "task", name ? name : "",
		 how_it_ended(task), cause->what);
	row = cause_row(cause, task);
	row.boot_ns = task->reports.incident_boot_ns;
	row.fatal = task->reports.fatal;
	incident_add(model, row, text, cause->why);
}
