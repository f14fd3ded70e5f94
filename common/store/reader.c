/* How SQLite is read. See driver.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/store/internal.h"

struct sqlite_result {
	struct store_result base;
	sqlite3_stmt *statement;
};

static int parameters_bind(sqlite3_stmt *statement, const struct store_parameter *parameters)
{
	char name[64];
	int index, rc;

	for (; parameters && parameters->name; parameters++) {
		snprintf(name, sizeof(name), ":%s", parameters->name);
		index = sqlite3_bind_parameter_index(statement, name);
		if (index == 0)
			return SQLITE_RANGE;
		rc = SQLITE_OK;
		if (parameters->type == STORE_INTEGER)
			rc = sqlite3_bind_int64(statement, index, parameters->integer);
		else if (parameters->type == STORE_TEXT)
			rc = sqlite3_bind_text(statement, index, parameters->text, -1,
					       SQLITE_TRANSIENT);
		if (rc != SQLITE_OK)
			return rc;
	}
	return SQLITE_OK;
}

static sqlite3_stmt *statement_of(const struct store_result *result)
{
	return ((const struct sqlite_result *)result)->statement;
}

static void result_free(struct store_result *result)
{
	sqlite3_finalize(statement_of(result));
	free(result);
}

static int query_run(struct store *store, const char *name, const char *sql,
		     const struct store_parameter *parameters, struct store_result **ret_result)
{
	struct sqlite_result *result = calloc(1, sizeof(*result));
	int rc, error;

	if (!result)
		return store_fail(store, SQLITE_NOMEM, name);
	rc = sqlite3_prepare_v2(store->db, sql, -1, &result->statement, NULL);
	if (rc == SQLITE_OK)
		rc = parameters_bind(result->statement, parameters);
	if (rc != SQLITE_OK) {
		error = store_fail(store, rc, name);
		result_free(&result->base);
		return rc == SQLITE_RANGE ? -EINVAL : error;
	}
	*ret_result = &result->base;
	return 0;
}

static int result_next(struct store_result *result)
{
	int rc = sqlite3_step(statement_of(result));

	if (rc == SQLITE_ROW)
		return 1;
	return rc == SQLITE_DONE ? 0 : store_fail(result->store, rc, "cannot read the store");
}

static size_t result_width(const struct store_result *result)
{
	return (size_t)sqlite3_column_count(statement_of(result));
}

static const char *result_column(const struct store_result *result, size_t column)
{
	return sqlite3_column_name(statement_of(result), (int)column);
}

static struct store_value result_value(struct store_result *result, size_t column)
{
	sqlite3_stmt *statement = statement_of(result);
	struct store_value value = {0};
	int index = (int)column;

	switch (sqlite3_column_type(statement, index)) {
	case SQLITE_INTEGER:
		value.type = STORE_VALUE_INTEGER;
		value.integer = sqlite3_column_int64(statement, index);
		break;
	case SQLITE_FLOAT:
		value.type = STORE_VALUE_REAL;
		value.real = sqlite3_column_double(statement, index);
		break;
	case SQLITE_TEXT:
		value.type = STORE_VALUE_TEXT;
		value.data = (const char *)sqlite3_column_text(statement, index);
		value.size = (size_t)sqlite3_column_bytes(statement, index);
		break;
	case SQLITE_BLOB:
		value.type = STORE_VALUE_BLOB;
		value.data = sqlite3_column_blob(statement, index);
		value.size = (size_t)sqlite3_column_bytes(statement, index);
		if (!value.data)
			value.data = ""; /* SQLite's empty blob */
		break;
	default:
		break;
	}
	return value;
}

static int begin_reading(struct store *store)
{
	return store_exec(store, "BEGIN");
}

static void end_reading(struct store *store)
{
	if (!sqlite3_get_autocommit(store->db))
		sqlite3_exec(store->db, "COMMIT", NULL, NULL, NULL);
}

const struct store_driver store_driver_sqlite = {
	.close = store_destroy,
	.begin_reading = begin_reading,
	.end_reading = end_reading,
	.read_stream = store_read_stream_row,
	.query = query_run,
	.next = result_next,
	.width = result_width,
	.column = result_column,
	.value = result_value,
	.free = result_free,
};
