/* Rows of the store, read and printed by their description. See rows.h. */
#include "cli/rows.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/identity.h"
#include "common/text.h"

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

#define FIELDS_MAX 64

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

static int field_read(const struct row_type *type, const struct row_field *field, void *row,
		      const struct store_value *value)
{
	struct row_blob *blob = field_at(row, field);
	const char **text = field_at(row, field);
	char *copy = NULL;

	if (field->kind == ROW_FIELD_INTEGER) {
		*(int64_t *)field_at(row, field) =
			value->type == STORE_VALUE_INTEGER ? value->integer : ROW_NULL;
		return 0;
	}
	if (value->type == STORE_VALUE_TEXT || value->type == STORE_VALUE_BLOB) {
		copy = malloc(value->size + 1);
		if (!copy)
			return -ENOMEM;
		memcpy(copy, value->data, value->size);
		copy[value->size] = '\0';
	}
	if (field->kind == ROW_FIELD_BLOB)
		*blob = (struct row_blob){copy, copy ? value->size : 0};
	else
		*text = copy || !rows_text_is_known(type, field->name) ? copy : missing;
	return 0;
}

/* Which column of the result each field is. */
static void columns_find(const struct row_type *type, struct store_result *result,
			 size_t columns[FIELDS_MAX])
{
	for (size_t i = 0; i < type->field_count; i++)
		columns[i] = store_result_find(result, type->fields[i].name);
}

static void *rows_grow(struct rows *rows)
{
	size_t capacity = rows->capacity ? rows->capacity * 2 : 16;
	void *items;

	if (rows->count == rows->capacity) {
		items = reallocarray(rows->items, capacity, rows->type->size);
		if (!items)
			return NULL;
		rows->items = items;
		rows->capacity = capacity;
	}
	return memset((char *)rows->items + rows->count++ * rows->type->size, 0, rows->type->size);
}

static int result_read(struct rows *rows, struct store_result *result)
{
	size_t columns[FIELDS_MAX];
	int more;

	columns_find(rows->type, result, columns);
	while ((more = store_result_next(result)) > 0) {
		void *row = rows_grow(rows);

		if (!row)
			return -ENOMEM;
		for (size_t i = 0; i < rows->type->field_count; i++) {
			struct store_value value = store_result_value(result, columns[i]);
			int error = field_read(rows->type, &rows->type->fields[i], row, &value);

			if (error < 0)
				return error;
		}
	}
	return more;
}

int rows_load(struct rows *rows, const struct row_type *type, struct store *store,
	      const char *query, const struct store_parameter *parameters)
{
	struct store_result *result;
	int error = store_query(store, query, parameters, &result);

	if (error < 0)
		return error;
	*rows = (struct rows){.type = type};
	error = result_read(rows, result);
	store_result_free(result);
	if (error < 0)
		rows_free(rows);
	return error;
}

int rows_append(struct rows *rows, struct rows *more)
{
	size_t count = rows->count + more->count, size = more->type->size;
	void *items = count ? reallocarray(rows->items, count, size) : rows->items;

	if (count && !items)
		return -ENOMEM;
	rows->type = more->type;
	rows->items = items;
	if (more->count)
		memcpy((char *)items + rows->count * size, more->items, more->count * size);
	rows->count = rows->capacity = count;
	free(more->items);
	*more = (struct rows){0};
	return 0;
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
	for (size_t i = 0; i < rows->count; i++) {
		void *row = (char *)rows->items + i * rows->type->size;

		for (size_t j = 0; j < rows->type->field_count; j++) {
			const struct row_field *field = &rows->type->fields[j];

			if (field->kind == ROW_FIELD_TEXT && *(char **)field_at(row, field) != missing)
				free(*(char **)field_at(row, field));
			else if (field->kind == ROW_FIELD_BLOB)
				free((void *)((struct row_blob *)field_at(row, field))->data);
		}
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

int json_print(const json_t *root)
{
	int result = json_dumpf(root, stdout, JSON_INDENT(2) | JSON_ENSURE_ASCII);

	return result < 0 || fputc('\n', stdout) == EOF ? -EIO : 0;
}
