/* Restricts a reader to what ran as one user.
 *
 * A query names tables without their schema, and SQLite looks for a name in the temporary schema first. So there each
 * table gets a view of its name that has only the rows of that user's runs (restricted/, one file each), and the stored
 * views (views.sql) are created once more, over these. No query has to be changed, and none can forget to filter.
 *
 * Then an authorizer refuses everything else: a table that has no such view, a table named as main.TABLE, and all that
 * does more than read. It knows a view by its name, which a WITH clause may have, too. So it protects against faults of
 * our own queries, not against texts of a user: those are refused.
 */
#include "common/store/store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/store/internal.h"
#include "store-restricted.h"
#include "store-views.h"

#define X(text, file) {&#text[sizeof("restricted")], text},
static const struct store_sql tables[] = {STORE_SQL_RESTRICTED(X)};
#undef X

#define TABLE_COUNT (sizeof(tables) / sizeof(tables[0]))
#define USER_FUNCTION "reader_user_id" /* in restricted/ */
#define CREATE "CREATE VIEW "
#define CREATE_TEMP "CREATE TEMP VIEW "

const char *store_restricted_table(size_t index)
{
	return index < TABLE_COUNT ? tables[index].name : NULL;
}

static void user_function(sqlite3_context *context, int count, sqlite3_value **values)
{
	const struct store *store = sqlite3_user_data(context);

	sqlite3_result_int64(context, store->user_id);
}

/* ---- the authorizer ------------------------------------------------------------ */

/* Tables that are not filtered by user. */
static bool is_one_of_all(const char *table)
{
	return strcmp(table, "hosts") == 0 || strcmp(table, "stream") == 0 || strcmp(table, "losses") == 0 ||
	       strcmp(table, "images") == 0;
}

/* `view` is the innermost one in which the table is named; NULL: in none. */
static bool may_read(const char *table, const char *column, const char *schema, const char *view)
{
	if (strcmp(schema, "temp") == 0)
		return strncmp(table, "sqlite_", strlen("sqlite_")) != 0;
	if (view && store_sql_find(tables, TABLE_COUNT, view))
		return true;
	/* What processes executed is stored once for all users: it is read only from a process. */
	if (view && strcmp(view, "processes") == 0)
		return strcmp(table, "images") == 0;
	/* SQLite has merged views whose rows are all visible, and asks for a table of which no column is read: at most, its
	 * rows are counted. */
	return !*column && is_one_of_all(table);
}

static int authorize(void *context, int action, const char *a, const char *b, const char *schema, const char *view)
{
	bool allowed = false;

	switch (action) {
	case SQLITE_SELECT:
	case SQLITE_RECURSIVE:
	case SQLITE_TRANSACTION: allowed = true; break;
	case SQLITE_FUNCTION: allowed = strcmp(b, "load_extension") != 0; break;
	case SQLITE_READ: allowed = may_read(a, b, schema ? schema : "", view); break;
	default: break;
	}
	return allowed ? SQLITE_OK : SQLITE_DENY;
}

/* ---- the views ----------------------------------------------------------------- */

static int create_table_views(struct store *store)
{
	int error = 0;

	for (size_t i = 0; error == 0 && i < TABLE_COUNT; i++) {
		char *sql = NULL;

		if (asprintf(&sql, CREATE_TEMP "%s AS\n%s", tables[i].name, tables[i].sql) < 0)
			return store_fail(store, SQLITE_NOMEM, "cannot restrict the store");
		error = store_exec(store, sql);
		free(sql);
	}
	return error;
}

/* Runs views.sql from its first CREATE, for the temporary schema. */
static int create_stored_views(struct store *store)
{
	char *sql = NULL;
	size_t size;
	FILE *out = open_memstream(&sql, &size);
	const char *rest = strstr(sql_views, CREATE), *next;
	int error;

	if (!out)
		return store_fail(store, SQLITE_NOMEM, "cannot restrict the store");
	for (; rest; rest = next) {
		rest += strlen(CREATE);
		next = strstr(rest, CREATE);
		fputs(CREATE_TEMP, out);
		fwrite(rest, 1, next ? (size_t)(next - rest) : strlen(rest), out);
	}
	error = fclose(out) == 0 ? store_exec(store, sql)
				 : store_fail(store, SQLITE_NOMEM, "cannot restrict the store");
	free(sql);
	return error;
}

/* ---- restricting --------------------------------------------------------------- */

static int create_function(struct store *store)
{
	int rc = sqlite3_create_function(store->db, USER_FUNCTION, 0,
					 SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, store, user_function,
					 NULL, NULL);

	return rc == SQLITE_OK ? 0 : store_fail(store, rc, "cannot restrict the store");
}

int store_restrict(struct store *store, int64_t user_id)
{
	int error;

	if (store->base.driver != &store_driver_sqlite)
		return store_fail_as(store, -ENOTSUP, "only the store of a host can be restricted to a user");
	if (store->base.is_restricted)
		return store_fail_as(store, -EPERM, "this reader is already restricted to a user");
	store_forget_statements(store);
	if (!sqlite3_get_autocommit(store->db) || sqlite3_next_stmt(store->db, NULL))
		return store_fail_as(store, -EBUSY, "a reader that is at work cannot be restricted");
	store->user_id = user_id;
	/* From here on, an error leaves a reader that can read nothing of others: its tables are hidden or refused. */
	store->base.is_restricted = true;
	error = create_function(store);
	if (error == 0)
		error = create_table_views(store);
	if (error == 0)
		error = create_stored_views(store);
	sqlite3_set_authorizer(store->db, authorize, store);
	return error;
}
