/* From messages to entities. See model.h. */
#include "correlator/model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/identity.h"
#include "correlator/internal.h"

static void copy_bytes(char *text, size_t capacity, const struct wire_bytes *bytes)
{
	size_t size = bytes->size < capacity - 1 ? bytes->size : capacity - 1;

	memcpy(text, bytes->data, size);
	text[size] = '\0';
}

void model_advance(struct model *model, uint64_t boot_ns)
{
	if (boot_ns > model->now_boot_ns)
		model->now_boot_ns = boot_ns;
}

int64_t model_unix_ns(const struct model *model, uint64_t boot_ns)
{
	return (int64_t)boot_ns + model->clock_offset_ns;
}

/* ---- the host */

/* Another boot: nothing of the one before lives on, and nobody saw it end. Its processes
 * are forgotten at once: init of the next may have the same start time. */
static void boot_ended(struct model *model)
{
	struct process *process, *next;
	struct run *run;

	found_place_all(model);
	HASH_ITER (hh, model->processes, process, next) {
		if (process->image)
			image_end(model, process->image, IMAGE_LOST, model->now_boot_ns, ROW_NULL, 0);
		process_end(model, process, ROW_NULL, model->now_boot_ns);
		process_free(model, process);
	}
	DL_FOREACH (model->runs, run)
		run_end_boot(model, run);
	places_forget_cgroups(model);
	model->system = NULL;
	model->now_boot_ns = 0;
	model->found_settle_boot_ns = 0;
}

static void set_host_id(struct model *model, const struct wire_hello *hello)
{
	const struct wire_bytes *key = hello->host_id.size ? &hello->host_id : &hello->hostname;
	struct identity identity;

	/* The machine id itself stays on the machine (machine-id(5) asks for that). */
	identity_begin(&identity, "host");
	identity_add_bytes(&identity, key->data, key->size);
	model->host.id = identity_end(&identity);
	identity_format(model->host.id, model->host_key);
}

static void apply_hello(struct model *model, const struct wire_hello *hello)
{
	char boot_id[sizeof(model->boot_id)];
	int64_t now_unix_ns = (int64_t)hello->unix_ns;

	copy_bytes(boot_id, sizeof(boot_id), &hello->boot_id);
	if (model->boot_id[0] && strcmp(model->boot_id, boot_id) != 0)
		boot_ended(model);
	set_host_id(model, hello);
	memcpy(model->boot_id, boot_id, sizeof(boot_id));
	image_begin_identities(model);
	copy_bytes(model->hostname, sizeof(model->hostname), &hello->hostname);
	copy_bytes(model->kernel, sizeof(model->kernel), &hello->kernel);
	copy_bytes(model->machine, sizeof(model->machine), &hello->machine);
	copy_bytes(model->probe_version, sizeof(model->probe_version), &hello->probe_version);
	model->clock_offset_ns = now_unix_ns - (int64_t)hello->boot_ns;
	model->host.host_key = model->host_key;
	model->host.hostname = model->hostname;
	model->host.boot_id = model->boot_id;
	model->host.boot_unix_ns = model->clock_offset_ns;
	model->host.kernel = model->kernel;
	model->host.machine = model->machine;
	model->host.cpu_count = (int64_t)hello->cpu_count;
	model->host.memory_bytes = (int64_t)hello->memory_bytes;
	model->host.probe_version = model->probe_version;
	if (!model->host.first_seen_unix_ns)
		model->host.first_seen_unix_ns = now_unix_ns;
	model->host.last_seen_unix_ns = now_unix_ns;
	model->host_dirty = true;
}

static const char *text_or_null(const char *text)
{
	return text[0] ? text : NULL;
}

static void fill_host_facts(struct model *model)
{
	const struct host_facts *facts = &model->host_facts;
	struct row_host *host = &model->host;

	host->os = text_or_null(facts->os);
	host->kernel_build = text_or_null(facts->kernel_build);
	host->vendor = text_or_null(facts->vendor);
	host->product = text_or_null(facts->product);
	host->asset_tag = text_or_null(facts->asset_tag);
	host->cpu_model = text_or_null(facts->cpu_model);
	host->cluster = text_or_null(facts->cluster);
	host->core_count = facts->core_count;
	host->swap_bytes = facts->swap_bytes;
	host->memory_limit_bytes = facts->memory_limit_bytes;
	host->core_limit_milli = facts->core_limit_milli;
	host->delay_accounting = facts->delay_accounting;
}

/* The row waits for the hello, which says whose it is. */
void model_set_host(struct model *model, const struct host_facts *facts)
{
	model->host_facts = *facts;
	fill_host_facts(model);
	model->host_dirty = model->host.host_key != NULL;
}

void model_add_host_sample(struct model *model, const struct host_figures *figures, uint64_t boot_ns,
			   uint64_t unix_ns)
{
	struct row_host_sample *row;

	if (!model->host.host_key)
		return;
	if (model->host_sample_count == HOST_SAMPLES_MAX) {
		model->host_sample_count--;
		memmove(model->host_samples, model->host_samples + 1,
			model->host_sample_count * sizeof(*model->host_samples));
	}
	row = &model->host_samples[model->host_sample_count++];
	*row = (struct row_host_sample){
		.host_id = model->host.id,
		.unix_ns = (int64_t)unix_ns,
		.boot_ns = (int64_t)boot_ns,
	};
#define I(name) row->name = figures->name;
	ROW_HOST_FIGURES(I)
#undef I
}

/* ---- events */

static void apply_fork(struct model *model, const struct event_fork *fork)
{
	struct process *parent, *process;
	struct found *found;

	if (process_find(model, fork->image.pid, fork->image.start_boot_ns))
		return; /* told again after a restart */
	found = found_find(model, &(struct process_key){.start_boot_ns = fork->image.start_boot_ns,
							.pid = fork->image.pid});
	if (found)
		found_free(model, found);
	parent = process_resolve(model, &fork->parent);
	process = process_new(model, &fork->image, parent);
	if (!process)
		return;
	if (parent)
		cause_note_fork(parent);
	process->fork_boot_ns = fork->boot_ns;
	process->parent_exec_id = fork->parent.exec_id;
	if (parent && parent->image && parent->image->exec_id == fork->parent.exec_id)
		process->parent_image_id = parent->image->id;
	else if (fork->parent.start_boot_ns)
		process->parent_image_id = image_id(model, fork->parent.pid, fork->parent.start_boot_ns,
						    fork->parent.exec_id);
	process_set_context(process, fork->cgroup_id, (uint32_t)fork->uid, (uint32_t)fork->sid,
		     (uint32_t)fork->pgid, parent ? parent->tty : 0, (uint32_t)fork->flags);
	if (parent) {
		process->pid_namespace = parent->pid_namespace;
		process->mount_namespace = parent->mount_namespace;
	}
}

/* The process of an exec whose fork nobody told us of (it was lost). */
static struct process *process_from_exec(struct model *model, const struct event_exec *exec)
{
	struct process *process = process_new(model, &exec->image, process_resolve(model, &exec->parent));

	if (process) {
		process->fork_boot_ns = exec->image.start_boot_ns;
		process->parent_exec_id = exec->parent.exec_id;
	}
	return process;
}

/* The image before, or the time between fork and exec, ends here. */
static void close_image_before(struct model *model, struct process *process, const struct event_exec *exec)
{
	if (!process->image)
		return;
	image_update(model, process->image, &exec->counters, TOTALS_EXEC);
	image_end(model, process->image, IMAGE_REPLACED, exec->boot_ns, ROW_NULL, 0);
}

static struct command *exec_command(struct model *model, const struct event_exec *exec)
{
	struct command *command = command_new(
		&(struct command_source){.comm = &exec->comm,
					 .filename = &exec->filename,
					 .cwd = &exec->cwd,
					 .argv = &exec->argv,
					 .flags = (uint32_t)exec->flags,
					 .uid = (uint32_t)exec->uid,
					 .tty = (uint32_t)exec->tty,
					 .stdin_pipe = (uint32_t)exec->stdin_pipe},
		model->arguments);

	model->out_of_memory = model->out_of_memory || !command;
	return command;
}

static void apply_exec(struct model *model, const struct event_exec *exec)
{
	struct process *process = process_resolve(model, &exec->image);
	struct rules_verdict verdict;

	if (!process)
		process = process_from_exec(model, exec);
	if (!process || process->ended)
		return;
	struct command *command = exec_command(model, exec);

	if (!command)
		return;
	if (process->image && process->image->exec_id == exec->image.exec_id) {
		/* Told again; or known from a pass, which may have seen it half-way. */
		found_complete(model, process, command);
		command_unref(command);
		return;
	}
	/* A pass saw a later program before this record came out of the ring: the row that it made has
	 * what was used in this one too. */
	if (process->image && (int32_t)(exec->image.exec_id - process->image->exec_id) < 0) {
		command_unref(command);
		return;
	}
	bool first = !process->image && !process->ignored;

	close_image_before(model, process, exec);
	cause_forget(process);
	command_unref(process->command);
	process->command = command;
	process->exec_id = exec->image.exec_id;
	process->found = false;
	process->pid_namespace = (uint32_t)exec->pid_namespace;
	process->mount_namespace = (uint32_t)exec->mount_namespace;
	process_set_context(process, exec->cgroup_id, (uint32_t)exec->uid, (uint32_t)exec->sid,
		     (uint32_t)exec->pgid, (uint32_t)exec->tty, (uint32_t)exec->flags);
	model_classify(model, process, &verdict);
	process->ignored = verdict.role == RULES_ROLE_IGNORE;
	if (process->ignored || (verdict.role == RULES_ROLE_STARTER && !process->image))
		return; /* a starter is still its parent, until the next exec or its end */
	place_exec(model, process,
		   &(struct placing){.verdict = &verdict,
				     /* as long as it had what its figures have */
				     .boot_ns = first ? process->fork_boot_ns : exec->boot_ns,
				     .cgroup_id = exec->cgroup_id,
				     .pgid = (uint32_t)exec->pgid,
				     .stdin_pipe = (uint32_t)exec->stdin_pipe,
				     .stdout_pipe = (uint32_t)exec->stdout_pipe});
	cancel_note(model, process, exec->boot_ns);
	if (verdict.role != RULES_ROLE_HELPER && verdict.role != RULES_ROLE_COMPONENT)
		cause_note_tool(process);
	retry_note_exec(model, process);
	struct image *image = process->image;

	if (!image)
		return;
	if (!first) {
		image->base = exec->counters;
	} else {
		/* What it used since its fork is its own, except that the memory was its
		 * parent's. */
		image->base.valid = exec->counters.valid & COUNTER_VALID(maxrss_bytes);
		image->base.maxrss_bytes = exec->counters.maxrss_bytes;
		if (exec->counters.valid & COUNTER_VALID(cpu_ns))
			image->spawn_cpu_ns = (int64_t)exec->counters.cpu_ns;
	}
}

static void image_exit(struct model *model, struct process *process, const struct event_exit *exit,
		       enum image_totals kind)
{
	if (!process->image)
		place_part(model, process);
	if (!process->image)
		return;
	int64_t before_ns = process->image->totals.cpu_ns;

	image_update(model, process->image, &exit->counters, kind);
	if (kind == TOTALS_FINAL && process->image->ended == IMAGE_EXIT)
		image_end_later(process->image, process->image->totals.cpu_ns - before_ns, exit->boot_ns);
	image_end(model, process->image, IMAGE_EXIT, exit->boot_ns, (int64_t)exit->wait_status,
		  (uint32_t)exit->flags);
}

static void apply_exit(struct model *model, const struct event_exit *exit, enum image_totals kind)
{
	struct process *process = process_resolve(model, &exit->image);

	if (!process)
		return; /* its fork and exec were lost, and counted */
	if (!process->ignored)
		image_exit(model, process, exit, kind);
	process_end(model, process, (int64_t)exit->wait_status, exit->boot_ns);
	process->has_final = process->has_final || kind == TOTALS_FINAL;
}

static void apply_ignored(struct model *model, const struct event_ignored *ignored)
{
	struct process *process = process_find(model, ignored->image.pid, ignored->image.start_boot_ns);

	/* What it was before is kept; from here on nobody looks. */
	if (!process)
		return;
	if (process->image)
		image_end(model, process->image, IMAGE_REPLACED, ignored->boot_ns, ROW_NULL, 0);
	process_end(model, process, ROW_NULL, ignored->boot_ns);
	process->has_final = true;
}

/* ---- the whole */

int model_apply(struct model *model, const struct wire_message *message)
{
	switch (message->type) {
	case WIRE_HELLO:
		apply_hello(model, &message->hello);
		break;
	case WIRE_PASS:
		if (!message->pass.backlog_bytes) /* else their forks may be in it */
			found_settle(model, message->pass.boot_ns);
		pass_apply_end(model, &message->pass);
		break;
	case WIRE_LOSSES:
		if (!loss_take(model, &message->losses))
			return -EPROTO;
		break;
	default:
		break; /* records come as events; the others are not a probe's to send */
	}
	return model->out_of_memory ? -ENOMEM : 0;
}

int model_apply_unreadable(struct model *model, const struct record_header *header)
{
	loss_note_record(model, header);
	return model->out_of_memory ? -ENOMEM : 0;
}

int model_apply_event(struct model *model, const struct event *event)
{
	switch (event->type) {
	case EVENT_FORK:
		found_settle(model, event->fork.boot_ns);
		model_advance(model, event->fork.boot_ns);
		apply_fork(model, &event->fork);
		break;
	case EVENT_EXEC:
		found_settle(model, event->exec.boot_ns);
		model_advance(model, event->exec.boot_ns);
		apply_exec(model, &event->exec);
		break;
	case EVENT_EXIT:
		found_settle(model, event->exit.boot_ns);
		model_advance(model, event->exit.boot_ns);
		apply_exit(model, &event->exit, TOTALS_EXIT);
		break;
	case EVENT_FINAL:
		model_advance(model, event->final.boot_ns);
		apply_exit(model, (const struct event_exit *)&event->final, TOTALS_FINAL);
		break;
	case EVENT_CGROUP: /* one of a pass is ahead of the ring: it settles nothing */
		cgroup_add(model, event->cgroup.cgroup_id, event->cgroup.path.data,
			   event->cgroup.path.size);
		break;
	case EVENT_IGNORED:
		apply_ignored(model, &event->ignored);
		break;
	case EVENT_SAMPLE:
		pass_apply_sample(model, &event->sample);
		break;
	case EVENT_SIGNAL:
		found_settle(model, event->signal.boot_ns);
		model_advance(model, event->signal.boot_ns);
		sender_note(model, &event->signal);
		break;
	case EVENT_DEVICE:
		device_note(model, &event->device);
		break;
	}
	return model->out_of_memory ? -ENOMEM : 0;
}

int model_new(const struct model_options *options, struct store *store, struct model **ret_model)
{
	struct model *model = calloc(1, sizeof(*model));

	if (!model)
		return -ENOMEM;
	model->store = store;
	model->rules = options->rules;
	model->arguments = options->arguments;
	model->checkpoints = options->checkpoints;
	model->pass_number = 1;
	host_facts_init(&model->host_facts);
	fill_host_facts(model);
	int r = checkpoint_load(model);

	if (r < 0) {
		model_free(model);
		return r;
	}
	*ret_model = model;
	return 0;
}

void model_free(struct model *model)
{
	struct process *process, *next;
	struct incident *incident, *next_incident;
	struct loss *loss, *next_loss;
	struct kept_text *kept, *next_kept;

	if (!model)
		return;
	while (model->found)
		found_free(model, model->found);
	HASH_ITER (hh, model->processes, process, next)
		process_free(model, process);
	while (model->runs)
		run_free(model, model->runs);
	places_free(model);
	DL_FOREACH_SAFE (model->incidents, incident, next_incident) {
		free(incident->sentence);
		free(incident);
	}
	DL_FOREACH_SAFE (model->losses, loss, next_loss) {
		free(loss->cgroup_path);
		free(loss);
	}
	HASH_ITER (hh, model->kept_texts, kept, next_kept) {
		HASH_DEL(model->kept_texts, kept);
		free(kept->text);
		free(kept);
	}
	free(model->samples);
	free(model->gone);
	free(model);
}

uint64_t model_now_boot_ns(const struct model *model)
{
	return model->now_boot_ns;
}
