/* State of entities that no column holds, in both directions. See exchange.h.
 *
 * Fields are saved under their names, so a renamed field keeps its old name here:
 * archive_int(archive, "old", &entity->new). What a restart resets is not saved: the progress of
 * processes as seen by scans, the parts of a run's name, the command that cancelled a job.
 */
#include "correlator/rows/exchange.h"

#include <utlist.h>

#include "correlator/model/cause.h"
#include "correlator/model/command.h"
#include "correlator/model/container.h"
#include "correlator/model/group.h"
#include "correlator/model/image.h"
#include "correlator/model/model.h"
#include "correlator/model/process.h"
#include "correlator/model/run.h"
#include "correlator/model/sent_signal.h"
#include "correlator/model/siblings.h"
#include "correlator/model/task.h"
#include "correlator/model/tool.h"

/* clang-format off */
#define INT(field) archive_int(archive, #field, &entity->field);
#define ID(field) archive_id(archive, #field, &entity->field);

/* ---- parts of several entities ---------------------------------------------------------- */

static void *part_new(struct archive *archive, size_t size)
{
	void *part = calloc(1, size);

	archive_require(archive, part);
	return part;
}

/* The parts of a linked list: the code between the two macros describes each as `entity`. A loaded part
 * is set up by `init` and appended. */
#define LIST_BEGIN(name, type, list, max, init)                                              \
	do {                                                                                  \
		struct type *entity = (list);                                                 \
		uint64_t list_count;                                                          \
											      \
		DL_COUNT((list), entity, list_count);                                         \
		archive_open_list(archive, (name), &list_count);                              \
		archive_require(archive, list_count <= (max));                                \
		for (entity = (list); list_count > 0 && !archive->bad; list_count--) {        \
			if (archive->loading) {                                               \
				entity = part_new(archive, sizeof(*entity));                  \
				if (!entity)                                                  \
					break;                                                \
				init;                                                         \
				DL_APPEND((list), entity);                                    \
			}                                                                     \
			archive_open_item(archive);
#define LIST_END                                                                             \
			archive_close(archive);                                               \
			entity = entity->next;                                                \
		}                                                                             \
		archive_close(archive);                                                       \
	} while (0);

/* The same for an array on the heap, NULL if empty. */
#define ARRAY_BEGIN(name, type, array, max)                                                  \
	do {                                                                                  \
		uint64_t list_count = (array) ? (array)->count : 0;                           \
											      \
		archive_open_list(archive, (name), &list_count);                              \
		archive_require(archive, list_count <= (max));                                \
		if (archive->loading && list_count > 0 && !archive->bad)                      \
			(array) = part_new(archive, sizeof(*(array)));                        \
		for (unsigned i = 0; i < list_count && !archive->bad; i++) {                  \
			struct type *entity = &(array)->item[i];                              \
											      \
			(array)->count = i + 1;                                               \
			archive_open_item(archive);
#define ARRAY_END                                                                            \
			archive_close(archive);                                               \
		}                                                                             \
		archive_close(archive);                                                       \
	} while (0);

/* Exit codes and signals are columns. */
#define OUTCOME                                                                             \
	INT(outcome.known) INT(outcome.failed) INT(outcome.root_count) INT(outcome.living_roots) \
	INT(outcome.end_boot_ns)
#define LIMITS_BEYOND_COLUMNS INT(limits.cgroup_id) ID(limits.throttled_before_ns)

/* A cause shared by several entities is saved with each of them. */
static void cause_state(struct archive *archive, struct cause **cause)
{
	struct cause *entity;

	if (!archive_open(archive, "cause", *cause))
		return;
	if (archive->loading)
		*cause = part_new(archive, sizeof(**cause));
	entity = *cause;
	if (entity) {
		entity->references += archive->loading;
		INT(reported) INT(work) ID(process_id) ID(sender_process_id) ID(sender_user_id)
		archive_enum(archive, "kind", &entity->kind, CAUSE_OOM + 1);
		archive_text(archive, "what", &entity->what);
		archive_text(archive, "why", &entity->why);
		archive_fixed_text(archive, "sender_program", entity->sender_program, sizeof(entity->sender_program));
		archive_require(archive, entity->what && entity->why);
	}
	archive_close(archive);
}

/* ---- the host, containers ------------------------------------------------------------------ */

/* Losses in the layout of the kernel side: another version of the records uses another ring and
 * starts again from zero. */
void host_state(struct archive *archive, struct model *model)
{
	size_t size = sizeof(model->losses_reported);

	archive_int(archive, "generation", &model->generation);
	archive_plain(archive, "losses", model->losses_reported, &size, sizeof(model->losses_reported));
	if (size != sizeof(model->losses_reported))
		memset(model->losses_reported, 0, sizeof(model->losses_reported));
}

void container_state(struct archive *archive, struct container *entity)
{
	INT(labelled) LIMITS_BEYOND_COLUMNS
}

/* ---- runs --------------------------------------------------------------------------------- */

static void siblings_state(struct archive *archive, struct run *run)
{
	LIST_BEGIN("siblings", siblings, run->siblings, SIBLINGS_MAX, run->siblings_count++)
	size_t size = entity->common.count * sizeof(*entity->common.hashes);

	INT(kind) INT(stem_hash) INT(stem_words_hash) INT(whole_words) INT(several)
	archive_plain(archive, "common", entity->common.hashes, &size, sizeof(entity->common.hashes));
	entity->common.count = (uint32_t)(size / sizeof(*entity->common.hashes));
	LIST_END
}

void run_state(struct archive *archive, struct run *entity)
{
	INT(boundary_key) INT(engine_rank) INT(frozen) INT(of_past_boot)
	archive_int_or(archive, "name_priority", &entity->name_priority, -1);
	archive_int_or(archive, "orchestrator", &entity->orchestrator, -1);
	archive_enum(archive, "spine_length", &entity->spine_length, RUN_SPINE_MAX + 1);
	archive_require(archive, entity->orchestrator >= -1 && entity->orchestrator < RUN_SPINE_MAX);
	OUTCOME LIMITS_BEYOND_COLUMNS
	siblings_state(archive, entity);
}

/* ---- tasks, with their groups --------------------------------------------------------------- */

static void tools_state(struct archive *archive, struct group *group)
{
	LIST_BEGIN("tools", tool, group->tools, UINT64_MAX, entity->group = group)
	INT(id) INT(start_boot_ns) ID(tally.core_limit_milli) ID(tally.inner_core_limit_milli)
	LIST_END
}

static int spine_index(const struct group *group)
{
	const struct run *run = group->task->run;

	for (int i = 0; i < run->spine_length; i++)
		if (run->spine_group[i] == group)
			return i;
	return -1;
}

static void group_state(struct archive *archive, struct group *entity)
{
	int index = archive->loading ? -1 : spine_index(entity);

	INT(id) INT(root_process_id)
	INT(orchestrator.pid) INT(orchestrator.start_boot_ns)
	INT(lost_count) INT(inner_memory_bytes) INT(outer_memory_bytes)
	ID(limits.memory_limit_bytes) ID(limits.cgroup_peak_bytes) ID(limits.throttled_ns) LIMITS_BEYOND_COLUMNS
	archive_int_or(archive, "spine_index", &index, -1);
	archive_require(archive, index >= -1 && index < entity->task->run->spine_length);
	if (index >= 0 && !archive->bad)
		entity->task->run->spine_group[index] = entity;
	tools_state(archive, entity);
}

static void groups_state(struct archive *archive, struct task *task)
{
	LIST_BEGIN("groups", group, task->groups, UINT64_MAX, entity->task = task)
	group_state(archive, entity);
	LIST_END
}

void task_state(struct archive *archive, struct task *entity)
{
	if (!archive->loading)
		entity->orchestrator_group_id = entity->orchestrator_group ? entity->orchestrator_group->id : 0;
	archive_enum(archive, "name_by", &entity->name_by, NAMED_BY_RULE + 1);
	INT(label_fixed)
	archive_bytes(archive, "words", &entity->words.data, &entity->words.size);
	INT(words_kind) INT(words_rank) INT(root.pid) INT(root.start_boot_ns) INT(orchestrator.pid)
	INT(orchestrator.start_boot_ns) INT(orchestrator_group_id) INT(failed_commands_reported)
	INT(crashes_reported) INT(incident_boot_ns) INT(idle_count)
	INT(fatal) INT(work) INT(wraps) INT(awaited) INT(awaits.pid) INT(awaits.start_boot_ns) INT(awaits_cause_id)
	cause_state(archive, &entity->cause);
	OUTCOME
	groups_state(archive, entity);
}

/* ---- processes -------------------------------------------------------------------------------- */

void process_links_state(struct archive *archive, struct process_links *entity)
{
	INT(key.pid) INT(key.start_boot_ns) INT(parent.pid) INT(parent.start_boot_ns) INT(group_id)
}

static void signals_state(struct archive *archive, struct process *process)
{
	ARRAY_BEGIN("signals", sent_signal, process->signals, SENT_SIGNALS_MAX)
	INT(boot_ns) ID(sender_id) INT(sender_pid) INT(sender_uid) INT(signal)
	archive_enum(archive, "kind", &entity->kind, SENDER_KINDS);
	archive_fixed_text(archive, "program", entity->program, sizeof(entity->program));
	ARRAY_END
}

static void endings_state(struct archive *archive, struct process *process)
{
	ARRAY_BEGIN("endings", ending, process->endings, ENDINGS_MAX)
	INT(pid) INT(start_boot_ns) INT(end_boot_ns) INT(wait_status) INT(is_task)
	INT(is_part) INT(is_captured) INT(exit_flags)
	archive_enum(archive, "kind", &entity->kind, ENDING_RETRIED + 1);
	archive_enum(archive, "followed", &entity->followed, FOLLOWED_BY_TOOLS + 1);
	cause_state(archive, &entity->cause);
	archive_require(archive, entity->cause);
	ARRAY_END
}

static void command_state(struct archive *archive, const struct model *model, struct command **command)
{
	struct command none = {0}, *entity = *command ? *command : &none;
	char *program = (char *)entity->program, *path = entity->path, *script = entity->script;
	char *directory = entity->working_directory, *arguments = entity->arguments;
	size_t size = command_stored_size(entity, model->arguments, model->keep_arguments);

	if (!archive_open(archive, "command", *command))
		return;
	INT(flags) INT(redacted_count)
	archive_text(archive, "program", &program);
	archive_text(archive, "path", &path);
	archive_text(archive, "script", &script);
	archive_text(archive, "working_directory", &directory);
	archive_bytes(archive, "arguments", &arguments, &size);
	archive_require(archive, program && path && directory && arguments);
	archive_close(archive);
	if (!archive->loading)
		return;
	if (!archive->bad)
		*command = command_restore(program, path, script, directory, arguments, size, none.redacted_count,
					   none.flags);
	archive_require(archive, *command);
	free(program);
	free(path);
	free(script);
	free(directory);
	free(arguments);
}

#define COUNTER(name)                                                                        \
	value = entity->valid & COUNTER_VALID(name) ? (int64_t)entity->name : ROW_NULL;       \
	archive_id(archive, #name, &value);                                                   \
	if (value != ROW_NULL) {                                                              \
		entity->name = (uint64_t)value;                                               \
		entity->valid |= COUNTER_VALID(name);                                         \
	}

/* The base from which figures are counted. */
static void base_state(struct archive *archive, struct counters *entity)
{
	int64_t value;

	if (!archive_open(archive, "base", entity->valid))
		return;
	ROW_COUNTED_TOTALS(COUNTER)
	COUNTER(maxrss_bytes)
	archive_close(archive);
}

static void image_state(struct archive *archive, struct image *entity)
{
	if (!archive_open(archive, "image", true))
		return;
	INT(rank) INT(boundary) INT(nested) INT(interactive) INT(expected_codes) INT(traits)
	ID(requested_thread_count) ID(core_limit_milli)
	base_state(archive, &entity->base);
	archive_close(archive);
}

void process_state(struct archive *archive, const struct model *model, struct process *entity)
{
	INT(exec_id) ID(parent_image_id) INT(parent_exec_id) INT(first_exec_id) INT(path_rank)
	INT(fork_boot_ns) INT(cgroup_id) INT(uid) INT(pgid) INT(flags)
	INT(pid_namespace) INT(mount_namespace) INT(core_limit_milli) INT(output_pipe)
	archive_int(archive, "stdin_pipe", &entity->pipes[PIPE_READ].inode);
	archive_int(archive, "stdout_pipe", &entity->pipes[PIPE_WRITTEN].inode);
	INT(is_task_root) INT(is_run_root) INT(has_container) INT(ignored) INT(ended) INT(has_final) INT(end_boot_ns)
	INT(stall_since_boot_ns)
	archive_enum(archive, "place", &entity->place, PLACE_FULL + 1);
	archive_enum(archive, "stall", &entity->stall, STALL_IDLE + 1);
	archive_int_or(archive, "spine_index", &entity->spine_index, -1);
	signals_state(archive, entity);
	cause_state(archive, &entity->cause);
	endings_state(archive, entity);
	command_state(archive, model, &entity->command);
	if (entity->image)
		image_state(archive, entity->image);
}
