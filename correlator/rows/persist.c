/* Writing entities as rows: each commit writes what changed since the previous one.
 *
 * The lists of changed entities are emptied only after the store has confirmed the commit, so a full
 * disk loses nothing: the next attempt writes the same rows again. The store keeps the first error of a
 * transaction, and its commit fails with that.
 */
#include "correlator/rows/persist.h"

#include <errno.h>

#include <utlist.h>

#include "correlator/model/cgroup.h"
#include "correlator/model/collect.h"
#include "correlator/model/command.h"
#include "correlator/model/container.h"
#include "correlator/model/group.h"
#include "correlator/model/image.h"
#include "correlator/model/model.h"
#include "correlator/model/pending.h"
#include "correlator/model/process.h"
#include "correlator/model/run.h"
#include "correlator/model/task.h"
#include "correlator/model/tool.h"
#include "correlator/model/tree.h"
#include "correlator/rows/entities.h"
#include "correlator/store/writer.h"

#define LAST_SEEN_PERIOD_NS (30 * INT64_C(1000000000))

struct saver {
	struct model *model;
	msgpack_sbuffer state;
	msgpack_packer packer;
};

static int state_write(void *context, const char *data, size_t size)
{
	struct saver *saver = context;

	if (msgpack_sbuffer_write(&saver->state, data, size) != 0)
		saver->model->out_of_memory = true;
	return 0;
}

/* Writes what the columns do not hold. The store leaves it alone if it has not changed. */
static void put_state(struct saver *saver, const char *kind, int64_t id, int64_t image_id, const struct field *fields,
		      const void *entity)
{
	if (!saver->model->options.keep_states)
		return;
	msgpack_sbuffer_clear(&saver->state);
	fields_to_state(fields, entity, &saver->packer);
	store_put_state(saver->model->store, kind, id, image_id,
			(struct row_blob){saver->state.data, saver->state.size});
}

static int64_t id_or_null(const struct container *container)
{
	return container ? container->id : ROW_NULL;
}

/* While something is running, its row has no end. */
static int64_t end_or_null(const struct tally *tally)
{
	return tally->living_count > 0 ? ROW_NULL : (int64_t)tally->end_boot_ns;
}

/* ---- images: errors are those of the commit ---------------------------------------------- */

/* A fork shares its parent's command line, which is stored only once. */
static void fill_command(const struct model *model, struct row_process *row, const struct image *image)
{
	const struct command *command = image->command;

	row->program = command ? command->program : "";
	if (!command || image->began == IMAGE_FORK)
		return;
	row->path = command->path[0] ? command->path : NULL;
	row->working_directory = command->working_directory[0] ? command->working_directory : NULL;
	row->redacted_count = command->redacted_count;
	row->arguments_truncated = (command->flags & (RECORD_ARGV_TRUNCATED | RECORD_ARGV_UNKNOWN)) != 0;
	if (command->flags & RECORD_ARGV_UNKNOWN)
		return;
	row->arguments.data = command->arguments;
	row->arguments.size = command_stored_size(command, model->options.arguments, model->options.keep_arguments);
}

/* The status of wait(2) in three columns, and what follows from it. */
static void fill_status(struct row_process *row, const struct image *image)
{
	int64_t status = image->wait_status;

	row->exit_code = row->signal = row->core_dumped = row->oom_killed = row->failed = ROW_NULL;
	if (image->ended != IMAGE_EXIT || status == ROW_NULL)
		return;
	row->core_dumped = (status & 0x80) != 0;
	row->oom_killed = image->oom_killed;
	row->failed = image->failed;
	if (status & 0x7f)
		row->signal = status & 0x7f;
	else
		row->exit_code = status >> 8 & 0xff;
}

static void put_image(const struct saver *saver, const struct image *image)
{
	struct row_process row = {
		.host_id = saver->model->host.id,
		.container_id = id_or_null(image->container),
		.run_id = image->tool->group->task->run->id,
		.task_id = image->tool->group->task->id,
		.tool_id = image->tool->id,
		.partial = (image->totals.valid & COUNTERS_PARTIAL) != 0,
	};

	fields_to_row(image_columns, image, &row);
	if (image->ended == IMAGE_LIVING)
		row.end_boot_ns = ROW_NULL;
	fill_status(&row, image);
	fill_command(saver->model, &row, image);
	store_put_process(saver->model->store, &row);
}

/* ---- the entities above them --------------------------------------------------------------- */

static void put_tool(struct saver *saver, struct tool *tool)
{
	struct model *model = saver->model;
	struct task *task = tool->group->task;
	struct row_tool row = {.host_id = model->host.id, .run_id = task->run->id, .task_id = task->id};
	struct tally room;
	const struct tally *tally = tool_tally(tool, &room);

	fields_to_row(tool_columns, tool, &row);
	fields_to_row(tool_tally_columns, tally, &row);
	row.concurrent_memory_bytes = cgroup_limits_bound(&tool->group->limits, row.concurrent_memory_bytes);
	row.end_boot_ns = end_or_null(tally);
	tool->memory.written_bytes = tool->memory.bytes;
	tool->beside.written_bytes = tool->beside.bytes;
	if (tool->moved)
		store_renew_processes(model->store, tool->id);
	store_put_tool(model->store, &row);
}

static int64_t parent_task(const struct task *task)
{
	if (task->kind == TASK_MAIN)
		return ROW_NULL; /* the top of its run */
	return task->orchestrator_group ? task->orchestrator_group->task->id : task->run->main->id;
}

static void put_task(struct saver *saver, struct task *task)
{
	struct model *model = saver->model;
	struct task_figures figures;
	struct row_task row = {
		.host_id = model->host.id,
		.run_id = task->run->id,
		.parent_task_id = parent_task(task),
		.container_id = id_or_null(task->container),
	};

	task_fold(task, &figures);
	fields_to_row(task_columns, task, &row);
	fields_to_row(task_figure_columns, &figures, &row);
	row.concurrent_memory_bytes = cgroup_limits_bound(&figures.limits, row.concurrent_memory_bytes);
	row.end_boot_ns = end_or_null(&figures.tally);
	row.status = outcome_words[outcome_status(&task->outcome, figures.tally.living_count > 0)];
	task->memory.written_bytes = task->memory.bytes;
	task->beside.written_bytes = task->beside.bytes;
	if (task->merged_into_id != ROW_NULL)
		store_move_task(model->store, task->id, task->merged_into_id);
	store_put_task(model->store, &row);
	put_state(saver, "task", task->id, ROW_NULL, task_state, task);
}

static void put_run(struct saver *saver, struct run *run)
{
	const struct outcome *outcome = &run->main->outcome;
	struct model *model = saver->model;
	bool roots_ended = outcome->living_roots == 0 && outcome->end_boot_ns;
	struct row_run row = {
		.host_id = model->host.id,
		.container_id = id_or_null(run->main->container),
		.root_process_id = run->main->root_process_id,
		.rules_version = (int64_t)(rules_version(model->options.rules) & INT64_MAX),
		.exit_code = outcome->exit_code,
		.signal = outcome->signal,
		.root_end_boot_ns = roots_ended ? (int64_t)outcome->end_boot_ns : ROW_NULL,
		.status = outcome_words[outcome_status(outcome, run->tally.living_count > 0)],
	};

	tally_raise(&run->tally.core_limit_milli, run->tally.inner_core_limit_milli);
	fields_to_row(run_columns, run, &row);
	row.concurrent_memory_bytes = cgroup_limits_bound(&run->limits, row.concurrent_memory_bytes);
	row.end_boot_ns = end_or_null(&run->tally);
	run->memory.written_bytes = run->memory.bytes;
	run->beside.written_bytes = run->beside.bytes;
	store_put_run(model->store, &row);
	put_state(saver, "run", run->id, ROW_NULL, run_state, run);
}

static void put_container(struct saver *saver, struct container *container)
{
	struct row_container row = {.host_id = saver->model->host.id};

	fields_to_row(container_columns, container, &row);
	if (container->living_count > 0)
		row.end_boot_ns = ROW_NULL;
	store_put_container(saver->model->store, &row);
	put_state(saver, "container", container->id, ROW_NULL, container_state, container);
}

static void put_cgroup(struct saver *saver, const struct cgroup *cgroup)
{
	struct row_cgroup row = {
		.id = cgroup_row_id(saver->model, cgroup->cgroup_id),
		.cgroup_id = (int64_t)cgroup->cgroup_id,
		.path = cgroup->path,
	};

	store_put_cgroup(saver->model->store, &row);
}

static void put_process(struct saver *saver, const struct process *process)
{
	const struct model_options *options = &saver->model->options;
	struct command *command = process->command;

	if (command)
		command->stored_size = command_stored_size(command, options->arguments, options->keep_arguments);
	put_state(saver, "process", process_row_id(saver->model, process),
		  process->image ? process->image->id : ROW_NULL, process_state, process);
}

/* States of ended entities are deleted in the transaction that writes their ends; otherwise they would
 * count as running after a restart. */
static void put_states(struct saver *saver)
{
	struct model *model = saver->model;
	struct process *process;

	if (model->losses.dirty)
		put_state(saver, "host", 0, ROW_NULL, host_state, model);
	for (size_t i = 0; i < model->gone_count; i++)
		store_delete_state(model->store, model->gone[i]);
	DL_FOREACH2 (model->unsettled, process, unsettled_next)
		if (collect_takes_process(model, process)) {
			if (process->has_state)
				store_delete_state(model->store, process_row_id(model, process));
		} else if (!process->state_is_stored) {
			put_process(saver, process);
		}
}

/* ---- commits ------------------------------------------------------------------------------ */

/* On the boot clock, which is not set. */
static int64_t host_seen_boot_ns(const struct model *model)
{
	return model->host.last_seen_unix_ns - model->host.boot_unix_ns;
}

/* If only the last-seen time has changed, the host's row is written every LAST_SEEN_PERIOD_NS. */
static bool host_is_due(const struct model *model)
{
	return model->host_dirty || host_seen_boot_ns(model) - model->written_seen_boot_ns >= LAST_SEEN_PERIOD_NS;
}

/* While nothing else changes, samples of the host wait: each page is then written once for several. */
static bool facts_are_due(const struct model *model)
{
	return model_is_dirty(model) || host_is_due(model) || model->host_samples_waiting >= HOST_SAMPLES_WAITING_MAX;
}

static void put_fact(struct store *store, const struct fact *fact)
{
	switch (fact->kind) {
#define R(NAME, name, table, key) \
	case FACT_##NAME: store_put_##name(store, &fact->name); break;
		ROW_FACTS(R)
#undef R
	}
}

static void put_all(struct saver *saver)
{
	struct model *model = saver->model;

	if (host_is_due(model))
		store_put_host(model->store, &model->host);
#define PUT(kind) \
	for (struct kind *kind = model->dirty_##kind##s; kind; kind = kind->dirty_next) \
		put_##kind(saver, kind);
	MODEL_DIRTY(PUT)
	PUT(image)
	for (const struct fact *fact = facts_are_due(model) ? model->facts : NULL; fact; fact = fact->next)
		put_fact(model->store, fact);
	if (model->options.keep_states)
		put_states(saver);
}

static void clear_processes(struct model *model)
{
	struct process *process, *next;

	DL_FOREACH_SAFE2 (model->unsettled, process, next, unsettled_next) {
		process->state_is_stored = true;
		process->has_state = !collect_takes_process(model, process);
		process->is_unsettled = process->ended;
		if (!process->is_unsettled)
			DL_DELETE2(model->unsettled, process, unsettled_prev, unsettled_next);
	}
}

static void clear_all(struct model *model)
{
	if (facts_are_due(model)) {
		pending_clear(model);
		model->host_samples_waiting = 0;
	}
	for (struct tool *tool = model->dirty_tools; tool; tool = tool->dirty_next)
		tool->moved = false;
#define CLEAR(kind) \
	for (; model->dirty_##kind##s; model->dirty_##kind##s = model->dirty_##kind##s->dirty_next) \
		model->dirty_##kind##s->dirty = false;
	MODEL_DIRTY(CLEAR)
	CLEAR(image)
	model->dirty_image_count = 0;
	clear_processes(model);
	model->losses.dirty = false;
	model->gone_count = 0;
	if (host_is_due(model))
		model->written_seen_boot_ns = host_seen_boot_ns(model);
	model->host_dirty = false;
}

int persist_commit(struct model *model, struct store_stream *stream)
{
	struct saver saver = {.model = model};
	int r;

	msgpack_sbuffer_init(&saver.state);
	msgpack_packer_init(&saver.packer, &saver, state_write);
	put_all(&saver);
	msgpack_sbuffer_destroy(&saver.state);
	memcpy(stream->boot_id, model->boot_id, sizeof(stream->boot_id));
	stream->committed_boot_ns = model->now_boot_ns;
	r = model->out_of_memory ? -ENOMEM : store_commit(model->store, stream);
	if (r < 0)
		store_rollback(model->store);
	else
		clear_all(model);
	return r;
}
