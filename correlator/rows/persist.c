/* Writing entities as rows: each commit writes what changed since the previous one.
 *
 * The lists of changed entities are emptied only after the store has confirmed the commit, so a full
 * disk loses nothing: the next attempt writes the same rows again.
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
#include "correlator/rows/exchange.h"
#include "correlator/store/writer.h"

#define LAST_SEEN_PERIOD_NS (30 * INT64_C(1000000000))

struct saver {
	struct model *model;
	struct columns columns;
	struct archive archive;
};

static int64_t id_or_null(const struct container *container)
{
	return container ? container->id : ROW_NULL;
}

/* Writes the state in the archive, which holds what the columns do not. */
static int put_state(struct saver *saver, const char *entity, int64_t id, int64_t image_id)
{
	const msgpack_sbuffer *buffer = &saver->archive.buffer;

	if (!archive_end(&saver->archive))
		return -ENOMEM;
	return store_put_state(saver->model->store,
			       &(struct store_state){id, entity, image_id, buffer->data, buffer->size});
}

/* Opens the archive for a state. Returns false if states are not kept. */
static bool begin_state(struct saver *saver)
{
	if (saver->model->keep_states)
		archive_begin_saving(&saver->archive);
	return saver->model->keep_states;
}

/* A fork shares its parent's command line, which is stored only once. */
static void fill_command(const struct model *model, struct row_process *row, const struct image *image)
{
	const struct command *command = image->command;

	row->program = command ? command->program : "";
	if (!command || !image->own_command)
		return;
	row->path = command->path[0] ? command->path : NULL;
	row->working_directory = command->working_directory[0] ? command->working_directory : NULL;
	row->redacted_count = command->redacted_count;
	row->arguments_truncated = (command->flags & (RECORD_ARGV_TRUNCATED | RECORD_ARGV_UNKNOWN)) != 0;
	if (command->flags & RECORD_ARGV_UNKNOWN)
		return;
	row->arguments.data = command->arguments;
	row->arguments.size = command_stored_size(command, model->arguments, model->keep_arguments);
}

struct image_walk {
	struct saver *saver;
	struct image *next;
};

static bool next_image(void *context, struct row_process *ret_row)
{
	struct image_walk *walk = context;
	struct image *image = walk->next;

	if (!image)
		return false;
	*ret_row = (struct row_process){
		.host_id = walk->saver->model->host.id,
		.container_id = id_or_null(image->container),
		.run_id = image->tool->group->task->run->id,
		.task_id = image->tool->group->task->id,
		.tool_id = image->tool->id,
	};
	image_columns(&walk->saver->columns, ret_row, image);
	fill_command(walk->saver->model, ret_row, image);
	walk->next = image->dirty_next;
	return true;
}

static int put_images(struct saver *saver)
{
	struct image_walk walk = {saver, saver->model->dirty_images};

	return walk.next ? store_put_processes(saver->model->store, next_image, &walk) : 0;
}

static int put_tool(struct saver *saver, struct tool *tool)
{
	struct model *model = saver->model;
	struct task *task = tool->group->task;
	struct row_tool row = {.host_id = model->host.id, .run_id = task->run->id, .task_id = task->id};
	int r = 0;

	tool_columns(&saver->columns, &row, tool);
	if (tool->moved)
		r = store_renew_processes(model->store, tool->id);
	return r < 0 ? r : store_put_tool(model->store, &row);
}

static int64_t parent_task(const struct task *task)
{
	if (task->kind == TASK_MAIN)
		return ROW_NULL; /* the top of its run */
	return task->orchestrator_group ? task->orchestrator_group->task->id : task->run->main->id;
}

static int put_task(struct saver *saver, struct task *task)
{
	struct model *model = saver->model;
	struct row_task row = {
		.host_id = model->host.id,
		.run_id = task->run->id,
		.parent_task_id = parent_task(task),
		.container_id = id_or_null(task->container),
	};
	int r = 0;

	task_columns(&saver->columns, &row, task);
	if (task->merged_into_id != ROW_NULL)
		r = store_move_task(model->store, task->id, task->merged_into_id);
	if (r == 0)
		r = store_put_task(model->store, &row);
	if (r < 0 || !begin_state(saver))
		return r;
	task_state(&saver->archive, task);
	return put_state(saver, "task", task->id, ROW_NULL);
}

static int put_run(struct saver *saver, struct run *run)
{
	struct model *model = saver->model;
	struct row_run row = {
		.host_id = model->host.id,
		.container_id = id_or_null(run->container),
		.rules_version = (int64_t)(rules_version(model->rules) & INT64_MAX),
		.root_end_boot_ns = run->outcome.living_roots == 0 && run->outcome.end_boot_ns
					    ? (int64_t)run->outcome.end_boot_ns
					    : ROW_NULL,
	};
	int r;

	run_columns(&saver->columns, &row, run);
	r = store_put_run(model->store, &row);
	if (r < 0 || !begin_state(saver))
		return r;
	run_state(&saver->archive, run);
	return put_state(saver, "run", run->id, ROW_NULL);
}

static int put_container(struct saver *saver, struct container *container)
{
	struct row_container row = {.host_id = saver->model->host.id};
	int r;

	container_columns(&saver->columns, &row, container);
	r = store_put_container(saver->model->store, &row);
	if (r < 0 || !begin_state(saver))
		return r;
	container_state(&saver->archive, container);
	return put_state(saver, "container", container->id, ROW_NULL);
}

static int put_process(struct saver *saver, struct process *process)
{
	const struct process *parent = process->parent;
	struct process_links links = {
		.key = process->key,
		.parent = parent ? parent->key : (struct process_key){0},
		.group_id = process->group ? process->group->id : 0,
	};

	archive_begin_saving(&saver->archive);
	process_links_state(&saver->archive, &links);
	process_state(&saver->archive, saver->model, process);
	return put_state(saver, "process", process_row_id(saver->model, process),
			 process->image ? process->image->id : ROW_NULL);
}

static int put_host_state(struct saver *saver)
{
	archive_begin_saving(&saver->archive);
	host_state(&saver->archive, saver->model);
	return put_state(saver, "host", 0, ROW_NULL);
}

/* States of ended entities are deleted in the transaction that writes their ends; otherwise they would
 * count as running after a restart. */
static int put_states(struct saver *saver)
{
	struct model *model = saver->model;
	struct process *process;
	int r = model->losses_dirty ? put_host_state(saver) : 0;

	for (size_t i = 0; i < model->gone_count && r == 0; i++)
		r = store_delete_state(model->store, model->gone[i]);
	for (process = model->unsettled; process && r == 0; process = process->unsettled_next)
		if (!collect_takes_process(model, process))
			r = process->state_is_stored ? 0 : put_process(saver, process);
		else if (process->has_state)
			r = store_delete_state(model->store, process_row_id(model, process));
	return r;
}

static int put_cgroup(struct model *model, const struct cgroup *cgroup)
{
	return store_put_cgroup(model->store, &(struct row_cgroup){
						      .id = cgroup_row_id(model, cgroup->cgroup_id),
						      .cgroup_id = (int64_t)cgroup->cgroup_id,
						      .path = cgroup->path,
					      });
}

/* If only the last-seen time has changed, the host's row is written every LAST_SEEN_PERIOD_NS. */
static bool host_is_due(const struct model *model)
{
	return model->host_dirty || model->host.last_seen_unix_ns - model->written_seen_unix_ns >= LAST_SEEN_PERIOD_NS;
}

static int put_fact(struct model *model, const struct fact *fact)
{
	switch (fact->kind) {
#define R(NAME, name, table, key) \
	case FACT_##NAME: return store_put_##name(model->store, &fact->name);
		ROW_FACTS(R)
#undef R
	}
	return 0;
}

static int put_facts(struct model *model)
{
	struct fact *fact;
	int r;

	DL_FOREACH (model->facts, fact)
		if ((r = put_fact(model, fact)) < 0)
			return r;
	return 0;
}

#define PUT_DIRTY(type, put, context) \
	do { \
		struct type *entity; \
\
		for (entity = model->dirty_##type##s; entity && r == 0; entity = entity->dirty_next) \
			r = put(context, entity); \
	} while (0)

static int put_all(struct saver *saver)
{
	struct model *model = saver->model;
	int r = host_is_due(model) ? store_put_host(model->store, &model->host) : 0;

	PUT_DIRTY(cgroup, put_cgroup, model);
	PUT_DIRTY(container, put_container, saver);
	PUT_DIRTY(tool, put_tool, saver);
	PUT_DIRTY(task, put_task, saver);
	PUT_DIRTY(run, put_run, saver);
	/* After the tools: moving stored processes must not affect the new rows. */
	if (r == 0)
		r = put_images(saver);
	if (r == 0)
		r = put_facts(model);
	if (r == 0 && model->keep_states)
		r = put_states(saver);
	return r;
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

#define CLEAR_DIRTY(type) \
	do { \
		for (struct type *entity = model->dirty_##type##s; entity; entity = entity->dirty_next) \
			entity->dirty = false; \
		model->dirty_##type##s = NULL; \
	} while (0)

static void clear_all(struct model *model)
{
	for (struct tool *tool = model->dirty_tools; tool; tool = tool->dirty_next)
		tool->moved = false;
	CLEAR_DIRTY(cgroup);
	CLEAR_DIRTY(container);
	CLEAR_DIRTY(tool);
	CLEAR_DIRTY(task);
	CLEAR_DIRTY(run);
	CLEAR_DIRTY(image);
	model->dirty_image_count = 0;
	clear_processes(model);
	pending_clear(model);
	model->losses_dirty = false;
	model->gone_count = 0;
	if (host_is_due(model))
		model->written_seen_unix_ns = model->host.last_seen_unix_ns;
	model->host_dirty = false;
}

static int with_saver(struct model *model, int (*put)(struct saver *saver))
{
	struct saver saver = {.model = model, .columns = {.model = model}};
	int r;

	archive_init(&saver.archive);
	r = put(&saver);
	archive_deinit(&saver.archive);
	return r;
}

int persist_generation(struct model *model)
{
	return with_saver(model, put_host_state);
}

int persist_commit(struct model *model, struct store_stream *stream)
{
	int r = with_saver(model, put_all);

	memcpy(stream->boot_id, model->boot_id, sizeof(stream->boot_id));
	stream->committed_boot_ns = model->now_boot_ns;
	if (r == 0)
		r = store_commit(model->store, stream);
	if (r < 0)
		store_rollback(model->store);
	else
		clear_all(model);
	return r;
}
