/* Rows of the store, read and printed by their description. See rows.h. */
#include "query/rows.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/identity.h"
#include "common/text.h"
#include "query/ask.h"

#define FIELD_I(name) {#name, ROW_FIELD_INTEGER, offsetof(struct ROW_TYPE, name)},
#define FIELD_T(name) {#name, ROW_FIELD_TEXT, offsetof(struct ROW_TYPE, name)},
#define FIELD_B(name) {#name, ROW_FIELD_BLOB, offsetof(struct ROW_TYPE, name)},
/* The texts that the schema has as NOT NULL are named last; tests/check_cli_rows.c compares. */
#define DESCRIBE(name, COLUMNS, known)                                                       \
	static const struct row_field name##_fields[] = {COLUMNS(FIELD_I, FIELD_T, FIELD_B)}; \
	const struct row_type row_type_##name = {                                             \
		sizeof(struct row_##name), sizeof(name##_fields) / sizeof(name##_fields[0]),  \
		name##_fields, " " known " ",                                                 \
	};

#define ROW_TYPE row_host
#define HOST_KNOWN "host_key hostname boot_id kernel machine probe_version"
DESCRIBE(host, ROW_HOST_COLUMNS, HOST_KNOWN)
/* Whose first member is a host. */
static const struct row_field cloud_host_fields[] = {
	ROW_HOST_COLUMNS(FIELD_I, FIELD_T, FIELD_B)
#undef ROW_TYPE
#define ROW_TYPE row_cloud_host
	ROW_CLOUD_COLUMNS(FIELD_T)
};
const struct row_type row_type_cloud_host = {
	sizeof(struct row_cloud_host), sizeof(cloud_host_fields) / sizeof(cloud_host_fields[0]),
	cloud_host_fields, " " HOST_KNOWN " ",
};
#undef ROW_TYPE
#define ROW_TYPE row_container
DESCRIBE(container, ROW_CONTAINER_COLUMNS, "runtime runtime_id cgroup_path")
#undef ROW_TYPE
#define ROW_TYPE row_run
DESCRIBE(run, ROW_RUN_COLUMNS, "kind name status reason")
/* Whose first member is a run. */
static const struct row_field part_fields[] = {
	ROW_RUN_COLUMNS(FIELD_I, FIELD_T, FIELD_B)
	{"joined_id", ROW_FIELD_INTEGER, offsetof(struct row_part, joined_id)},
};
const struct row_type row_type_part = {
	sizeof(struct row_part), sizeof(part_fields) / sizeof(part_fields[0]), part_fields, " kind name status reason ",
};
#undef ROW_TYPE
#define ROW_TYPE row_task
DESCRIBE(task, ROW_TASK_COLUMNS, "kind name status reason")
#undef ROW_TYPE
#define ROW_TYPE row_tool
DESCRIBE(tool, ROW_TOOL_COLUMNS, "name role")
#undef ROW_TYPE
#define ROW_TYPE row_process
DESCRIBE(process, ROW_PROCESS_COLUMNS, "began totals role reason program")
#undef ROW_TYPE
#define ROW_TYPE row_sample
DESCRIBE(sample, ROW_SAMPLE_COLUMNS, "")
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

/* Stands for a text that every row has, where one has not. */
static const char missing[] = "-";

static void *field_at(const void *row, const struct row_field *field)
{
	return (char *)row + field->offset;
}

int64_t row_subtract(int64_t left, int64_t right)
{
	int64_t result;

	return left == ROW_NULL || right == ROW_NULL || __builtin_sub_overflow(left, right, &result)
		       ? ROW_NULL : result;
}

int64_t row_add(int64_t left, int64_t right)
{
	int64_t result;

	return left == ROW_NULL || right == ROW_NULL || __builtin_add_overflow(left, right, &result)
		       ? ROW_NULL : result;
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

/* Which column of the result each field is: mostly in the same order. */
static void columns_find(struct row_cursor *cursor)
{
	size_t width = store_result_width(cursor->result), next = 0;

	for (size_t i = 0; i < cursor->type->field_count; i++) {
		const char *name = cursor->type->fields[i].name;
		size_t tried = 0;

		for (; tried < width; tried++, next++)
			if (strcmp(store_result_name(cursor->result, next % width), name) == 0)
				break;
		/* The store says that there is none. */
		cursor->columns[i] = tried < width ? next++ % width : store_result_find(cursor->result, name);
	}
}

int row_cursor_open(struct row_cursor *cursor, const struct row_type *type, struct store *store,
		    const char *query, const struct store_parameter *parameters)
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
		*(int64_t *)field_at(row, field) =
			value->type == STORE_VALUE_INTEGER ? value->integer : ROW_NULL;
	else if (field->kind == ROW_FIELD_BLOB)
		*(struct row_blob *)field_at(row, field) =
			(struct row_blob){has_data ? value->data : NULL, has_data ? value->size : 0};
	else
		*(const char **)field_at(row, field) =
			has_data ? value->data : rows_text_is_known(type, field->name) ? missing : NULL;
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

/* ---- arrays ------------------------------------------------------------------ */

struct rows_texts {
	struct rows_texts *next;
	size_t used, capacity;
	char data[];
};

/* A copy with a NUL behind it; NULL: out of memory. */
static const char *text_keep(struct rows *rows, const char *data, size_t size)
{
	struct rows_texts *texts = rows->texts;
	size_t capacity = texts && texts->capacity < 32768 ? 2 * texts->capacity : texts ? texts->capacity : 1024;
	char *copy;

	if (!texts || texts->capacity - texts->used <= size) {
		capacity = capacity > size ? capacity : size + 1;
		texts = malloc(sizeof(*texts) + capacity);
		if (!texts)
			return NULL;
		*texts = (struct rows_texts){.next = rows->texts, .capacity = capacity};
		rows->texts = texts;
	}
	copy = memcpy(texts->data + texts->used, data, size);
	copy[size] = '\0';
	texts->used += size + 1;
	return copy;
}

static void *rows_grow(struct rows *rows)
{
	size_t capacity = rows->capacity ? rows->capacity * 2 : 4;
	void *items;

	if (rows->count == rows->capacity) {
		items = reallocarray(rows->items, capacity, rows->type->size);
		if (!items)
			return NULL;
		rows->items = items;
		rows->capacity = capacity;
	}
	return (char *)rows->items + rows->count * rows->type->size;
}

/* The last row's texts become its own. */
static int texts_own(struct rows *rows, void *row)
{
	for (size_t i = 0; i < rows->type->field_count; i++) {
		const struct row_field *field = &rows->type->fields[i];
		bool is_text = field->kind == ROW_FIELD_TEXT, is_blob = field->kind == ROW_FIELD_BLOB;
		const char **text = field_at(row, field);
		struct row_blob *blob = field_at(row, field);

		if (is_text && *text && *text != missing && !(*text = text_keep(rows, *text, strlen(*text))))
			return -ENOMEM;
		if (is_blob && blob->data && !(blob->data = text_keep(rows, blob->data, blob->size)))
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

int rows_load_up_to(size_t most, struct rows *rows, const struct row_type *type, struct store *store,
		    const char *query, const struct store_parameter *parameters)
{
	struct row_cursor cursor;
	int more = row_cursor_open(&cursor, type, store, query, parameters);
	void *row;

	if (more < 0)
		return more;
	*rows = (struct rows){.type = type};
	while ((row = rows_grow(rows)) && (more = row_cursor_next(&cursor, row)) > 0) {
		more = rows->count == most ? -EFBIG : texts_own(rows, row);
		if (more < 0)
			break;
	}
	row_cursor_close(&cursor);
	more = row ? more : -ENOMEM;
	if (more < 0)
		rows_free(rows);
	return more;
}

int rows_load(struct rows *rows, const struct row_type *type, struct store *store,
	      const char *query, const struct store_parameter *parameters)
{
	return rows_load_up_to(SIZE_MAX, rows, type, store, query, parameters);
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

void rows_free(struct rows *rows)
{
	struct rows_texts *texts;

	while ((texts = rows->texts)) {
		rows->texts = texts->next;
		free(texts);
	}
	free(rows->items);
	*rows = (struct rows){0};
}

/* ---- JSON -------------------------------------------------------------------- */

static bool is_utf8(const char *text, size_t size)
{
	for (size_t i = 0, step; i < size; i += step) {
		step = text_utf8_size(text + i, size - i);
		if (step == 0)
			return false;
	}
	return true;
}

/* A JSON string; `*ret_escaped` where the bytes could not stand as they are. */
static json_t *text_to_json(const char *text, size_t size, bool *ret_escaped)
{
	json_t *string = NULL;
	char *safe;

	if (is_utf8(text, size))
		return json_stringn(text, size);
	safe = malloc(4 * size + 1);
	if (safe) {
		string = json_stringn(safe, text_escape(text, size, safe, 4 * size + 1));
		free(safe);
	}
	*ret_escaped = true;
	return string;
}

static void json_mark_escaped(json_t *object, const char *name)
{
	char mark[80];

	snprintf(mark, sizeof(mark), "%s_escaped", name);
	json_object_set_new(object, mark, json_true());
}

void json_set_string(json_t *object, const char *name, const char *text)
{
	bool escaped = false;

	json_object_set_new(object, name,
			    text ? text_to_json(text, strlen(text), &escaped) : json_null());
	if (escaped)
		json_mark_escaped(object, name);
}

void json_set_integer(json_t *object, const char *name, int64_t value)
{
	json_object_set_new(object, name, value == ROW_NULL ? json_null() : json_integer(value));
}

void json_set_id(json_t *object, const char *name, int64_t id)
{
	char text[IDENTITY_TEXT_SIZE];

	if (id != ROW_NULL)
		identity_format(id, text);
	json_object_set_new(object, name, id == ROW_NULL ? json_null() : json_string(text));
}

void json_set_arguments(json_t *object, const char *name, const struct row_blob *blob)
{
	const char *data = blob->data;
	json_t *array;
	bool escaped = false;

	if (!data) {
		json_object_set_new(object, name, json_null());
		return;
	}
	array = json_array();
	for (size_t i = 0; i < blob->size;) {
		size_t size = strnlen(data + i, blob->size - i);

		json_array_append_new(array, text_to_json(data + i, size, &escaped));
		i += size + 1;
	}
	json_object_set_new(object, name, array);
	if (escaped)
		json_mark_escaped(object, name);
}

void json_set_column(json_t *object, const char *name, int64_t value)
{
	if (identity_is_column(name))
		json_set_id(object, name, value);
	else
		json_set_integer(object, name, value);
}

json_t *row_to_json(const struct row_type *type, const void *row)
{
	json_t *object = json_object();

	for (size_t i = 0; i < type->field_count; i++) {
		const struct row_field *field = &type->fields[i];
		const void *value = field_at(row, field);

		if (field->kind == ROW_FIELD_TEXT && *(const char *const *)value == missing)
			json_set_string(object, field->name, NULL);
		else if (field->kind == ROW_FIELD_TEXT)
			json_set_string(object, field->name, *(const char *const *)value);
		else if (field->kind == ROW_FIELD_BLOB)
			json_set_arguments(object, field->name, value);
		else
			json_set_column(object, field->name, *(const int64_t *)value);
	}
	return object;
}

/* ---- JSON, written at once ------------------------------------------------------ */

/* Pieces on their way to a file: a call of its functions for each would take as long as all else. */
struct pieces {
	FILE *file;
	size_t used;
	char data[4096];
};

static void pieces_flush(struct pieces *pieces)
{
	fwrite_unlocked(pieces->data, 1, pieces->used, pieces->file);
	pieces->used = 0;
}

static void put(struct pieces *pieces, const char *data, size_t size)
{
	if (size > sizeof(pieces->data) - pieces->used)
		pieces_flush(pieces);
	if (size > sizeof(pieces->data)) {
		fwrite_unlocked(data, 1, size, pieces->file);
		return;
	}
	memcpy(pieces->data + pieces->used, data, size);
	pieces->used += size;
}

static void put_text(struct pieces *pieces, const char *text)
{
	put(pieces, text, strlen(text));
}

static void put_integer(struct pieces *pieces, int64_t value)
{
	char digits[24], *at = digits + sizeof(digits);
	uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;

	do
		*--at = (char)('0' + rest % 10);
	while (rest /= 10);
	if (value < 0)
		*--at = '-';
	put(pieces, at, (size_t)(digits + sizeof(digits) - at));
}

static bool is_plain(const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (text[i] < 0x20 || text[i] >= 0x7f || text[i] == '"' || text[i] == '\\')
			return false;
	return true;
}

static int put_string(struct pieces *pieces, const char *text, size_t size, bool *ret_escaped)
{
	json_t *string;
	char *escaped;

	if (is_plain(text, size)) { /* nearly always */
		put(pieces, "\"", 1);
		put(pieces, text, size);
		put(pieces, "\"", 1);
		return 0;
	}
	string = text_to_json(text, size, ret_escaped);
	escaped = json_dumps(string, JSON_ENCODE_ANY | JSON_ENSURE_ASCII);
	json_decref(string);
	if (!escaped)
		return -ENOMEM;
	put_text(pieces, escaped);
	free(escaped);
	return 0;
}

static int put_arguments(struct pieces *pieces, const struct row_blob *blob, bool *ret_escaped)
{
	const char *data = blob->data;
	int error = 0;

	put(pieces, "[", 1);
	for (size_t i = 0, size; i < blob->size && error == 0; i += size + 1) {
		size = strnlen(data + i, blob->size - i);
		if (i > 0)
			put(pieces, ",", 1);
		error = put_string(pieces, data + i, size, ret_escaped);
	}
	put(pieces, "]", 1);
	return error;
}

static int put_value(struct pieces *pieces, const struct row_field *field, const void *value, bool *ret_escaped)
{
	const struct row_blob *blob = value;
	const char *text = field->kind == ROW_FIELD_TEXT ? *(const char *const *)value : NULL;
	char id[IDENTITY_TEXT_SIZE];

	if (text && text != missing)
		return put_string(pieces, text, strlen(text), ret_escaped);
	if (field->kind == ROW_FIELD_BLOB && blob->data)
		return put_arguments(pieces, blob, ret_escaped);
	if (field->kind != ROW_FIELD_INTEGER || *(const int64_t *)value == ROW_NULL)
		put_text(pieces, "null");
	else if (!identity_is_column(field->name))
		put_integer(pieces, *(const int64_t *)value);
	else {
		identity_format(*(const int64_t *)value, id);
		return put_string(pieces, id, strlen(id), ret_escaped);
	}
	return 0;
}

int row_write_json(FILE *file, const struct row_type *type, const void *row)
{
	struct pieces pieces;
	int error = 0;

	pieces.file = file;
	pieces.used = 0;
	for (size_t i = 0; i < type->field_count && error == 0; i++) {
		const struct row_field *field = &type->fields[i];
		bool escaped = false;

		put_text(&pieces, i > 0 ? ",\"" : "\"");
		put_text(&pieces, field->name);
		put(&pieces, "\":", 2);
		error = put_value(&pieces, field, field_at(row, field), &escaped);
		if (escaped) {
			put(&pieces, ",\"", 2);
			put_text(&pieces, field->name);
			put_text(&pieces, "_escaped\":true");
		}
	}
	pieces_flush(&pieces);
	return error;
}
