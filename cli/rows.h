/* Rows of the store read into the structures of common/store/rows.h.
 *
 * Everything comes from one description per table, derived from the columns' list:
 * reading a query's result, owning its text, printing it as JSON.
 */
#ifndef TRACER_CLI_ROWS_H
#define TRACER_CLI_ROWS_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

#include "common/store/rows.h"
#include "common/store/store.h"

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

/* Differences and sums of figures: ROW_NULL where one is unknown or there is no place for the
 * result. What is read may be anybody's. */
int64_t row_subtract(int64_t left, int64_t right);
int64_t row_add(int64_t left, int64_t right);

/* An array of rows; text and blobs belong to it. Zero it before use. */
struct rows {
	const struct row_type *type;
	void *items;
	size_t count;
	size_t capacity;
};

#define ROWS_ITEM(rows, name, index) (&((struct row_##name *)(rows)->items)[index])

/* All rows of a query, columns found by their names. Texts that every row of the store has
 * (rows_text_is_known) are there whatever the answer: "-" where a lake has NULL instead. A query
 * without one of the type's columns ends the program. 0, -ENOMEM or what the store says. */
int rows_load(struct rows *rows, const struct row_type *type, struct store *store,
	      const char *query, const struct store_parameter *parameters);
void rows_free(struct rows *rows);

/* Of rows in the order of a number, `at` bytes into each: the index of the first that has it, and
 * how many do. */
size_t rows_find(const struct rows *rows, size_t at, int64_t number, size_t *ret_count);

/* Whether no row of that type in a store has NULL as this text. */
bool rows_text_is_known(const struct row_type *type, const char *name);

/* Puts what `more` has behind, which is empty afterwards. Both are of one type. 0 or -ENOMEM:
 * nothing is moved. */
int rows_append(struct rows *rows, struct rows *more);

/* A new object with the columns' names. Ids are 16 hexadecimal digits or null. */
json_t *row_to_json(const struct row_type *type, const void *row);

/* "name": text, escaped where it is not UTF-8 and then with "name_escaped": true. */
void json_set_string(json_t *object, const char *name, const char *text);
/* ROW_NULL is null. */
void json_set_integer(json_t *object, const char *name, int64_t value);
void json_set_id(json_t *object, const char *name, int64_t id);
/* An id or a number, as the column's name tells. */
void json_set_column(json_t *object, const char *name, int64_t value);
/* Arguments, each ended by NUL, as an array of strings. */
void json_set_arguments(json_t *object, const char *name, const struct row_blob *blob);

/* To standard output, in ASCII alone: what a name does to terminals is in no byte of it. 0 or
 * -EIO. */
int json_print(const json_t *root);

#endif
