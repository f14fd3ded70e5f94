/* Reading: the queries of queries/, found by name. See store.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/store/internal.h"

struct store_result {
	struct store *store;
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

static int query_run(struct store *store, const char *name, const char *sql,
		     const struct store_parameter *parameters, struct store_result **ret_result)
{
	struct store_result *result = calloc(1, sizeof(*result));
	int rc, error;

	if (!result)
		return store_fail(store, SQLITE_NOMEM, name);
	result->store = store;
	rc = sqlite3_prepare_v2(store->db, sql, -1, &result->statement, NULL);
	if (rc == SQLITE_OK)
		rc = parameters_bind(result->statement, parameters);
	if (rc != SQLITE_OK) {
		error = store_fail(store, rc, name);
		store_result_free(result);
		return rc == SQLITE_RANGE ? -EINVAL : error;
	}
	*ret_result = result;
	return 0;
}

int store_query(struct store *store, const char *query, const struct store_parameter *parameters,
		struct store_result **ret_result)
{
	const char *sql = store_query_text(query);

	if (!sql) {
		snprintf(store->error, sizeof(store->error), "no query is named %s", query);
		return -EINVAL;
	}
	return query_run(store, query, sql, parameters, ret_result);
}

int store_query_entity(struct store *store, size_t index, int64_t after_rev, int64_t limit,
		       struct store_result **ret_result)
{
	const struct store_parameter parameters[] = {
		{"cursor", STORE_INTEGER, after_rev, NULL}, {"limit", STORE_INTEGER, limit, NULL}, {0}};

	return query_run(store, store_entity_name(index), store_entity_text(index), parameters,
			 ret_result);
}

int store_result_next(struct store_result *result)
{
	int rc = sqlite3_step(result->statement);

	if (rc == SQLITE_ROW)
		return 1;
	return rc == SQLITE_DONE ? 0 : store_fail(result->store, rc, "cannot read the store");
}

size_t store_result_width(const struct store_result *result)
{
	return (size_t)sqlite3_column_count(result->statement);
}

const char *store_result_name(const struct store_result *result, size_t column)
{
	return sqlite3_column_name(result->statement, (int)column);
}

struct store_value store_result_value(struct store_result *result, size_t column)
{
	sqlite3_stmt *statement = result->statement;
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

struct store_value store_result_get(struct store_result *result, const char *column)
{
	size_t width = store_result_width(result);

	for (size_t i = 0; i < width; i++)
		if (strcmp(store_result_name(result, i), column) == 0)
			return store_result_value(result, i);
	fprintf(stderr, "tracer: a query has no column %s: %s\n", column,
		sqlite3_sql(result->statement));
	abort();
}

void store_result_free(struct store_result *result)
{
	if (!result)
		return;
	sqlite3_finalize(result->statement);
	free(result);
}

int store_begin_reading(struct store *store)
{
	return store_exec(store, "BEGIN");
}

void store_end_reading(struct store *store)
{
	if (!sqlite3_get_autocommit(store->db))
		sqlite3_exec(store->db, "COMMIT", NULL, NULL, NULL);
}
