/* Incidents: which failures are reported, and with what. What is said of a failure is made in sentence.c. */
#include "correlator/incidents/incident.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/wait.h>

#include "correlator/incidents/sentence.h"
#include "correlator/model/cause.h"
#include "correlator/model/command.h"
#include "correlator/model/device.h"
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

/* Maximum number of crashes reported per task: a program may crash repeatedly. */
#define CRASHES_PER_TASK_MAX 16

static int64_t incident_id(int64_t subject, const char *kind)
{
	struct identity identity;

	identity_begin(&identity, "incident");
	identity_add_u64(&identity, (uint64_t)subject);
	identity_add_bytes(&identity, kind, strlen(kind));
	return identity_end(&identity);
}

/* ---- causes ---- */

/* Whether it is a child forked for a command that could not be executed: shells, env, nohup,
 * xargs and others exit with these codes then. */
static bool is_failed_command(const struct image *image)
{
	return image->began == IMAGE_FORK && (image->wait_status == 126 << 8 || image->wait_status == 127 << 8);
}

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

static bool is_after_device_error(const struct image *image, const struct sent_signal *sent)
{
	return image->device_error && (!sent || sent->kind <= SENDER_SELF) &&
	       image->end_boot_ns < image->device_error->boot_ns + DEVICE_ERROR_NS;
}

static enum cause_kind kind_of(const struct image *image, const struct sent_signal *sent)
{
	int64_t signal = WTERMSIG(image->wait_status);

	if (image->oom_killed)
		return CAUSE_OOM;
	if (is_interruption(sent))
		return CAUSE_INTERRUPTED;
	if (is_after_device_error(image, sent))
		return CAUSE_GPU;
	if (is_crash(signal) && (!sent || sent->kind <= SENDER_SELF))
		return CAUSE_CRASH;
	if (signal)
		return CAUSE_SIGNAL;
	return is_failed_command(image) ? CAUSE_COMMAND : CAUSE_EXIT_CODE;
}

struct cause *incident_describe(struct model *model, const struct image *image, const struct sent_signal *sent)
{
	struct cause *cause = model_alloc(model, sizeof(*cause));
	enum cause_kind kind = kind_of(image, sent);

	if (!cause)
		return NULL;
	*cause = (struct cause){
		.kind = kind,
		.process_id = image->id,
		.sender_process_id = ROW_NULL,
		.sender_user_id = ROW_NULL,
		.work = image->began != IMAGE_FORK && image->role == RULES_ROLE_TOOL && image->command
				? command_work(image->command, false)
				: 0,
	};
	sentence_of_end(&cause->what, &cause->why, model, image, kind, sent);
	if (!cause->what || !cause->why) {
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
	[CAUSE_GPU] = "gpu-error",
};

/* Whether a process that fails this way has its own incident, whatever the outcome of its task. */
static bool stands_alone(enum cause_kind kind)
{
	return kind >= CAUSE_COMMAND;
}

struct row_incident incident_row(const struct task *task, int64_t process_id, const char *kind, uint64_t boot_ns)
{
	return (struct row_incident){
		.id = incident_id(process_id, kind),
		.run_id = task->run->id,
		.task_id = task->id,
		.process_id = process_id,
		.kind = kind,
		.boot_ns = (int64_t)boot_ns,
		.end_boot_ns = ROW_NULL,
		.sender_process_id = ROW_NULL,
		.sender_user_id = ROW_NULL,
	};
}

static struct row_incident cause_row(const struct cause *cause, const struct task *task, uint64_t boot_ns)
{
	struct row_incident row = incident_row(task, cause->process_id, kinds[cause->kind], boot_ns);

	if (!stands_alone(cause->kind))
		row.id = incident_id(task->id, "task");
	row.sender_process_id = cause->sender_process_id;
	row.sender_program = cause->sender_program[0] ? cause->sender_program : NULL;
	row.sender_user_id = cause->sender_user_id;
	return row;
}

/* Limits repeated reports: per task, one of commands that could not be executed for each code, and a
 * bounded number of crashes. */
static bool report_allowed(struct model *model, struct task *task, const struct image *image, enum cause_kind kind)
{
	int bit = image->wait_status == 127 << 8 ? 2 : 1;

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

void incident_add(struct model *model, struct row_incident row, const char *why, const char *format, ...)
{
	va_list arguments;
	char *sentence;
	int size;

	va_start(arguments, format);
	size = vasprintf(&sentence, format, arguments);
	va_end(arguments);
	if (size < 0) {
		model->out_of_memory = true;
		return;
	}
	row.host_id = model->host.id;
	row.unix_ns = model_unix_ns(model, (uint64_t)row.boot_ns);
	row.sentence = sentence;
	row.cause = why && *why ? why : NULL;
	pending_add_incident(model, &row);
	free(sentence);
}

void incident_note_failure(struct model *model, struct image *image)
{
	const struct cause *cause = image->process->cause;
	struct task *task = image->tool->group->task;

	if (!cause || cause->process_id != image->id || !stands_alone(cause->kind) ||
	    !report_allowed(model, task, image, cause->kind))
		return;
	incident_add(model, cause_row(cause, task, image->end_boot_ns), cause->why, "%s", cause->what);
}

/* One row a process, which its failure replaces. */
void incident_note_device_error(struct model *model, struct image *image, const struct device_error *error)
{
	struct task *task = image->tool->group->task;

	if (!device_add_error(model, image, error) || !report_allowed(model, task, image, CAUSE_GPU))
		return;
	char *sentence = sentence_of_device_error(model, image);

	if (sentence)
		incident_add(model, incident_row(task, image->id, kinds[CAUSE_GPU], error->boot_ns), NULL, "%s",
			     sentence);
	free(sentence);
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

	if (!cause || cause->reported || !has_failed(task) || task->run == model->system ||
	    task->run->kind == RUN_SESSION)
		return;
	cause->reported = true;
	task->reports.fatal = true;
	task->reports.incident_boot_ns = (int64_t)task->outcome.end_boot_ns;
	task_set_dirty(model, task);
	incident_report_task(model, task);
}

/* "was killed" */
static const char *result_of(const struct task *task)
{
	if (task->cause->kind == CAUSE_INTERRUPTED)
		return "was interrupted";
	return task_status(task) == OUTCOME_KILLED ? "was killed" : "failed";
}

void incident_report_task(struct model *model, struct task *task)
{
	const struct run *run = task->run;
	const struct cause *cause = task->cause;
	bool is_main = task == run->main;
	struct row_incident row;
	const char *name;

	if (task->reports.incident_boot_ns == 0 || !cause)
		return;
	task_name_set(task);
	name = is_main && run->name ? run->name : task->name;
	row = cause_row(cause, task, (uint64_t)task->reports.incident_boot_ns);
	row.fatal = task->reports.fatal;
	incident_add(model, row, cause->why, "%s %s %s: %s", is_main ? "run" : "task", name ? name : "",
		     result_of(task), cause->what);
}
