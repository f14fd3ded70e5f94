/* From entities to rows: one commit writes what changed since the one before.
 *
 * Flags are cleared only once the store has said that the commit is on disk, so a
 * full disk loses nothing: the next attempt writes the same rows again.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/identity.h"
#include "correlator/internal.h"

#define LAST_SEEN_PERIOD_NS (30 * INT64_C(1000000000))

static int64_t ended_at(const struct tally *tally)
{
	return tally->living_count > 0 ? ROW_NULL : (int64_t)tally->end_boot_ns;
}

static int64_t id_or_null(const struct container *container)
{
	return container ? container->id : ROW_NULL;
}

static const char *const began_text[] = {"fork", "exec", "found"};
static const char *const ended_text[] = {NULL, "exit", "exec", "lost"};
static const char *const totals_text[] = {"sample", "exec", "exit", "final"};

static void fill_status(struct row_process *row, const struct image *image)
{
	row->exit_code = row->signal = row->core_dumped = row->oom_killed = row->failed = ROW_NULL;
	if (image->ended != IMAGE_EXIT || image->wait_status == ROW_NULL)
		return;
	row->core_dumped = (image->wait_status & 0x80) != 0;
	row->oom_killed = image->oom_killed;
	row->failed = image->failed;
	if (image->wait_status & 0x7f)
		row->signal = image->wait_status & 0x7f;
	else
		row->exit_code = image->wait_status >> 8 & 0xff;
}

/* A fork shares its parent's command line; storing it once is enough. */
static void fill_command(const struct model *model, struct row_process *row, const struct image *image)
{
	const struct command *command = image->command;

	row->program = command ? command->program : "";
	if (!command || !image->own_command)
		return;
	row->path = command->path[0] ? command->path : NULL;
	row->working_directory = command->working_directory[0] ? command->working_directory : NULL;
	row->redacted_count = command->redacted_count;
	row->arguments_truncated = (command->flags & RECORD_ARGV_TRUNCATED) != 0;
	if (command->flags & RECORD_ARGV_UNKNOWN)
		return;
	row->arguments.data = command->arguments;
	row->arguments.size = command->arguments_size;
	if (model->arguments == REDACT_PROGRAM_ONLY && command->arguments_size)
		row->arguments.size = strlen(command->arguments) + 1;
}

static void fill_image(struct row_process *ret_row, const struct model *model, const struct image *image)
{
	*ret_row = (struct row_process){
		.id = image->id,
		.host_id = model->host.id,
		.container_id = id_or_null(image->container),
		.run_id = image->tool->group->task->run->id,
		.task_id = image->tool->group->task->id,
		.tool_id = image->tool->id,
		.parent_id = image->parent_id,
		.pid = image->pid,
		.exec_id = image->exec_id,
		.user_id = image->uid,
		.began = began_text[image->began],
		.ended = ended_text[image->ended],
		.totals = totals_text[image->totals_kind],
		.begin_boot_ns = (int64_t)image->begin_boot_ns,
		.end_boot_ns = image->ended == IMAGE_LIVING ? ROW_NULL : (int64_t)image->end_boot_ns,
		.started_unix_ns = image->started_unix_ns,
		.role = rules_role_text(image->role),
		.rule = image->rule,
		.reason = image->reason,
		.spawn_cpu_ns = image->spawn_cpu_ns,
		.peak_rss_bytes = image->peak_rss_bytes,
		.gpu = image->gpu,
		.partial = (image->totals.valid & COUNTERS_PARTIAL) != 0,
	};

	fill_status(ret_row, image);
	fill_command(model, ret_row, image);
	totals_fill_row(ret_row, &image->totals, ROW_NULL);
}

struct image_walk {
	const struct model *model;
	const struct image *next;
};

static bool next_image(void *context, struct row_process *ret_row)
{
	struct image_walk *walk = context;

	if (!walk->next)
		return false;
	fill_image(ret_row, walk->model, walk->next);
	walk->next = walk->next->dirty_next;
	return true;
}

static int put_images(struct model *model)
{
	struct image_walk walk = {model, model->dirty_images};

	return walk.next ? store_put_processes(model->store, next_image, &walk) : 0;
}

static int put_tool(struct model *model, struct tool *tool)
{
	struct task *task = tool->group->task;
	struct row_tool row = {
		.id = tool->id,
		.host_id = model->host.id,
		.run_id = task->run->id,
		.task_id = task->id,
		.name = tool->name,
		.role = rules_role_text(tool->role),
		.begin_boot_ns = (int64_t)tool->tally.begin_boot_ns,
		.end_boot_ns = ended_at(&tool->tally),
		.started_unix_ns = tool->tally.started_unix_ns,
		.process_count = tool->tally.process_count,
		.living_count = tool->tally.living_count,
		.failed_count = tool->tally.failed_count,
		.partial_count = tool->tally.partial_count,
		.peak_rss_bytes = tool->tally.peak_rss_bytes,
		.concurrent_memory_bytes = tool->tally.concurrent_memory_bytes,
	};
	int r = 0;

	totals_fill_row(&row, &tool->tally.totals, 0);
	if (tool->moved)
		r = store_move_processes(model->store, tool->id, task->id, tool->id);
	return r < 0 ? r : store_put_tool(model->store, &row);
}

static int64_t parent_task(const struct task *task)
{
	if (task->kind[0] == 'm')
		return ROW_NULL; /* main: the top of its run */
	return task->orchestrator_group ? task->orchestrator_group->task->id : task->run->main->id;
}

static int put_task(struct model *model, struct task *task)
{
	struct row_task row = {
		.id = task->id,
		.host_id = model->host.id,
		.run_id = task->run->id,
		.parent_task_id = parent_task(task),
		.container_id = id_or_null(task->container),
		.merged_into_id = task->merged_into_id,
		.retried_by_id = task->retried_by_id,
		.kind = task->kind,
		.name = task->name ? task->name : "",
		.label = task->label && task->label[0] ? task->label : NULL,
		.root_process_id = task->root_process_id,
		.orchestrator_process_id = task->orchestrator_process_id,
		.working_directory = task->working_directory,
		.status = outcome_status(&task->outcome, &task->tally),
		.exit_code = task->outcome.exit_code,
		.signal = task->outcome.signal,
		.reason = task->reason,
		.begin_boot_ns = (int64_t)task->tally.begin_boot_ns,
		.end_boot_ns = ended_at(&task->tally),
		.started_unix_ns = task->tally.started_unix_ns,
		.process_count = task->tally.process_count,
		.living_count = task->tally.living_count,
		.failed_count = task->tally.failed_count,
		.partial_count = task->tally.partial_count,
		.lost_count = task->tally.lost_count,
		.peak_rss_bytes = task->tally.peak_rss_bytes,
		.concurrent_memory_bytes = task->tally.concurrent_memory_bytes,
	};
	int r = 0;

	allowance_fill_row(&row, &task->allowance);
	totals_fill_row(&row, &task->tally.totals, 0);
	if (task->merged_into_id != ROW_NULL)
		r = store_move_task(model->store, task->id, task->merged_into_id);
	return r < 0 ? r : store_put_task(model->store, &row);
}

static int put_run(struct model *model, const struct run *run)
{
	struct row_run row = {
		.id = run->id,
		.host_id = model->host.id,
		.container_id = id_or_null(run->container),
		.kind = run->kind,
		.name = run->name ? run->name : "",
		.engine = run->engine[0] ? run->engine : NULL,
		.run_key = run->run_key[0] ? run->run_key : NULL,
		.root_process_id = run->root_process_id,
		.origin_process_id = run->origin_process_id,
		.user_id = run->user_id,
		.working_directory = run->working_directory,
		.status = outcome_status(&run->outcome, &run->tally),
		.exit_code = run->outcome.exit_code,
		.signal = run->outcome.signal,
		.rules_version = (int64_t)(rules_version(model->rules) & INT64_MAX),
		.reason = run->reason,
		.begin_boot_ns = (int64_t)run->tally.begin_boot_ns,
		.end_boot_ns = ended_at(&run->tally),
		.root_end_boot_ns = run->outcome.living_roots == 0 && run->outcome.end_boot_ns
					    ? (int64_t)run->outcome.end_boot_ns
					    : ROW_NULL,
		.started_unix_ns = run->tally.started_unix_ns,
		.task_count = run->task_count,
		.process_count = run->tally.process_count,
		.living_count = run->tally.living_count,
		.failed_count = run->tally.failed_count,
		.partial_count = run->tally.partial_count,
		.lost_count = run->tally.lost_count,
		.peak_rss_bytes = run->tally.peak_rss_bytes,
		.concurrent_memory_bytes = run->tally.concurrent_memory_bytes,
	};

	allowance_fill_row(&row, &run->allowance);
	totals_fill_row(&row, &run->tally.totals, 0);
	return store_put_run(model->store, &row);
}

static int put_container(struct model *model, const struct container *container)
{
	struct row_container row = {
		.id = container->id,
		.host_id = model->host.id,
		.runtime = container->runtime,
		.runtime_id = container->runtime_id,
		.cgroup_path = container->cgroup_path ? container->cgroup_path : "",
		.image = container->image,
		.name = container->name,
		.pid_namespace = container->pid_namespace,
		.mount_namespace = container->mount_namespace,
		.run_id = container->run_id,
		.task_id = container->task_id,
		.begin_boot_ns = (int64_t)container->begin_boot_ns,
		.end_boot_ns = container->living_count > 0 ? ROW_NULL : (int64_t)container->end_boot_ns,
		.started_unix_ns = container->started_unix_ns,
	};

	allowance_fill_row(&row, &container->allowance);
	return store_put_container(model->store, &row);
}

int64_t cgroup_row_id(const struct model *model, uint64_t cgroup_id)
{
	struct identity identity;

	identity_begin(&identity, "cgroup");
	identity_add_u64(&identity, (uint64_t)model->host.id);
	identity_add_bytes(&identity, model->boot_id, strlen(model->boot_id));
	identity_add_u64(&identity, cgroup_id);
	return identity_end(&identity);
}

static int put_cgroup(struct model *model, const struct cgroup *cgroup)
{
	return store_put_cgroup(model->store, &(struct row_cgroup){
						      .id = cgroup_row_id(model, cgroup->cgroup_id),
						      .cgroup_id = (int64_t)cgroup->cgroup_id,
						      .path = cgroup->path,
					      });
}

static int put_runs(struct model *model)
{
	struct run *run;
	struct task *task;
	struct group *group;
	struct tool *tool;
	int r;

	DL_FOREACH (model->runs, run) {
		if (!run->dirty)
			continue;
		run_set_texts(model, run);
		DL_FOREACH (run->tasks, task) {
			if (!task->dirty)
				continue;
			DL_FOREACH (task->groups, group)
				DL_FOREACH (group->tools, tool)
					if (tool->dirty && (r = put_tool(model, tool)) < 0)
						return r;
			if ((r = put_task(model, task)) < 0)
				return r;
		}
		if ((r = put_run(model, run)) < 0)
			return r;
	}
	return 0;
}

/* That it was seen alone is worth a row now and then. */
static bool host_is_due(const struct model *model)
{
	return model->host_dirty ||
	       model->host.last_seen_unix_ns - model->written_seen_unix_ns >= LAST_SEEN_PERIOD_NS;
}

static int put_places(struct model *model)
{
	struct cgroup *cgroup;
	struct container *container;
	int r = 0;

	if (host_is_due(model))
		r = store_put_host(model->store, &model->host);
	for (cgroup = model->cgroups; cgroup && r == 0; cgroup = cgroup->hh.next)
		if (cgroup->dirty)
			r = put_cgroup(model, cgroup);
	for (container = model->containers; container && r == 0; container = container->hh.next)
		if (container->dirty)
			r = put_container(model, container);
	return r;
}

static int put_facts(struct model *model)
{
	struct incident *incident;
	struct loss *loss;
	int r;

	for (size_t i = 0; i < model->sample_count; i++)
		if ((r = store_put_sample(model->store, &model->samples[i])) < 0)
			return r;
	for (size_t i = 0; i < model->host_sample_count; i++)
		if ((r = store_put_host_sample(model->store, &model->host_samples[i])) < 0)
			return r;
	DL_FOREACH (model->incidents, incident)
		if ((r = store_put_incident(model->store, &incident->row)) < 0)
			return r;
	DL_FOREACH (model->losses, loss)
		if ((r = store_put_loss(model->store, &loss->row)) < 0)
			return r;
	return 0;
}

static int put_all(struct model *model)
{
	int r = put_places(model);

	if (r == 0)
		r = put_runs(model);
	/* After the runs: moving stored processes must not meet the new rows. */
	if (r == 0)
		r = put_images(model);
	if (r == 0)
		r = put_facts(model);
	if (r == 0)
		r = checkpoint_save(model);
	return r;
}

static void clear_runs(struct model *model)
{
	struct run *run;
	struct task *task;
	struct group *group;
	struct tool *tool;

	DL_FOREACH (model->runs, run) {
		if (!run->dirty)
			continue;
		run->dirty = false;
		DL_FOREACH (run->tasks, task) {
			if (!task->dirty)
				continue;
			task->dirty = false;
			bool apart = checkpoint_keeps_apart(task);

			DL_FOREACH (task->groups, group)
				DL_FOREACH (group->tools, tool) {
					tool->dirty = tool->moved = false;
					tool->has_checkpoint = tool->has_checkpoint || apart;
				}
		}
	}
}

static void clear_all(struct model *model)
{
	struct image *image, *next;
	struct incident *incident, *next_incident;
	struct loss *loss, *next_loss;

	clear_runs(model);
	for (struct process *process = model->processes; process; process = process->hh.next) {
		process->checkpointed = true;
		process->has_checkpoint = !process_is_done(model, process);
	}
	DL_FOREACH_SAFE2 (model->dirty_images, image, next, dirty_next)
		image->dirty = false;
	model->dirty_images = NULL;
	model->dirty_image_count = 0;
	for (struct cgroup *cgroup = model->cgroups; cgroup; cgroup = cgroup->hh.next)
		cgroup->dirty = false;
	for (struct container *container = model->containers; container; container = container->hh.next)
		container->dirty = false;
	DL_FOREACH_SAFE (model->incidents, incident, next_incident) {
		free(incident->sentence);
		free(incident);
	}
	model->incidents = NULL;
	DL_FOREACH_SAFE (model->losses, loss, next_loss) {
		free(loss->cgroup_path);
		free(loss);
	}
	model->losses = NULL;
	model->losses_dirty = false;
	model->sample_count = 0;
	model->host_sample_count = 0;
	model->gone_count = 0;
	if (host_is_due(model))
		model->written_seen_unix_ns = model->host.last_seen_unix_ns;
	model->host_dirty = false;
}

void model_note_end(struct model *model)
{
	model->host_dirty = model->host_dirty || model->host.host_key; /* last seen now */
}

/* Every change of a part marks what it is part of, so nothing dirty is missed by
 * looking only beneath what is dirty. */
int model_commit(struct model *model, struct store_stream *stream)
{
	int r = put_all(model);

	memcpy(stream->boot_id, model->boot_id, sizeof(stream->boot_id));
	stream->committed_boot_ns = model->now_boot_ns;
	if (r == 0)
		r = store_commit(model->store, stream);
	if (r < 0) {
		store_rollback(model->store);
		return r;
	}
	clear_all(model);
	model_collect(model);
	return 0;
}

bool model_is_dirty(const struct model *model)
{
	const struct run *run;

	DL_FOREACH (model->runs, run)
		if (run->dirty)
			return true;
	return model->dirty_images || model->sample_count || model->incidents || model->losses ||
	       model->losses_dirty || model->host_dirty;
}

size_t model_pending(const struct model *model)
{
	return model->sample_count + model->dirty_image_count;
}
