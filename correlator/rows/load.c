/* Loading of the saved model. See load.h.
 *
 * Rows hold what readers see, states the rest. If a state is broken, or the store has running
 * processes without a state (written by an older release or a replay), no state is used. What was
 * running is closed in the store as lost, so that its sums stay; what the next scan finds running
 * gets new ids, of the next generation, as after a boot. With the same ids the new sums would
 * replace the old ones. States whose rows have been deleted by expiry are discarded.
 */
#include "correlator/rows/load.h"

#include <errno.h>

#include <utlist.h>

#include "common/log.h"
#include "correlator/model/command.h"
#include "correlator/model/container.h"
#include "correlator/model/group.h"
#include "correlator/model/image.h"
#include "correlator/model/model.h"
#include "correlator/model/pipe.h"
#include "correlator/model/process.h"
#include "correlator/model/run.h"
#include "correlator/model/task.h"
#include "correlator/model/tool.h"
#include "correlator/model/tree.h"
#include "correlator/rows/entities.h"
#include "correlator/rows/persist.h"
#include "correlator/store/writer.h"

/* Kinds of entities that are looked up by id during loading. */
enum who { WHO_CONTAINER, WHO_RUN, WHO_GROUP, WHO_TOOL };

struct known {
	struct known_key {
		int64_t id, who;
	} key;
	void *entity;
	UT_hash_handle hh;
};

struct loader {
	struct model *model;
	struct known *known;
	int64_t living_count;  /* images running according to the store and not loaded yet */
	int64_t unnamed_count; /* tools of loaded tasks, whose rows are not loaded yet */
	bool bad;
};

static void *loader_new(struct loader *loader, size_t size)
{
	void *entity = calloc(1, size);

	loader->bad = loader->bad || !entity;
	return entity;
}

static void add(struct loader *loader, enum who who, int64_t id, void *entity)
{
	struct known *known = loader_new(loader, sizeof(*known));

	if (!known)
		return;
	known->key = (struct known_key){id, who};
	known->entity = entity;
	HASH_ADD(hh, loader->known, key, sizeof(known->key), known);
}

/* Returns NULL if it does not exist. */
static void *find(const struct loader *loader, enum who who, int64_t id)
{
	const struct known_key key = {id, who};
	struct known *known;

	HASH_FIND(hh, loader->known, &key, sizeof(key), known);
	return known ? known->entity : NULL;
}

static void load_columns(struct loader *loader, const struct field *columns, const void *row, void *entity)
{
	if (!fields_from_row(columns, row, entity))
		loader->bad = true;
}

static void load_state(struct loader *loader, struct store_result *result, const struct field *fields, void *entity)
{
	struct store_value state = store_result_get(result, "state");

	if (!fields_from_state(fields, state.data, state.size, entity))
		loader->bad = true;
}

/* ---- one row at a time: false if the rows of what it belongs to have been deleted --------- */

static bool load_host(struct loader *loader, struct store_result *result)
{
	struct model *model = loader->model;
	struct store_value state = store_result_get(result, "state"), gpus = store_result_get(result, "gpus");

	model->host.id = store_result_get(result, "id").integer;
	model->host.first_seen_unix_ns = store_result_get(result, "first_seen_unix_ns").integer;
	model->host.last_seen_unix_ns = store_result_get(result, "last_seen_unix_ns").integer;
	model->host.boot_unix_ns = store_result_get(result, "boot_unix_ns").integer;
	/* As stored: the row is written again once the probe has said what the host is. */
	model->written_seen_boot_ns = model->host.last_seen_unix_ns - model->host.boot_unix_ns;
	if (gpus.type == STORE_VALUE_TEXT)
		model_set_text(model, &model->gpus, gpus.data);
	model->host.gpus = model->gpus;
	image_begin_identities(model);
	loader->living_count = store_result_get(result, "living_count").integer;
	/* A broken state is ignored: nothing refers to it. */
	if (state.type != STORE_VALUE_NULL)
		fields_from_state(host_state, state.data, state.size, model);
	return true;
}

static bool load_container(struct loader *loader, struct store_result *result)
{
	struct container *container = loader_new(loader, sizeof(*container));
	struct row_container row;

	if (!container)
		return true;
	store_result_get_container(result, &row);
	load_columns(loader, container_columns, &row, container);
	load_state(loader, result, container_state, container);
	container_add(loader->model, container);
	add(loader, WHO_CONTAINER, container->id, container);
	return true;
}

static bool load_run(struct loader *loader, struct store_result *result)
{
	struct model *model = loader->model;
	struct run *run = loader_new(loader, sizeof(*run));
	struct row_run row;

	if (!run)
		return true;
	DL_APPEND(model->runs, run);
	store_result_get_run(result, &row);
	load_columns(loader, run_columns, &row, run);
	load_state(loader, result, run_state, run);
	run->tally.inner_core_limit_milli = ROW_NULL;
	if (run->boundary_key)
		HASH_ADD(hh, model->runs_by_boundary, boundary_key, sizeof(run->boundary_key), run);
	if (run->kind == RUN_SYSTEM && !run->of_past_boot)
		model->system = run;
	add(loader, WHO_RUN, run->id, run);
	return true;
}

static void link_group(struct loader *loader, struct task *task, struct group *group)
{
	struct tool *tool;

	group->task = task;
	add(loader, WHO_GROUP, group->id, group);
	DL_FOREACH (group->tools, tool) {
		tool->group = group;
		loader->unnamed_count++;
		add(loader, WHO_TOOL, tool->id, tool);
	}
}

static bool load_task(struct loader *loader, struct store_result *result)
{
	struct row_task row;
	struct run *run;
	struct task *task;
	struct group *group;

	store_result_get_task(result, &row);
	run = find(loader, WHO_RUN, row.run_id);
	task = run ? loader_new(loader, sizeof(*task)) : NULL;
	if (!task)
		return run;
	task->run = run;
	DL_APPEND(run->tasks, task);
	task_may_be_over(loader->model, task);
	load_columns(loader, task_columns, &row, task);
	load_state(loader, result, task_state, task);
	task->container = find(loader, WHO_CONTAINER, row.container_id);
	if (task->kind == TASK_MAIN)
		run->main = task;
	DL_FOREACH (task->groups, group)
		link_group(loader, task, group);
	bool awaited = task->retry.awaited && task->cause;

	task->retry.awaited = false;
	if (awaited)
		task_await_retry(loader->model, task);
	return true;
}

static bool load_tool(struct loader *loader, struct store_result *result)
{
	struct row_tool row;
	struct tool *tool;

	store_result_get_tool(result, &row);
	tool = find(loader, WHO_TOOL, row.id);
	if (!tool || tool->name)
		return true;
	load_columns(loader, tool_columns, &row, tool);
	loader->unnamed_count -= tool->name != NULL;
	if (row.process_count == 1 && row.living_count == 1)
		return true; /* what it has is that of its image, which follows */
	tool->tally = loader_new(loader, sizeof(*tool->tally));
	if (!tool->tally)
		return true;
	tally_init(tool->tally);
	load_columns(loader, tool_tally_columns, &row, tool->tally);
	return true;
}

/* The opposite of fill_status() in persist.c. */
static void load_status(struct image *image, const struct row_process *row)
{
	image->wait_status = row->signal;
	if (row->exit_code != ROW_NULL)
		image->wait_status = row->exit_code << 8;
	if (row->core_dumped == 1)
		image->wait_status |= 0x80;
	image->oom_killed = row->oom_killed == 1;
	image->failed = row->failed == 1;
}

/* Samplers continue from its row. */
static void load_use(struct loader *loader, struct image *image, const struct row_process *row)
{
	struct device_use use = device_use_none;

#define I(name) use.name = row->name;
	ROW_GPU_TOTALS(I)
#undef I
	if (memcmp(&use, &device_use_none, sizeof(use)) == 0)
		return;
	image->use = device_use_new(loader->model);
	if (!image->use)
		return;
	*image->use = use;
	image->use->sampled_busy_ns = use.gpu_busy_ns;
}

/* Scans continue from its row and its last sample. */
static void load_progress(struct image *image, const struct row_process *row, struct store_result *result)
{
	struct store_value sampled = store_result_get(result, "sampled_boot_ns");

	image->uninterruptible_ns = row->uninterruptible_ns;
	image->memory_stall_ns = row->memory_delay_ns == ROW_NULL ? 0 : row->memory_delay_ns;
	image->sampled_cpu_ns = image->totals.cpu_ns;
	image->sampled_io_bytes = totals_io_bytes(&image->totals);
	if (sampled.type != STORE_VALUE_INTEGER)
		return;
	image->sampled_boot_ns = (uint64_t)sampled.integer;
	image->sampled_cpu_ns = store_result_get(result, "sampled_cpu_ns").integer;
	image->sampled_memory_bytes = store_result_get(result, "sampled_memory_bytes").integer;
}

/* The sums already include the image's figures, so it is only linked. */
static struct image *load_image(struct loader *loader, struct store_result *result)
{
	struct row_process row;
	struct tool *tool;
	struct image *image;

	store_result_get_process(result, &row);
	tool = find(loader, WHO_TOOL, row.tool_id);
	image = tool ? loader_new(loader, sizeof(*image)) : NULL;
	if (!image)
		return NULL;
	image->tool = tool;
	DL_APPEND(tool->images, image);
	tool->group->members++;
	tool->group->task->run->members++;
	load_columns(loader, image_columns, &row, image);
	load_status(image, &row);
	load_use(loader, image, &row);
	load_progress(image, &row, result);
	image->totals.valid |= row.partial == 1 ? COUNTERS_PARTIAL : 0;
	image->container = find(loader, WHO_CONTAINER, row.container_id);
	image_link(loader->model, image);
	if (image->ended == IMAGE_LIVING) {
		loader->living_count--;
		if (image->container)
			image->container->living_count++;
	}
	return image;
}

static void link_command(struct loader *loader, struct process *process)
{
	struct command *parts = process->command;

	if (!parts)
		return;
	process->command = NULL;
	parts->arguments_size = parts->stored_size;
	if (command_make(parts, process->uid, &loader->model->accounts, &process->command) < 0)
		loader->bad = true;
	else if (process->image)
		process->image->command = command_ref(process->command);
	free(parts);
}

static bool load_process(struct loader *loader, struct store_result *result)
{
	bool has_image = store_result_get(result, "id").type == STORE_VALUE_INTEGER;
	struct image *image = has_image ? load_image(loader, result) : NULL;
	struct process *process = has_image && !image ? NULL : loader_new(loader, sizeof(*process));
	struct group *group;

	if (!process)
		return loader->bad;
	process->image = image;
	if (image)
		image->process = process;
	load_state(loader, result, process_state, process);
	process_add(loader->model, process);
	if (!process->ended)
		process->account = account_charge_process(&loader->model->accounts, process->uid);
	link_command(loader, process);
	group = find(loader, WHO_GROUP, process->group_id);
	if (group)
		process_set_group(loader->model, process, group->task->run, group);
	if (group && process->spine_index >= 0)
		group->spine_root = process;
	else
		process->spine_index = -1;
	process->state_is_stored = process->has_state = true;
	if (process->place != PLACE_NONE && (!group || !image))
		loader->bad = true;
	return true;
}

/* In an order in which each kind refers only to earlier ones. */
static const struct {
	const char *query;
	bool (*load)(struct loader *loader, struct store_result *result);
} kinds[] = {
	{"state_host", load_host},  {"state_containers", load_container}, {"state_runs", load_run},
	{"state_tasks", load_task}, {"state_tools", load_tool},           {"state_processes", load_process},
};

static int load_rows(struct loader *loader)
{
	static const struct store_parameter none = {0};
	struct store_result *result;
	int r = 0;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]) && r == 0; i++) {
		r = store_query_own(loader->model->store, kinds[i].query, &none, &result);
		if (r < 0)
			return r;
		while ((r = store_result_next(result)) == 1)
			if (store_result_get(result, "is_lost").integer || !kinds[i].load(loader, result))
				model_set_gone(loader->model, store_result_get(result, "state_id").integer);
		store_result_free(result);
	}
	return r;
}

/* Resolves the remaining references by id, once everything is loaded. A run without a part is bad. */
static void link_run(struct loader *loader, struct run *run)
{
	struct task *task;

	loader->bad = loader->bad || !run->main;
	DL_FOREACH (run->tasks, task) {
		task->orchestrator_group = find(loader, WHO_GROUP, task->orchestrator_group_id);
		if (task->orchestrator_group)
			task->orchestrator_group->members++;
	}
}

static void link_process(struct model *model, struct process *process)
{
	struct process *parent = process_find(model, process->parent_key);

	if (parent)
		process_set_parent(process, parent);
	for (int side = 0; side < PIPE_SIDES; side++)
		pipe_open(model, process, side);
}

/* Returns whether everything is there and can be. */
static bool link_all(struct loader *loader)
{
	struct model *model = loader->model;
	struct run *run;

	DL_FOREACH (model->runs, run)
		link_run(loader, run);
	for (struct process *process = model->processes; process; process = process->hh.next)
		link_process(model, process);
	return !loader->bad && loader->unnamed_count == 0 && (loader->living_count == 0 || !model->options.keep_states);
}

/* Discards all states: what was running is closed as of the last commit. */
static int give_up(struct model *model, struct store_stream *stream)
{
	model_forget_all(model);
	model->gone_count = 0;
	log_warning("saved state of running processes is from another release or damaged: closing what ran "
		    "as lost; processes found running begin new runs");
	model->generation++;
	model->losses.dirty = true; /* the generation is saved with them */
	store_close_running(model->store, (int64_t)stream->committed_boot_ns);
	return persist_commit(model, stream);
}

int load_model(struct model *model)
{
	struct loader loader = {.model = model};
	struct known *known, *next;
	struct store_stream stream;
	int r = store_read_stream(model->store, &stream);

	if (r < 0)
		return r == -ENODATA ? 0 : r;
	memcpy(model->boot_id, stream.boot_id, sizeof(model->boot_id));
	/* Until the next event this is the latest time known: what a reboot ended was last seen then. */
	model->now_boot_ns = stream.committed_boot_ns;
	r = load_rows(&loader);
	if (r == 0 && !link_all(&loader))
		r = give_up(model, &stream);
	HASH_ITER (hh, loader.known, known, next) {
		HASH_DEL(loader.known, known);
		free(known);
	}
	return model->out_of_memory ? -ENOMEM : r;
}
