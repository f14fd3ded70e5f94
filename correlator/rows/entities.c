/* The tables of all fields of the entities that are stored. See entities.h.
 *
 * NULL in a row means unknown or none, ROW_NULL or "" in an entity. A count that is NULL because its column is newer than
 * the row loads as 0. A field is saved in the state under its name, so a renamed field keeps its old name
 * here: NAMED("old", new). What a restart resets is not saved: the progress of processes as seen by scans,
 * the parts of a run's name, the command that cancelled a job.
 */
#include "correlator/rows/entities.h"

#include "correlator/model/cause.h"
#include "correlator/model/command.h"
#include "correlator/model/container.h"
#include "correlator/model/group.h"
#include "correlator/model/image.h"
#include "correlator/model/model.h"
#include "correlator/model/process.h"
#include "correlator/model/run.h"
#include "correlator/model/sent_signal.h"
#include "correlator/model/task.h"
#include "correlator/model/tool.h"
#include "correlator/model/tree.h"

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

#define TEXT_OF(NAME, text, ...) text,
static const char *const boundary_words[] = {RULES_BOUNDARIES(TEXT_OF)};
static const char *const role_words[] = {RULES_ROLES(TEXT_OF)};
static const char *const run_words[] = {RUN_KINDS(TEXT_OF)};
static const char *const task_words[] = {TASK_KINDS(TEXT_OF)};
static const char *const reason_words[] = {REASONS(TEXT_OF)};
static const char *const began_words[] = {"fork", "exec", "found"};
static const char *const ended_words[] = {NULL, "exit", "exec", "lost"};
static const char *const totals_words[] = {"sample", "exec", "exit", "final"};
const char *const outcome_words[] = {OUTCOME_STATUSES(TEXT_OF)};

/* clang-format off */

/* ---- fields of ENTITY, and their columns in ROW, which are defined around each table */
#define OF(field) ((ENTITY *)NULL)->field
#define AT(field) .offset = offsetof(ENTITY, field), .size = sizeof(OF(field))
#define INTEGER(kind_of, field, lowest, highest) \
	.kind = (kind_of), AT(field), .is_signed = (typeof(OF(field)))-1 < 1, .min = (lowest), .max = (highest)
#define NUMBER(field) INTEGER(FIELD_NUMBER, field, INT64_MIN, INT64_MAX)

/* Numbers. A COUNT is never unknown; an end is the same, 0 until there is one. */
#define COLUMN(name, field) {NUMBER(field), .column = offsetof(ROW, name), .missing = ROW_NULL},
#define SAME(name) COLUMN(name, name)
#define COUNT(name, field) {NUMBER(field), .column = offsetof(ROW, name)},
#define WORD(name, field, texts) \
	{INTEGER(FIELD_WORD, field, 0, ARRAY_SIZE(texts) - 1), .column = offsetof(ROW, name), .words = (texts)},
/* Texts, char * or char []. A NAME is "" where others are NULL. */
#define TEXT_KIND(field) _Generic(&OF(field), char **: FIELD_TEXT, default: FIELD_CHARS)
#define TEXT_COLUMN(name, required) \
	{.kind = TEXT_KIND(name), AT(name), .column = offsetof(ROW, name), .is_required = (required)},
#define TEXT(name) TEXT_COLUMN(name, false)
#define NAME(name) TEXT_COLUMN(name, true)

#define TOTALS(field, several) \
	{.kind = FIELD_TOTALS, AT(field), .column = offsetof(ROW, cpu_ns), .of_several = (several)},
#define TALLY_COUNT(name) COUNT(name, IN_TALLY(name))
#define TALLY_COLUMN(name) COLUMN(name, IN_TALLY(name))
#define IN_TALLY(name) tally.name
#define TALLY \
	TALLY_COLUMN(begin_boot_ns) TALLY_COUNT(end_boot_ns) TALLY_COLUMN(started_unix_ns) TALLY_COUNT(process_count) \
	TALLY_COUNT(living_count) TALLY_COUNT(failed_count) TALLY_COUNT(partial_count) TALLY_COLUMN(peak_rss_bytes) \
	TALLY_COLUMN(gpu_peak_bytes) TOTALS(IN_TALLY(totals), true)
#define LIMIT(name) COLUMN(name, limits.name)
/* What is loaded is also what was written. */
#define MEMORY \
	COLUMN(concurrent_memory_bytes, memory.written_bytes) COLUMN(concurrent_memory_bytes, memory.bytes) \
	COLUMN(unattributed_memory_bytes, beside.written_bytes) COLUMN(unattributed_memory_bytes, beside.bytes)
#define REASON WORD(reason, reason, reason_words)

/* Fields of a state. The default of an id, or of another figure that may be unknown, is ROW_NULL. */
#define NAMED_AS(text) .name = (text), .name_size = sizeof(text) - 1
#define NAMED_RANGE(old, field, absent, lowest, highest) \
	{INTEGER(FIELD_NUMBER, field, lowest, highest), NAMED_AS(old), .missing = (absent)},
#define RANGE(field, absent, lowest, highest) NAMED_RANGE(#field, field, absent, lowest, highest)
#define NAMED(old, field) {NUMBER(field), NAMED_AS(old)},
#define INT(field) NAMED(#field, field)
#define NAMED_ID(old, field) NAMED_RANGE(old, field, ROW_NULL, INT64_MIN, INT64_MAX)
#define ID(field) NAMED_ID(#field, field)
#define ENUM(field, highest) RANGE(field, 0, 0, highest)
#define OTHER(kind_of, old, field, ...) {.kind = (kind_of), AT(field), NAMED_AS(old), __VA_ARGS__},
#define BYTES(old, field, size_field) OTHER(FIELD_BYTES, old, field, .size_at = offsetof(ENTITY, size_field))
#define PART(kind_of, field, which) OTHER(kind_of, #field, field, .part = &(which))

#define OUTCOME INT(outcome.root_count) INT(outcome.living_roots) INT(outcome.end_boot_ns)
#define BESIDE INT(beside.cgroup_id) INT(beside.before_bytes)
#define LIMITS_BEYOND_COLUMNS \
	INT(limits.cgroup_id) ID(limits.throttled_before_ns) INT(limits.first_cgroup_id) INT(limits.is_outside)

/* The items of a list, with their fields. */
#define LIST(name, type) \
	static const struct part name##s = {name##_fields, sizeof(struct type), offsetof(struct type, prev)};

/* ---- the host */

#define ENTITY struct model
/* Losses in the layout of the kernel side: another version of the records uses another ring and starts again
 * from zero. */
const struct field host_state[] = {INT(generation) OTHER(FIELD_RAW, "losses", losses.reported) {0}};
#undef ENTITY

/* ---- containers */

#define ENTITY struct container
#define ROW struct row_container
const struct field container_columns[] = {
	SAME(id) NAME(runtime) NAME(runtime_id) NAME(cgroup_path) TEXT(image) TEXT(name)
	SAME(pid_namespace) SAME(mount_namespace) SAME(run_id) SAME(task_id)
	SAME(begin_boot_ns) COUNT(end_boot_ns, end_boot_ns) SAME(started_unix_ns) ROW_LIMITS(LIMIT) {0}
};
const struct field container_state[] = {INT(labelled) LIMITS_BEYOND_COLUMNS {0}};
#undef ENTITY
#undef ROW

/* ---- runs */

#define ENTITY struct run
#define ROW struct row_run
const struct field run_columns[] = {
	SAME(id) WORD(kind, kind, run_words) NAME(name) TEXT(engine) TEXT(run_key)
	SAME(origin_process_id) SAME(user_id) TEXT(working_directory) REASON SAME(task_count) SAME(lost_count)
	TALLY MEMORY ROW_LIMITS(LIMIT) TALLY_COLUMN(core_limit_milli) {0}
};
const struct field run_state[] = {
	INT(boundary_key) ENUM(engine_rank, RULES_RANK_WORKFLOW) INT(frozen) INT(of_past_boot)
	RANGE(name_priority, -1, -1, RUN_NAME_FIXED) RANGE(orchestrator, -1, -1, RUN_SPINE_MAX - 1)
	LIMITS_BEYOND_COLUMNS BESIDE
	{0}
};
#undef ENTITY
#undef ROW

/* ---- tasks, with their groups and tools */

#define ENTITY struct tool
#define ROW struct row_tool
const struct field tool_columns[] = {
	SAME(id) NAME(name) WORD(role, role, role_words) MEMORY {0}
};
static const struct field tool_fields[] = {
	INT(id) NAMED_ID("tally.core_limit_milli", core_limit_milli)
	NAMED_ID("tally.inner_core_limit_milli", inner_core_limit_milli) BESIDE {0}
};
LIST(tool, tool)
#undef ENTITY
#define ENTITY struct tally
#undef IN_TALLY
#define IN_TALLY(name) name
const struct field tool_tally_columns[] = {TALLY TALLY_COLUMN(requested_thread_count) {0}};
#undef IN_TALLY
#define IN_TALLY(name) tally.name
#undef ENTITY
#undef ROW

#define ENTITY struct spine_memory
static const struct field spine_fields[] = {ID(inner.bytes) ID(outer.bytes) {0}};
#undef ENTITY
static const struct part spine = {.fields = spine_fields, .size = sizeof(struct spine_memory)};

#define ENTITY struct group
static const struct field group_fields[] = {
	INT(id) INT(root_process_id) INT(orchestrator.pid) INT(orchestrator.start_boot_ns)
	INT(lost_count) PART(FIELD_POINTER, spine, spine)
	ID(limits.memory_limit_bytes) ID(limits.cgroup_peak_bytes) ID(limits.throttled_ns) LIMITS_BEYOND_COLUMNS
	PART(FIELD_LIST, tools, tools) {0}
};
LIST(group, group)
#undef ENTITY

/* Shared by several entities, and saved with each of them. */
#define ENTITY struct cause
static const struct field cause_fields[] = {
	INT(reported) INT(work) ID(process_id) ID(sender_process_id) ID(sender_user_id) ENUM(kind, CAUSE_GPU)
	OTHER(FIELD_TEXT, "what", what, .is_required = true) OTHER(FIELD_TEXT, "why", why, .is_required = true)
	OTHER(FIELD_CHARS, "sender_program", sender_program) {0}
};
#undef ENTITY
static const struct part cause = {.fields = cause_fields, .size = sizeof(struct cause)};

#define ENTITY struct task_figures
#define ROW struct row_task
const struct field task_figure_columns[] = {
	TALLY ROW_LIMITS(LIMIT) SAME(lost_count) TALLY_COLUMN(requested_thread_count) SAME(core_limit_milli) {0}
};
#undef ENTITY
#define ENTITY struct task
const struct field task_columns[] = {
	SAME(id) SAME(merged_into_id) SAME(retried_by_id) WORD(kind, kind, task_words) NAME(name) TEXT(label)
	SAME(root_process_id) SAME(orchestrator_process_id) TEXT(working_directory) REASON MEMORY
	COLUMN(exit_code, outcome.exit_code) COLUMN(signal, outcome.signal) {0}
};
const struct field task_state[] = {
	ENUM(name_by, NAMED_BY_RULE) INT(root.pid) INT(root.start_boot_ns) INT(orchestrator.pid)
	INT(orchestrator.start_boot_ns) INT(orchestrator_group_id)
	NAMED("failed_commands_reported", reports.failed_commands) NAMED("crashes_reported", reports.crashes)
	NAMED("incident_boot_ns", reports.incident_boot_ns) NAMED("fatal", reports.fatal)
	NAMED("work", retry.work) NAMED("wraps", retry.wraps) NAMED("awaited", retry.awaited)
	NAMED("awaits.pid", retry.awaits.pid) NAMED("awaits.start_boot_ns", retry.awaits.start_boot_ns)
	NAMED("awaits_cause_id", retry.awaits_cause_id) NAMED("idle_count", stall.idle_count) BESIDE
	PART(FIELD_POINTER, cause, cause) OUTCOME PART(FIELD_LIST, groups, groups) {0}
};
#undef ENTITY
#undef ROW

/* ---- processes, with their images */

#define ENTITY struct sent_signal
static const struct field signal_fields[] = {
	INT(boot_ns) ID(sender_id) INT(sender_pid) INT(sender_uid) INT(signal) ENUM(kind, SENDER_KINDS - 1)
	OTHER(FIELD_CHARS, "program", program) {0}
};
LIST(signal, sent_signal)
#undef ENTITY

#define ENTITY struct ending
static const struct field ending_fields[] = {
	INT(pid) INT(start_boot_ns) INT(end_boot_ns) INT(wait_status) INT(is_task)
	INT(is_part) INT(is_captured) INT(exit_flags) ENUM(kind, ENDING_RETRIED) ENUM(followed, FOLLOWED_BY_TOOLS)
	OTHER(FIELD_POINTER, "cause", cause, .part = &cause, .is_required = true) {0}
};
LIST(ending, ending)
#undef ENTITY

#define ENTITY struct command
static const struct field command_fields[] = {
	INT(flags) INT(redacted_count) OTHER(FIELD_TEXT, "program", program) OTHER(FIELD_TEXT, "path", path)
	OTHER(FIELD_TEXT, "script", script) OTHER(FIELD_TEXT, "working_directory", working_directory)
	BYTES("arguments", arguments, stored_size) {0}
};
#undef ENTITY
static const struct part command = {.fields = command_fields, .size = sizeof(struct command)};

/* The base from which figures are counted. */
#define ENTITY struct counters
#define COUNTER(counter) \
	{NUMBER(counter), NAMED_AS(#counter), .missing = ROW_NULL, .valid = offsetof(struct counters, valid), \
	 .valid_bit = COUNTER_VALID(counter)},
static const struct field base_fields[] = {ROW_COUNTED_TOTALS(COUNTER) COUNTER(maxrss_bytes) {0}};
#undef ENTITY
static const struct part base = {.fields = base_fields, .size = sizeof(struct counters)};

#define ENTITY struct image
#define ROW struct row_process
const struct field image_columns[] = {
	SAME(id) SAME(parent_id) SAME(pid) SAME(exec_id) COLUMN(user_id, uid) WORD(began, began, began_words)
	WORD(ended, ended, ended_words) WORD(totals, totals_kind, totals_words) SAME(begin_boot_ns)
	COUNT(end_boot_ns, end_boot_ns) SAME(started_unix_ns) WORD(role, role, role_words) TEXT(rule)
	WORD(reason, reason, reason_words) SAME(spawn_cpu_ns) TOTALS(totals, false) SAME(peak_rss_bytes) TEXT(gpu) SAME(gpu_peak_bytes) SAME(gpu_capacity_bytes)
	{0}
};
static const struct field image_fields[] = {
	ENUM(rank, RULES_RANK_WORKFLOW) ENUM(boundary, ARRAY_SIZE(boundary_words) - 1) INT(nested) INT(interactive)
	INT(expected_codes) INT(traits) ID(requested_thread_count) ID(core_limit_milli) PART(FIELD_POINTER, base, base) {0}
};
#undef ENTITY
#undef ROW
static const struct part image = {.fields = image_fields};

#define ENTITY struct process
const struct field process_state[] = {
	ENUM(key.pid, UINT32_MAX) INT(key.start_boot_ns) INT(group_id) NAMED("parent.pid", parent_key.pid) NAMED("parent.start_boot_ns", parent_key.start_boot_ns)
	INT(exec_id) ID(parent_image_id) INT(parent_exec_id) INT(first_exec_id) ENUM(path_rank, RULES_RANK_WORKFLOW)
	INT(fork_boot_ns) INT(cgroup_id) INT(uid) INT(pgid) INT(flags)
	INT(pid_namespace) INT(mount_namespace) INT(core_limit_milli) INT(output_pipe)
	NAMED("stdin_pipe", pipe_inodes[PIPE_READ]) NAMED("stdout_pipe", pipe_inodes[PIPE_WRITTEN])
	RANGE(memory.least_anon_bytes, INT64_MAX, 0, INT64_MAX) INT(memory.parent_faults) INT(memory.parent_shared_bytes)
	INT(is_task_root) INT(is_run_root) INT(has_container) INT(ignored) INT(ended) INT(has_final) INT(end_boot_ns)
	NAMED("zombies_since_boot_ns", zombies.since_boot_ns) NAMED("zombie_count", zombies.reported_count)
	NAMED("stall_since_boot_ns", stall.since_boot_ns) ENUM(place, PLACE_FULL) NAMED_RANGE("stall", stall.kind, 0, STALL_NONE, STALL_IDLE)
	RANGE(spine_index, -1, -1, RUN_SPINE_MAX - 1) PART(FIELD_LIST, signals, signals)
	PART(FIELD_POINTER, cause, cause) PART(FIELD_LIST, endings, endings) PART(FIELD_POINTER, command, command)
	PART(FIELD_POINTER, image, image) {0}
};
