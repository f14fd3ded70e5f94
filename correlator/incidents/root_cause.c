/* Why a process failed. See root_cause.h.
 *
 * How a program passes on a failure of its children depends on its role: see `searches`, and docs/model.md
 * (Incidents) for why. Else the failure is its own, and a child that failed just before is only mentioned.
 */
#include "correlator/incidents/root_cause.h"

#include <signal.h>
#include <sys/wait.h>

#include <utlist.h>

#include "correlator/incidents/incident.h"
#include "correlator/incidents/sender.h"
#include "correlator/model/cause.h"
#include "correlator/model/command.h"
#include "correlator/model/image.h"
#include "correlator/model/model.h"
#include "correlator/model/process.h"
#include "correlator/model/run.h"
#include "correlator/model/sent_signal.h"
#include "correlator/model/task.h"

/* A program whose worker crashed or was killed may take this long to notice. */
#define CRASH_NOTICED_NS (60 * UINT64_C(1000000000))

/* Python exits with 1 whatever exception ended it. If a function of its library raised it, as
 * subprocess does for a failed command, the report quotes the library's source: reading it takes about
 * 20 KiB, with the modules that newer versions load for the report 300 KiB. */
#define TRACEBACK_MIN_KIB 16
#define TRACEBACK_MAX_KIB 1024

/* Limit of ancestors that only forked, followed upwards from a forked child. */
#define FORKS_ABOVE_MAX 16

/* Corrects the cause in place, and thus for all that share it. */
static void cause_correct(struct model *model, struct cause *cause, const struct cause *better)
{
	model_set_text(model, &cause->what, better->what);
	model_set_text(model, &cause->why, better->why);
	cause->process_id = better->process_id;
	cause->sender_process_id = better->sender_process_id;
	cause->sender_user_id = better->sender_user_id;
	cause->work = better->work;
	memcpy(cause->sender_program, better->sender_program, sizeof(cause->sender_program));
}

/* The exit code that a shell reports for it. */
static int64_t shell_code_of(int64_t wait_status)
{
	return WTERMSIG(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

/* ---- expected ends */

/* Whether a wrapper above it sent the signal: to end its command is the job of timeout. */
static bool is_from_wrapper(const struct process *process, const struct sent_signal *sent)
{
	while ((process = process->parent))
		if (process->image && process->image->id == sent->sender_id)
			return process->image->role == RULES_ROLE_WRAPPER;
	return false;
}

/* Whether it is a teardown: a pool that ends its workers, a script that ends its server. */
static bool is_teardown(const struct image *image, const struct sent_signal *sent)
{
	if (!sent)
		return false;
	if (sent->kind == SENDER_PARENT || sent->kind == SENDER_ANCESTOR)
		return !is_from_wrapper(image->process, sent);
	return sent->kind == SENDER_FOR_OTHERS;
}

/* The exit code of the root of a run or task is its result, whatever the program means by it. */
static bool is_expected_code(const struct image *image)
{
	int64_t code = WEXITSTATUS(image->wait_status);

	return WTERMSIG(image->wait_status) == 0 && code < 64 && image->expected_codes & UINT64_C(1) << code &&
	       !image->process->is_task_root && !image->process->is_run_root;
}

static enum ending_kind expectation(const struct image *image, const struct sent_signal *sent)
{
	if (image->oom_killed)
		return ENDING_FAILED;
	if (WTERMSIG(image->wait_status) == SIGPIPE || is_expected_code(image))
		return ENDING_EXPECTED;
	return is_teardown(image, sent) ? ENDING_TEARDOWN : ENDING_FAILED;
}

/* ---- the child that explains a failure */

/* How a program propagates the failure of a child. */
enum propagation { AS_SHELL, AS_WRAPPER, AS_ENGINE, AS_PROGRAM, AS_KILLED, AS_NONE };

/* A search for the child; those of one kind of program are tried in their order. */
struct search {
	enum propagation propagation;
	int code_min, code_max;            /* the child must have the parent's code, which is one of these; 0: any */
	enum ending_kind kind_max;         /* up to this one; earlier ones are preferred */
	enum ending_followed followed_max; /* what the parent may have started since */
	uint64_t within_ns;                /* before the parent's end; 0: at any time */
	enum {
		LAST_BEGUN,  /* in a pipeline the last */
		FIRST_ENDED, /* of those after which the least was started */
	} choice;
	bool (*is_cause)(const struct ending *ending, const struct image *image, const struct sent_signal *sent);
};

/* Whether the parent went on after another child had ended in the same way, as in a loop. */
static bool was_tolerated_before(const struct ending *endings, const struct ending *ending)
{
	const struct ending *other;

	DL_FOREACH (endings, other)
		if (other->wait_status == ending->wait_status &&
		    (other->followed != FOLLOWED_BY_NOTHING || other->kind == ENDING_RETRIED))
			return true;
	return false;
}

/* If the shell's code is its own (`COMMAND || exit 1`) and a command exited with another, it is unknown whether that is
 * the cause. */
static bool is_killed_command(const struct ending *ending, const struct image *image, const struct sent_signal *sent)
{
	return WTERMSIG(ending->wait_status) && !was_tolerated_before(image->process->endings, ending);
}

static bool is_task(const struct ending *ending, const struct image *image, const struct sent_signal *sent)
{
	return ending->is_task;
}

static bool is_crashed_part(const struct ending *ending, const struct image *image, const struct sent_signal *sent)
{
	return ending->is_part && ending->cause->kind >= CAUSE_CRASH;
}

/* A part of the program, or if Python reported an exception of its library after the child had ended. */
static bool is_part_or_raised(const struct ending *ending, const struct image *image, const struct sent_signal *sent)
{
	uint64_t read_bytes = (uint64_t)image->totals.rchar_bytes;
	uint32_t read_kib;

	if (ending->is_part)
		return true;
	if (!(image->traits & RULES_PRINTS_TRACEBACKS) || !(ending->exit_flags & RECORD_EXIT_PARENT_READ) ||
	    !(image->totals.valid & COUNTER_VALID(rchar_bytes)))
		return false;
	if (image_base(image)->valid & COUNTER_VALID(rchar_bytes))
		read_bytes += image_base(image)->rchar_bytes;
	read_kib = ((uint32_t)(read_bytes >> 10) << RECORD_EXIT_PARENT_READ_SHIFT) - ending->exit_flags;
	read_kib >>= RECORD_EXIT_PARENT_READ_SHIFT;
	return WEXITSTATUS(image->wait_status) == 1 && read_kib >= TRACEBACK_MIN_KIB && read_kib <= TRACEBACK_MAX_KIB;
}

/* A process killed by itself, by the kernel or by an unrecorded sender may pass on the signal that killed
 * one of its children. If one sender ended both, the child is what was being done. */
static bool is_killed_along(const struct ending *ending, const struct image *image, const struct sent_signal *sent)
{
	return !sent || sent->kind == SENDER_SELF || sent->kind == SENDER_KERNEL ||
	       (ending->cause->sender_process_id == sent->sender_id && ending->end_boot_ns >= sent->boot_ns);
}

static const struct search searches[] = {
	/* Codes 1 and 2 are weak evidence: no tool may have been started since. */
	{AS_SHELL, 1, 2, ENDING_TEARDOWN, FOLLOWED_BY_HELPERS},
	{AS_SHELL, 3, 255, ENDING_TEARDOWN, FOLLOWED_BY_TOOLS},
	{AS_SHELL, 0, 0, ENDING_FAILED, FOLLOWED_BY_NOTHING, CAUSE_AT_ONCE_NS, LAST_BEGUN, is_killed_command},
	{AS_WRAPPER, 1, 255, ENDING_TEARDOWN, FOLLOWED_BY_TOOLS},
	{AS_WRAPPER, 0, 0, ENDING_FAILED, FOLLOWED_BY_TOOLS},
	{AS_WRAPPER, 0, 0, ENDING_EXPECTED, FOLLOWED_BY_NOTHING},
	/* Tasks take precedence over programs that the engine runs for itself. */
	{AS_ENGINE, 0, 0, ENDING_FAILED, FOLLOWED_BY_TOOLS, 0, FIRST_ENDED, is_task},
	{AS_ENGINE, 0, 0, ENDING_FAILED, FOLLOWED_BY_TOOLS, 0, FIRST_ENDED},
	{AS_ENGINE, 0, 0, ENDING_EXPECTED, FOLLOWED_BY_NOTHING},
	{AS_PROGRAM, 3, 254, ENDING_FAILED, FOLLOWED_BY_TOOLS},
	{AS_PROGRAM, 0, 0, ENDING_FAILED, FOLLOWED_BY_NOTHING, CAUSE_AT_ONCE_NS, LAST_BEGUN, is_part_or_raised},
	{AS_PROGRAM, 0, 0, ENDING_TEARDOWN, FOLLOWED_BY_TOOLS, CRASH_NOTICED_NS, FIRST_ENDED, is_crashed_part},
	{AS_KILLED, 1, 255, ENDING_TEARDOWN, FOLLOWED_BY_TOOLS, 0, LAST_BEGUN, is_killed_along},
};

static enum propagation propagation_of(const struct image *image, const struct sent_signal *sent)
{
	bool asked_to_end = sent && sent->kind != SENDER_SELF;

	if (WTERMSIG(image->wait_status))
		return image->oom_killed ? AS_NONE : AS_KILLED;
	if (image->traits & RULES_FAILS_WITH_COMMANDS)
		return AS_WRAPPER;
	switch (image->role) {
	case RULES_ROLE_SHELL: return AS_SHELL;
	case RULES_ROLE_WRAPPER:
	case RULES_ROLE_CLIENT:
	case RULES_ROLE_COMPONENT: return AS_WRAPPER;
	case RULES_ROLE_ORCHESTRATOR: return asked_to_end ? AS_NONE : AS_ENGINE;
	default: return asked_to_end ? AS_NONE : AS_PROGRAM;
	}
}

static bool is_found(const struct search *search, const struct ending *ending, const struct image *image,
		     const struct sent_signal *sent)
{
	int64_t code = shell_code_of(image->wait_status);

	if (search->code_min &&
	    (code < search->code_min || code > search->code_max || shell_code_of(ending->wait_status) != code))
		return false;
	return ending->kind <= search->kind_max && ending->followed <= search->followed_max &&
	       (!search->within_ns || image->end_boot_ns <= ending->end_boot_ns + search->within_ns) &&
	       !(ending->is_captured && image->traits & RULES_IGNORES_CAPTURED) &&
	       (!search->is_cause || search->is_cause(ending, image, sent));
}

static bool is_better(const struct search *search, const struct ending *ending, const struct ending *other)
{
	if (ending->kind != other->kind)
		return ending->kind < other->kind;
	return search->choice == LAST_BEGUN ? ending->start_boot_ns > other->start_boot_ns
					    : ending->followed < other->followed;
}

/* Returns the failed child that explains why the process failed, or NULL if it failed by itself. */
static const struct ending *find_ending(const struct image *image, const struct sent_signal *sent)
{
	enum propagation propagation = propagation_of(image, sent);
	const struct ending *ending, *found = NULL;

	for (size_t i = 0; i < sizeof(searches) / sizeof(searches[0]) && !found; i++) {
		if (searches[i].propagation != propagation)
			continue;
		DL_FOREACH (image->process->endings, ending)
			if (is_found(&searches[i], ending, image, sent) &&
			    (!found || is_better(&searches[i], ending, found)))
				found = ending;
	}
	return found;
}

/* ---- what the parent remembers */

static void remember(struct model *model, struct process *parent, const struct ending *ending)
{
	if (parent->ended)
		return;
	if (!endings_push(&parent->endings, ending))
		model->out_of_memory = true;
	process_set_changed(model, parent);
}

/* The client that waits for a container is not the parent of the processes in it. */
static void remember_client(struct model *model, const struct image *image, const struct ending *ending)
{
	const struct process *parent = image->process->parent;
	struct image *client;

	if (!image->container || (parent && parent->image && parent->image->container == image->container))
		return;
	DL_FOREACH2 (model->clients, client, linked_next)
		if (client->process && client->process->has_container &&
		    client->process->group == image->process->group)
			remember(model, client->process, ending);
}

/* Of what timeout kills, the command may be the first to end, itself the second, and a shell between them the last. */
static void remember_wrapper(struct model *model, struct process *parent, const struct ending *ending)
{
	for (int i = 0; i < FORKS_ABOVE_MAX && parent && (parent = parent->parent); i++)
		if (parent->image && parent->image->id == ending->cause->sender_process_id &&
		    parent->image->role == RULES_ROLE_WRAPPER) {
			remember(model, parent, ending);
			return;
		}
}

/* Whether `parent` ended before `image`, by the same signal from the same sender or by one that it sent to both. */
static bool ended_along(const struct process *parent, const struct image *image)
{
	const struct image *above = parent->image;
	int64_t sender_id = image->process->cause->sender_process_id;

	return above && parent->ended && parent->cause && parent->cause->process_id == above->id &&
	       WTERMSIG(above->wait_status) != 0 && WTERMSIG(above->wait_status) == WTERMSIG(image->wait_status) &&
	       sender_id != ROW_NULL &&
	       (sender_id == parent->cause->sender_process_id ||
		(sender_id == above->id && above->role == RULES_ROLE_WRAPPER)) &&
	       image->end_boot_ns <= parent->end_boot_ns + CAUSE_AT_ONCE_NS;
}

/* What is killed together with what runs below it may end before that: the cause recorded for it is then
 * replaced by that of the image, which is what was being done. */
static void correct_above(struct model *model, const struct image *image)
{
	struct process *process = image->process, *above = process->parent;
	struct task *task;
	int64_t wrong_id, right_id;

	for (int i = 0; i < FORKS_ABOVE_MAX && above && !ended_along(above, image); i++)
		above = above->parent;
	if (!above || !ended_along(above, image))
		return;
	right_id = process->cause->process_id; /* of the image, or below it */
	wrong_id = above->cause->process_id;
	cause_correct(model, above->cause, process->cause);
	/* Shared from now on: it is reported once. */
	above->cause->reported |= process->cause->reported;
	cause_unref(process->cause);
	process->cause = cause_ref(above->cause);
	process_set_changed(model, process);
	process_set_changed(model, above);
	while ((above = above->parent) && above->ended && above->cause)
		if (above->cause->process_id == wrong_id)
			cause_correct(model, above->cause, process->cause);
	DL_FOREACH (process->run->tasks, task) {
		if (task->retry.awaits_cause_id == wrong_id)
			task->retry.awaits_cause_id = right_id;
		if (task->cause && task->cause->process_id == right_id)
			incident_report_task(model, task);
	}
}

void root_cause_note(struct model *model, struct image *image)
{
	struct process *process = image->process;
	const struct sent_signal *sent = sender_find(image);
	const struct ending *found = find_ending(image, sent);
	enum ending_kind kind = expectation(image, sent);
	/* An expected failure stays expected when a subshell passes it on. */
	bool passed_on = found && found->kind == ENDING_EXPECTED;
	bool failed = kind == ENDING_FAILED && !(passed_on && image->began == IMAGE_FORK);
	struct ending ending = {
		.pid = process->key.pid,
		.start_boot_ns = process->key.start_boot_ns,
		.end_boot_ns = image->end_boot_ns,
		.wait_status = image->wait_status,
		.is_task = process->is_task_root,
		.is_part = image->began == IMAGE_FORK || image->role == RULES_ROLE_COMPONENT,
		.is_captured =
			process->output_pipe && process->parent && process->parent->output_pipe != process->output_pipe,
		.exit_flags = image->exit_flags,
		.kind = passed_on ? ENDING_EXPECTED : kind,
		.cause = found ? cause_ref(found->cause) : incident_describe(model, image, sent),
	};
	if (!ending.cause)
		return;
	cause_unref(process->cause);
	process->cause = ending.cause;
	if (failed && ending.cause->kind != CAUSE_INTERRUPTED)
		image_set_failed(model, image);
	correct_above(model, image);
	ending.cause = process->cause;
	if (process->parent)
		remember(model, process->parent, &ending);
	remember_wrapper(model, process->parent, &ending);
	remember_client(model, image, &ending);
}

/* Notes what `parent` has started after the children that ended before `boot_ns`. */
static void note_followed(struct model *model, struct process *parent, enum ending_followed followed, uint64_t boot_ns)
{
	struct ending *ending;

	DL_FOREACH (parent->endings, ending)
		if (ending->followed < followed && ending->end_boot_ns < boot_ns) {
			ending->followed = followed;
			process_set_changed(model, parent);
		}
}

void root_cause_note_fork(struct model *model, struct process *parent)
{
	note_followed(model, parent, FOLLOWED_BY_HELPERS, UINT64_MAX);
}

/* Subshells count as their shell: both went on to start a tool. */
void root_cause_note_tool(struct model *model, struct process *process)
{
	struct process *parent = process->parent;

	for (int i = 0; i < FORKS_ABOVE_MAX && parent; i++) {
		note_followed(model, parent, FOLLOWED_BY_TOOLS, process->fork_boot_ns);
		if (parent->image && parent->image->began != IMAGE_FORK)
			break;
		process = parent;
		parent = parent->parent;
	}
}

void root_cause_forget(struct model *model, struct process *process)
{
	if (!process->endings)
		return;
	endings_free(&process->endings);
	process_set_changed(model, process);
}
