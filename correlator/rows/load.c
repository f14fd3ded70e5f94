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
#include "correlator/model/cause.h"
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
	int64_t living_count; /* images running according to the store and not loaded yet */
	bool bad;
};

static void add(struct loader *loader, enum who who, int64_t id, void *entity)
{
	struct known *known = calloc(1, sizeof(*known));

	if (!known) {
		loader->bad = true;
		return;
	}
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

static void *loader_new(struct loader *loader, size_t size)
{
	void *entity = calloc(1, size);

	loader->bad = loader->bad || !entity;
	return entity;
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

static void forget(struct loader *loader, struct store_result *result)
{
	model_set_gone(loader->model, store_result_get(result, "state_id").integer);
}

/* ---- one row at a time ------------------------------------------------------------------- */

static void load_container(struct loader *loader, struct store_result *result)
{
	struct container *container = loader_new(loader, sizeof(*container));
	struct row_container row;

	if (!container)
		return;
	store_result_get_container(result, &row);
	load_columns(loader, container_columns, &row, container);
	load_state(loader, result, container_state, container);
	container_add(loader->model, container);
	add(loader, WHO_CONTAINER, container->id, container);
}

static void load_run(struct loader *loader, struct store_result *result)
{
	struct model *model = loader->model;
	struct run *run = loader_new(loader, sizeof(*run));
	struct row_run row;

	if (!run)
		return;
	DL_APPEND(model->runs, run);
	store_result_get_run(result, &row);
	load_columns(loader, run_columns, &row, run);
	totals_of_row(&run->tally.totals, &row);
	load_state(loader, result, run_state, run);
	run->tally.inner_core_limit_milli = ROW_NULL;
	run->memory.written_bytes = run->memory.bytes;
	if (run->boundary_key)
		HASH_ADD(hh, model->runs_by_boundary, boundary_key, sizeof(run->boundary_key), run);
	if (run->kind == RUN_SYSTEM && !run->of_past_boot)
		model->system = run;
	add(loader, WHO_RUN, run->id, run);
}

/* Each entity that was saved with the cause has its own copy. */
static void own_cause(struct cause *cause)
{
	if (cause)
		cause->references = 1;
}

static void link_groups(struct loader *loader, struct task *task)
{
	struct group *group;
	struct tool *tool;

	DL_FOREACH (task->groups, group) {
		group->task = task;
		add(loader, WHO_GROUP, group->id, group);
		DL_FOREACH (group->tools, tool) {
			tool->group = group;
			add(loader, WHO_TOOL, tool->id, tool);
		}
	}
}

static void load_task(struct loader *loader, struct store_result *result)
{
	struct run *run;
	struct task *task;
	struct row_task row;

	store_result_get_task(result, &row);
	run = find(loader, WHO_RUN, row.run_id);
	task = run ? loader_new(loader, sizeof(*task)) : NULL;
	if (!run)
		forget(loader, result);
	if (!task)
		return;
	task->run = run;
	DL_APPEND(run->tasks, task);
	task_may_be_over(loader->model, task);
	load_columns(loader, task_columns, &row, task);
	load_state(loader, result, task_state, task);
	task->memory.written_bytes = task->memory.bytes;
	own_cause(task->cause);
	task->container = find(loader, WHO_CONTAINER, row.container_id);
	if (task->kind == TASK_MAIN)
		run->main = task;
	link_groups(loader, task);
	bool awaited = task->retry.awaited && task->cause;

	task->retry.awaited = false;
	if (awaited)
		task_await_retry(loader->model, task);
}

static void load_tool(struct loader *loader, struct store_result *result)
{
	struct row_tool row;
	struct tool *tool;

	store_result_get_tool(result, &row);
	tool = find(loader, WHO_TOOL, row.id);
	if (!tool || tool->name)
		return;
	load_columns(loader, tool_columns, &row, tool);
	totals_of_row(&tool->tally.totals, &row);
	tool->memory.written_bytes = tool->memory.bytes;
}

/* The opposite of fill_status() in persist.c. */
static void load_status(struct image *image, const struct row_process *row)
{
	bool known = row->signal != ROW_NULL || row->exit_code != ROW_NULL;

	image->wait_status = !known ? ROW_NULL : row->signal != ROW_NULL ? row->signal : row->exit_code << 8;
	if (known && row->core_dumped == 1)
		image->wait_status |= 0x80;
	image->oom_killed = row->oom_killed == 1;
	image->failed = row->failed == 1;
}

/* Samplers and scans continue from its row and its last sample. */
static void load_progress(struct image *image, const struct row_process *row, struct store_result *result)
{
	struct store_value sampled = store_result_get(result, "sampled_boot_ns");

	image->uninterruptible_ns = row->uninterruptible_ns;
	device_use_init(&image->use);
#define I(name) image->use.name = row->name;
	ROW_GPU_TOTALS(I)
#undef I
	image->memory_stall_ns = row->memory_delay_ns == ROW_NULL ? 0 : row->memory_delay_ns;
	image->sampled_cpu_ns = image->totals.cpu_ns;
	image->sampled_io_bytes = totals_io_bytes(&image->totals);
	image->sampled_gpu_busy_ns = image->use.gpu_busy_ns;
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
	totals_of_row(&image->totals, &row);
	load_status(image, &row);
	load_progress(image, &row, result);
	image->totals.valid |= row.partial == 1 ? COUNTERS_PARTIAL : 0;
	image->container = find(loader, WHO_CONTAINER, row.container_id);
	image_link(loader->model, image);
	return image;
}

static void link_command(struct loader *loader, struct process *process)
{
	if (!process->command)
		return;
	process->command->references = 1;
	if (command_complete(process->command) < 0) {
		loader->bad = true;
		return;
	}
	if (command_charge(process->command, process->uid, &loader->model->command_accounts) < 0)
		loader->model->out_of_memory = true;
	if (process->image)
		process->image->command = command_ref(process->command);
}

static void link_process(struct loader *loader, struct process *process, struct group *group)
{
	struct ending *ending;

	link_command(loader, process);
	own_cause(process->cause);
	DL_FOREACH (process->endings, ending)
		own_cause(ending->cause);
	if (group)
		process_set_group(loader->model, process, group->task->run, group);
	process->state_is_stored = process->has_state = true;
	if (group && process->spine_index >= 0)
		group->spine_root = process;
	else
		process->spine_index = -1;
	if (process->place != PLACE_NONE && (!group || !process->image))
		loader->bad = true;
}

static void load_process(struct loader *loader, struct store_result *result)
{
	bool has_image = store_result_get(result, "id").type == STORE_VALUE_INTEGER;
	struct image *image = has_image ? load_image(loader, result) : NULL;
	struct process ids = {0}, *process;
	struct group *group;

	load_state(loader, result, process_ids, &ids);
	group = find(loader, WHO_GROUP, ids.group_id);
	if ((has_image && !image) || (ids.group_id && !group)) {
		forget(loader, result);
		return;
	}
	process = process_new(loader->model,
			      &(struct image_key){.pid = (uint32_t)ids.key.pid, .start_boot_ns = ids.key.start_boot_ns},
			      NULL);
	if (!process)
		return;
	process->image = image;
	if (image)
		image->process = process;
	load_state(loader, result, process_state, process);
	link_process(loader, process, group);
	if (!image || image->ended != IMAGE_LIVING)
		return;
	loader->living_count--;
	if (image->container)
		image->container->living_count++;
}

static void load_host(struct loader *loader, struct store_result *result)
{
	struct store_value state = store_result_get(result, "state"), gpus = store_result_get(result, "gpus");

	loader->model->host.id = store_result_get(result, "id").integer;
	loader->model->host.first_seen_unix_ns = store_result_get(result, "first_seen_unix_ns").integer;
	if (gpus.type == STORE_VALUE_TEXT)
		model_set_text(loader->model, &loader->model->gpus, gpus.data);
	loader->model->host.gpus = loader->model->gpus;
	image_begin_identities(loader->model);
	loader->living_count = store_result_get(result, "living_count").integer;
	/* A broken state is ignored: nothing refers to it. */
	if (state.type != STORE_VALUE_NULL)
		fields_from_state(host_state, state.data, state.size, loader->model);
}

/* In an order in which each kind refers only to earlier ones. */
static const struct {
	const char *query;
	void (*load)(struct loader *loader, struct store_result *result);
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
			if (store_result_get(result, "is_lost").integer)
				forget(loader, result);
			else
				kinds[i].load(loader, result);
		store_result_free(result);
	}
	return r;
}

/* Resolves the remaining references by id, once everything is loaded. */
static void link_all(struct loader *loader)
{
	struct model *model = loader->model;
	struct process *process;
	struct task *task;
	struct run *run;

	DL_FOREACH (model->runs, run)
		DL_FOREACH (run->tasks, task) {
			task->orchestrator_group = find(loader, WHO_GROUP, task->orchestrator_group_id);
			if (task->orchestrator_group)
				task->orchestrator_group->members++;
		}
	for (process = model->processes; process; process = process->hh.next) {
		process->parent = process_find(model, process->parent_key);
		if (process->parent)
			DL_APPEND2(process->parent->children, process, sibling_prev, sibling_next);
		for (int side = 0; side < PIPE_SIDES; side++)
			pipe_open(model, process, side);
	}
}

/* Whether data is bad, or a part of a run or a running image is missing. */
static bool is_broken(const struct loader *loader)
{
	const struct known *known;
	const struct run *run;

	for (known = loader->known; known; known = known->hh.next)
		if (known->key.who == WHO_TOOL && !((const struct tool *)known->entity)->name)
			return true;
	DL_FOREACH (loader->model->runs, run)
		if (!run->main)
			return true;
	return loader->bad || (loader->model->options.keep_states && loader->living_count != 0);
}

/* Discards all states: what was running is closed as of the last commit. */
static int give_up(struct model *model, struct store_stream *stream)
{
	int r;

	model_forget_all(model);
	model->gone_count = 0;
	log_warning("saved state of running processes is from another release or damaged: closing what ran "
		    "as lost; processes found running begin new runs");
	model->generation++;
	model->losses.dirty = true; /* the generation is saved with them */
	r = store_close_running(model->store, (int64_t)stream->committed_boot_ns);
	if (r == 0)
		return persist_commit(model, stream);
	store_rollback(model->store);
	return r;
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
	if (r == 0 && is_broken(&loader))
		r = give_up(model, &stream);
	else if (r == 0)
		link_all(&loader);
	HASH_ITER (hh, loader.known, known, next) {
		HASH_DEL(loader.known, known);
		free(known);
	}
	return model->out_of_memory ? -ENOMEM : r;
}
