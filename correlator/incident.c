/* Incidents: what went wrong, each in one sentence of facts. */
#include "correlator/internal.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/identity.h"

#define SENTENCE_MAX 512

/* The kernel charges memory in batches of pages for each processor: a limit is reached
 * when the counter is this near to it. */
#define OOM_MARGIN_BYTES (1024 * 1024)

void incident_add(struct model *model, const struct row_incident *row, const char *sentence,
		  const char *cause)
{
	struct incident *incident = calloc(1, sizeof(*incident));

	if (incident)
		incident->sentence = strdup(sentence);
	if (!incident || !incident->sentence) {
		free(incident);
		model->out_of_memory = true;
		return;
	}
	incident->row = *row;
	incident->row.host_id = model->host.id;
	if (row->unix_ns == 0)
		incident->row.unix_ns = model_unix_ns(model, (uint64_t)row->boot_ns);
	incident->row.sentence = incident->sentence;
	snprintf(incident->cause, sizeof(incident->cause), "%s", cause ? cause : "");
	incident->row.cause = incident->cause[0] ? incident->cause : NULL;
	snprintf(incident->sender, sizeof(incident->sender), "%s",
		 row->sender_program ? row->sender_program : "");
	incident->row.sender_program = incident->sender[0] ? incident->sender : NULL;
	DL_APPEND(model->incidents, incident);
}

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

/* A child that was forked for a command which could then not be executed: that is how
 * shells, env, nohup, xargs and others say it. */
static bool is_failed_command(const struct image *image)
{
	return image->began == IMAGE_FORK && (exit_code(image) == 126 || exit_code(image) == 127);
}

/* "was killed by SIGTERM from slurmstepd (pid 7, user root) after 2.3 s" */
static void describe_signal(const struct image *image, const struct sent_signal *sent, double seconds,
			    char *text, size_t size)
{
	char name[32], sender[128] = "";

	signal_name(image->wait_status & 0x7f, name, sizeof(name));
	if (sent)
		sender_describe(sent, sender, sizeof(sender));
	snprintf(text, size, "was killed by %s%s%s%s after %.1f s", name, sent ? " from " : "", sender,
		 image->wait_status & 0x80 ? " and dumped core" : "", seconds);
}

static void describe_exit(const struct image *image, const struct sent_signal *sent, double seconds,
			  char *text, size_t size)
{
	uint64_t end_boot_ns = image->end_boot_ns;
	char name[32], sender[128];
	int used = snprintf(text, size, "exited with code %" PRId64 " after %.1f s", exit_code(image),
			    seconds);

	if (!sent || used < 0 || (size_t)used >= size)
		return;
	signal_name(sent->signal, name, sizeof(name));
	sender_describe(sent, sender, sizeof(sender));
	snprintf(text + used, size - (size_t)used, ", %.1f s after %s from %s",
		 end_boot_ns > sent->boot_ns ? (double)(end_boot_ns - sent->boot_ns) / 1e9 : 0.0, name,
		 sender);
}

/* "samtools sort (pid 71) was killed by ..." */
static void describe(const struct image *image, const struct sent_signal *sent, char *text, size_t size)
{
	double seconds = (double)(image->end_boot_ns - image->begin_boot_ns) / 1e9;
	char what[SENTENCE_MAX / 2];

	if (image->oom_killed)
		snprintf(what, sizeof(what), "was killed by the kernel's OOM killer after %.1f s", seconds);
	else if (is_failed_command(image))
		snprintf(what, sizeof(what), "could not execute a command (code %" PRId64 ")",
			 exit_code(image));
	else if (image->wait_status & 0x7f)
		describe_signal(image, sent, seconds, what, sizeof(what));
	else
		describe_exit(image, sent, seconds, what, sizeof(what));
	snprintf(text, size, "%s (pid %u) %s", image->tool->name, image->pid, what);
}

/* As a person reads it; "no limit" where there is none. */
static const char *mebibytes(int64_t bytes, char text[32])
{
	if (bytes == ROW_NULL)
		return "no limit";
	snprintf(text, 32, "%.1f MiB", (double)bytes / (1024.0 * 1024.0));
	return text;
}

static void explain_oom(struct model *model, const struct image *image, char *text, size_t size)
{
	const struct cgroup *cgroup =
		image->process ? cgroup_find(model, image->process->cgroup_id) : NULL;
	const struct allowance *allowance = cgroup ? &cgroup->allowance : NULL;
	char limit[32], peak[32];

	if (!allowance || allowance->cgroup_peak_bytes == ROW_NULL) {
		snprintf(text, size, "memory ran out; what its cgroup may use is not known");
		return;
	}
	mebibytes(allowance->cgroup_peak_bytes, peak);
	if (allowance->memory_limit_bytes == ROW_NULL)
		snprintf(text, size,
			 "the host ran out of memory: its cgroup %s has no limit and used %s at most",
			 cgroup->path, peak);
	else if (allowance->cgroup_peak_bytes >= allowance->memory_limit_bytes - OOM_MARGIN_BYTES)
		snprintf(text, size, "its cgroup %s reached its memory limit of %s (at most %s used)",
			 cgroup->path, mebibytes(allowance->memory_limit_bytes, limit), peak);
	else
		snprintf(text, size,
			 "memory ran out above its cgroup %s, which used %s at most of the %s that it "
			 "may", cgroup->path, peak, mebibytes(allowance->memory_limit_bytes, limit));
}

static void explain_code(const struct image *image, char *text, size_t size)
{
	int64_t code = exit_code(image);
	char name[32];

	if (is_failed_command(image))
		snprintf(text, size, code == 127 ? "there is no such command"
						 : "the command is there but cannot be executed");
	else if (image->role == RULES_ROLE_SHELL && code == 127)
		snprintf(text, size, "127 is how a shell says that there is no such command");
	else if (image->role == RULES_ROLE_SHELL && code == 126)
		snprintf(text, size, "126 is how a shell says that a command cannot be executed");
	else if (image->role == RULES_ROLE_SHELL && code > 128 && code < 128 + 64) {
		signal_name(code - 128, name, sizeof(name));
		snprintf(text, size, "%" PRId64 " is how a shell says that %s killed a command of it",
			 code, name);
	}
}

static void explain_fault(const struct image *image, char *text, size_t size)
{
	switch (image->wait_status & 0x7f) {
	case SIGSEGV:
	case SIGBUS:
		snprintf(text, size, "it used memory that it may not");
		break;
	case SIGILL:
		snprintf(text, size, "it executed what is no instruction of this processor");
		break;
	case SIGFPE:
		snprintf(text, size, "it divided by zero, or the like");
		break;
	case SIGPIPE:
		snprintf(text, size, "it wrote to a pipe or socket that nobody read any more");
		break;
	case SIGXCPU:
		snprintf(text, size, "it reached its limit of processor time (RLIMIT_CPU)");
		break;
	case SIGXFSZ:
		snprintf(text, size, "it reached its limit of file size (RLIMIT_FSIZE)");
		break;
	}
}

/* Facts alone: "" where nothing is known of why. */
static void explain(struct model *model, const struct image *image, const struct sent_signal *sent,
		    char *text, size_t size)
{
	text[0] = '\0';
	if (image->oom_killed)
		explain_oom(model, image, text, size);
	else if (sent && sender_explain(sent, image->tool->group->task->run, text, size))
		return;
	else if (image->wait_status & 0x7f)
		explain_fault(image, text, size);
	else
		explain_code(image, text, size);
}

/* ---- failures ---- */

static bool has_failed(const struct image *image)
{
	return image->ended == IMAGE_EXIT && image->wait_status != ROW_NULL && image->wait_status != 0;
}

/* What rather explains that a task failed: many programs exit with a code on purpose
 * (test, grep), or by SIGPIPE after the reader that failed; fewer are killed. */
enum { SEVERITY_EXIT = 1, SEVERITY_COMMAND, SEVERITY_SIGNAL, SEVERITY_OOM };

static int severity_of(const struct image *image)
{
	if (image->oom_killed)
		return SEVERITY_OOM;
	if (image->wait_status & 0x7f)
		return (image->wait_status & 0x7f) == SIGPIPE ? SEVERITY_EXIT : SEVERITY_SIGNAL;
	return is_failed_command(image) ? SEVERITY_COMMAND : SEVERITY_EXIT;
}

/* The kind of incident that a process has of its own, whatever becomes of its task; NULL: none. */
static const char *kind_of_its_own(int severity)
{
	switch (severity) {
	case SEVERITY_OOM: return "oom-kill";
	case SEVERITY_COMMAND: return "failed-command";
	default: return NULL;
	}
}

void failure_init(struct failure *failure)
{
	*failure = (struct failure){.process_id = ROW_NULL, .sender_process_id = ROW_NULL,
				    .sender_user_id = ROW_NULL};
}

void failure_deinit(struct failure *failure)
{
	free(failure->what);
	free(failure->why);
	failure_init(failure);
}

void failure_merge(struct failure *into, struct failure *from)
{
	if (from->severity <= into->severity)
		return;
	failure_deinit(into);
	*into = *from;
	failure_init(from);
}

static void failure_set(struct failure *failure, const struct image *image,
			const struct sent_signal *sent, const char *what, const char *why)
{
	failure_deinit(failure);
	failure->what = strdup(what);
	failure->severity = severity_of(image);
	failure->process_id = image->id;
	failure->group_id = image->tool->group->id;
	failure->why = strdup(why);
	if (!sent || sent->kind == SENDER_KERNEL)
		return;
	failure->sender_process_id = sent->sender_id;
	failure->sender_user_id = sent->sender_uid;
	snprintf(failure->sender_program, sizeof(failure->sender_program), "%s", sent->program);
}

/* The columns that an incident has of a failure. */
static struct row_incident failure_row(const struct failure *failure, const struct task *task)
{
	return (struct row_incident){
		.run_id = task->run->id,
		.task_id = task->id,
		.process_id = failure->process_id,
		.end_boot_ns = ROW_NULL,
		.sender_process_id = failure->sender_process_id,
		.sender_program = failure->sender_program,
		.sender_user_id = failure->sender_user_id,
	};
}

/* One for each task and code: a script that tries many commands tells no more. */
static bool tell_failed_command(const struct model *model, struct task *task, const struct image *image)
{
	int bit = exit_code(image) == 127 ? 2 : 1;

	if (!is_failed_command(image) || task->run == model->system || task->failed_commands_told & bit)
		return false;
	task->failed_commands_told |= bit;
	task->dirty = true;
	return true;
}

void incident_note_failure(struct model *model, struct image *image)
{
	struct task *task = image->tool->group->task;
	const struct sent_signal *sent;
	struct failure failure;
	struct row_incident row;
	char what[SENTENCE_MAX], why[SENTENCE_MAX];

	if (!has_failed(image))
		return;
	sent = image->process ? sender_find(image->process, image->wait_status, image->end_boot_ns) : NULL;
	describe(image, sent, what, sizeof(what));
	explain(model, image, sent, why, sizeof(why));
	failure_init(&failure);
	failure_set(&failure, image, sent, what, why);
	if (image->oom_killed || tell_failed_command(model, task, image)) {
		row = failure_row(&failure, task);
		row.kind = kind_of_its_own(failure.severity);
		row.id = incident_id(image->id, row.kind);
		row.boot_ns = (int64_t)image->end_boot_ns;
		incident_add(model, &row, what, why);
	}
	/* Told as the cause if the task fails as well. */
	failure_merge(&task->failure, &failure);
	failure_deinit(&failure);
}

/* Where the process has an incident of its own, the task's takes its place: it tells both. */
void incident_note_task(struct model *model, struct task *task)
{
	const struct failure *failure = &task->failure;
	const char *status = outcome_status(&task->outcome, &task->tally);
	const char *kind = kind_of_its_own(failure->severity);
	bool killed = strcmp(status, "killed") == 0;
	struct row_incident row = failure_row(failure, task);
	char text[SENTENCE_MAX * 2];

	if (task->incident_told || !failure->what || (!killed && strcmp(status, "failed") != 0) ||
	    task->run == model->system || run_is_session(task->run))
		return;
	task->incident_told = true;
	task_set_name(task);
	snprintf(text, sizeof(text), "task %s %s: %s", task->name ? task->name : "",
		 killed ? "was killed" : "failed", failure->what);
	row.id = kind ? incident_id(failure->process_id, kind) : incident_id(task->id, "task");
	row.kind = kind ? kind : killed ? "signal" : "exit-code";
	row.boot_ns = (int64_t)task->outcome.end_boot_ns;
	row.fatal = 1;
	incident_add(model, &row, text, failure->why ? failure->why : "");
}
