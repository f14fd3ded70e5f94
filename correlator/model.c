/* From messages to entities. See model.h.
 *
 * Order on the wire: after the welcome the probe sends a pass over the living,
 * then what the ring held before, then what happens now. So a process of the pass
 * is only noted (`found`) until an event needs it, or until the stream's clock has
 * passed the pass: if the ring still holds its fork, that says more.
 */
#include "correlator/model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/identity.h"
#include "correlator/internal.h"

/* A living process that two complete passes did not show has gone unseen. */
#define MISSED_PASSES_MAX 2

/* The fork and exec of a process that began so shortly before a pass saw it may still be
 * in the ring, and a little later than the sample: an exec shows before its tracepoint
 * runs, and processors do not reserve room in the order of their clocks. */
#define FOUND_YOUNG_NS (500 * 1000 * 1000)
#define FOUND_SETTLE_NS (100 * 1000 * 1000)

/* A sample is worth a row if the process ran this long or its memory moved so far. */
#define SAMPLE_CPU_NS (5 * 1000 * 1000)
#define SAMPLE_MEMORY_BYTES (1024 * 1024)

static void copy_bytes(char *text, size_t capacity, const struct wire_bytes *bytes)
{
	size_t size = bytes->size < capacity - 1 ? bytes->size : capacity - 1;

	memcpy(text, bytes->data, size);
	text[size] = '\0';
}

static void advance(struct model *model, uint64_t boot_ns)
{
	if (boot_ns > model->now_boot_ns)
		model->now_boot_ns = boot_ns;
}

/* ---- the host */

/* Another boot: nothing of the one before lives on, and nobody saw it end. */
static void boot_ended(struct model *model)
{
	struct process *process, *next;

	HASH_ITER (hh, model->processes, process, next) {
		if (process->image)
			image_end(model, process->image, IMAGE_LOST, model->now_boot_ns, ROW_NULL, 0);
		process->ended = process->has_final = true;
	}
	struct cgroup *cgroup, *next_cgroup;

	HASH_ITER (hh, model->cgroups, cgroup, next_cgroup) {
		HASH_DELETE(hh, model->cgroups, cgroup);
		free(cgroup->path);
		free(cgroup);
	}
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
	advance(model, hello->boot_ns);
}

/* ---- processes found alive */

static void found_free(struct model *model, struct found *found)
{
	HASH_DELETE(hh, model->found, found);
	command_unref(found->command);
	free(found);
}

static struct found *found_find(struct model *model, const struct process_key *key)
{
	struct found *found;

	HASH_FIND(hh, model->found, key, sizeof(*key), found);
	return found;
}

static struct process *resolve(struct model *model, const struct image_key *key);

static void take_context(struct process *process, uint64_t cgroup_id, uint32_t uid, uint32_t sid,
			 uint32_t pgid, uint32_t tty, uint32_t flags)
{
	process->cgroup_id = cgroup_id;
	process->uid = uid;
	process->sid = sid;
	process->pgid = pgid;
	process->tty = tty;
	process->flags = flags;
}

/* Places a found process, its ancestors first. */
static struct process *found_place(struct model *model, struct found *found)
{
	struct found taken = *found;
	struct image_key key = {.pid = (uint32_t)taken.key.pid,
				.exec_id = taken.exec_id,
				.start_boot_ns = taken.key.start_boot_ns};
	struct rules_verdict verdict;

	/* Out of the table first: a forged loop of parents must not come back here. */
	HASH_DELETE(hh, model->found, found);
	free(found);
	struct process *parent = resolve(model, &taken.parent);
	struct process *process = process_new(model, &key, parent);

	if (!process) {
		command_unref(taken.command);
		return NULL;
	}
	process->found = true;
	process->fork_boot_ns = taken.key.start_boot_ns;
	process->parent_exec_id = taken.parent.exec_id;
	process->pid_namespace = taken.pid_namespace;
	take_context(process, taken.cgroup_id, taken.uid, taken.sid, taken.pgid, taken.tty, taken.flags);
	command_unref(process->command);
	process->command = taken.command;
	model_classify(model, process, &verdict);
	process->ignored = verdict.role == RULES_ROLE_IGNORE;
	if (process->ignored)
		return process;
	place_full(model, process,
		   &(struct placing){.verdict = &verdict,
				     .boot_ns = taken.boot_ns,
				     .cgroup_id = taken.cgroup_id,
				     .pgid = taken.pgid,
				     .stdin_pipe = taken.stdin_pipe,
				     .stdout_pipe = taken.stdout_pipe});
	if (process->image)
		image_update(model, process->image, &taken.counters, TOTALS_SAMPLE);
	return process;
}

/* The process an event speaks of, or NULL: nobody told us of it. */
static struct process *resolve(struct model *model, const struct image_key *key)
{
	struct process *process;
	struct found *found;

	if (key->start_boot_ns == 0)
		return NULL;
	process = process_find(model, key->pid, key->start_boot_ns);
	if (process)
		return process;
	found = found_find(model, &(struct process_key){.start_boot_ns = key->start_boot_ns,
							.pid = key->pid});
	return found ? found_place(model, found) : NULL;
}

static int compare_found(struct found *left, struct found *right)
{
	if (left->key.start_boot_ns != right->key.start_boot_ns)
		return left->key.start_boot_ns < right->key.start_boot_ns ? -1 : 1;
	return left->key.pid < right->key.pid ? -1 : left->key.pid > right->key.pid;
}

/* Everybody left, oldest first, so that siblings come in the order they began. */
static void found_place_all(struct model *model)
{
	HASH_SORT(model->found, compare_found);
	while (model->found && !model->out_of_memory)
		found_place(model, model->found);
}

static void note_settle_time(struct model *model, const struct wire_sample *sample)
{
	bool young = sample->boot_ns < sample->image.start_boot_ns + FOUND_YOUNG_NS;
	uint64_t settle_boot_ns = sample->boot_ns + (young ? FOUND_SETTLE_NS : 0);

	if (settle_boot_ns > model->found_settle_boot_ns)
		model->found_settle_boot_ns = settle_boot_ns;
}

static void found_note(struct model *model, const struct wire_sample *sample)
{
	struct process_key key = {.start_boot_ns = sample->image.start_boot_ns, .pid = sample->image.pid};
	struct found *found = found_find(model, &key);

	if (!found) {
		found = calloc(1, sizeof(*found));
		if (!found) {
			model->out_of_memory = true;
			return;
		}
		found->key = key;
		HASH_ADD(hh, model->found, key, sizeof(found->key), found);
	}
	found->boot_ns = sample->boot_ns;
	note_settle_time(model, sample);
	found->parent = sample->parent;
	found->exec_id = sample->image.exec_id;
	found->cgroup_id = sample->cgroup_id;
	found->uid = (uint32_t)sample->uid;
	found->sid = (uint32_t)sample->sid;
	found->pgid = (uint32_t)sample->pgid;
	found->tty = (uint32_t)sample->tty;
	found->flags = (uint32_t)sample->flags;
	found->pid_namespace = (uint32_t)sample->pid_namespace;
	found->stdin_pipe = (uint32_t)sample->stdin_pipe;
	found->stdout_pipe = (uint32_t)sample->stdout_pipe;
	found->counters = sample->counters;
	command_unref(found->command);
	found->command = command_new(
		&(struct command_source){.comm = &sample->comm,
					 .filename = &sample->filename,
					 .cwd = &sample->cwd,
					 .argv = &sample->argv,
					 .flags = (uint32_t)sample->flags,
					 .uid = (uint32_t)sample->uid,
					 .tty = (uint32_t)sample->tty},
		model->arguments);
	if (!found->command)
		model->out_of_memory = true;
}

/* ---- events */

static void apply_fork(struct model *model, const struct wire_fork *fork)
{
	struct process *parent, *process;
	struct found *found;

	if (process_find(model, fork->image.pid, fork->image.start_boot_ns))
		return; /* told again after a restart */
	found = found_find(model, &(struct process_key){.start_boot_ns = fork->image.start_boot_ns,
							.pid = fork->image.pid});
	if (found)
		found_free(model, found);
	parent = resolve(model, &fork->parent);
	process = process_new(model, &fork->image, parent);
	if (!process)
		return;
	process->fork_boot_ns = fork->boot_ns;
	process->parent_exec_id = fork->parent.exec_id;
	if (fork->parent.start_boot_ns)
		process->parent_image_id = image_id(model, fork->parent.pid, fork->parent.start_boot_ns,
						    fork->parent.exec_id);
	take_context(process, fork->cgroup_id, (uint32_t)fork->uid, (uint32_t)fork->sid,
		     (uint32_t)fork->pgid, parent ? parent->tty : 0, (uint32_t)fork->flags);
	if (parent)
		process->pid_namespace = parent->pid_namespace;
}

/* The process of an exec whose fork nobody told us of (it was lost). */
static struct process *process_from_exec(struct model *model, const struct wire_exec *exec)
{
	struct process *process = process_new(model, &exec->image, resolve(model, &exec->parent));

	if (process) {
		process->fork_boot_ns = exec->image.start_boot_ns;
		process->parent_exec_id = exec->parent.exec_id;
	}
	return process;
}

/* The image before, or the time between fork and exec, ends here. */
static void close_image_before(struct model *model, struct process *process, const struct wire_exec *exec)
{
	if (!process->image)
		return;
	image_update(model, process->image, &exec->counters, TOTALS_EXEC);
	image_end(model, process->image, IMAGE_REPLACED, exec->boot_ns, ROW_NULL, 0);
}

static void apply_exec(struct model *model, const struct wire_exec *exec)
{
	struct process *process = resolve(model, &exec->image);
	struct rules_verdict verdict;

	if (!process)
		process = process_from_exec(model, exec);
	if (!process || process->ended ||
	    (process->image && process->image->exec_id == exec->image.exec_id))
		return; /* known from a pass, or told again */
	struct command *command = command_new(
		&(struct command_source){.comm = &exec->comm,
					 .filename = &exec->filename,
					 .cwd = &exec->cwd,
					 .argv = &exec->argv,
					 .flags = (uint32_t)exec->flags,
					 .uid = (uint32_t)exec->uid,
					 .tty = (uint32_t)exec->tty},
		model->arguments);

	if (!command) {
		model->out_of_memory = true;
		return;
	}
	bool first = !process->image && !process->ignored;

	close_image_before(model, process, exec);
	command_unref(process->command);
	process->command = command;
	process->exec_id = exec->image.exec_id;
	process->found = false;
	process->pid_namespace = (uint32_t)exec->pid_namespace;
	take_context(process, exec->cgroup_id, (uint32_t)exec->uid, (uint32_t)exec->sid,
		     (uint32_t)exec->pgid, (uint32_t)exec->tty, (uint32_t)exec->flags);
	model_classify(model, process, &verdict);
	process->ignored = verdict.role == RULES_ROLE_IGNORE;
	if (process->ignored)
		return;
	place_exec(model, process,
		   &(struct placing){.verdict = &verdict,
				     .boot_ns = exec->boot_ns,
				     .cgroup_id = exec->cgroup_id,
				     .pgid = (uint32_t)exec->pgid,
				     .stdin_pipe = (uint32_t)exec->stdin_pipe,
				     .stdout_pipe = (uint32_t)exec->stdout_pipe});
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

static void image_exit(struct model *model, struct process *process, const struct wire_exit *exit,
		       enum image_totals kind)
{
	if (!process->image)
		place_part(model, process);
	if (!process->image)
		return;
	image_update(model, process->image, &exit->counters, kind);
	image_end(model, process->image, IMAGE_EXIT, exit->boot_ns, (int64_t)exit->wait_status,
		  (uint32_t)exit->flags);
}

static void apply_exit(struct model *model, const struct wire_exit *exit, enum image_totals kind)
{
	struct process *process = resolve(model, &exit->image);

	if (!process)
		return; /* its fork and exec were lost, and counted */
	if (!process->ignored)
		image_exit(model, process, exit, kind);
	if (!process->ended) {
		process->ended = true;
		process->end_boot_ns = exit->boot_ns;
	}
	process->has_final = process->has_final || kind == TOTALS_FINAL;
}

static void apply_ignored(struct model *model, const struct wire_ignored *ignored)
{
	struct process *process = process_find(model, ignored->image.pid, ignored->image.start_boot_ns);

	/* What it was before is kept; from here on nobody looks. */
	if (!process)
		return;
	if (process->image)
		image_end(model, process->image, IMAGE_REPLACED, ignored->boot_ns, ROW_NULL, 0);
	process->ended = process->has_final = true;
	process->end_boot_ns = ignored->boot_ns;
}

/* ---- passes over the living */

static void sample_add(struct model *model, const struct row_sample *row)
{
	if (model->sample_count == model->sample_capacity) {
		size_t capacity = model->sample_capacity ? model->sample_capacity * 2 : 256;
		struct row_sample *samples = realloc(model->samples, capacity * sizeof(*samples));

		if (!samples) {
			model->out_of_memory = true;
			return;
		}
		model->samples = samples;
		model->sample_capacity = capacity;
	}
	model->samples[model->sample_count++] = *row;
}

static int64_t known(const struct counters *counters, uint64_t bit, uint64_t value)
{
	return counters->valid & bit ? (int64_t)value : ROW_NULL;
}
#define KNOWN(counters, name) known(counters, COUNTER_VALID(name), (counters)->name)

static int64_t known_total(const struct totals *totals, uint64_t bit, int64_t value)
{
	return totals->valid & bit ? value : ROW_NULL;
}
#define KNOWN_TOTAL(totals, name) known_total(totals, COUNTER_VALID(name), (totals)->name)

/* Anonymous and shared memory: what it needs, page cache left out. */
static int64_t memory_of(const struct counters *counters)
{
	if (!(counters->valid & COUNTER_VALID(rss_anon_bytes)))
		return 0;
	return (int64_t)(counters->rss_anon_bytes +
			 (counters->valid & COUNTER_VALID(rss_shmem_bytes) ? counters->rss_shmem_bytes : 0));
}

static void note_memory(struct process *process, int64_t memory_bytes)
{
	if (!process->image)
		return;
	process->image->tool->tally.pass_memory_bytes += memory_bytes;
	process->group->task->tally.pass_memory_bytes += memory_bytes;
	process->run->tally.pass_memory_bytes += memory_bytes;
}

static void sample_store(struct model *model, struct process *process, const struct wire_sample *sample)
{
	struct image *image = process->image;
	const struct counters *counters = &sample->counters;
	int64_t memory = memory_of(counters), moved = memory - image->sampled_memory_bytes;

	if (image->totals.cpu_ns < (int64_t)image->sampled_cpu_ns + SAMPLE_CPU_NS &&
	    moved < SAMPLE_MEMORY_BYTES && moved > -SAMPLE_MEMORY_BYTES)
		return;
	image->sampled_cpu_ns = (uint64_t)image->totals.cpu_ns;
	image->sampled_memory_bytes = memory;
	sample_add(model, &(struct row_sample){
				  .process_id = image->id,
				  .boot_ns = (int64_t)sample->boot_ns,
				  .cpu_ns = KNOWN_TOTAL(&image->totals, cpu_ns),
				  .run_delay_ns = KNOWN_TOTAL(&image->totals, run_delay_ns),
				  .read_bytes = KNOWN_TOTAL(&image->totals, read_bytes),
				  .write_bytes = KNOWN_TOTAL(&image->totals, write_bytes),
				  .rss_anon_bytes = KNOWN(counters, rss_anon_bytes),
				  .rss_file_bytes = KNOWN(counters, rss_file_bytes),
				  .rss_shmem_bytes = KNOWN(counters, rss_shmem_bytes),
				  .swap_bytes = KNOWN(counters, swap_bytes),
				  .thread_count = KNOWN(counters, thread_count),
			  });
}

/* A forked child that a pass sees lives long enough to have a row of its own. */
static void sample_known(struct model *model, struct process *process, const struct wire_sample *sample)
{
	process->seen_pass = model->pass_number;
	process->missed_passes = 0;
	if (process->ended || process->ignored || sample->flags & RECORD_EXITING)
		return;
	if (!process->image)
		place_part(model, process);
	/* An exec that is still in the ring: its record will tell. */
	if (!process->image || process->image->exec_id != sample->image.exec_id)
		return;
	const struct totals before = process->image->totals;

	if (sample->counters.cpu_ns != (uint64_t)before.cpu_ns || !before.valid)
		image_update(model, process->image, &sample->counters, TOTALS_SAMPLE);
	note_memory(process, memory_of(&sample->counters));
	sample_store(model, process, sample);
}

static void apply_sample(struct model *model, const struct wire_sample *sample)
{
	struct process *process = process_find(model, sample->image.pid, sample->image.start_boot_ns);

	if (process)
		sample_known(model, process, sample);
	else if (sample->image.start_boot_ns && sample->comm.size)
		found_note(model, sample);
}

static void fold_memory(struct tally *tally, bool *dirty, bool *run_dirty)
{
	if (tally->pass_memory_bytes > 0 &&
	    (tally->concurrent_memory_bytes == ROW_NULL ||
	     tally->pass_memory_bytes > tally->concurrent_memory_bytes)) {
		tally->concurrent_memory_bytes = tally->pass_memory_bytes;
		*dirty = *run_dirty = true;
	}
	tally->pass_memory_bytes = 0;
}

static void fold_tool(struct tool *tool)
{
	struct task *task = tool->group->task;

	fold_memory(&tool->tally, &tool->dirty, &task->dirty);
	task->run->dirty = task->run->dirty || task->dirty;
}

static void fold_pass_memory(struct model *model)
{
	struct run *run;
	struct task *task;
	struct group *group;
	struct tool *tool;

	DL_FOREACH (model->runs, run) {
		fold_memory(&run->tally, &run->dirty, &run->dirty);
		DL_FOREACH (run->tasks, task) {
			fold_memory(&task->tally, &task->dirty, &run->dirty);
			DL_FOREACH (task->groups, group)
				DL_FOREACH (group->tools, tool)
					fold_tool(tool);
		}
	}
}

/* Who was alive when the pass began and is in no pass any more has gone without a
 * record. Its exit may still be in the ring, so it takes more than one. */
static void end_missing(struct model *model, const struct wire_pass *pass)
{
	struct process *process, *next;

	HASH_ITER (hh, model->processes, process, next) {
		if (process->ended || process->seen_pass == model->pass_number ||
		    process->key.start_boot_ns >= pass->boot_ns || process->fork_boot_ns >= pass->boot_ns)
			continue;
		if (++process->missed_passes < MISSED_PASSES_MAX)
			continue;
		if (!process->image && !process->ignored)
			place_part(model, process);
		if (process->image)
			image_end(model, process->image, IMAGE_LOST, pass->boot_ns, ROW_NULL, 0);
		process->ended = process->has_final = true;
		process->end_boot_ns = pass->boot_ns;
	}
}

static void apply_pass(struct model *model, const struct wire_pass *pass)
{
	end_missing(model, pass);
	fold_pass_memory(model);
	model->pass_number++;
	if (pass->unix_ns) {
		model->clock_offset_ns = (int64_t)(pass->unix_ns - pass->boot_ns);
		model->host.last_seen_unix_ns = (int64_t)pass->unix_ns;
		model->host_dirty = true;
	}
	advance(model, pass->boot_ns);
}

/* ---- the whole */

/* Events as old as the samples may still tell of the found: their fork or exec waited
 * in the ring while the pass went by. Later ones may not. */
static void settle_found(struct model *model, uint64_t boot_ns)
{
	if (model->found && boot_ns > model->found_settle_boot_ns)
		found_place_all(model);
}

int model_apply(struct model *model, const struct wire_message *message)
{
	switch (message->type) {
	case WIRE_HELLO:
		apply_hello(model, &message->hello);
		break;
	case WIRE_FORK:
		settle_found(model, message->fork.boot_ns);
		advance(model, message->fork.boot_ns);
		apply_fork(model, &message->fork);
		break;
	case WIRE_EXEC:
		settle_found(model, message->exec.boot_ns);
		advance(model, message->exec.boot_ns);
		apply_exec(model, &message->exec);
		break;
	case WIRE_EXIT:
		settle_found(model, message->exit.boot_ns);
		advance(model, message->exit.boot_ns);
		apply_exit(model, &message->exit, TOTALS_EXIT);
		break;
	case WIRE_FINAL:
		advance(model, message->final.boot_ns);
		apply_exit(model, (const struct wire_exit *)&message->final, TOTALS_FINAL);
		break;
	case WIRE_CGROUP:
		advance(model, message->cgroup.boot_ns);
		cgroup_add(model, message->cgroup.cgroup_id, message->cgroup.path.data,
			   message->cgroup.path.size);
		break;
	case WIRE_IGNORED:
		apply_ignored(model, &message->ignored);
		break;
	case WIRE_SAMPLE:
		apply_sample(model, &message->sample);
		break;
	case WIRE_PASS:
		settle_found(model, message->pass.boot_ns);
		apply_pass(model, &message->pass);
		break;
	case WIRE_LOSS:
		incident_note_loss(model, &message->loss);
		break;
	case WIRE_WELCOME:
	case WIRE_ACK:
		break; /* not a probe's to send: the session refuses them */
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
	struct cgroup *cgroup, *next_cgroup;
	struct container *container, *next_container;
	struct kept_text *kept, *next_kept;

	if (!model)
		return;
	while (model->found)
		found_free(model, model->found);
	HASH_ITER (hh, model->processes, process, next)
		process_free(model, process);
	while (model->runs)
		run_free(model, model->runs);
	HASH_ITER (hh, model->cgroups, cgroup, next_cgroup) {
		HASH_DELETE(hh, model->cgroups, cgroup);
		free(cgroup->path);
		free(cgroup);
	}
	HASH_ITER (hh, model->containers, container, next_container) {
		HASH_DELETE(hh, model->containers, container);
		free(container->cgroup_path);
		free(container);
	}
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
