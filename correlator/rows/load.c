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
#include "correlator/rows/exchange.h"
#include "correlator/rows/persist.h"
#include "correlator/store/writer.h"

/* Kinds of entities that are looked up by id during loading. */
enum who { WHO_CONTAINER, WHO_RUN, WHO_TASK, WHO_GROUP, WHO_TOOL };

struct known {
	struct known_key {
		int64_t id, who;
	} key;
	void *entity;
	UT_hash_handle hh;
};

struct loader {
	struct model *model;
	struct archive archive;
	struct columns columns;
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

static void begin_state(struct loader *loader, struct store_result *result)
{
	struct store_value state = store_result_get(result, "state");

	archive_begin_loading(&loader->archive, state.data, state.size);
}

static void end_state(struct loader *loader)
{
	loader->bad = !archive_end(&loader->archive) || loader->columns.bad || loader->bad;
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
	container_columns(&loader->columns, &row, container);
	begin_state(loader, result);
	container_state(&loader->archive, container);
	end_state(loader);
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
	run_columns(&loader->columns, &row, run);
	run->container = find(loader, WHO_CONTAINER, row.container_id);
	begin_state(loader, result);
	run_state(&loader->archive, run);
	end_state(loader);
	if (run->boundary_key)
		HASH_ADD(hh, model->runs_by_boundary, boundary_key, sizeof(run->boundary_key), run);
	if (run->kind == RUN_SYSTEM && !run->of_past_boot)
		model->system = run;
	add(loader, WHO_RUN, run->id, run);
}

static void load_task(struct loader *loader, struct store_result *result)
{
	struct run *run;
	struct task *task;
	struct group *group;
	struct tool *tool;
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
	task_columns(&loader->columns, &row, task);
	task->container = find(loader, WHO_CONTAINER, row.container_id);
	begin_state(loader, result);
	task_state(&loader->archive, task);
	end_state(loader);
	if (task->kind == TASK_MAIN)
		run->main = task;
	bool awaited = task->awaited && task->cause;

	task->awaited = false;
	if (awaited)
		task_await_retry(loader->model, task);
	DL_FOREACH (task->groups, group) {
		add(loader, WHO_GROUP, group->id, group);
		DL_FOREACH (group->tools, tool)
			add(loader, WHO_TOOL, tool->id, tool);
	}
}

static void load_tool(struct loader *loader, struct store_result *result)
{
	struct row_tool row;
	struct tool *tool;

	store_result_get_tool(result, &row);
	tool = find(loader, WHO_TOOL, row.id);
	if (tool && !tool->name)
		tool_columns(&loader->columns, &row, tool);
}

/* The sums already include the image's figures, so it is only linked. */
static struct image *load_image(struct loader *loader, struct store_result *result)
{
	struct store_value sampled = store_result_get(result, "sampled_boot_ns");
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
	image_columns(&loader->columns, &row, image);
	image->container = find(loader, WHO_CONTAINER, row.container_id);
	image_link(loader->model, image);
	if (sampled.type == STORE_VALUE_INTEGER) {
		image->sampled_boot_ns = (uint64_t)sampled.integer;
		image->sampled_cpu_ns = store_result_get(result, "sampled_cpu_ns").integer;
		image->sampled_memory_bytes = store_result_get(result, "sampled_memory_bytes").integer;
	}
	return image;
}

static void load_process(struct loader *loader, struct store_result *result)
{
	struct model *model = loader->model;
	bool has_image = store_result_get(result, "id").type == STORE_VALUE_INTEGER;
	struct process_links links = {0};
	struct process *process;
	struct image *image;
	struct group *group;

	begin_state(loader, result);
	process_links_state(&loader->archive, &links);
	group = find(loader, WHO_GROUP, links.group_id);
	image = has_image ? load_image(loader, result) : NULL;
	if ((has_image && !image) || (links.group_id && !group) || loader->archive.bad) {
		end_state(loader);
		forget(loader, result);
		return;
	}
	process = process_new(
		model, &(struct image_key){.pid = (uint32_t)links.key.pid, .start_boot_ns = links.key.start_boot_ns},
		NULL);
	if (!process)
		return;
	process->parent_key = links.parent;
	process->image = image;
	if (group)
		process_set_group(model, process, group->task->run, group);
	process->state_is_stored = process->has_state = true;
	if (image)
		image->process = process;
	process_state(&loader->archive, model, process);
	if (process->command && command_charge(process->command, process->uid, &model->command_accounts) < 0)
		model->out_of_memory = true;
	if (image && process->command)
		image->command = command_ref(process->command);
	if (group && process->spine_index >= 0 && process->spine_index < process->run->spine_length)
		process->run->spine[process->spine_index] = process;
	else
		process->spine_index = -1;
	archive_require(&loader->archive, process->place == PLACE_NONE || (group && image));
	end_state(loader);
	if (!image || image->ended != IMAGE_LIVING)
		return;
	loader->living_count--;
	if (image->container)
		image->container->living_count++;
}

static void load_host(struct loader *loader, struct store_result *result)
{
	bool bad = loader->bad;

	loader->model->host.id = store_result_get(result, "id").integer;
	loader->model->host.first_seen_unix_ns = store_result_get(result, "first_seen_unix_ns").integer;
	image_begin_identities(loader->model);
	loader->living_count = store_result_get(result, "living_count").integer;
	if (store_result_get(result, "state").type == STORE_VALUE_NULL)
		return;
	begin_state(loader, result);
	host_state(&loader->archive, loader->model);
	end_state(loader);
	loader->bad = bad; /* a broken host state is ignored: nothing refers to it */
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
		process->parent =
			process_find(model, (uint32_t)process->parent_key.pid, process->parent_key.start_boot_ns);
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
	DL_FOREACH (loader->model->runs, run) {
		if (!run->main)
			return true;
		for (int i = 0; i < run->spine_length; i++)
			if (!run->spine_group[i])
				return true;
	}
	return loader->bad || (loader->model->keep_states && loader->living_count != 0);
}

/* Discards all states: what was running is closed as of the last commit. */
static int give_up(struct model *model, const struct store_stream *stream)
{
	int r;

	model_forget_all(model);
	model->gone_count = 0;
	log_warning("saved state of running processes is from another release or damaged: closing what ran "
		    "as lost; processes found running begin new runs");
	model->generation++;
	r = store_close_running(model->store, (int64_t)stream->committed_boot_ns);
	if (r == 0)
		r = persist_generation(model);
	if (r == 0)
		r = store_commit(model->store, stream);
	if (r < 0)
		store_rollback(model->store);
	return r;
}

int load_model(struct model *model)
{
	struct loader loader = {.model = model, .columns = {.model = model, .loading = true}};
	struct known *known, *next;
	struct store_stream stream;
	int r = store_read_stream(model->store, &stream);

	if (r < 0)
		return r == -ENODATA ? 0 : r;
	memcpy(model->boot_id, stream.boot_id, sizeof(model->boot_id));
	/* Until the next event this is the latest time known: what a reboot ended was last seen then. */
	model->now_boot_ns = stream.committed_boot_ns;
	archive_init(&loader.archive);
	r = load_rows(&loader);
	if (r == 0 && is_broken(&loader))
		r = give_up(model, &stream);
	else if (r == 0)
		link_all(&loader);
	HASH_ITER (hh, loader.known, known, next) {
		HASH_DEL(loader.known, known);
		free(known);
	}
	archive_deinit(&loader.archive);
	return model->out_of_memory ? -ENOMEM : r;
}
