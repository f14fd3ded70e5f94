/* The SQLite driver. See driver.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/store/internal.h"

struct sqlite_result {
	struct store_result base;
	sqlite3_stmt *statement;
	bool is_own; /* not a user-supplied query */
};

int store_bind_parameter(sqlite3_stmt *statement, const struct store_parameter *parameter,
			 sqlite3_destructor_type texts)
{
	char name[64];
	int index;

	snprintf(name, sizeof(name), ":%s", parameter->name);
	index = sqlite3_bind_parameter_index(statement, name);
	if (index == 0)
		return SQLITE_RANGE;
	switch (parameter->type) {
	case STORE_INTEGER: return sqlite3_bind_int64(statement, index, parameter->integer);
	case STORE_TEXT: return sqlite3_bind_text(statement, index, parameter->text, -1, texts);
	case STORE_REAL: return sqlite3_bind_double(statement, index, parameter->real);
	case STORE_BLOB:
		return sqlite3_bind_blob64(statement, index, parameter->text, (sqlite3_uint64)parameter->integer,
					   texts);
	default: return SQLITE_OK;
	}
}

static sqlite3_stmt *statement_of(const struct store_result *result)
{
	return ((const struct sqlite_result *)result)->statement;
}

/* Returns true if the rest of the text after a statement is only blanks and semicolons. */
static bool is_whole(const char *rest)
{
	return rest[strspn(rest, " \t\r\n;")] == '\0';
}

/* A report runs the same queries for each task: the last statements used are cached. */
static void statement_keep(struct store *store, sqlite3_stmt *statement)
{
	sqlite3_finalize(store->kept[STORE_STATEMENTS_KEPT - 1]);
	memmove(&store->kept[1], &store->kept[0], (STORE_STATEMENTS_KEPT - 1) * sizeof(store->kept[0]));
	store->kept[0] = statement;
	sqlite3_reset(statement);
	sqlite3_clear_bindings(statement);
}

/* Takes a statement from the cache; returns NULL if it is not there. */
static sqlite3_stmt *statement_take(struct store *store, const char *sql)
{
	for (size_t i = 0; i < STORE_STATEMENTS_KEPT; i++) {
		sqlite3_stmt *statement = store->kept[i];
		size_t size = statement ? strlen(sqlite3_sql(statement)) : 0;

		/* The statement ends at its semicolon; the file may have blanks after it. */
		if (!statement || strncmp(sqlite3_sql(statement), sql, size) != 0 || !is_whole(sql + size))
			continue;
		store->kept[i] = NULL;
		return statement;
	}
	return NULL;
}

static void result_free(struct store_result *result)
{
	if (((struct sqlite_result *)result)->is_own && statement_of(result))
		statement_keep(result->store, statement_of(result));
	else
		sqlite3_finalize(statement_of(result));
	sqlite3_progress_handler(result->store->db, 0, NULL, NULL);
	free(result);
}

void store_forget_statements(struct store *store)
{
	for (size_t i = 0; i < STORE_STATEMENTS_KEPT; i++) {
		sqlite3_finalize(store->kept[i]);
		store->kept[i] = NULL;
	}
}

static void reader_close(struct store *store)
{
	store_forget_statements(store);
	sqlite3_close(store->db);
	free(store);
}

/* ---- user-supplied queries ----------------------------------------------------- */

#define USER_QUERY_VALUE_BYTES_MAX (16 << 20) /* size limit of one value */
#define PROGRESS_STEPS 10000                  /* SQLite VM instructions: about 100 us */

/* Such queries may only read tables and views, and call functions. */
static int authorize(void *context, int action, const char *a, const char *b, const char *database, const char *trigger)
{
	return action == SQLITE_SELECT || action == SQLITE_READ || action == SQLITE_FUNCTION ||
			       action == SQLITE_RECURSIVE
		       ? SQLITE_OK
		       : SQLITE_DENY;
}

static int is_late(void *context)
{
	return clock_boot_ns() > *(const uint64_t *)context;
}

static int user_query_refuse(struct store *store, const char *name, const char *why)
{
	snprintf(store->base.error, sizeof(store->base.error), "%s: %s", name, why);
	return -EPERM;
}

/* Sets the error to "NAME:LINE: " and SQLite's message, since a user-supplied text may have errors. */
static int user_query_explain(struct store *store, int rc, const struct store_text *text)
{
	char where[320];
	unsigned line = 1;
	int offset = -1;

#if SQLITE_VERSION_NUMBER >= 3038000
	offset = sqlite3_error_offset(store->db);
#endif
	for (int i = 0; i < offset; i++)
		line += text->sql[i] == '\n';
	snprintf(where, sizeof(where), offset < 0 ? "%s" : "%s:%u", text->name, line);
	return store_fail(store, rc, where);
}

/* ---- queries ------------------------------------------------------------------- */

static int statement_prepare(struct store *store, const struct store_text *text, sqlite3_stmt **ret_statement)
{
	const char *rest = "";
	int rc;

	if (text->limit_s) {
		sqlite3_set_authorizer(store->db, authorize, NULL);
		sqlite3_limit(store->db, SQLITE_LIMIT_LENGTH, USER_QUERY_VALUE_BYTES_MAX);
	}
	rc = sqlite3_prepare_v2(store->db, text->sql, -1, ret_statement, &rest);
	if (text->limit_s)
		sqlite3_set_authorizer(store->db, NULL, NULL);
	if (rc == SQLITE_AUTH)
		return text->limit_s ? user_query_refuse(store, text->name, "a query may only read")
				     : store_refuse_part(store, text->name);
	if (rc != SQLITE_OK)
		return text->limit_s ? user_query_explain(store, rc, text) : store_fail(store, rc, text->name);
	if (text->limit_s && (!*ret_statement || !is_whole(rest)))
		return user_query_refuse(store, text->name, "a query must be a single statement");
	return 0;
}

static int query_run(struct store *store, const struct store_text *text, const struct store_parameter *parameters,
		     struct store_result **ret_result)
{
	struct sqlite_result *result = calloc(1, sizeof(*result));
	int rc = SQLITE_OK, error;

	if (!result)
		return store_fail(store, SQLITE_NOMEM, text->name);
	result->base.store = store;
	result->is_own = !text->limit_s;
	result->statement = result->is_own ? statement_take(store, text->sql) : NULL;
	error = result->statement ? 0 : statement_prepare(store, text, &result->statement);
	for (; error == 0 && rc == SQLITE_OK && parameters && parameters->name; parameters++)
		rc = store_bind_parameter(result->statement, parameters, SQLITE_TRANSIENT);
	if (rc != SQLITE_OK) {
		error = store_fail(store, rc, text->name);
		error = rc == SQLITE_RANGE ? -EINVAL : error;
	}
	if (error < 0) {
		result_free(&result->base);
		return error;
	}
	if (text->limit_s) {
		store->deadline_boot_ns = clock_boot_ns() + text->limit_s * UINT64_C(1000000000);
		sqlite3_progress_handler(store->db, PROGRESS_STEPS, is_late, &store->deadline_boot_ns);
	}
	*ret_result = &result->base;
	return 0;
}

static int result_next(struct store_result *result)
{
	int rc = sqlite3_step(statement_of(result));

	if (rc == SQLITE_ROW)
		return 1;
	if (rc != SQLITE_INTERRUPT)
		return rc == SQLITE_DONE ? 0 : store_fail(result->store, rc, "cannot read the store");
	snprintf(result->store->base.error, sizeof(result->store->base.error), "%s: exceeded the time limit of a query",
		 result->query);
	return -ETIME;
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
	/* Used at once, by the only thread: it needs no protection, and to find it once takes half the time. */
	sqlite3_value *found = sqlite3_column_value(statement_of(result), (int)column);
	struct store_value value = {0};

	switch (sqlite3_value_type(found)) {
	case SQLITE_INTEGER:
		value.type = STORE_VALUE_INTEGER;
		value.integer = sqlite3_value_int64(found);
		break;
	case SQLITE_FLOAT:
		value.type = STORE_VALUE_REAL;
		value.real = sqlite3_value_double(found);
		break;
	case SQLITE_TEXT:
		value.type = STORE_VALUE_TEXT;
		value.data = (const char *)sqlite3_value_text(found);
		value.size = (size_t)sqlite3_value_bytes(found);
		break;
	case SQLITE_BLOB:
		value.type = STORE_VALUE_BLOB;
		value.data = sqlite3_value_blob(found);
		value.size = (size_t)sqlite3_value_bytes(found);
		if (!value.data)
			value.data = ""; /* SQLite's empty blob */
		break;
	default: break;
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
	.has_stream = true,
	.close = reader_close,
	.begin_reading = begin_reading,
	.end_reading = end_reading,
	.query = query_run,
	.next = result_next,
	.width = result_width,
	.column = result_column,
	.value = result_value,
	.free = result_free,
};
