/* Conversion between rows and entities, in both directions. See exchange.h.
 *
 * NULL means unknown or none, in rows as in entities. A count that is NULL because its column is
 * newer than the row loads as 0.
 */
#include "correlator/rows/exchange.h"

#include "correlator/model/container.h"
#include "correlator/model/image.h"
#include "correlator/model/model.h"
#include "correlator/model/run.h"
#include "correlator/model/task.h"
#include "correlator/model/tool.h"
#include "correlator/model/tree.h"

/* ---- fields: the macros use `columns` and `row` of the function around them --------- */

#define EITHER(load, save) \
	do { \
		if (columns->loading) { \
			load; \
		} else { \
			save; \
		} \
	} while (0)
/* The same number in both; COUNT() is never NULL in the entity. */
#define BOTH(column, field) EITHER((field) = (typeof(field))row->column, row->column = (int64_t)(field))
#define COUNT(column, field) \
	EITHER((field) = row->column == ROW_NULL ? 0 : (typeof(field))row->column, row->column = (int64_t)(field))
/* A text owned by the entity; NAME_TEXT() is never NULL in the row, LABEL_TEXT() is NULL there for "". */
#define OWN_TEXT(column, field) EITHER((field) = text_copy(columns, row->column), row->column = (field))
#define NAME_TEXT(column, field) \
	EITHER((field) = text_copy(columns, row->column[0] ? row->column : NULL), row->column = (field) ? (field) : "")
#define LABEL_TEXT(column, field) \
	EITHER((field) = text_copy(columns, row->column), row->column = (field) && (field)[0] ? (field) : NULL)
/* A text in an array of the entity; "" is NULL in the row if `may_be_null`. */
#define FIXED_TEXT(column, field, may_be_null) \
	EITHER(snprintf((field), sizeof(field), "%s", row->column ? row->column : ""), \
	       row->column = (field)[0] || !(may_be_null) ? (field) : NULL)
/* A text owned by the rules or, after a restart, by the model. */
#define KEPT_TEXT(column, field) EITHER((field) = text_keep(columns, row->column), row->column = (field))
#define ENUM_TEXT(column, field, texts) \
	EITHER((field) = (typeof(field))text_index(columns, texts, sizeof(texts) / sizeof((texts)[0]), row->column), \
	       row->column = (texts)[field])

static char *text_copy(struct columns *columns, const char *text)
{
	char *copy = text ? strdup(text) : NULL;

	columns->bad = columns->bad || (text && !copy);
	return copy;
}

static const char *text_keep(struct columns *columns, const char *text)
{
	struct model *model = columns->model;
	struct kept_text *kept;

	if (!text)
		return NULL;
	HASH_FIND_STR(model->kept_texts, text, kept);
	if (kept)
		return kept->text;
	kept = model_alloc(model, sizeof(*kept));
	if (!kept)
		return "";
	kept->text = text_copy(columns, text);
	if (!kept->text) {
		free(kept);
		return "";
	}
	HASH_ADD_KEYPTR(hh, model->kept_texts, kept->text, strlen(kept->text), kept);
	return kept->text;
}

static size_t text_index(struct columns *columns, const char *const *texts, size_t count, const char *text)
{
	for (size_t i = 0; i < count; i++)
		if (text == texts[i] || (text && texts[i] && strcmp(text, texts[i]) == 0))
			return i;
	columns->bad = true;
	return 0;
}

#define TEXT(NAME, text, ...) text,
static const char *const role_texts[] = {RULES_ROLES(TEXT)};
static const char *const run_kinds[] = {RUN_KINDS(TEXT)};
static const char *const task_kinds[] = {TASK_KINDS(TEXT)};
static const char *const statuses[] = {OUTCOME_STATUSES(TEXT)};
static const char *const reasons[] = {REASONS(TEXT)};
static const char *const began_texts[] = {"fork", "exec", "found"};
static const char *const ended_texts[] = {NULL, "exit", "exec", "lost"};
static const char *const totals_texts[] = {"sample", "exec", "exit", "final"};

/* ---- columns of several entities ------------------------------------------------------- */

/* A column that is not NULL is known. */
#define TOTAL(name) \
	if (row->name != ROW_NULL) { \
		sums->name = row->name; \
		sums->valid |= COUNTER_VALID(name); \
	}
#define TOTALS_BOTH(field, unknown) \
	do { \
		struct totals *sums = &(field); \
\
		EITHER({ROW_TOTALS(TOTAL)}, totals_fill_row(row, sums, (unknown))); \
	} while (0)

/* While something is running, its row has no end; the last end sets it. */
#define END_BOTH(lives, field) \
	EITHER((field) = row->end_boot_ns == ROW_NULL ? 0 : (uint64_t)row->end_boot_ns, \
	       row->end_boot_ns = (lives) ? ROW_NULL : (int64_t)(field))

#define TALLY_BOTH(tally) \
	do { \
		BOTH(begin_boot_ns, (tally).begin_boot_ns); \
		BOTH(started_unix_ns, (tally).started_unix_ns); \
		COUNT(process_count, (tally).process_count); \
		COUNT(living_count, (tally).living_count); \
		COUNT(failed_count, (tally).failed_count); \
		COUNT(partial_count, (tally).partial_count); \
		BOTH(peak_rss_bytes, (tally).peak_rss_bytes); \
		BOTH(gpu_peak_bytes, (tally).gpu_peak_bytes); \
		END_BOTH((tally).living_count > 0, (tally).end_boot_ns); \
		TOTALS_BOTH((tally).totals, 0); \
	} while (0)

#define MEMORY_BOTH(memory) \
	do { \
		BOTH(concurrent_memory_bytes, (memory).bytes); \
		(memory).written_bytes = (memory).bytes; \
	} while (0)

#define LIMIT(name) BOTH(name, limits->name);
#define LIMITS_BOTH(field) \
	do { \
		struct cgroup_limits *limits = &(field); \
\
		ROW_LIMITS(LIMIT) \
	} while (0)

/* ---- entities ---------------------------------------------------------------------------- */

void container_columns(struct columns *columns, struct row_container *row, struct container *container)
{
	BOTH(id, container->id);
	FIXED_TEXT(runtime, container->runtime, false);
	FIXED_TEXT(runtime_id, container->runtime_id, false);
	NAME_TEXT(cgroup_path, container->cgroup_path);
	OWN_TEXT(image, container->image);
	OWN_TEXT(name, container->name);
	BOTH(pid_namespace, container->pid_namespace);
	BOTH(mount_namespace, container->mount_namespace);
	BOTH(run_id, container->run_id);
	BOTH(task_id, container->task_id);
	BOTH(begin_boot_ns, container->begin_boot_ns);
	BOTH(started_unix_ns, container->started_unix_ns);
	END_BOTH(container->living_count > 0, container->end_boot_ns);
	LIMITS_BOTH(container->limits);
}

void run_columns(struct columns *columns, struct row_run *row, struct run *run)
{
	BOTH(id, run->id);
	ENUM_TEXT(kind, run->kind, run_kinds);
	NAME_TEXT(name, run->name);
	FIXED_TEXT(engine, run->engine, true);
	FIXED_TEXT(run_key, run->run_key, true);
	BOTH(root_process_id, run->root_process_id);
	BOTH(origin_process_id, run->origin_process_id);
	BOTH(user_id, run->user_id);
	OWN_TEXT(working_directory, run->working_directory);
	row->status = statuses[outcome_status(&run->outcome, run->tally.living_count > 0)];
	BOTH(exit_code, run->outcome.exit_code);
	BOTH(signal, run->outcome.signal);
	ENUM_TEXT(reason, run->reason, reasons);
	BOTH(task_count, run->task_count);
	BOTH(lost_count, run->lost_count);
	TALLY_BOTH(run->tally);
	MEMORY_BOTH(run->memory);
	LIMITS_BOTH(run->limits);
	EITHER(run->tally.inner_core_limit_milli = ROW_NULL,
	       tally_raise(&run->tally.core_limit_milli, run->tally.inner_core_limit_milli));
	BOTH(core_limit_milli, run->tally.core_limit_milli);
}

/* Figures are only saved: those of its groups and tools are loaded. */
void task_columns(struct columns *columns, struct row_task *row, struct task *task)
{
	struct cgroup_limits all_limits;
	struct tally tally;
	int64_t lost_count;

	task_fold(task, &tally, &all_limits, &lost_count);
	BOTH(id, task->id);
	BOTH(merged_into_id, task->merged_into_id);
	BOTH(retried_by_id, task->retried_by_id);
	ENUM_TEXT(kind, task->kind, task_kinds);
	NAME_TEXT(name, task->name);
	LABEL_TEXT(label, task->label);
	BOTH(root_process_id, task->root_process_id);
	BOTH(orchestrator_process_id, task->orchestrator_process_id);
	OWN_TEXT(working_directory, task->working_directory);
	row->status = statuses[outcome_status(&task->outcome, tally.living_count > 0)];
	BOTH(exit_code, task->outcome.exit_code);
	BOTH(signal, task->outcome.signal);
	ENUM_TEXT(reason, task->reason, reasons);
	BOTH(lost_count, lost_count);
	TALLY_BOTH(tally);
	MEMORY_BOTH(task->memory);
	BOTH(requested_thread_count, tally.requested_thread_count);
	LIMITS_BOTH(all_limits);
	/* Programs outside its container only start it. */
	row->core_limit_milli =
		tally.inner_core_limit_milli != ROW_NULL ? tally.inner_core_limit_milli : tally.core_limit_milli;
}

void tool_columns(struct columns *columns, struct row_tool *row, struct tool *tool)
{
	BOTH(id, tool->id);
	OWN_TEXT(name, tool->name);
	ENUM_TEXT(role, tool->role, role_texts);
	TALLY_BOTH(tool->tally);
	MEMORY_BOTH(tool->memory);
	BOTH(requested_thread_count, tool->tally.requested_thread_count);
}

/* The status of wait(2) in three columns, and what follows from it; NULL unless `ended` is IMAGE_EXIT. */
static void status_columns(struct columns *columns, struct row_process *row, struct image *image)
{
	int64_t status = image->wait_status;

	if (columns->loading) {
		bool known = row->signal != ROW_NULL || row->exit_code != ROW_NULL;

		image->wait_status = !known ? ROW_NULL : row->signal != ROW_NULL ? row->signal : row->exit_code << 8;
		if (known && row->core_dumped == 1)
			image->wait_status |= 0x80;
		image->oom_killed = row->oom_killed == 1;
		image->failed = row->failed == 1;
		return;
	}
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

void image_columns(struct columns *columns, struct row_process *row, struct image *image)
{
	BOTH(id, image->id);
	BOTH(parent_id, image->parent_id);
	BOTH(pid, image->pid);
	BOTH(exec_id, image->exec_id);
	BOTH(user_id, image->uid);
	ENUM_TEXT(began, image->began, began_texts);
	ENUM_TEXT(ended, image->ended, ended_texts);
	ENUM_TEXT(totals, image->totals_kind, totals_texts);
	BOTH(begin_boot_ns, image->begin_boot_ns);
	END_BOTH(image->ended == IMAGE_LIVING, image->end_boot_ns);
	BOTH(started_unix_ns, image->started_unix_ns);
	ENUM_TEXT(role, image->role, role_texts);
	KEPT_TEXT(rule, image->rule);
	ENUM_TEXT(reason, image->reason, reasons);
	BOTH(spawn_cpu_ns, image->spawn_cpu_ns);
	BOTH(peak_rss_bytes, image->peak_rss_bytes);
	OWN_TEXT(gpu, image->gpu);
	BOTH(gpu_peak_bytes, image->gpu_peak_bytes);
	status_columns(columns, row, image);
	TOTALS_BOTH(image->totals, ROW_NULL);
	if (!columns->loading) {
		row->partial = (image->totals.valid & COUNTERS_PARTIAL) != 0;
		return;
	}
	image->own_command = image->began != IMAGE_FORK;
	image->totals.valid |= row->partial == 1 ? COUNTERS_PARTIAL : 0;
	image->uninterruptible_ns = row->uninterruptible_ns;
	image->use = DEVICE_USE_UNKNOWN;
	image->use.busy_ns = row->gpu_busy_ns;
	image->use.energy_uj = row->gpu_energy_uj;
	image->memory_stall_ns = row->memory_delay_ns == ROW_NULL ? 0 : row->memory_delay_ns;
	image->sampled_cpu_ns = image->totals.cpu_ns;
	image->sampled_io_bytes = totals_io_bytes(&image->totals);
	image->sampled_gpu_busy_ns = image->use.busy_ns;
}
