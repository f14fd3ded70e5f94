/* Exec images, their figures, and the sums that grow with them.
 *
 * Every change of an image's figures goes at once into its tool, task and run, so
 * sums are right at any moment and never recomputed from rows.
 */
#include "correlator/internal.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "common/identity.h"

void tally_init(struct tally *tally)
{
	*tally = (struct tally){
		.peak_rss_bytes = ROW_NULL,
		.concurrent_memory_bytes = ROW_NULL,
	};
}

static void raise_to(int64_t *value, int64_t candidate)
{
	if (candidate != ROW_NULL && (*value == ROW_NULL || candidate > *value))
		*value = candidate;
}

void tally_add(struct tally *sum, const struct tally *part, int sign)
{
	totals_add(&sum->totals, &part->totals, sign);
	sum->process_count += sign * part->process_count;
	sum->living_count += sign * part->living_count;
	sum->failed_count += sign * part->failed_count;
	sum->partial_count += sign * part->partial_count;
	if (sign < 0)
		return;
	raise_to(&sum->peak_rss_bytes, part->peak_rss_bytes);
	if (part->begin_boot_ns && (sum->begin_boot_ns == 0 || part->begin_boot_ns < sum->begin_boot_ns)) {
		sum->begin_boot_ns = part->begin_boot_ns;
		sum->started_unix_ns = part->started_unix_ns;
	}
	if (part->end_boot_ns > sum->end_boot_ns)
		sum->end_boot_ns = part->end_boot_ns;
}

void outcome_init(struct outcome *outcome)
{
	*outcome = (struct outcome){.exit_code = ROW_NULL, .signal = ROW_NULL};
}

void outcome_add(struct outcome *sum, const struct outcome *part)
{
	sum->root_count += part->root_count;
	sum->living_roots += part->living_roots;
	if (part->end_boot_ns > sum->end_boot_ns)
		sum->end_boot_ns = part->end_boot_ns;
	if (part->known && (!sum->known || (part->failed && !sum->failed))) {
		sum->exit_code = part->exit_code;
		sum->signal = part->signal;
	}
	sum->known = sum->known || part->known;
	sum->failed = sum->failed || part->failed;
}

/* As a shell with pipefail would judge: one failed part fails the whole, but the
 * upstream of a pipe whose reader had enough (SIGPIPE) has not failed. */
const char *outcome_status(const struct outcome *outcome, const struct tally *tally)
{
	if (outcome->living_roots > 0 || (!outcome->known && tally->living_count > 0))
		return "running";
	if (!outcome->known)
		return "ended";
	if (!outcome->failed || (outcome->signal == SIGPIPE && outcome->root_count > 1))
		return "succeeded";
	return outcome->signal != ROW_NULL ? "killed" : "failed";
}

void image_begin_identities(struct model *model)
{
	identity_begin(&model->image_identity, "process");
	identity_add_u64(&model->image_identity, (uint64_t)model->host.id);
	identity_add_bytes(&model->image_identity, model->boot_id, strlen(model->boot_id));
}

/* Ids are in the order in which processes started, so that rows of one moment lie side by side in
 * the store and a commit writes few pages. Each boot begins at a place of its own, its hash. From
 * there an id counts microseconds (1,024 ns), in 40 bits: after 13 days they begin anew. Beneath
 * them, in 23 bits, are pid and exec id, so that the images of a process differ, and so do
 * processes of one microsecond with the same exec id. So ids meet no more often than hashes of 63
 * bits would. */
#define ID_TIME_SHIFT 10
#define ID_PLACE_BITS 23
#define ID_PID_FACTOR 0x9e3779b1U /* odd, so pids, of 22 bits, stay apart; large, so neighbours part */

int64_t image_id(const struct model *model, uint32_t pid, uint64_t start_boot_ns, uint32_t exec_id)
{
	struct identity identity = model->image_identity;
	uint64_t place = (pid * ID_PID_FACTOR + exec_id) & ((1U << ID_PLACE_BITS) - 1);
	uint64_t id;

	identity_add_generation(&identity, model);
	id = (uint64_t)identity_end(&identity);
	id += ((start_boot_ns >> ID_TIME_SHIFT) << ID_PLACE_BITS) | place;
	id &= INT64_MAX;
	return id ? (int64_t)id : 1;
}

void image_set_dirty(struct model *model, struct image *image)
{
	if (image->dirty)
		return;
	image->dirty = true;
	DL_APPEND2(model->dirty_images, image, dirty_prev, dirty_next);
	model->dirty_image_count++;
}

static bool is_client(const struct image *image)
{
	return image->role == RULES_ROLE_CLIENT && image->ended == IMAGE_LIVING;
}

void image_link_role(struct model *model, struct image *image)
{
	if (is_client(image))
		DL_APPEND2(model->clients, image, client_prev, client_next);
}

static void unlink_role(struct model *model, struct image *image)
{
	if (is_client(image))
		DL_DELETE2(model->clients, image, client_prev, client_next);
}

static void set_dirty_above(struct tool *tool)
{
	tool->dirty = true;
	tool->group->task->dirty = true;
	tool->group->task->run->dirty = true;
}

static bool is_partial(const struct totals *totals)
{
	return totals->valid & COUNTERS_PARTIAL;
}

/* The part that an image is of its tool, task and run. */
static void image_tally(const struct image *image, struct tally *ret)
{
	static const struct totals nothing;

	tally_init(ret);
	ret->begin_boot_ns = image->begin_boot_ns;
	ret->started_unix_ns = image->started_unix_ns;
	totals_difference(&ret->totals, &nothing, &image->totals);
	ret->process_count = 1;
	ret->living_count = image->ended == IMAGE_LIVING;
	ret->failed_count = image->failed;
	ret->partial_count = is_partial(&image->totals);
	ret->peak_rss_bytes = image->peak_rss_bytes;
	ret->end_boot_ns = image->end_boot_ns;
}

static void tally_above(struct tool *tool, const struct tally *part, int sign)
{
	tally_add(&tool->tally, part, sign);
	tally_add(&tool->group->task->tally, part, sign);
	tally_add(&tool->group->task->run->tally, part, sign);
	set_dirty_above(tool);
}

/* What orders the tools of a pipe: the forks, since the execs race. A later image of
 * a process began when it began. */
static uint64_t image_start(const struct image *image)
{
	return image->exec_id == image->process->first_exec_id ? image->process->key.start_boot_ns
							       : image->begin_boot_ns;
}

void image_set_tool(struct model *model, struct image *image, struct tool *tool)
{
	struct tally part;

	image_tally(image, &part);
	if (image->tool) {
		tally_above(image->tool, &part, -1);
		DL_DELETE(image->tool->images, image);
	}
	image->tool = tool;
	DL_APPEND(tool->images, image);
	tally_above(tool, &part, 1);
	if (image->process && (tool->start_boot_ns == 0 || image_start(image) < tool->start_boot_ns))
		tool->start_boot_ns = image_start(image);
	image_set_dirty(model, image);
}

/* Those of the first process that is inside: the runtime on its way in has the host's still. */
static void container_note_namespaces(struct container *container, const struct process *process)
{
	if (container->pid_namespace != ROW_NULL || process->pid_namespace == 0 ||
	    process->pid_namespace == INITIAL_PID_NAMESPACE)
		return;
	container->pid_namespace = process->pid_namespace;
	if (process->mount_namespace)
		container->mount_namespace = process->mount_namespace;
}

/* A container belongs to the run and task of the first of its processes; a wrapper may be the
 * runtime on its way in. */
static void container_note_image(struct model *model, const struct image *image)
{
	const struct process *process = image->process;
	struct container *container = image->container;

	if (!container)
		return;
	container_note_first(model, container, process);
	container_note_namespaces(container, process);
	if (container->run_id != ROW_NULL || process->run == model->system ||
	    image->role == RULES_ROLE_WRAPPER)
		return;
	container->run_id = process->run->id;
	container->task_id = process->group->task->id;
	container->dirty = true;
}

struct image *image_new(struct model *model, struct process *process, enum image_began began,
			uint64_t begin_boot_ns, const struct rules_verdict *verdict,
			struct tool *tool, const char *reason)
{
	struct image *image = calloc(1, sizeof(*image));
	const struct image *before = process->image;

	if (!image) {
		model->out_of_memory = true;
		return NULL;
	}
	image->id = image_id(model, (uint32_t)process->key.pid, process->key.start_boot_ns,
			     process->exec_id);
	image->parent_id = before ? before->id : process->parent_image_id;
	image->pid = (uint32_t)process->key.pid;
	image->exec_id = process->exec_id;
	image->uid = process->uid;
	image->process = process;
	image->container = container_of_process(model, process);
	image->began = began;
	image->begin_boot_ns = begin_boot_ns;
	image->started_unix_ns = model_unix_ns(model, begin_boot_ns);
	image->spawn_cpu_ns = ROW_NULL;
	image->uninterruptible_ns = ROW_NULL;
	image->peak_rss_bytes = ROW_NULL;
	image->wait_status = ROW_NULL;
	image->role = verdict->role;
	container_note_image(model, image);
	image->rank = verdict->rank;
	image->boundary = verdict->boundary;
	image->nested = verdict->nested;
	image->interactive = verdict->interactive;
	image->expected_codes = verdict->expected_codes;
	image->rule = verdict->rule;
	image->reason = reason;
	if (process->command)
		image->command = command_ref(process->command);
	image->own_command = began != IMAGE_FORK;
	if (before)
		process->image->process = NULL;
	else
		process->first_exec_id = process->exec_id;
	process->image = image;
	image_link_role(model, image);
	if (image->container) {
		image->container->living_count++;
		image->container->dirty = true;
	}
	image_set_tool(model, image, tool);
	return image;
}

/* What the new record does not know stays as it was last known; what is missing, is missing. */
static void keep_known(struct totals *now, const struct totals *before)
{
	now->valid |= before->valid & COUNTERS_PARTIAL;
#define I(name)                                                                              \
	if (!(now->valid & COUNTER_VALID(name)) && before->valid & COUNTER_VALID(name)) {     \
		now->name = before->name;                                                     \
		now->valid |= COUNTER_VALID(name);                                            \
	}
	ROW_TOTALS(I)
#undef I
}

/* signal.maxrss also covers every earlier image of the process, the one it was
 * forked from included: it says something of this image only if it grew. */
static void note_peak(struct image *image, const struct counters *counters, enum image_totals kind)
{
	if (kind != TOTALS_EXEC && counters->valid & COUNTER_VALID(peak_rss_bytes)) {
		raise_to(&image->peak_rss_bytes, (int64_t)counters->peak_rss_bytes);
		return;
	}
	if (kind == TOTALS_SAMPLE || !(counters->valid & COUNTER_VALID(maxrss_bytes)))
		return;
	uint64_t before = image->base.valid & COUNTER_VALID(maxrss_bytes) ? image->base.maxrss_bytes : 0;

	/* A final record comes after the mm is gone; an exact peak, if any, is known. */
	if (counters->maxrss_bytes > before && image->began != IMAGE_FORK &&
	    (image->peak_rss_bytes == ROW_NULL || kind == TOTALS_EXEC))
		raise_to(&image->peak_rss_bytes, (int64_t)counters->maxrss_bytes);
}

/* All that the process is in learn what its cgroup may and did use. */
static void note_allowance(struct model *model, struct image *image, const struct counters *counters)
{
	uint64_t cgroup_id = image->process ? image->process->cgroup_id : 0;
	struct task *task = image->tool->group->task;
	struct cgroup *cgroup = cgroup_find(model, cgroup_id);

	if (cgroup_id == 0)
		return;
	if (cgroup)
		allowance_note(&cgroup->allowance, cgroup_id, counters);
	allowance_note(&task->allowance, cgroup_id, counters);
	allowance_note(&task->run->allowance, cgroup_id, counters);
	if (image->container && allowance_note(&image->container->allowance, cgroup_id, counters))
		image->container->dirty = true;
}

void image_update(struct model *model, struct image *image, const struct counters *counters,
		  enum image_totals kind)
{
	struct tally change;
	struct totals now;

	/* A second final record is another build's, and lacks what was kept of gone threads. */
	if (kind < image->totals_kind || image->totals_kind == TOTALS_FINAL)
		return;
	totals_of_image(&now, &image->base, counters);
	keep_known(&now, &image->totals);
	if (image->uninterruptible_ns != ROW_NULL) {
		now.uninterruptible_ns = image->uninterruptible_ns;
		now.valid |= COUNTER_VALID(uninterruptible_ns);
	}
	tally_init(&change);
	totals_difference(&change.totals, &image->totals, &now);
	change.partial_count = is_partial(&now) - is_partial(&image->totals);
	image->totals = now;
	image->totals_kind = kind;
	note_peak(image, counters, kind);
	note_allowance(model, image, counters);
	change.peak_rss_bytes = image->peak_rss_bytes;
	tally_above(image->tool, &change, 1);
	image_set_dirty(model, image);
}

bool outcome_note(struct outcome *outcome, int64_t wait_status, uint64_t boot_ns)
{
	if (outcome->living_roots > 0)
		outcome->living_roots--;
	if (boot_ns > outcome->end_boot_ns)
		outcome->end_boot_ns = boot_ns;
	if (wait_status == ROW_NULL)
		return false;
	bool failed = wait_status != 0;
	bool decides = !outcome->known || (failed && !outcome->failed) ||
		       (failed && outcome->signal == SIGPIPE && (wait_status & 0x7f) != SIGPIPE);

	if (decides) {
		outcome->signal = wait_status & 0x7f ? wait_status & 0x7f : ROW_NULL;
		outcome->exit_code = wait_status & 0x7f ? ROW_NULL : wait_status >> 8 & 0xff;
	}
	outcome->known = true;
	outcome->failed = outcome->failed || failed;
	return decides && failed;
}

static void task_set_cause(struct task *task, struct cause *cause)
{
	cause_unref(task->cause);
	task->cause = cause ? cause_ref(cause) : NULL;
}

void image_end(struct model *model, struct image *image, enum image_ended how, uint64_t boot_ns,
	       int64_t wait_status, uint32_t exit_flags)
{
	struct tally change;

	if (image->ended != IMAGE_LIVING)
		return;
	unlink_role(model, image);
	image->ended = how;
	image->end_boot_ns = boot_ns > image->begin_boot_ns ? boot_ns : image->begin_boot_ns;
	image->wait_status = wait_status;
	image->oom_killed = exit_flags & RECORD_EXIT_OOM;
	if (how == IMAGE_EXIT)
		cause_note(model, image);
	/* The figures are in the sums already. */
	tally_init(&change);
	change.living_count = -1;
	change.failed_count = image->failed;
	change.end_boot_ns = image->end_boot_ns;
	tally_above(image->tool, &change, 1);
	image_set_dirty(model, image);
	if (image->container) {
		image->container->living_count--;
		if (image->end_boot_ns > image->container->end_boot_ns)
			image->container->end_boot_ns = image->end_boot_ns;
		image->container->dirty = true;
	}
	if (image->process)
		stall_end(model, image->process, image->end_boot_ns);
	if (how != IMAGE_REPLACED) {
		incident_note_failure(model, image);
		cause_correct_parent(model, image);
	}
}

/* Roots of a task that became part of another one decide no more: that one has the
 * orchestrator further out, and its own root. */
static bool decides_task(const struct process *process)
{
	const struct process_key *orchestrator = &process->group->task->orchestrator;

	return process->is_task_root &&
	       (orchestrator->pid == 0 ||
		(orchestrator->pid == process->group->orchestrator.pid &&
		 orchestrator->start_boot_ns == process->group->orchestrator.start_boot_ns));
}

/* The task and the run that it is a root of learn how it came out. */
static void note_roots(struct model *model, struct process *process, int64_t wait_status)
{
	bool task_root = process->group && decides_task(process);

	if (task_root && outcome_note(&process->group->task->outcome, wait_status, process->end_boot_ns))
		task_set_cause(process->group->task, process->cause);
	if (process->is_run_root) {
		if (outcome_note(&process->run->outcome, wait_status, process->end_boot_ns))
			task_set_cause(process->run->main, process->cause);
		process->run->main->outcome = process->run->outcome;
	}
	if (task_root) {
		incident_note_task(model, process->group->task);
		retry_note_end(model, process->group->task);
	} else if (process->is_run_root) {
		incident_note_task(model, process->run->main);
	}
	if (task_root)
		process->group->task->dirty = true;
	if (process->is_run_root)
		process->run->main->dirty = true;
	if (task_root || process->is_run_root)
		process->run->dirty = true;
}

void process_end(struct model *model, struct process *process, int64_t wait_status, uint64_t boot_ns)
{
	if (process->ended)
		return;
	process->ended = true;
	process->end_boot_ns = boot_ns > process->fork_boot_ns ? boot_ns : process->fork_boot_ns;
	process->checkpointed = false;
	note_roots(model, process, wait_status);
	retry_settle(model, process, wait_status);
}

static void raise_end(struct tally *tally, uint64_t end_boot_ns)
{
	if (end_boot_ns > tally->end_boot_ns)
		tally->end_boot_ns = end_boot_ns;
}

void image_end_later(struct image *image, int64_t teardown_ns, uint64_t until_boot_ns)
{
	struct tool *tool = image->tool;
	uint64_t end_boot_ns = image->end_boot_ns + (uint64_t)teardown_ns;

	if (teardown_ns <= 0)
		return;
	image->end_boot_ns = end_boot_ns < until_boot_ns ? end_boot_ns : until_boot_ns;
	raise_end(&tool->tally, image->end_boot_ns);
	raise_end(&tool->group->task->tally, image->end_boot_ns);
	raise_end(&tool->group->task->run->tally, image->end_boot_ns);
}

void image_free(struct model *model, struct image *image)
{
	unlink_role(model, image);
	if (image->dirty) {
		DL_DELETE2(model->dirty_images, image, dirty_prev, dirty_next);
		model->dirty_image_count--;
	}
	DL_DELETE(image->tool->images, image);
	command_unref(image->command);
	free(image->gpu);
	free(image);
}
