/* Writing entities as rows: each commit writes what changed since the previous one.
 *
 * Dirty flags are cleared only after the store has confirmed the commit, so a full
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

static int put_runs(struct saver *saver)
{
	struct model *model = saver->model;
	struct run *run;
	struct task *task;
	struct group *group;
	struct tool *tool;
	int r;

	DL_FOREACH (model->runs, run) {
		if (!run->dirty)
			continue;
		DL_FOREACH (run->tasks, task) {
			if (!task->dirty)
				continue;
			DL_FOREACH (task->groups, group)
				DL_FOREACH (group->tools, tool)
					if (tool->dirty && (r = put_tool(saver, tool)) < 0)
						return r;
			if ((r = put_task(saver, task)) < 0)
				return r;
		}
		if ((r = put_run(saver, run)) < 0)
			return r;
	}
	return 0;
}

/* If only the last-seen time has changed, the host's row is written every LAST_SEEN_PERIOD_NS. */
static bool host_is_due(const struct model *model)
{
	return model->host_dirty || model->host.last_seen_unix_ns - model->written_seen_unix_ns >= LAST_SEEN_PERIOD_NS;
}

static int put_places(struct saver *saver)
{
	struct model *model = saver->model;
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
			r = put_container(saver, container);
	return r;
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

static int put_all(struct saver *saver)
{
	int r = put_places(saver);

	if (r == 0)
		r = put_runs(saver);
	/* After the runs: moving stored processes must not affect the new rows. */
	if (r == 0)
		r = put_images(saver);
	if (r == 0)
		r = put_facts(saver->model);
	if (r == 0 && saver->model->keep_states)
		r = put_states(saver);
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
			DL_FOREACH (task->groups, group)
				DL_FOREACH (group->tools, tool)
					tool->dirty = tool->moved = false;
		}
	}
}

static void clear_all(struct model *model)
{
	struct process *process, *next_process;
	struct image *image, *next;

	clear_runs(model);
	DL_FOREACH_SAFE2 (model->unsettled, process, next_process, unsettled_next) {
		process->state_is_stored = true;
		process->has_state = !collect_takes_process(model, process);
		process->is_unsettled = process->ended;
		if (!process->is_unsettled)
			DL_DELETE2(model->unsettled, process, unsettled_prev, unsettled_next);
	}
	DL_FOREACH_SAFE2 (model->dirty_images, image, next, dirty_next)
		image->dirty = false;
	model->dirty_images = NULL;
	model->dirty_image_count = 0;
	for (struct cgroup *cgroup = model->cgroups; cgroup; cgroup = cgroup->hh.next)
		cgroup->dirty = false;
	for (struct container *container = model->containers; container; container = container->hh.next)
		container->dirty = false;
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

/* Every change also marks the enclosing entities dirty, so it is enough to descend into
 * dirty ones. */
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
