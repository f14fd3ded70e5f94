/* Loading checkpoints: the model goes on where it was. */
#include "correlator/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <msgpack.h>

#include "common/log.h"
#include "correlator/checkpoint_fields.h"

/* Walks the objects of one checkpoint; `bad` once anything is not as packed. */
struct cursor {
	const char *data;
	size_t size, position;
	msgpack_unpacked object;
	bool bad;
};

static void cursor_init(struct cursor *cursor, const struct store_value *value)
{
	*cursor = (struct cursor){.data = value->data, .size = value->size};
	msgpack_unpacked_init(&cursor->object);
}

static void cursor_deinit(struct cursor *cursor)
{
	msgpack_unpacked_destroy(&cursor->object);
}

static bool cursor_next(struct cursor *cursor)
{
	cursor->bad = cursor->bad ||
		      msgpack_unpack_next(&cursor->object, cursor->data, cursor->size,
					  &cursor->position) != MSGPACK_UNPACK_SUCCESS;
	return !cursor->bad;
}

static int64_t take_int(struct cursor *cursor)
{
	const msgpack_object *object = &cursor->object.data;

	if (!cursor_next(cursor))
		return 0;
	if (object->type == MSGPACK_OBJECT_POSITIVE_INTEGER)
		return (int64_t)object->via.u64;
	if (object->type == MSGPACK_OBJECT_NEGATIVE_INTEGER)
		return object->via.i64;
	cursor->bad = true;
	return 0;
}

static void take_plain_bytes(struct cursor *cursor, void *value, size_t size)
{
	const msgpack_object *object = &cursor->object.data;

	if (!cursor_next(cursor))
		return;
	if (object->type == MSGPACK_OBJECT_BIN && object->via.bin.size == size)
		memcpy(value, object->via.bin.ptr, size);
	else
		cursor->bad = true;
}
#define take_plain(cursor, value) take_plain_bytes(cursor, value, sizeof(*(value)))

/* A copy, or NULL where nil was packed (or memory is short: `bad`). */
static char *take_text(struct cursor *cursor, size_t *ret_size)
{
	const msgpack_object *object = &cursor->object.data;
	char *text;

	if (!cursor_next(cursor) || object->type == MSGPACK_OBJECT_NIL)
		return NULL;
	if (object->type != MSGPACK_OBJECT_BIN || !(text = malloc(object->via.bin.size + 1))) {
		cursor->bad = true;
		return NULL;
	}
	memcpy(text, object->via.bin.ptr, object->via.bin.size);
	text[object->via.bin.size] = '\0';
	if (ret_size)
		*ret_size = object->via.bin.size;
	return text;
}

static void take_fixed_text(struct cursor *cursor, char *text, size_t capacity)
{
	size_t size = 0;
	char *copy = take_text(cursor, &size);

	if (copy && size < capacity)
		memcpy(text, copy, size + 1);
	else
		cursor->bad = true;
	free(copy);
}

/* Texts that are static while a program runs live in the model after a restart. */
static const char *take_static(struct cursor *cursor, struct model *model)
{
	char *text = take_text(cursor, NULL);
	struct kept_text *kept;

	if (!text)
		return NULL;
	HASH_FIND_STR(model->kept_texts, text, kept);
	if (kept) {
		free(text);
		return kept->text;
	}
	kept = calloc(1, sizeof(*kept));
	if (!kept) {
		free(text);
		cursor->bad = true;
		return NULL;
	}
	kept->text = text;
	HASH_ADD_KEYPTR(hh, model->kept_texts, kept->text, strlen(kept->text), kept);
	return kept->text;
}

#define TAKE_INT(field) entity->field = (typeof(entity->field))take_int(cursor);

/* NULL: there was none. */
static struct cause *load_cause(struct cursor *cursor)
{
	struct cause *entity;

	if (!take_int(cursor))
		return NULL;
	entity = calloc(1, sizeof(*entity));
	if (!entity) {
		cursor->bad = true;
		return NULL;
	}
	entity->references = 1;
	CAUSE_INTS(TAKE_INT)
	entity->what = take_text(cursor, NULL);
	entity->why = take_text(cursor, NULL);
	take_fixed_text(cursor, entity->sender_program, sizeof(entity->sender_program));
	cursor->bad = cursor->bad || !entity->what || !entity->why || entity->kind > CAUSE_OOM;
	return entity;
}

static struct container *find_container(struct model *model, int64_t id)
{
	struct container *container;

	HASH_FIND(hh, model->containers, &id, sizeof(id), container);
	return container;
}

static void load_container(struct model *model, struct cursor *cursor)
{
	struct container *entity = calloc(1, sizeof(*entity));

	if (!entity) {
		cursor->bad = true;
		return;
	}
	CONTAINER_INTS(TAKE_INT)
	take_fixed_text(cursor, entity->runtime, sizeof(entity->runtime));
	take_fixed_text(cursor, entity->runtime_id, sizeof(entity->runtime_id));
	entity->cgroup_path = take_text(cursor, NULL);
	entity->image = take_text(cursor, NULL);
	entity->name = take_text(cursor, NULL);
	take_plain(cursor, &entity->allowance);
	HASH_ADD(hh, model->containers, id, sizeof(entity->id), entity);
}

static void load_siblings(struct cursor *cursor, struct run *run)
{
	struct siblings *entity = calloc(1, sizeof(*entity));
	const msgpack_object *object = &cursor->object.data;

	if (!entity) {
		cursor->bad = true;
		return;
	}
	SIBLINGS_INTS(TAKE_INT)
	DL_APPEND(run->siblings, entity);
	run->siblings_count++;
	if (!cursor_next(cursor))
		return;
	if (object->type != MSGPACK_OBJECT_BIN || object->via.bin.size > sizeof(entity->common.hashes)) {
		cursor->bad = true;
		return;
	}
	memcpy(entity->common.hashes, object->via.bin.ptr, object->via.bin.size);
	entity->common.count = object->via.bin.size / sizeof(*entity->common.hashes);
}

static void load_run(struct model *model, struct cursor *cursor)
{
	struct run *entity = calloc(1, sizeof(*entity));

	if (!entity) {
		cursor->bad = true;
		return;
	}
	RUN_INTS(TAKE_INT)
	entity->kind = take_static(cursor, model);
	entity->name = take_text(cursor, NULL);
	take_fixed_text(cursor, entity->engine, sizeof(entity->engine));
	take_fixed_text(cursor, entity->run_key, sizeof(entity->run_key));
	entity->working_directory = take_text(cursor, NULL);
	entity->reason = take_static(cursor, model);
	entity->container = find_container(model, take_int(cursor));
	take_plain(cursor, &entity->tally);
	take_plain(cursor, &entity->allowance);
	take_plain(cursor, &entity->outcome);
	cursor->bad = cursor->bad || entity->spine_length < 0 || entity->spine_length > RUN_SPINE_MAX ||
		      !entity->kind || !entity->reason;
	for (int i = 0; i < entity->spine_length && !cursor->bad; i++)
		entity->spine_group_id[i] = take_int(cursor);
	for (int64_t count = take_int(cursor); count > 0 && !cursor->bad; count--)
		load_siblings(cursor, entity);
	if (cursor->bad) {
		siblings_free(entity);
		free(entity->name);
		free(entity->working_directory);
		free(entity);
		return;
	}
	DL_APPEND(model->runs, entity);
	if (entity->boundary_key)
		HASH_ADD(hh, model->runs_by_boundary, boundary_key, sizeof(entity->boundary_key), entity);
	if (strcmp(entity->kind, "system") == 0)
		model->system = entity;
}

static struct run *find_run(struct model *model, int64_t id)
{
	struct run *run;

	DL_SEARCH_SCALAR(model->runs, run, id, id);
	return run;
}

static struct tool *load_tool(struct cursor *cursor, struct group *group)
{
	struct tool *entity = calloc(1, sizeof(*entity));

	if (!entity) {
		cursor->bad = true;
		return NULL;
	}
	TOOL_INTS(TAKE_INT)
	entity->group = group;
	entity->name = take_text(cursor, NULL);
	take_plain(cursor, &entity->tally);
	cursor->bad = cursor->bad || !entity->name || entity->role >= RULES_ROLE_COUNT;
	DL_APPEND(group->tools, entity);
	return entity;
}

static void load_group(struct cursor *cursor, struct task *task)
{
	struct group *entity = calloc(1, sizeof(*entity));

	if (!entity) {
		cursor->bad = true;
		return;
	}
	GROUP_INTS(TAKE_INT)
	entity->task = task;
	DL_APPEND(task->groups, entity);
	for (int64_t count = take_int(cursor); count > 0 && !cursor->bad; count--)
		load_tool(cursor, entity);
}

static void load_task(struct model *model, struct cursor *cursor)
{
	struct task *entity = calloc(1, sizeof(*entity));

	if (!entity) {
		cursor->bad = true;
		return;
	}
	TASK_INTS(TAKE_INT)
	entity->run = find_run(model, take_int(cursor));
	bool is_main = take_int(cursor);

	entity->kind = take_static(cursor, model);
	entity->name = take_text(cursor, NULL);
	entity->label = take_text(cursor, NULL);
	entity->words.data = take_text(cursor, &entity->words.size);
	entity->working_directory = take_text(cursor, NULL);
	entity->reason = take_static(cursor, model);
	entity->cause = load_cause(cursor);
	entity->container = find_container(model, take_int(cursor));
	entity->orchestrator_group_id = take_int(cursor);
	take_plain(cursor, &entity->tally);
	take_plain(cursor, &entity->allowance);
	take_plain(cursor, &entity->outcome);
	if (!entity->run || !entity->kind || !entity->reason) {
		cursor->bad = true;
		free(entity->name);
		free(entity->label);
		words_deinit(&entity->words);
		free(entity->working_directory);
		cause_unref(entity->cause);
		free(entity);
		return;
	}
	DL_APPEND(entity->run->tasks, entity);
	entity->awaited = entity->awaited && entity->cause && retry_await(entity);
	if (is_main)
		entity->run->main = entity;
	for (int64_t count = take_int(cursor); count > 0 && !cursor->bad; count--)
		load_group(cursor, entity);
}

static struct group *find_group(struct run *run, int64_t id)
{
	struct task *task;
	struct group *group;

	DL_FOREACH (run->tasks, task)
		DL_FOREACH (task->groups, group)
			if (group->id == id)
				return group;
	return NULL;
}

static void load_tool_apart(struct model *model, struct cursor *cursor)
{
	struct run *run = find_run(model, take_int(cursor));
	int64_t group_id = take_int(cursor);
	struct group *group = run ? find_group(run, group_id) : NULL;
	struct tool *tool;

	cursor->bad = cursor->bad || !group;
	if (cursor->bad)
		return;
	tool = load_tool(cursor, group);
	if (tool)
		tool->has_checkpoint = true;
}

static void load_image(struct model *model, struct cursor *cursor, struct process *process)
{
	struct image *entity = calloc(1, sizeof(*entity));
	struct tool *tool = NULL;

	if (!entity) {
		cursor->bad = true;
		return;
	}
	IMAGE_INTS(TAKE_INT)
	int64_t tool_id = take_int(cursor);

	entity->container = find_container(model, take_int(cursor));
	entity->rule = take_static(cursor, model);
	entity->reason = take_static(cursor, model);
	entity->gpu = take_text(cursor, NULL);
	take_plain(cursor, &entity->base);
	take_plain(cursor, &entity->totals);
	if (process->group)
		DL_FOREACH (process->group->tools, tool)
			if (tool->id == tool_id)
				break;
	if (!tool || !entity->reason || cursor->bad) {
		cursor->bad = true;
		free(entity->gpu);
		free(entity);
		return;
	}
	/* Its figures are in the sums already: it is only linked. */
	entity->process = process;
	entity->tool = tool;
	entity->command = process->command ? command_ref(process->command) : NULL;
	DL_APPEND(tool->images, entity);
	process->image = entity;
	image_link_role(model, entity);
}

static void load_signals(struct cursor *cursor, struct process *process)
{
	process->signals = calloc(1, sizeof(*process->signals));
	cursor->bad = cursor->bad || !process->signals;
	if (!cursor->bad)
		take_plain(cursor, process->signals);
	if (!cursor->bad && process->signals->count > SENT_SIGNALS_MAX)
		cursor->bad = true;
}

static void load_endings(struct cursor *cursor, struct process *process)
{
	int64_t count = take_int(cursor);

	cursor->bad = cursor->bad || count < 0 || count > ENDINGS_MAX;
	if (cursor->bad || count == 0)
		return;
	process->endings = calloc(1, sizeof(*process->endings));
	cursor->bad = !process->endings;
	for (int64_t i = 0; i < count && !cursor->bad; i++) {
		struct ending *entity = &process->endings->item[process->endings->count];

		ENDING_INTS(TAKE_INT)
		entity->cause = load_cause(cursor);
		if (entity->cause)
			process->endings->count++;
		cursor->bad = cursor->bad || !entity->cause;
	}
}

static struct command *load_command(struct cursor *cursor)
{
	size_t size = 0;
	char *program = take_text(cursor, NULL), *path = take_text(cursor, NULL);
	char *script = take_text(cursor, NULL), *directory = take_text(cursor, NULL);
	char *arguments = take_text(cursor, &size);
	uint32_t redacted = (uint32_t)take_int(cursor), flags = (uint32_t)take_int(cursor);
	struct command *command = NULL;

	if (program && path && directory && arguments && !cursor->bad)
		command = command_restore(program, path, script, directory, arguments, size, redacted, flags);
	cursor->bad = cursor->bad || !command;
	free(program);
	free(path);
	free(script);
	free(directory);
	free(arguments);
	return command;
}

static void load_process(struct model *model, struct cursor *cursor)
{
	struct image_key key = {.pid = (uint32_t)take_int(cursor)};

	key.start_boot_ns = (uint64_t)take_int(cursor);
	struct process *entity = cursor->bad ? NULL : process_new(model, &key, NULL);

	if (!entity)
		return;
	PROCESS_INTS(TAKE_INT)
	entity->parent_key.pid = (uint64_t)take_int(cursor);
	entity->parent_key.start_boot_ns = (uint64_t)take_int(cursor);
	struct run *run = find_run(model, take_int(cursor));
	int64_t group_id = take_int(cursor);
	struct group *group = run ? find_group(run, group_id) : NULL;

	if (group)
		process_set_group(entity, run, group);
	if (take_int(cursor))
		entity->command = load_command(cursor);
	if (take_int(cursor))
		load_signals(cursor, entity);
	entity->cause = load_cause(cursor);
	load_endings(cursor, entity);
	if (take_int(cursor))
		load_image(model, cursor, entity);
	bool on_spine = group && entity->spine_index >= 0 && entity->spine_index < run->spine_length;

	if (on_spine)
		run->spine[entity->spine_index] = entity;
	else
		entity->spine_index = -1;
	entity->checkpointed = entity->has_checkpoint = true;
	/* Half a process is worse than none: a pass will find it. */
	if (cursor->bad || (entity->place != PLACE_NONE && !entity->image)) {
		process_free(model, entity);
		cursor->bad = true;
	}
}

/* Links what refers to one another by id, once everything is there. */
static void link_all(struct model *model)
{
	struct process *process;
	struct task *task;
	struct run *run;

	DL_FOREACH (model->runs, run) {
		for (int i = 0; i < run->spine_length; i++)
			run->spine_group[i] = find_group(run, run->spine_group_id[i]);
		DL_FOREACH (run->tasks, task) {
			task->orchestrator_group = find_group(run, task->orchestrator_group_id);
			if (task->orchestrator_group)
				task->orchestrator_group->members++;
		}
	}
	for (process = model->processes; process; process = process->hh.next) {
		process->parent = process_find(model, (uint32_t)process->parent_key.pid,
					       process->parent_key.start_boot_ns);
		if (process->parent)
			DL_APPEND2(process->parent->children, process, sibling_prev, sibling_next);
	}
	pipes_link(model);
}

/* Whether a part of a run is missing. */
static bool is_broken(const struct model *model)
{
	struct run *run;

	DL_FOREACH (model->runs, run) {
		if (!run->main)
			return true;
		for (int i = 0; i < run->spine_length; i++)
			if (!find_group(run, run->spine_group_id[i]))
				return true;
	}
	return false;
}

/* The others may be of a boot before. */
static bool is_of_boot(enum checkpoint_kind kind)
{
	return kind != CHECKPOINT_LOSSES && kind != CHECKPOINT_GENERATION;
}

static bool load_one(struct model *model, enum checkpoint_kind wanted, const struct store_value *state)
{
	char boot_id[sizeof(model->boot_id)];
	struct cursor cursor;

	cursor_init(&cursor, state);
	int64_t kind = take_int(&cursor);

	cursor.bad = cursor.bad || take_int(&cursor) != checkpoint_version(kind);
	if (kind == wanted && !cursor.bad) {
		take_fixed_text(&cursor, boot_id, sizeof(boot_id));
		if (!cursor.bad && is_of_boot(wanted)) {
			memcpy(model->boot_id, boot_id, sizeof(boot_id));
			image_begin_identities(model);
		}
		switch (wanted) {
		case CHECKPOINT_CONTAINER: load_container(model, &cursor); break;
		case CHECKPOINT_RUN: load_run(model, &cursor); break;
		case CHECKPOINT_TASK: load_task(model, &cursor); break;
		case CHECKPOINT_TOOL: load_tool_apart(model, &cursor); break;
		case CHECKPOINT_PROCESS: load_process(model, &cursor); break;
		case CHECKPOINT_LOSSES: take_plain(&cursor, &model->losses_told); break;
		case CHECKPOINT_GENERATION: model->generation = take_int(&cursor); break;
		}
	}
	bool good = !cursor.bad || kind == CHECKPOINT_LOSSES;

	cursor_deinit(&cursor);
	return good;
}

static int load_kind(struct model *model, enum checkpoint_kind kind, unsigned *ret_bad)
{
	static const struct store_parameter none = {0};
	struct store_result *result;
	int r = store_query(model->store, "checkpoints", &none, &result);

	if (r < 0)
		return r;
	while ((r = store_result_next(result)) == 1) {
		struct store_value state = store_result_get(result, "state");

		*ret_bad += !load_one(model, kind, &state);
	}
	store_result_free(result);
	return r;
}

static int load_host(struct model *model)
{
	static const struct store_parameter none = {0};
	struct store_result *result;
	int r = store_query(model->store, "hosts", &none, &result);

	if (r < 0)
		return r;
	r = store_result_next(result);
	if (r == 1) {
		model->host.id = store_result_get(result, "id").integer;
		model->host.first_seen_unix_ns = store_result_get(result, "first_seen_unix_ns").integer;
		r = 0;
	}
	store_result_free(result);
	return r;
}

static void forget_all(struct model *model)
{
	struct process *process, *next;

	HASH_ITER (hh, model->processes, process, next)
		process_free(model, process);
	while (model->runs)
		run_free(model, model->runs);
	places_free(model);
	model->gone_count = 0;
}

/* What the checkpoints spoke of ends with the last commit. */
static int give_up(struct model *model)
{
	struct store_stream stream;
	int r = store_read_stream(model->store, &stream);

	forget_all(model);
	if (r < 0)
		return r == -ENODATA ? 0 : r;
	log_warning("what the correlator remembers of running processes is of another release, or broken: "
		    "what ran is closed as lost, and what is found running begins new runs");
	model->generation++;
	r = store_close_living(model->store, (int64_t)stream.committed_boot_ns);
	if (r == 0)
		r = checkpoint_save_generation(model);
	if (r == 0)
		r = store_commit(model->store, &stream);
	if (r < 0)
		store_rollback(model->store);
	return r;
}

int checkpoint_load(struct model *model)
{
	/* Each refers only to those before it. */
	static const enum checkpoint_kind kinds[] = {CHECKPOINT_GENERATION, CHECKPOINT_CONTAINER, CHECKPOINT_RUN,
						     CHECKPOINT_TASK, CHECKPOINT_TOOL, CHECKPOINT_PROCESS,
						     CHECKPOINT_LOSSES};
	unsigned bad = 0;
	int r = load_host(model);

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]) && r == 0; i++)
		r = load_kind(model, kinds[i], &bad);
	if (r < 0)
		return r;
	if (bad || is_broken(model))
		r = give_up(model);
	else
		link_all(model);
	return model->out_of_memory ? -ENOMEM : r;
}
