/* Rows of a store or a lake read into the structures of common/store/rows.h.
 *
 * Everything comes from one description per table, derived from the columns' list:
 * reading a query's result, owning its text, printing it as JSON.
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
	const char *known_texts; /* their names, a space around each */
};

#define R(NAME, name, table, key) extern const struct row_type row_type_##name;
ROWS(R)
#undef R

/* A part of a run that several hosts share, and the run that stands for all of its parts: itself,
 * for the first. */
struct row_part {
	struct row_run run;
	int64_t joined_id;
};
extern const struct row_type row_type_part;

/* A host, and which machine of a cloud it is. The shipper learns that, so only a lake knows; in a
 * host's own store all of it is NULL. */
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
};
extern const struct row_type row_type_cloud_host;

/* What query/lookups/top.sql says of a tool. */
/* clang-format off */
#define ROW_TOP_COLUMNS(I, T, B) \
	I(run_id) T(run) I(task_id) T(task) I(tool_id) T(tool) \
	I(user_id)       /* ROW_NULL of several */ \
	I(process_count) /* that run */ \
	I(ended_count)   /* recently */ \
	I(begin_boot_ns) I(idle) \
	I(cores)         /* billionths */ \
	I(rss_bytes)     /* shared pages count in each process */ \
	I(read_bytes_per_second) I(write_bytes_per_second) I(tool_count) I(is_system)
/* clang-format on */

struct row_top {
#define I(name) int64_t name;
#define T(name) const char *name;
	ROW_TOP_COLUMNS(I, T, B)
#undef I
#undef T
};
extern const struct row_type row_type_top;

/* Differences and sums of figures: ROW_NULL where one is unknown or there is no place for the
 * result. What is read may be anybody's. */
int64_t row_subtract(int64_t left, int64_t right);
int64_t row_add(int64_t left, int64_t right);

/* The rows of a query one by one, columns found by their names. Texts that every row of the store
 * has (rows_text_is_known) are there whatever the answer: "-" where a lake has NULL instead. */
#define ROW_FIELDS_MAX 64

struct row_cursor {
	const struct row_type *type;
	struct store_result *result;
	size_t columns[ROW_FIELDS_MAX];
};

/* 0 or what the store says; then row_cursor_close() is not needed. */
int row_cursor_open(struct row_cursor *cursor, const struct row_type *type, struct store *store, const char *query,
		    const struct store_parameter *parameters);
/* 1: `row`, a structure of the type, whose texts are there until the next call; 0: the end; -errno:
 * -EPROTO where the query lacks one of the type's columns. */
int row_cursor_next(struct row_cursor *cursor, void *row);
void row_cursor_close(struct row_cursor *cursor);

/* A column of a result's current row: ROW_NULL or NULL where it is none of these. */
int64_t result_integer(struct store_result *result, const char *column);
const char *result_text(struct store_result *result, const char *column);

/* An array of rows; text and blobs belong to it. Zero it before use. */
struct rows {
	const struct row_type *type;
	void *items;
	size_t count;
	size_t capacity;
	struct arena texts;
};

#define ROWS_ITEM(rows, name, index) (&((struct row_##name *)(rows)->items)[index])

/* All rows of a query. 0, -ENOMEM or what the store says. */
int rows_load(struct rows *rows, const struct row_type *type, struct store *store, const char *query,
	      const struct store_parameter *parameters);
/* A copy of the row behind the others, which are of the same type. 0 or -ENOMEM. */
int rows_add(struct rows *rows, const struct row_type *type, const void *row);
void rows_free(struct rows *rows);

/* Of rows in the order of a number, `at` bytes into each: the index of the first that has it, and
 * how many do. */
size_t rows_find(const struct rows *rows, size_t at, int64_t number, size_t *ret_count);

/* Whether no row of that type in a store has NULL as this text. */
bool rows_text_is_known(const struct row_type *type, const char *name);

/* JSON on its way to a file, in ASCII alone and many times faster than as a tree. Zero but for the
 * file. */
struct json_writer {
	FILE *file;
	int error;        /* the first: -ENOMEM, or -EIO */
	bool has_members; /* the object that was begun last */
	size_t used;
	char data[4096];
};

/* What stands between values, as it is. */
void json_write_text(struct json_writer *writer, const char *text);
/* "{"; what ends it is text. */
void json_write_object(struct json_writer *writer);
/* Text, or arguments each ended by NUL as an array, is escaped where it is not UTF-8, and then with
 * "NAME_escaped": true. Ids, as the name tells, are 16 hexadecimal digits. Unknown is null. */
void json_write_member(struct json_writer *writer, const char *name, const struct store_value *value);
void json_write_integer(struct json_writer *writer, const char *name, int64_t value);
void json_write_string(struct json_writer *writer, const char *name, const char *text);
/* Whether the column is left out of answers: the revision says in which order rows were written, not
 * what ran (docs/json.md). */
bool row_is_private(const char *column);

/* All columns of a row, and of the current row of a result. */
void json_write_row(struct json_writer *writer, const struct row_type *type, const void *row);
void json_write_result(struct json_writer *writer, struct store_result *result);
/* The first error. What could not be written shows in ferror() too. */
int json_write_end(struct json_writer *writer);

/* The same in a tree: objects of a row, or of the current row of a result. */
json_t *row_to_json(const struct row_type *type, const void *row);
json_t *result_to_json(struct store_result *result);
void json_set_value(json_t *object, const char *name, const struct store_value *value);
void json_set_string(json_t *object, const char *name, const char *text);
/* An id or a number, as the name tells; ROW_NULL is null. */
void json_set_integer(json_t *object, const char *name, int64_t value);
