/* Saving checkpoints: what the model must remember of what lives. */
#include "correlator/internal.h"

#include <stdlib.h>
#include <string.h>

#include <msgpack.h>

#include "correlator/checkpoint_fields.h"

#define PACK_INT(field) msgpack_pack_int64(packer, (int64_t)entity->field);

static void pack_bytes(msgpack_packer *packer, const void *data, size_t size)
{
	msgpack_pack_bin(packer, size);
	msgpack_pack_bin_body(packer, data, size);
}

static void pack_text(msgpack_packer *packer, const char *text)
{
	if (text)
		pack_bytes(packer, text, strlen(text));
	else
		msgpack_pack_nil(packer);
}

/* The kinds of number structures that nothing but this program reads go as they
 * are: the version above says which program. */
#define pack_plain(packer, value) pack_bytes(packer, value, sizeof(*(value)))

/* One that several share is there once for each. */
static void pack_cause(msgpack_packer *packer, const struct cause *entity)
{
	msgpack_pack_int64(packer, entity != NULL);
	if (!entity)
		return;
	CAUSE_INTS(PACK_INT)
	pack_text(packer, entity->what);
	pack_text(packer, entity->why);
	pack_text(packer, entity->sender_program);
}

static void pack_endings(msgpack_packer *packer, const struct endings *endings)
{
	unsigned count = endings ? endings->count : 0;

	msgpack_pack_int64(packer, count);
	for (unsigned i = 0; i < count; i++) {
		const struct ending *entity = &endings->item[i];

		ENDING_INTS(PACK_INT)
		pack_cause(packer, entity->cause);
	}
}

static void pack_container(msgpack_packer *packer, const struct container *entity)
{
	CONTAINER_INTS(PACK_INT)
	pack_text(packer, entity->runtime);
	pack_text(packer, entity->runtime_id);
	pack_text(packer, entity->cgroup_path);
	pack_text(packer, entity->image);
	pack_text(packer, entity->name);
	pack_plain(packer, &entity->allowance);
}

static void pack_siblings(msgpack_packer *packer, const struct siblings *entity)
{
	SIBLINGS_INTS(PACK_INT)
	pack_bytes(packer, entity->common.hashes, entity->common.count * sizeof(*entity->common.hashes));
}

static void pack_run(msgpack_packer *packer, const struct run *entity)
{
	const struct siblings *siblings;

	RUN_INTS(PACK_INT)
	pack_text(packer, entity->kind);
	pack_text(packer, entity->name);
	pack_text(packer, entity->engine);
	pack_text(packer, entity->run_key);
	pack_text(packer, entity->working_directory);
	pack_text(packer, entity->reason);
	msgpack_pack_int64(packer, entity->container ? entity->container->id : 0);
	pack_plain(packer, &entity->tally);
	pack_plain(packer, &entity->allowance);
	pack_plain(packer, &entity->outcome);
	for (int i = 0; i < entity->spine_length; i++)
		msgpack_pack_int64(packer, entity->spine_group[i]->id);
	msgpack_pack_int64(packer, entity->siblings_count);
	DL_FOREACH (entity->siblings, siblings)
		pack_siblings(packer, siblings);
}

static void pack_tool(msgpack_packer *packer, const struct tool *entity)
{
	TOOL_INTS(PACK_INT)
	pack_text(packer, entity->name);
	pack_plain(packer, &entity->tally);
}

/* A task of many tools (the host's own, above all) has them apart: most change seldom. Which has been
 * apart stays so. */
#define TOOLS_TOGETHER_MAX 16

bool checkpoint_keeps_apart(const struct task *task)
{
	const struct group *group;
	const struct tool *tool;
	int count = 0;

	DL_FOREACH (task->groups, group)
		DL_FOREACH (group->tools, tool)
			if (++count > TOOLS_TOGETHER_MAX)
				return true;
	return false;
}

static void pack_group(msgpack_packer *packer, const struct group *entity, bool apart)
{
	struct tool *tool;
	int count = 0;

	GROUP_INTS(PACK_INT)
	DL_FOREACH (entity->tools, tool)
		count += !apart && !tool->has_checkpoint;
	msgpack_pack_int64(packer, count);
	DL_FOREACH (entity->tools, tool)
		if (!apart && !tool->has_checkpoint)
			pack_tool(packer, tool);
}

static void pack_task(msgpack_packer *packer, const struct task *entity, bool apart)
{
	struct group *group;
	int count;

	TASK_INTS(PACK_INT)
	msgpack_pack_int64(packer, entity->run->id);
	msgpack_pack_int64(packer, entity == entity->run->main);
	pack_text(packer, entity->kind);
	pack_text(packer, entity->name);
	pack_text(packer, entity->label);
	if (entity->words.data)
		pack_bytes(packer, entity->words.data, entity->words.size);
	else
		msgpack_pack_nil(packer);
	pack_text(packer, entity->working_directory);
	pack_text(packer, entity->reason);
	pack_cause(packer, entity->cause);
	msgpack_pack_int64(packer, entity->container ? entity->container->id : 0);
	msgpack_pack_int64(packer, entity->orchestrator_group ? entity->orchestrator_group->id : 0);
	pack_plain(packer, &entity->tally);
	pack_plain(packer, &entity->allowance);
	pack_plain(packer, &entity->outcome);
	DL_COUNT(entity->groups, group, count);
	msgpack_pack_int64(packer, count);
	DL_FOREACH (entity->groups, group)
		pack_group(packer, group, apart);
}

static void pack_command(msgpack_packer *packer, const struct command *command)
{
	pack_text(packer, command->program);
	pack_text(packer, command->path);
	pack_text(packer, command->script);
	pack_text(packer, command->working_directory);
	pack_bytes(packer, command->arguments, command->arguments_size);
	msgpack_pack_int64(packer, command->redacted_count);
	msgpack_pack_int64(packer, command->flags);
}

static void pack_image(msgpack_packer *packer, const struct image *entity)
{
	IMAGE_INTS(PACK_INT)
	msgpack_pack_int64(packer, entity->tool->id);
	msgpack_pack_int64(packer, entity->container ? entity->container->id : 0);
	pack_text(packer, entity->rule);
	pack_text(packer, entity->reason);
	pack_text(packer, entity->gpu);
	pack_plain(packer, &entity->base);
	pack_plain(packer, &entity->totals);
}

static void pack_process(msgpack_packer *packer, const struct process *entity)
{
	const struct process *parent = entity->parent;

	msgpack_pack_int64(packer, (int64_t)entity->key.pid);
	msgpack_pack_int64(packer, (int64_t)entity->key.start_boot_ns);
	PROCESS_INTS(PACK_INT)
	msgpack_pack_int64(packer, parent ? (int64_t)parent->key.pid : 0);
	msgpack_pack_int64(packer, parent ? (int64_t)parent->key.start_boot_ns : 0);
	msgpack_pack_int64(packer, entity->run ? entity->run->id : 0);
	msgpack_pack_int64(packer, entity->group ? entity->group->id : 0);
	msgpack_pack_int64(packer, entity->command != NULL);
	if (entity->command)
		pack_command(packer, entity->command);
	msgpack_pack_int64(packer, entity->signals != NULL);
	if (entity->signals)
		pack_plain(packer, entity->signals);
	pack_cause(packer, entity->cause);
	pack_endings(packer, entity->endings);
	msgpack_pack_int64(packer, entity->image != NULL);
	if (entity->image)
		pack_image(packer, entity->image);
}

/* A process is remembered under an id that no exec changes. */
static int64_t process_checkpoint_id(const struct model *model, const struct process *process)
{
	return image_id(model, (uint32_t)process->key.pid, process->key.start_boot_ns, UINT32_MAX);
}

struct saver {
	struct model *model;
	msgpack_sbuffer buffer;
	msgpack_packer packer;
	int failure;
};

static msgpack_packer *save_begin(struct saver *saver, enum checkpoint_kind kind)
{
	msgpack_sbuffer_clear(&saver->buffer);
	msgpack_pack_int64(&saver->packer, kind);
	msgpack_pack_int64(&saver->packer, checkpoint_version(kind));
	pack_text(&saver->packer, saver->model->boot_id);
	return &saver->packer;
}

static void save_end(struct saver *saver, int64_t id)
{
	if (saver->failure == 0)
		saver->failure = store_put_checkpoint(saver->model->store, id, saver->buffer.data,
						      saver->buffer.size);
}

static void save_places(struct saver *saver)
{
	struct container *container;

	for (container = saver->model->containers; container; container = container->hh.next)
		if (container->dirty) {
			pack_container(save_begin(saver, CHECKPOINT_CONTAINER), container);
			save_end(saver, container->id);
		}
}

static void save_tools(struct saver *saver, const struct task *task, bool apart)
{
	struct group *group;
	struct tool *tool;

	DL_FOREACH (task->groups, group)
		DL_FOREACH (group->tools, tool) {
			if (tool->has_checkpoint ? !tool->dirty : !apart)
				continue;
			msgpack_packer *packer = save_begin(saver, CHECKPOINT_TOOL);

			msgpack_pack_int64(packer, task->run->id);
			msgpack_pack_int64(packer, group->id);
			pack_tool(packer, tool);
			save_end(saver, tool->id);
		}
}

static void save_task(struct saver *saver, const struct task *task)
{
	bool apart = checkpoint_keeps_apart(task);

	pack_task(save_begin(saver, CHECKPOINT_TASK), task, apart);
	save_end(saver, task->id);
	save_tools(saver, task, apart);
}

static void save_runs(struct saver *saver)
{
	struct run *run;
	struct task *task;

	DL_FOREACH (saver->model->runs, run) {
		if (!run->dirty)
			continue;
		pack_run(save_begin(saver, CHECKPOINT_RUN), run);
		save_end(saver, run->id);
		DL_FOREACH (run->tasks, task)
			if (task->dirty)
				save_task(saver, task);
	}
}

/* In the transaction that writes its end: after a restart it would be taken for alive. */
static void forget_process(struct saver *saver, const struct process *process)
{
	if (process->has_checkpoint && saver->failure == 0)
		saver->failure = store_delete_checkpoint(saver->model->store,
							 process_checkpoint_id(saver->model, process));
}

static void save_processes(struct saver *saver)
{
	struct process *process;

	for (process = saver->model->processes; process; process = process->hh.next)
		if (process_is_done(saver->model, process))
			forget_process(saver, process);
		else if (!process->checkpointed || (process->image && process->image->dirty)) {
			pack_process(save_begin(saver, CHECKPOINT_PROCESS), process);
			save_end(saver, process_checkpoint_id(saver->model, process));
		}
}

static void save_losses(struct saver *saver)
{
	if (!saver->model->losses_dirty)
		return;
	pack_plain(save_begin(saver, CHECKPOINT_LOSSES), &saver->model->losses_told);
	save_end(saver, CHECKPOINT_LOSSES_ID);
}

int checkpoint_save_generation(struct model *model)
{
	struct saver saver = {.model = model};

	msgpack_sbuffer_init(&saver.buffer);
	msgpack_packer_init(&saver.packer, &saver.buffer, msgpack_sbuffer_write);
	msgpack_pack_int64(save_begin(&saver, CHECKPOINT_GENERATION), model->generation);
	save_end(&saver, CHECKPOINT_GENERATION_ID);
	msgpack_sbuffer_destroy(&saver.buffer);
	return saver.failure;
}

int checkpoint_save(struct model *model)
{
	struct saver saver = {.model = model};

	if (!model->checkpoints)
		return 0;
	msgpack_sbuffer_init(&saver.buffer);
	msgpack_packer_init(&saver.packer, &saver.buffer, msgpack_sbuffer_write);
	for (size_t i = 0; i < model->gone_count && saver.failure == 0; i++)
		saver.failure = store_delete_checkpoint(model->store, model->gone[i]);
	save_places(&saver);
	save_runs(&saver);
	save_processes(&saver);
	save_losses(&saver);
	msgpack_sbuffer_destroy(&saver.buffer);
	return saver.failure;
}

void checkpoint_drop(struct model *model, int64_t id)
{
	if (!model->checkpoints)
		return;
	if (model->gone_count == model->gone_capacity) {
		size_t capacity = model->gone_capacity ? model->gone_capacity * 2 : 256;
		int64_t *gone = realloc(model->gone, capacity * sizeof(*gone));

		if (!gone) {
			model->out_of_memory = true;
			return;
		}
		model->gone = gone;
		model->gone_capacity = capacity;
	}
	model->gone[model->gone_count++] = id;
}

void checkpoint_drop_process(struct model *model, const struct process *process)
{
	checkpoint_drop(model, process_checkpoint_id(model, process));
}
