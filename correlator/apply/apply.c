/* See apply.h. */
#include "correlator/apply/apply.h"

#include <errno.h>

#include <utlist.h>

#include "correlator/apply/boot.h"
#include "correlator/apply/change.h"
#include "correlator/apply/found.h"
#include "correlator/apply/scan.h"
#include "correlator/apply/scan_memory.h"
#include "correlator/apply/state.h"
#include "correlator/incidents/assess.h"
#include "correlator/incidents/incident.h"
#include "correlator/incidents/loss.h"
#include "correlator/incidents/retry.h"
#include "correlator/incidents/root_cause.h"
#include "correlator/incidents/sender.h"
#include "correlator/model/cgroup.h"
#include "correlator/model/collect.h"
#include "correlator/model/command.h"
#include "correlator/model/container.h"
#include "correlator/model/device.h"
#include "correlator/model/group.h"
#include "correlator/model/pending.h"
#include "correlator/model/process.h"
#include "correlator/model/process_memory.h"
#include "correlator/model/run.h"
#include "correlator/model/tree.h"
#include "correlator/placement/place.h"
#include "correlator/placement/placing.h"
#include "correlator/placement/task_name.h"
#include "correlator/rows/load.h"
#include "correlator/rows/persist.h"

/* ---- records */

static void apply_fork(struct model *model, const struct record_fork *fork)
{
	struct process *parent, *process;
	struct found *found;

	if (process_find(model, process_key_of(&fork->header.image)))
		return; /* resent after a restart */
	found = found_find(model, &fork->header.image);
	if (found)
		found_free(model, found);
	parent = found_resolve(model, &fork->parent);
	process = change_begin_process(model, &fork->header.image, parent, fork->uid);
	if (!process)
		return;
	if (parent)
		root_cause_note_fork(model, parent);
	process->fork_boot_ns = fork->header.boot_ns;
	if (fork->anon_kib != RECORD_KIB_UNKNOWN)
		process->memory.least_anon_bytes = (int64_t)fork->anon_kib << 10;
	if (fork->flags & RECORD_FORK_FAULTS)
		process->memory.parent_faults = fork->parent_faults;
	process->memory.parent_shared_bytes = (int64_t)fork->parent_shared_kib << 10;
	process->parent_exec_id = fork->parent.exec_id;
	const struct process_key parent_key = process_key_of(&fork->parent);

	if (fork->parent.start_boot_ns)
		process->parent_image_id = image_id(model, &parent_key, fork->parent.exec_id);
	process->memory.origin_image_id = parent && parent->memory.origin_image_id && memory_is_fork(parent)
						  ? parent->memory.origin_image_id
						  : process->parent_image_id;
	process_set_context(process, fork->cgroup_id, fork->uid, fork->pgid, fork->flags);
	if (parent) {
		process->pid_namespace = parent->pid_namespace;
		process->mount_namespace = parent->mount_namespace;
		process->output_pipe = parent->output_pipe;
		process->core_limit_milli = parent->core_limit_milli;
	}
}

/* Returns the process of an exec, created if its fork was lost. */
static struct process *process_of_exec(struct model *model, const struct record_exec *exec)
{
	const struct image_key *image = &exec->header.image, *parent = &exec->context.parent;
	struct process *process = found_resolve(model, image);

	if (process)
		return process;
	process = change_begin_process(model, image, found_resolve(model, parent), exec->context.uid);
	if (process)
		process->parent_exec_id = parent->exec_id;
	return process;
}

/* Ends the previous image, or the fork's own image before its first exec. */
static void close_image_before(struct model *model, struct process *process, const struct record_exec *exec)
{
	if (!process->image)
		return;
	image_update(model, process->image, &exec->counters, TOTALS_EXEC);
	change_end_image(model, process->image, IMAGE_REPLACED, exec->header.boot_ns, ROW_NULL, 0);
}

/* What the figures of the image begin at. Resources used between fork and first exec are its own, except
 * memory, which was its parent's. */
static void set_base(struct model *model, struct image *image, const struct counters *counters, bool is_first)
{
	struct counters base = *counters;

	base.valid &= is_first ? COUNTER_VALID(maxrss_bytes) | COUNTER_VALID(cgroup_throttled_ns) : UINT64_MAX;
	image_set_base(model, image, &base);
	if (is_first && counters->valid & COUNTER_VALID(cpu_ns))
		image->spawn_cpu_ns = (int64_t)counters->cpu_ns;
}

static void begin_program(struct model *model, struct process *process, const struct record_exec *exec,
			  struct command *command)
{
	bool is_first = !process->image && !process->ignored, was_placed = process->place == PLACE_FULL;
	struct rules_class class;

	close_image_before(model, process, exec);
	process_memory_init(&process->memory);
	root_cause_forget(model, process);
	process->exec_id = exec->header.image.exec_id;
	change_program(model, process, command, &exec->context, &class);
	if (process->ignored || (class.role == RULES_ROLE_STARTER && !process->image))
		return; /* a starter counts as its parent until the next exec or its end */
	place_exec(model, process,
		   &(struct placing){.class = &class,
				     .boot_ns = is_first ? process->fork_boot_ns : exec->header.boot_ns,
				     .context = &exec->context});
	if (was_placed && process->is_task_root)
		retry_note_root(model, process->group->task, process, class.role);
	if (class.traits & RULES_CANCELS_JOBS)
		sender_note_cancel(model, process, exec->header.boot_ns);
	if (class.role != RULES_ROLE_HELPER && class.role != RULES_ROLE_COMPONENT)
		root_cause_note_tool(model, process);
	retry_note_exec(model, process);
	if (process->image)
		set_base(model, process->image, &exec->counters, is_first);
}

static void apply_exec(struct model *model, const struct record *record)
{
	const struct record_exec *exec = &record->exec;
	struct process *process = process_of_exec(model, exec);
	const struct image *image = process ? process->image : NULL;

	if (!process || process->ended)
		return;
	/* A scan saw a later program before this record left the ring: the row of that program includes
	 * the resources used by this one. */
	if (image && (int32_t)(exec->header.image.exec_id - image->exec_id) < 0)
		return;
	struct command *command = change_read_exec(model, process, record);

	if (!command)
		return;
	/* Resent; or known from a scan, which may have seen the exec half done. */
	if (image && image->exec_id == exec->header.image.exec_id)
		found_complete(model, process, command);
	else
		begin_program(model, process, exec, command);
	command_unref(command);
}

/* Seen without a probe: how it ended only its parent knows, and its last figures are those of the last scan. */
static void apply_unknown_exit(struct model *model, struct process *process, const struct record_exit *exit)
{
	struct image *image = place_part(model, process);

	if (image)
		image_update(model, image, &exit->counters, TOTALS_SAMPLE);
	change_end_unknown(model, process, IMAGE_LOST, exit->header.boot_ns);
}

static void image_exit(struct model *model, struct process *process, const struct record_exit *exit,
		       enum image_totals kind)
{
	struct image *image = place_part(model, process);

	if (!image)
		return;
	int64_t before_ns = image->totals.cpu_ns;

	image_update(model, image, &exit->counters, kind);
	if (kind == TOTALS_FINAL && image->ended == IMAGE_EXIT)
		image_extend_end(model, image, image->totals.cpu_ns - before_ns, exit->header.boot_ns);
	change_end_image(model, image, IMAGE_EXIT, exit->header.boot_ns, (int64_t)exit->wait_status, exit->flags);
}

static void apply_exit(struct model *model, const struct record_exit *exit, enum image_totals kind)
{
	struct process *process = found_resolve(model, &exit->header.image);

	if (!process)
		return; /* its fork and exec were lost and counted as such */
	if (exit->flags & RECORD_EXIT_UNKNOWN) {
		apply_unknown_exit(model, process, exit);
		return;
	}
	if (!process->ignored)
		image_exit(model, process, exit, kind);
	change_end_process(model, process, (int64_t)exit->wait_status, exit->header.boot_ns);
	if (kind != TOTALS_FINAL || process->has_final)
		return;
	process->has_final = true;
	process_set_changed(model, process);
}

static void apply_ignored(struct model *model, const struct record_ignored *ignored)
{
	struct process *process = process_find(model, process_key_of(&ignored->header.image));

	/* Its past is kept; nothing more is recorded. */
	if (process)
		change_end_unknown(model, process, IMAGE_REPLACED, ignored->header.boot_ns);
}

static void apply_signal(struct model *model, const struct record_signal *signal)
{
	struct process *target = found_resolve(model, &signal->header.image), *sender = NULL;

	if (!target || target->ended || target->ignored)
		return;
	if (sender_is_process(signal))
		sender = found_resolve(model, &signal->sender);
	if (sender)
		place_part(model, sender);
	sender_note(model, signal, target, sender);
}

static void apply_device(struct model *model, const struct record_device *device)
{
	struct process *process = process_find(model, process_key_of(&device->header.image));

	struct image *image = process && !process->ended ? place_part(model, process) : NULL;

	if (image && image->exec_id == device->header.image.exec_id)
		device_add(model, image, device->major, device->minor);
}

static void apply_file(struct model *model, const struct record_file *record)
{
	const struct image_key *key = &record->header.image;
	struct process *process = process_find(model, process_key_of(key));

	if (process && process->image && process->image->exec_id == key->exec_id && !process->ended)
		image_note_file(model, process->image, record);
}

void apply_device_use(struct model *model, uint64_t pid, uint64_t start_boot_ns, const char *device,
		      const struct device_report *report)
{
	struct process *process = process_find_by_ticks(model, pid, start_boot_ns);

	struct image *image = process && !process->ignored ? place_part(model, process) : NULL;

	if (image)
		device_add_use(model, image, device, report);
	assess_opened(model);
}

void apply_devices(struct model *model, const char *kind, const struct wire_bytes *list)
{
	device_set_of_host(model, kind, list->data, list->size);
}

void apply_device_error(struct model *model, uint64_t pid, uint64_t start_boot_ns, const struct device_error *error)
{
	const struct process *process = process_find_by_ticks(model, pid, start_boot_ns);

	if (process && !process->ignored && process->image)
		incident_note_device_error(model, process->image, error);
}

/* ---- entry points */

static int finish(struct model *model)
{
	assess_opened(model);
	return model->out_of_memory ? -ENOMEM : 0;
}

int apply_message(struct model *model, const struct wire_message *message)
{
	switch (message->type) {
	case WIRE_HELLO: boot_note_hello(model, &message->hello); break;
	case WIRE_SCAN:
		if (!message->scan.backlog_bytes) /* otherwise the backlog may hold their forks */
			found_settle(model, message->scan.boot_ns);
		scan_apply_end(model, &message->scan);
		break;
	case WIRE_LOSSES:
		if (!loss_take(model, &message->losses))
			return -EPROTO;
		break;
	default: break; /* records arrive apart; a probe does not send the others */
	}
	return finish(model);
}

int apply_unreadable(struct model *model, const struct record_header *header, uint64_t until_boot_ns)
{
	loss_note_record(model, header, until_boot_ns);
	return finish(model);
}

static void advance(struct model *model, uint64_t boot_ns)
{
	found_settle(model, boot_ns);
	model_advance(model, boot_ns);
}

int apply_record(struct model *model, const struct record *record)
{
	uint64_t boot_ns = record->header.boot_ns;

	switch ((enum record_type)record->header.type) {
	case RECORD_FORK:
		advance(model, boot_ns);
		apply_fork(model, &record->fork);
		break;
	case RECORD_EXEC:
		advance(model, boot_ns);
		apply_exec(model, record);
		break;
	case RECORD_EXIT:
		advance(model, boot_ns);
		apply_exit(model, &record->exit, TOTALS_EXIT);
		break;
	case RECORD_FINAL:
		model_advance(model, boot_ns);
		apply_exit(model, &record->exit, TOTALS_FINAL);
		break;
	case RECORD_CGROUP: /* one from a scan is ahead of the ring, so it settles nothing */
		cgroup_add(model, record->cgroup.cgroup_id, record->path.data, record->path.size);
		break;
	case RECORD_IGNORED: apply_ignored(model, &record->ignored); break;
	case RECORD_SAMPLE: scan_apply_sample(model, record); break;
	case RECORD_SIGNAL:
		advance(model, boot_ns);
		apply_signal(model, &record->signal);
		break;
	case RECORD_DEVICE: apply_device(model, &record->device); break;
	case RECORD_FILE: apply_file(model, &record->file); break;
	case RECORD_MEMORY: scan_memory_note_cgroup(model, &record->memory); break;
	}
	return finish(model);
}

bool apply_awaits_pods(const struct model *model)
{
	const struct container *container = model->containers;

	while (container && !container_awaits_pod(model, container))
		container = container->hh.next;
	return container != NULL;
}

void apply_pod_container(struct model *model, const struct host_pod_container *found)
{
	for (struct container *container = model->containers; container; container = container->hh.next)
		if (strcmp(container->runtime_id, found->id) == 0 && container_awaits_pod(model, container))
			container_set_pod(model, container, found->name);
}

void apply_host(struct model *model, const struct host_facts *given)
{
	struct host_facts *facts = &model->apply->host.facts;
	struct row_host *host = &model->host;

	*facts = *given;
#define I(name) host->name = facts->name;
#define T(name, size) host->name = facts->name[0] ? facts->name : NULL;
	HOST_FACTS(I, T)
#undef I
#undef T
	model->host_dirty = model->host.host_key != NULL;
}

void apply_host_sample(struct model *model, const struct row_host_sample *sample)
{
	struct row_host_sample row = *sample;

	row.host_id = model->host.id; /* known from a hello, or from the store */
	if (row.host_id)
		pending_add_host_sample(model, &row);
}

void apply_file_system_sample(struct model *model, const struct row_file_system_sample *sample)
{
	struct row_file_system_sample row = *sample;

	row.host_id = model->host.id;
	if (row.host_id)
		pending_add_file_system_sample(model, &row);
}

int apply_begin(const struct model_options *options, struct store *store, struct model **ret_model)
{
	struct model *model = model_new(options, store);
	struct host_facts unknown;
	int r;

	if (!model)
		return -ENOMEM;
	model->apply = calloc(1, sizeof(*model->apply));
	if (!model->apply) {
		apply_end(model);
		return -ENOMEM;
	}
	host_facts_init(&unknown);
	apply_host(model, &unknown);
	r = load_model(model);
	if (r < 0) {
		apply_end(model);
		return r;
	}
	*ret_model = model;
	return 0;
}

void apply_end(struct model *model)
{
	if (!model)
		return;
	struct apply_state *apply = model->apply;

	if (apply)
		found_free_all(model);
	model_free(model);
	if (apply)
		scan_memory_free(apply->memory);
	free(apply);
}

int apply_commit(struct model *model, struct store_stream *stream)
{
	int r;

	task_name_set_all(model);
	loss_write_unrecorded(model);
	r = persist_commit(model, stream);
	if (r == 0)
		collect(model);
	return r;
}

void apply_note_end(struct model *model)
{
	struct process *process, *next;

	HASH_ITER (hh, model->processes, process, next)
		if (process->image)
			image_take_use(model, process->image);
	model->host_dirty = model->host_dirty || model->host.host_key; /* to write its last-seen time */
}
