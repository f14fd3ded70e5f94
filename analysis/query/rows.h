/* Rows of a store or a lake, read into the structures of common/store/rows.h.
 *
 * Reading a query's result, copying its texts and printing it as JSON are all driven
 * by one description per table, derived from the list of its columns.
 */
#pragma once

#include <jansson.h>

#include "common/store/store.h"
#include "common/yaml/arena.h"

enum row_field_kind { ROW_FIELD_INTEGER, ROW_FIELD_TEXT, ROW_FIELD_BLOB };

struct row_field {
	const char *name;
	enum row_field_kind kind;
	size_t offset; /* in the table's structure */
};

struct row_type {
	size_t size;
	size_t field_count;
	const struct row_field *fields;
	const char *known_texts; /* names of texts that are never NULL, each surrounded by spaces */
};

#define R(NAME, name, table, key) extern const struct row_type row_type_##name;
ROWS(R)
#undef R

/* A part of a run that several hosts share, and the part that represents all of them: itself,
 * for the first. */
struct row_part {
	struct row_run run;
	int64_t joined_id;
};
extern const struct row_type row_type_part;

/* A host and its cloud instance. The shipper finds out about the instance, so only a lake has these
 * columns; in a host's own store they are NULL. */
#define ROW_CLOUD_COLUMNS(T) \
	T(cloud_provider) \
	T(cloud_instance_id) \
	T(cloud_instance_type) \
	T(cloud_region) \
	T(cloud_zone) \
	T(cloud_lifecycle)

struct row_cloud_host {
	struct row_host host;
#define T(name) const char *name;
	ROW_CLOUD_COLUMNS(T)
#undef T
	int64_t gpu_count; /* as far as it is known; set by gpu_hosts_load() */
};
extern const struct row_type row_type_cloud_host;

/* Result columns of analysis/query/lookups/top.sql. */
/* clang-format off */
#define ROW_TOP_COLUMNS(I, T, B) \
	I(run_id) T(run) I(task_id) T(task) I(tool_id) T(tool) \
	I(user_id)       /* ROW_NULL if several */ \
	I(process_count) /* running */ \
	I(ended_count)   /* ended recently */ \
	I(begin_boot_ns) I(idle) \
	I(cores)         /* billionths */ \
	I(memory_bytes)  /* at one time: what processes share counts once */ \
	I(gpus)          /* that worked for it, billionths; ROW_NULL: not reported, as the next */ \
	I(gpu_memory_bytes) \
	I(read_bytes_per_second) I(write_bytes_per_second) I(tool_count) I(is_system)

/* Result columns of analysis/query/lookups/cost_tasks.sql. */
#define ROW_COST_TASK_COLUMNS(I, T, B) \
	I(host_id) I(run_id) T(run) T(run_kind) T(run_cgroup_path) I(user_id) I(task_id) T(task) \
	I(begin_unix_ns) I(end_unix_ns) I(cpu_ns) I(memory_bytes) I(memory_limit_bytes) I(run_memory_limit_bytes) \
	I(run_core_limit_milli)

/* Result columns of analysis/query/lookups/cost_tools.sql. */
#define ROW_COST_TOOL_COLUMNS(I, T, B) \
	I(host_id) I(task_id) T(name) I(cpu_ns) I(memory_bytes) I(wall_ns) I(gpu_busy_ns)

/* Result columns of analysis/query/lookups/cost_gpus.sql, host_gpus.sql. */
#define ROW_COST_GPU_COLUMNS(I, T, B) \
	I(host_id) I(task_id) T(gpu) I(begin_unix_ns) I(end_unix_ns) I(busy_ns) I(peak_bytes) I(capacity_bytes)
#define ROW_HOST_GPU_COLUMNS(I, T, B) I(host_id) T(gpu)

/* Result columns of analysis/query/lookups/cost_counts.sql. */
#define ROW_COST_COUNT_COLUMNS(I, T, B) I(host_id) I(task_count)

/* Result columns of analysis/query/lookups/cost_watched.sql. */
#define ROW_COST_WATCHED_COLUMNS(I, T, B) I(host_id) I(begin_unix_ns) I(end_unix_ns)

/* Result columns of analysis/query/lookups/clock_sets.sql. */
#define ROW_CLOCK_SET_COLUMNS(I, T, B) T(hostname) I(unix_ns) T(sentence)

/* Result columns of analysis/query/lookups/sample_words.sql. */
#define ROW_SAMPLE_WORD_COLUMNS(I, T, B) I(task_id) T(name) B(arguments) T(path) T(working_directory)

/* Result columns of analysis/query/lookups/task_lines.sql. */
#define ROW_TASK_LINE_COLUMNS(I, T, B) I(task_id) T(name) T(tool) B(arguments)

/* Result columns of analysis/query/lookups/right_size_tasks.sql. */
#define ROW_RIGHT_SIZE_TASK_COLUMNS(I, T, B) \
	I(task_id) I(run_id) T(name) I(has_succeeded) I(is_oom_killed) I(is_running) \
	I(started_unix_ns) I(begin_boot_ns) I(end_boot_ns) I(cpu_ns) I(run_delay_ns) I(rchar_bytes) \
	I(concurrent_memory_bytes) I(unattributed_memory_bytes) I(peak_rss_bytes) I(memory_limit_bytes) I(limit_is_own)

/* Result columns of analysis/query/lookups/right_size_cpu.sql. */
#define ROW_RIGHT_SIZE_CPU_COLUMNS(I, T, B) \
	I(task_id) I(process_id) I(begin_boot_ns) I(boot_ns) I(cpu_ns) I(is_sample) I(thread_count) I(is_found)

/* Result columns of analysis/query/lookups/history_runs.sql and history_tasks.sql. */
#define ROW_HISTORY_RUN_COLUMNS(I, T, B) \
	I(whole_id) I(id) I(host_id) T(name) T(status) I(started_unix_ns) I(end_unix_ns) \
	I(cpu_ns) I(peak_rss_bytes) I(read_bytes) I(rchar_bytes) I(gpu_busy_ns)
#define ROW_HISTORY_TASK_COLUMNS(I, T, B) \
	I(task_id) I(run_id) T(name) T(label) T(status) I(lost_count) \
	I(wall_ns) I(cpu_ns) I(peak_rss_bytes) I(read_bytes) I(rchar_bytes) I(gpu_busy_ns)

/* Result columns of analysis/query/questions/expected_ends.sql. */
#define ROW_EXPECTED_END_COLUMNS(I, T, B) \
	I(host_id) I(run_id) T(run) I(user_id) I(earliest_unix_ns) I(latest_unix_ns) \
	I(earlier_count) /* ROW_NULL: from the file that its only process reads */

/* Result columns of analysis/query/questions/file_progress.sql. */
#define ROW_FILE_PROGRESS_COLUMNS(I, T, B) \
	I(host_id) I(run_id) T(run) I(user_id) I(task_id) T(task) I(tool_id) I(process_id) T(program) I(is_whole_run) \
	I(file_position_bytes) I(file_size_bytes) I(earliest_unix_ns) I(latest_unix_ns)
/* clang-format on */

#define ROW_RESULTS(R) \
	R(TOP, top) \
	R(COST_TASK, cost_task) \
	R(COST_TOOL, cost_tool) \
	R(COST_GPU, cost_gpu) \
	R(HOST_GPU, host_gpu) \
	R(COST_COUNT, cost_count) \
	R(COST_WATCHED, cost_watched) \
	R(CLOCK_SET, clock_set) \
	R(SAMPLE_WORD, sample_word) \
	R(TASK_LINE, task_line) \
	R(RIGHT_SIZE_TASK, right_size_task) \
	R(RIGHT_SIZE_CPU, right_size_cpu) \
	R(HISTORY_RUN, history_run) \
	R(HISTORY_TASK, history_task) \
	R(EXPECTED_END, expected_end) \
	R(FILE_PROGRESS, file_progress)

#define I(name) int64_t name;
#define T(name) const char *name;
#define B(name) struct row_blob name;
#define R(NAME, name) \
	struct row_##name { \
		ROW_##NAME##_COLUMNS(I, T, B) \
	}; \
	extern const struct row_type row_type_##name;
ROW_RESULTS(R)
#undef I
#undef T
#undef B
#undef R

/* Only some members of struct row_tool, row_process and row_sample: those of analysis/query/lookups/page_tools.sql,
 * page_processes.sql and page_samples.sql. The others are zero. */
extern const struct row_type row_type_page_tool, row_type_page_process, row_type_page_sample;

/* Difference and sum of figures: ROW_NULL if one is unknown or the result overflows. Input is
 * untrusted. */
int64_t row_subtract(int64_t left, int64_t right);
int64_t row_add(int64_t left, int64_t right);
/* The sum of what is known: of figures that most processes and hosts do not have. */
int64_t row_add_known(int64_t left, int64_t right);

/* The smaller and the larger of two figures; ROW_NULL is smaller than all others. */
static inline int64_t row_least(int64_t left, int64_t right)
{
	return left < right ? left : right;
}
static inline int64_t row_most(int64_t left, int64_t right)
{
	return left > right ? left : right;
}

/* A figure that cannot be negative; 0 if it is unknown. */
static inline int64_t row_known(int64_t figure)
{
	return figure == ROW_NULL || figure < 0 ? 0 : figure;
}

/* Reads the rows of a query one by one; columns are matched by name. Texts that the schema declares
 * NOT NULL (rows_text_is_known) are never NULL: they are "-" if a lake has NULL instead. */
#define ROW_FIELDS_MAX 64

struct row_cursor {
	const struct row_type *type;
	struct store_result *result;
	size_t columns[ROW_FIELDS_MAX];
};

/* Returns 0 or the store's error; after an error row_cursor_close() is not needed. */
int row_cursor_open(struct row_cursor *cursor, const struct row_type *type, struct store *store, const char *query,
		    const struct store_parameter *parameters);
/* Returns 1 and fills `row`, a structure of the type, whose texts are valid until the next call; 0 at the
 * end; or -errno, -EPROTO if the query lacks one of the type's columns. */
int row_cursor_next(struct row_cursor *cursor, void *row);
void row_cursor_close(struct row_cursor *cursor);

/* Calls `take` for each row of a query, valid until it returns. Stops at a result other than 0. Returns that, or the
 * store's error. */
typedef int rows_take(void *context, const void *row);
int rows_each(const struct row_type *type, struct store *store, const char *query,
	      const struct store_parameter *parameters, rows_take *take, void *context);

/* A column of a result's current row: ROW_NULL or NULL if it is not of that type. */
int64_t result_integer(struct store_result *result, const char *column);
const char *result_text(struct store_result *result, const char *column);

/* An array of rows that owns their texts and blobs. Zero it before use. */
struct rows {
	const struct row_type *type;
	void *items;
	size_t count;
	size_t capacity;
	struct arena texts;
};

#define ROWS_ITEM(rows, name, index) (&((struct row_##name *)(rows)->items)[index])

/* Loads all rows of a query. Returns 0, -ENOMEM or the store's error. */
int rows_load(struct rows *rows, const struct row_type *type, struct store *store, const char *query,
	      const struct store_parameter *parameters);
/* Appends a copy of the row, which must be of the same type as the others. Returns 0 or -ENOMEM. */
int rows_add(struct rows *rows, const struct row_type *type, const void *row);
/* Leaves only those of the hosts (row_cloud_host) that have this name; NULL: all. */
void rows_keep_host(struct rows *hosts, const char *hostname);
/* Frees all rows, but keeps memory for others. */
void rows_clear(struct rows *rows);
void rows_free(struct rows *rows);

/* In rows sorted by the number `at` bytes into each: returns the index of the first row with that
 * number, and how many have it. */
size_t rows_find(const struct rows *rows, size_t at, int64_t number, size_t *ret_count);

/* Whether this text is never NULL in a store. */
bool rows_text_is_known(const struct row_type *type, const char *name);

/* Returns a text escaped (common/text.h), to be freed; "" for NULL. NULL if out of memory. */
char *text_escaped(const char *text);

#define ROWS_REAL_DIGITS 15

/* What members are written as: an object of JSON, or a line of CSV: their names, or their values. */
enum row_form { ROW_AS_JSON, ROW_AS_CSV_NAMES, ROW_AS_CSV };

/* Streams JSON to a file, in pure ASCII and many times faster than from a tree; or rows of CSV (csv.h). Zero it
 * except for `file` and `form`. */
struct json_writer {
	FILE *file;
	enum row_form form;
	int error;        /* the first error: -ENOMEM or -EIO */
	bool has_members; /* the most recently begun object has members */
	size_t used;
	char data[4096];
};

/* Writes text between values verbatim. */
void json_write_text(struct json_writer *writer, const char *text);
/* Writes "{"; the caller closes the object with json_write_text(). */
void json_write_object(struct json_writer *writer);
/* Begin and end a row that is a line: an object, or a line of CSV. */
void json_write_line(struct json_writer *writer);
void json_write_line_end(struct json_writer *writer);
/* Text that is not UTF-8 is escaped, and followed by "NAME_escaped": true. A blob is written as an array of
 * NUL-terminated arguments. Ids, known by their name, are 16 hexadecimal digits. Unknown is null. */
void json_write_member(struct json_writer *writer, const char *name, const struct store_value *value);
/* Writes a blob of arguments as an array. */
void json_write_arguments(struct json_writer *writer, const char *data, size_t size, bool *ret_escaped);
void json_write_integer(struct json_writer *writer, const char *name, int64_t value);
void json_write_string(struct json_writer *writer, const char *name, const char *text);
/* Whether the column is omitted from answers: the revision tells the order in which rows were written,
 * not what ran (docs/json.md). */
bool row_is_private(const char *column);

/* Write all columns of a row, or of the current row of a result. */
void json_write_row(struct json_writer *writer, const struct row_type *type, const void *row);
void json_write_result(struct json_writer *writer, struct store_result *result);
/* Flushes. Returns the first error; write errors show in ferror(), too. */
int json_write_end(struct json_writer *writer);

/* The same as a tree: an object of a row, or of the current row of a result. */
json_t *row_to_json(const struct row_type *type, const void *row);
json_t *result_to_json(struct store_result *result);
void json_set_value(json_t *object, const char *name, const struct store_value *value);
void json_set_string(json_t *object, const char *name, const char *text);
/* Sets an id or a number, depending on the name; ROW_NULL is null. */
void json_set_integer(json_t *object, const char *name, int64_t value);
/* What is not finite is null. */
void json_set_real(json_t *object, const char *name, double value);
