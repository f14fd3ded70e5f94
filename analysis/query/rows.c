/* Reads and prints rows by their description. See rows.h. */
#include "analysis/query/rows.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "analysis/query/ask.h"
#include "analysis/query/csv.h"
#include "common/grow.h"
#include "common/identity.h"
#include "common/text.h"

#define FIELD_I(name) {#name, ROW_FIELD_INTEGER, offsetof(struct ROW_TYPE, name)},
#define FIELD_T(name) {#name, ROW_FIELD_TEXT, offsetof(struct ROW_TYPE, name)},
#define FIELD_B(name) {#name, ROW_FIELD_BLOB, offsetof(struct ROW_TYPE, name)},
/* `known` names the texts that the schema declares NOT NULL; tests/check_cli_rows.c compares. */
#define DESCRIBE(name, COLUMNS, known) DESCRIBE_PART(name, name, COLUMNS, known)
/* Only some members of another row's structure. */
#define DESCRIBE_PART(name, whole, COLUMNS, known) \
	static const struct row_field name##_fields[] = {COLUMNS(FIELD_I, FIELD_T, FIELD_B)}; \
	const struct row_type row_type_##name = { \
		sizeof(struct row_##whole), \
		sizeof(name##_fields) / sizeof(name##_fields[0]), \
		name##_fields, \
		" " known " ", \
	};

/* clang-format off */
#define PAGE_TOOL_COLUMNS(I, T, B) \
	I(id) I(task_id) T(name) T(role) I(begin_boot_ns) I(end_boot_ns) I(process_count) I(failed_count) I(cpu_ns) \
	I(run_delay_ns) I(read_bytes) I(write_bytes) I(sent_bytes) I(received_bytes) I(peak_rss_bytes) I(gpu_busy_ns) \
	I(gpu_peak_bytes)
#define PAGE_PROCESS_COLUMNS(I, T, B) \
	I(id) I(tool_id) I(parent_id) I(pid) I(user_id) T(began) T(ended) T(totals) I(begin_boot_ns) I(end_boot_ns) \
	I(exit_code) I(signal) I(oom_killed) T(program) B(arguments) I(cpu_ns) I(run_delay_ns) I(read_bytes) I(write_bytes) \
	I(peak_rss_bytes) I(sent_bytes) I(received_bytes) I(failed) I(partial) I(gpu_busy_ns) I(gpu_peak_bytes)
#define PAGE_SAMPLE_COLUMNS(I, T, B) \
	I(process_id) I(boot_ns) I(cpu_ns) I(run_delay_ns) I(read_bytes) I(write_bytes) I(sent_bytes) I(received_bytes) \
	I(memory_bytes) I(uninterruptible_count) I(gpu_busy_ns) I(gpu_memory_bytes)
/* clang-format on */

#define ROW_TYPE row_host
#define HOST_KNOWN "host_key hostname boot_id kernel machine probe_version"
DESCRIBE(host, ROW_HOST_COLUMNS, HOST_KNOWN)
/* The first member of the structure is a host. */
/* clang-format off */
static const struct row_field cloud_host_fields[] = {
	ROW_HOST_COLUMNS(FIELD_I, FIELD_T, FIELD_B)
#undef ROW_TYPE
#define ROW_TYPE row_cloud_host
	ROW_CLOUD_COLUMNS(FIELD_T)
};
/* clang-format on */
const struct row_type row_type_cloud_host = {
	sizeof(struct row_cloud_host),
	sizeof(cloud_host_fields) / sizeof(cloud_host_fields[0]),
	cloud_host_fields,
	" " HOST_KNOWN " ",
};
#undef ROW_TYPE
#define ROW_TYPE row_container
DESCRIBE(container, ROW_CONTAINER_COLUMNS, "runtime runtime_id cgroup_path")
#undef ROW_TYPE
#define ROW_TYPE row_run
DESCRIBE(run, ROW_RUN_COLUMNS, "kind name status reason")
/* The first member of the structure is a run. */
/* clang-format off */
static const struct row_field part_fields[] = {
	ROW_RUN_COLUMNS(FIELD_I, FIELD_T, FIELD_B)
	{"joined_id", ROW_FIELD_INTEGER, offsetof(struct row_part, joined_id)},
};
/* clang-format on */
const struct row_type row_type_part = {
	sizeof(struct row_part),
	sizeof(part_fields) / sizeof(part_fields[0]),
	part_fields,
	" kind name status reason ",
};
#undef ROW_TYPE
#define ROW_TYPE row_task
DESCRIBE(task, ROW_TASK_COLUMNS, "kind name status reason")
#undef ROW_TYPE
#define ROW_TYPE row_tool
DESCRIBE(tool, ROW_TOOL_COLUMNS, "name role")
DESCRIBE_PART(page_tool, tool, PAGE_TOOL_COLUMNS, "name role")
#undef ROW_TYPE
#define ROW_TYPE row_process
DESCRIBE(process, ROW_PROCESS_COLUMNS, "began totals role reason program")
DESCRIBE_PART(page_process, process, PAGE_PROCESS_COLUMNS, "began totals program")
#undef ROW_TYPE
#define ROW_TYPE row_sample
DESCRIBE(sample, ROW_SAMPLE_COLUMNS, "")
DESCRIBE_PART(page_sample, sample, PAGE_SAMPLE_COLUMNS, "")
#undef ROW_TYPE
#define ROW_TYPE row_host_sample
DESCRIBE(host_sample, ROW_HOST_SAMPLE_COLUMNS, "")
#undef ROW_TYPE
#define ROW_TYPE row_incident
DESCRIBE(incident, ROW_INCIDENT_COLUMNS, "kind sentence")
#undef ROW_TYPE
#define ROW_TYPE row_loss
DESCRIBE(loss, ROW_LOSS_COLUMNS, "kind")
#undef ROW_TYPE
#define ROW_TYPE row_cgroup
DESCRIBE(cgroup, ROW_CGROUP_COLUMNS, "path")
#undef ROW_TYPE
#define ROW_TYPE row_top
DESCRIBE(top, ROW_TOP_COLUMNS, "run task tool")
#undef ROW_TYPE
#define ROW_TYPE row_cost_task
DESCRIBE(cost_task, ROW_COST_TASK_COLUMNS, "run run_kind task")
#undef ROW_TYPE
#define ROW_TYPE row_cost_tool
DESCRIBE(cost_tool, ROW_COST_TOOL_COLUMNS, "name")
#undef ROW_TYPE
#define ROW_TYPE row_cost_gpu
DESCRIBE(cost_gpu, ROW_COST_GPU_COLUMNS, "gpu")
#undef ROW_TYPE
#define ROW_TYPE row_host_gpu
DESCRIBE(host_gpu, ROW_HOST_GPU_COLUMNS, "gpu")
#undef ROW_TYPE
#define ROW_TYPE row_cost_count
DESCRIBE(cost_count, ROW_COST_COUNT_COLUMNS, "")
#undef ROW_TYPE
#define ROW_TYPE row_cost_watched
DESCRIBE(cost_watched, ROW_COST_WATCHED_COLUMNS, "")
#undef ROW_TYPE
#define ROW_TYPE row_clock_set
DESCRIBE(clock_set, ROW_CLOCK_SET_COLUMNS, "hostname sentence")
#undef ROW_TYPE
#define ROW_TYPE row_sample_word
DESCRIBE(sample_word, ROW_SAMPLE_WORD_COLUMNS, "name")
#undef ROW_TYPE
#define ROW_TYPE row_task_line
DESCRIBE(task_line, ROW_TASK_LINE_COLUMNS, "name tool")
#undef ROW_TYPE
#define ROW_TYPE row_right_size_task
DESCRIBE(right_size_task, ROW_RIGHT_SIZE_TASK_COLUMNS, "name")
#undef ROW_TYPE
#define ROW_TYPE row_right_size_cpu
DESCRIBE(right_size_cpu, ROW_RIGHT_SIZE_CPU_COLUMNS, "")
#undef ROW_TYPE
#define ROW_TYPE row_history_run
DESCRIBE(history_run, ROW_HISTORY_RUN_COLUMNS, "name status")
#undef ROW_TYPE
#define ROW_TYPE row_history_task
DESCRIBE(history_task, ROW_HISTORY_TASK_COLUMNS, "name status")
#undef ROW_TYPE
#define ROW_TYPE row_expected_end
DESCRIBE(expected_end, ROW_EXPECTED_END_COLUMNS, "")
#undef ROW_TYPE
#define ROW_TYPE row_file_progress
DESCRIBE(file_progress, ROW_FILE_PROGRESS_COLUMNS, "program")
#undef ROW_TYPE

/* Replaces a text that should never be NULL but is. */
static const char missing[] = "-";

static void *field_at(const void *row, const struct row_field *field)
{
	return (char *)row + field->offset;
}

int64_t row_subtract(int64_t left, int64_t right)
{
	int64_t result;

	return left == ROW_NULL || right == ROW_NULL || __builtin_sub_overflow(left, right, &result) ? ROW_NULL
												     : result;
}

int64_t row_add(int64_t left, int64_t right)
{
	int64_t result;

	return left == ROW_NULL || right == ROW_NULL || __builtin_add_overflow(left, right, &result) ? ROW_NULL
												     : result;
}

int64_t row_add_known(int64_t left, int64_t right)
{
	return left == ROW_NULL ? right : right == ROW_NULL ? left : row_add(left, right);
}

/* ---- reading ----------------------------------------------------------------- */

bool rows_text_is_known(const struct row_type *type, const char *name)
{
	size_t size = strlen(name);

	for (const char *at = type->known_texts; (at = strstr(at, name)); at += size)
		if (at[-1] == ' ' && at[size] == ' ')
			return true;
	return false;
}

/* Finds the result's column for each field; they are usually in the same order. */
static void columns_find(struct row_cursor *cursor)
{
	size_t width = store_result_width(cursor->result), next = 0;

	for (size_t i = 0; i < cursor->type->field_count; i++) {
		const char *name = cursor->type->fields[i].name;
		size_t tried = 0;

		for (; tried < width; tried++, next++)
			if (strcmp(store_result_name(cursor->result, next % width), name) == 0)
				break;
		/* store_result_find() reports a missing column. */
		cursor->columns[i] = tried < width ? next++ % width : store_result_find(cursor->result, name);
	}
}

int row_cursor_open(struct row_cursor *cursor, const struct row_type *type, struct store *store, const char *query,
		    const struct store_parameter *parameters)
{
	int error = query_ask(store, query, parameters, &cursor->result);

	if (error < 0)
		return error;
	cursor->type = type;
	columns_find(cursor);
	return 0;
}

static void field_read(const struct row_type *type, const struct row_field *field, void *row,
		       const struct store_value *value)
{
	bool has_data = value->type == STORE_VALUE_TEXT || value->type == STORE_VALUE_BLOB;

	if (field->kind == ROW_FIELD_INTEGER)
		*(int64_t *)field_at(row, field) = value->type == STORE_VALUE_INTEGER ? value->integer : ROW_NULL;
	else if (field->kind == ROW_FIELD_BLOB)
		*(struct row_blob *)field_at(row, field) =
			(struct row_blob){has_data ? value->data : NULL, has_data ? value->size : 0};
	else
		*(const char **)field_at(row, field) = has_data                                ? value->data
						       : rows_text_is_known(type, field->name) ? missing
											       : NULL;
}

int row_cursor_next(struct row_cursor *cursor, void *row)
{
	int more = store_result_next(cursor->result);

	for (size_t i = 0; more > 0 && i < cursor->type->field_count; i++) {
		struct store_value value = store_result_value(cursor->result, cursor->columns[i]);

		field_read(cursor->type, &cursor->type->fields[i], row, &value);
	}
	return more;
}

void row_cursor_close(struct row_cursor *cursor)
{
	store_result_free(cursor->result);
}

int rows_each(const struct row_type *type, struct store *store, const char *query,
	      const struct store_parameter *parameters, rows_take *take, void *context)
{
	struct row_cursor cursor;
	void *row = calloc(1, type->size);
	int result = row ? row_cursor_open(&cursor, type, store, query, parameters) : -ENOMEM;

	if (result == 0) {
		while ((result = row_cursor_next(&cursor, row)) > 0) {
			result = take(context, row);
			if (result != 0)
				break;
		}
		row_cursor_close(&cursor);
	}
	free(row);
	return result;
}

int64_t result_integer(struct store_result *result, const char *column)
{
	struct store_value value = store_result_get(result, column);

	return value.type == STORE_VALUE_INTEGER ? value.integer : ROW_NULL;
}

const char *result_text(struct store_result *result, const char *column)
{
	struct store_value value = store_result_get(result, column);

	return value.type == STORE_VALUE_TEXT ? value.data : NULL;
}

/* ---- arrays ------------------------------------------------------------------ */

static void *rows_grow(struct rows *rows)
{
	void *items = grow(rows->items, &rows->capacity, rows->count + 1, rows->type->size);

	if (!items)
		return NULL;
	rows->items = items;
	return memset((char *)items + rows->count * rows->type->size, 0, rows->type->size);
}

/* Copies the texts of the last row into the array's memory, each NUL-terminated. */
static int texts_own(struct rows *rows, void *row)
{
	for (size_t i = 0; i < rows->type->field_count; i++) {
		const struct row_field *field = &rows->type->fields[i];
		bool is_text = field->kind == ROW_FIELD_TEXT, is_blob = field->kind == ROW_FIELD_BLOB;
		const char **text = field_at(row, field);
		struct row_blob *blob = field_at(row, field);

		if (is_text && *text && *text != missing && !(*text = arena_copy(&rows->texts, *text, strlen(*text))))
			return -ENOMEM;
		if (is_blob && blob->data && !(blob->data = arena_copy(&rows->texts, blob->data, blob->size)))
			return -ENOMEM;
	}
	rows->count++;
	return 0;
}

int rows_add(struct rows *rows, const struct row_type *type, const void *row)
{
	void *place;

	rows->type = type;
	place = rows_grow(rows);
	return place ? texts_own(rows, memcpy(place, row, type->size)) : -ENOMEM;
}

int rows_load(struct rows *rows, const struct row_type *type, struct store *store, const char *query,
	      const struct store_parameter *parameters)
{
	struct row_cursor cursor;
	int more = row_cursor_open(&cursor, type, store, query, parameters);
	void *row;

	if (more < 0)
		return more;
	*rows = (struct rows){.type = type};
	while ((row = rows_grow(rows)) && (more = row_cursor_next(&cursor, row)) > 0) {
		more = texts_own(rows, row);
		if (more < 0)
			break;
	}
	row_cursor_close(&cursor);
	more = row ? more : -ENOMEM;
	if (more < 0)
		rows_free(rows);
	return more;
}

static int64_t number_of(const struct rows *rows, size_t index, size_t at)
{
	return *(const int64_t *)((const char *)rows->items + index * rows->type->size + at);
}

size_t rows_find(const struct rows *rows, size_t at, int64_t number, size_t *ret_count)
{
	size_t low = 0, high = rows->count, end;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (number_of(rows, middle, at) < number)
			low = middle + 1;
		else
			high = middle;
	}
	for (end = low; end < rows->count && number_of(rows, end, at) == number;)
		end++;
	*ret_count = end - low;
	return low;
}

void rows_keep_host(struct rows *hosts, const char *hostname)
{
	size_t count = 0;

	for (size_t i = 0; i < hosts->count; i++)
		if (!hostname || strcmp(ROWS_ITEM(hosts, cloud_host, i)->host.hostname, hostname) == 0)
			*ROWS_ITEM(hosts, cloud_host, count++) = *ROWS_ITEM(hosts, cloud_host, i);
	hosts->count = count;
}

void rows_clear(struct rows *rows)
{
	arena_clear(&rows->texts);
	rows->count = 0;
}

void rows_free(struct rows *rows)
{
	arena_deinit(&rows->texts);
	free(rows->items);
	*rows = (struct rows){0};
}

/* ---- JSON -------------------------------------------------------------------- */

bool row_is_private(const char *column)
{
	return strcmp(column, "rev") == 0;
}

static bool is_utf8(const char *text, size_t size)
{
	for (size_t i = 0, step; i < size; i += step) {
		step = text_utf8_size(text + i, size - i);
		if (step == 0)
			return false;
	}
	return true;
}

char *text_escaped(const char *text)
{
	size_t size = text ? strlen(text) : 0;
	char *safe = malloc(4 * size + 1);

	if (safe)
		text_escape(text ? text : "", size, safe, 4 * size + 1);
	return safe;
}

/* Output is buffered here: calling stdio for each piece would take as long as everything else
 * together. */
static void flush(struct json_writer *writer)
{
	if (fwrite_unlocked(writer->data, 1, writer->used, writer->file) != writer->used && writer->error == 0)
		writer->error = -EIO;
	writer->used = 0;
}

static void put(struct json_writer *writer, const char *data, size_t size)
{
	while (size > sizeof(writer->data) - writer->used) {
		size_t some = sizeof(writer->data) - writer->used;

		memcpy(writer->data + writer->used, data, some);
		writer->used += some;
		data += some;
		size -= some;
		flush(writer);
	}
	memcpy(writer->data + writer->used, data, size);
	writer->used += size;
}

void json_write_text(struct json_writer *writer, const char *text)
{
	put(writer, text, strlen(text));
}

void json_write_object(struct json_writer *writer)
{
	put(writer, "{", 1);
	writer->has_members = false;
}

void json_write_line(struct json_writer *writer)
{
	if (writer->form == ROW_AS_JSON)
		json_write_object(writer);
	writer->has_members = false;
}

void json_write_line_end(struct json_writer *writer)
{
	json_write_text(writer, writer->form == ROW_AS_JSON ? "}\n" : "\n");
}

static void put_name(struct json_writer *writer, const char *name)
{
	json_write_text(writer, writer->has_members ? ",\"" : "\"");
	json_write_text(writer, name);
	writer->has_members = true;
}

static void put_integer(struct json_writer *writer, int64_t value)
{
	char digits[24], *at = digits + sizeof(digits);
	uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;

	do
		*--at = (char)('0' + rest % 10);
	while (rest /= 10);
	if (value < 0)
		*--at = '-';
	put(writer, at, (size_t)(digits + sizeof(digits) - at));
}

/* Takes ownership of the value. */
static void put_json(struct json_writer *writer, json_t *value)
{
	char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(ROWS_REAL_DIGITS));

	json_decref(value);
	if (text)
		json_write_text(writer, text);
	else if (writer->error == 0)
		writer->error = -ENOMEM;
	free(text);
}

static bool is_plain(const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (text[i] < 0x20 || text[i] >= 0x7f || text[i] == '"' || text[i] == '\\')
			return false;
	return true;
}

/* Sets `*ret_escaped` if the bytes are not UTF-8 and had to be escaped. */
static void put_string(struct json_writer *writer, const char *text, size_t size, bool *ret_escaped)
{
	json_t *string = NULL;
	char *safe;

	if (is_plain(text, size)) { /* nearly always */
		put(writer, "\"", 1);
		put(writer, text, size);
		put(writer, "\"", 1);
		return;
	}
	if (is_utf8(text, size)) {
		put_json(writer, json_stringn(text, size));
		return;
	}
	safe = malloc(4 * size + 1);
	if (safe)
		string = json_stringn(safe, text_escape(text, size, safe, 4 * size + 1));
	put_json(writer, string);
	free(safe);
	*ret_escaped = true;
}

void json_write_arguments(struct json_writer *writer, const char *data, size_t whole, bool *ret_escaped)
{
	put(writer, "[", 1);
	for (size_t i = 0, size; i < whole; i += size + 1) {
		size = strnlen(data + i, whole - i);
		if (i > 0)
			put(writer, ",", 1);
		put_string(writer, data + i, size, ret_escaped);
	}
	put(writer, "]", 1);
}

void json_write_member(struct json_writer *writer, const char *name, const struct store_value *value)
{
	char id[IDENTITY_TEXT_SIZE];
	bool escaped = false;

	if (writer->form != ROW_AS_JSON) {
		csv_write_member(writer, name, value);
		return;
	}
	if (value->type == STORE_VALUE_REAL && !isfinite(value->real))
		return; /* JSON cannot represent it */
	put_name(writer, name);
	put(writer, "\":", 2);
	if (value->type == STORE_VALUE_TEXT) {
		put_string(writer, value->data, strlen(value->data), &escaped);
	} else if (value->type == STORE_VALUE_BLOB) {
		json_write_arguments(writer, value->data, value->size, &escaped);
	} else if (value->type == STORE_VALUE_REAL) {
		put_json(writer, json_real(value->real));
	} else if (value->type == STORE_VALUE_NULL || value->integer == ROW_NULL) {
		put(writer, "null", 4);
	} else if (identity_is_column(name)) {
		identity_format(value->integer, id);
		put_string(writer, id, strlen(id), &escaped);
	} else {
		put_integer(writer, value->integer);
	}
	if (!escaped)
		return;
	put_name(writer, name);
	json_write_text(writer, "_escaped\":true");
}

void json_write_integer(struct json_writer *writer, const char *name, int64_t value)
{
	json_write_member(writer, name, &(struct store_value){.type = STORE_VALUE_INTEGER, .integer = value});
}

static struct store_value text_value(const char *text)
{
	return (struct store_value){.type = text ? STORE_VALUE_TEXT : STORE_VALUE_NULL, .data = text};
}

void json_write_string(struct json_writer *writer, const char *name, const char *text)
{
	const struct store_value value = text_value(text);

	json_write_member(writer, name, &value);
}

void json_write_row(struct json_writer *writer, const struct row_type *type, const void *row)
{
	for (size_t i = 0; i < type->field_count; i++) {
		const struct row_field *field = &type->fields[i];
		const char *const *text = field_at(row, field);
		const struct row_blob *blob = field_at(row, field);
		struct store_value value = {.type = STORE_VALUE_INTEGER};

		if (field->kind == ROW_FIELD_TEXT)
			value = text_value(*text == missing ? NULL : *text);
		else if (field->kind == ROW_FIELD_BLOB)
			value = (struct store_value){.type = blob->data ? STORE_VALUE_BLOB : STORE_VALUE_NULL,
						     .data = blob->data,
						     .size = blob->size};
		else
			value.integer = *(const int64_t *)field_at(row, field);
		json_write_member(writer, field->name, &value);
	}
}

void json_write_result(struct json_writer *writer, struct store_result *result)
{
	for (size_t i = 0; i < store_result_width(result); i++) {
		struct store_value value = {.type = STORE_VALUE_NULL};

		if (writer->form != ROW_AS_CSV_NAMES) /* before the first row */
			value = store_result_value(result, i);
		if (!row_is_private(store_result_name(result, i)))
			json_write_member(writer, store_result_name(result, i), &value);
	}
}

int json_write_end(struct json_writer *writer)
{
	flush(writer);
	return writer->error;
}

/* ---- JSON as a tree --------------------------------------------------------------- */

/* Collect what is written between these two. If memory is short, the object is empty. */
static struct json_writer tree_begin(char **text, size_t *size)
{
	struct json_writer writer = {.file = open_memstream(text, size)};

	if (writer.file)
		json_write_object(&writer);
	return writer;
}

static json_t *tree_end(struct json_writer *writer, char **text)
{
	json_t *object;

	json_write_text(writer, "}");
	json_write_end(writer);
	fclose(writer->file);
	object = json_loads(*text, 0, NULL);
	free(*text);
	return object;
}

json_t *row_to_json(const struct row_type *type, const void *row)
{
	char *text = NULL;
	size_t size;
	struct json_writer writer = tree_begin(&text, &size);

	if (!writer.file)
		return json_object();
	json_write_row(&writer, type, row);
	return tree_end(&writer, &text);
}

json_t *result_to_json(struct store_result *result)
{
	char *text = NULL;
	size_t size;
	struct json_writer writer = tree_begin(&text, &size);

	if (!writer.file)
		return json_object();
	json_write_result(&writer, result);
	return tree_end(&writer, &text);
}

void json_set_value(json_t *object, const char *name, const struct store_value *value)
{
	char *text = NULL;
	size_t size;
	struct json_writer writer = tree_begin(&text, &size);

	if (!writer.file)
		return;
	json_write_member(&writer, name, value);
	json_object_update_new(object, tree_end(&writer, &text));
}

void json_set_string(json_t *object, const char *name, const char *text)
{
	const struct store_value value = text_value(text);

	json_set_value(object, name, &value);
}

void json_set_integer(json_t *object, const char *name, int64_t value)
{
	json_set_value(object, name, &(struct store_value){.type = STORE_VALUE_INTEGER, .integer = value});
}

void json_set_real(json_t *object, const char *name, double value)
{
	json_object_set_new(object, name, isfinite(value) ? json_real(value) : json_null());
}
