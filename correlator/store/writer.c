/* Writing: upserts derived from the column lists, commit and rollback. See writer.h.
 *
 * Everything between two commits is one transaction. If one of its statements
 * fails, SQLite may roll back on its own, so all later statements fail too,
 * until the caller rolls back: a commit never stores a partial batch.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "correlator/store/internal.h"
#include "store-statements.h"

/* A crash of the machine may undo commits that the shipper has already sent
 * (open.c). After a reboot, revisions continue far above those: the distance is more
 * than can be written while the kernel holds pages back. */
#define REV_SKIP_AFTER_BOOT (1ULL << 24)

/* ---- transactions ------------------------------------------------------------ */

static int write_fail(struct store *store, int rc, const char *what)
{
	int error = store_fail(store, rc, what);

	writer_of(store)->write_error = error;
	return error;
}

/* Continues the revisions of another writer. */
static int rev_take(struct store *store)
{
	struct store_writer *writer = writer_of(store);
	int64_t rev = 0;
	int error = store_read_integer(store, "SELECT rev FROM stream", &rev);

	if (rev > (int64_t)writer->committed_rev)
		writer->rev = writer->committed_rev = (uint64_t)rev;
	return error;
}

int store_begin(struct store *store)
{
	if (writer_of(store)->write_error < 0)
		return writer_of(store)->write_error;
	if (!sqlite3_get_autocommit(store->db))
		return 0;
	int error = writer_of(store)->write_error = store_watch_room(store);

	if (error < 0)
		return error;
	int rc = sqlite3_exec(store->db, "BEGIN IMMEDIATE", NULL, NULL, NULL);

	if (rc != SQLITE_OK)
		return write_fail(store, rc, "cannot begin to write the store");
	return writer_of(store)->is_shared ? rev_take(store) : 0;
}

void store_rollback(struct store *store)
{
	if (!sqlite3_get_autocommit(store->db))
		sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
	writer_of(store)->write_error = 0;
	store_forget_images(store);
	writer_of(store)->rev = writer_of(store)->committed_rev;
}

int store_end(struct store *store)
{
	int rc = sqlite3_exec(store->db, "COMMIT", NULL, NULL, NULL);

	if (rc != SQLITE_OK)
		return write_fail(store, rc, "cannot commit to the store");
	writer_of(store)->committed_rev = writer_of(store)->rev;
	return 0;
}

/* ---- statements -------------------------------------------------------------- */

#define STATEMENT(text, file) {&#text[sizeof("statements")], text},
static const struct store_sql texts[] = {STORE_SQL_STATEMENTS(STATEMENT)};
#define TEXTS_COUNT (sizeof(texts) / sizeof(texts[0]))
_Static_assert(TEXTS_COUNT <= STORE_STATEMENTS_MAX, "raise STORE_STATEMENTS_MAX");

static int statement_find(struct store *store, const char *name, sqlite3_stmt **ret_statement)
{
	const struct store_sql *text = store_sql_find(texts, TEXTS_COUNT, name);
	sqlite3_stmt **statement = &writer_of(store)->statements[text - texts];

	if (!*statement) {
		int rc = sqlite3_prepare_v3(store->db, text->sql, -1, SQLITE_PREPARE_PERSISTENT, statement, NULL);

		if (rc != SQLITE_OK)
			return store_fail(store, rc, name);
	}
	*ret_statement = *statement;
	return 0;
}

int store_bind(struct store *store, const char *name, const struct store_parameter *parameters,
	       sqlite3_stmt **ret_statement)
{
	int error = statement_find(store, name, ret_statement);

	for (; error == 0 && parameters->name; parameters++)
		if (parameters->type != STORE_INTEGER || parameters->integer != ROW_NULL)
			store_bind_parameter(*ret_statement, parameters, SQLITE_STATIC);
	return error;
}

int store_finish(struct store *store, sqlite3_stmt *statement, int rc)
{
	int error = rc == SQLITE_ROW || rc == SQLITE_DONE ? 0 : store_fail(store, rc, "cannot use the store");

	sqlite3_reset(statement);
	sqlite3_clear_bindings(statement); /* bound values are only borrowed */
	return error;
}

int store_run_statement(struct store *store, sqlite3_stmt *statement)
{
	int error = store_finish(store, statement, sqlite3_step(statement));

	if (error < 0)
		writer_of(store)->write_error = error;
	return error;
}

int store_run(struct store *store, const char *name, const struct store_parameter *parameters)
{
	sqlite3_stmt *statement;
	int error = store_begin(store);

	if (error == 0)
		error = writer_of(store)->write_error = store_bind(store, name, parameters, &statement);
	return error < 0 ? error : store_run_statement(store, statement);
}

int store_find_number(struct store *store, const char *name, const struct store_parameter *parameters, int64_t absent,
		      int64_t *ret_number)
{
	sqlite3_stmt *statement;
	int rc, error = store_bind(store, name, parameters, &statement);

	if (error < 0)
		return error;
	rc = sqlite3_step(statement);
	*ret_number = rc == SQLITE_ROW && sqlite3_column_type(statement, 0) != SQLITE_NULL
			      ? sqlite3_column_int64(statement, 0)
			      : absent;
	return store_finish(store, statement, rc);
}

int store_query_own(struct store *store, const char *name, const struct store_parameter *parameters,
		    struct store_result **ret_result)
{
	const struct store_text text = {name, store_sql_find(texts, TEXTS_COUNT, name)->sql, 0};

	return store_query_text(store, &text, parameters, ret_result);
}

/* ---- rows: one upsert per table, derived from the lists of rows.h -------------- */

#define COLUMN(column) ", " #column

/* What compose_put.sql makes an upsert of. Texts of a process are in images, and its run and task are those of its tool. */
static const struct {
	const char *name, *key, *columns;
} tables[] = {
#define R(NAME, name, table, key) {#table, key, "rev" ROW_##NAME##_COLUMNS(COLUMN, COLUMN, COLUMN)},
#define P(NAME, name, table, key) \
	{"process_rows", key, "rev" ROW_##NAME##_COLUMNS(COLUMN, COLUMN, COLUMN) ", image_id"},
	ROWS_AND_PROCESS(R, P)
#undef R
#undef P
};

static int table_prepare(struct store *store, enum store_table table)
{
	const struct store_parameter parameters[] = {{"table", STORE_TEXT, 0, tables[table].name},
						     {"key", STORE_TEXT, 0, tables[table].key},
						     {"columns", STORE_TEXT, 0, tables[table].columns},
						     {0}};
	sqlite3_stmt *compose;
	int rc, error = store_bind(store, "compose_put", parameters, &compose);

	if (error < 0)
		return error;
	rc = sqlite3_step(compose);
	if (rc == SQLITE_ROW)
		rc = sqlite3_prepare_v3(store->db, (const char *)sqlite3_column_text(compose, 0), -1,
					SQLITE_PREPARE_PERSISTENT, &writer_of(store)->puts[table], NULL);
	error = rc == SQLITE_OK ? 0 : store_fail(store, rc, tables[table].name);
	sqlite3_reset(compose);
	sqlite3_clear_bindings(compose);
	return error;
}

static void bind_integer(sqlite3_stmt *statement, int index, int64_t value)
{
	/* After sqlite3_clear_bindings() all parameters are already NULL. */
	if (value != ROW_NULL)
		sqlite3_bind_int64(statement, index, value);
}

static void bind_text(sqlite3_stmt *statement, int index, const char *text)
{
	if (text)
		sqlite3_bind_text(statement, index, text, -1, SQLITE_STATIC);
}

/* Returns the number of the last column bound. */
#define BIND_I(column) bind_integer(statement, ++index, row->column);
#define BIND_T(column) bind_text(statement, ++index, row->column);
#define BIND_B(column) sqlite3_bind_blob64(statement, ++index, row->column.data, row->column.size, SQLITE_STATIC);
#define R(NAME, name, table, key) \
	static int bind_##name(sqlite3_stmt *statement, uint64_t rev, const struct row_##name *row) \
	{ \
		int index = 1; \
\
		sqlite3_bind_int64(statement, index, (int64_t)rev); \
		ROW_##NAME##_COLUMNS(BIND_I, BIND_T, BIND_B) return index; \
	}
ROWS(R)
#undef R

#define NOT_HERE(NAME, name, table, key)
#define R(NAME, name, table, key) \
	int store_put_##name(struct store *store, const struct row_##name *row) \
	{ \
		sqlite3_stmt *statement = writer_of(store)->puts[STORE_TABLE_##NAME]; \
		int error = store_begin(store); \
\
		if (error < 0) \
			return error; \
		bind_##name(statement, ++writer_of(store)->rev, row); \
		return store_run_statement(store, statement); \
	}
ROWS_AND_PROCESS(R, NOT_HERE)
#undef R

int store_put_process(struct store *store, const struct row_process *row)
{
	struct store_writer *writer = writer_of(store);
	sqlite3_stmt *statement = writer->puts[STORE_TABLE_PROCESS];
	int64_t image_id;
	int last, error = store_begin(store);

	if (error == 0)
		error = writer->write_error = store_image_id(store, row, &image_id);
	if (error < 0)
		return error;
	last = bind_process(statement, ++writer->rev, row);
	sqlite3_bind_int64(statement, last + 1, image_id);
	return store_run_statement(store, statement);
}

/* ---- merges ------------------------------------------------------------------ */

int store_renew_processes(struct store *store, int64_t tool_id)
{
	return store_run(store, "renew_processes",
			 (const struct store_parameter[]){STORE_INT("tool_id", tool_id), {0}});
}

int store_move_task(struct store *store, int64_t from_task_id, int64_t to_task_id)
{
	const struct store_parameter parameters[] = {
		STORE_INT("from_task_id", from_task_id), STORE_INT("to_task_id", to_task_id), {0}};
	int error = store_run(store, "move_incidents", parameters);

	return error < 0 ? error : store_run(store, "move_containers", parameters);
}

/* ---- states ------------------------------------------------------------------ */

int store_put_state(struct store *store, const char *entity, int64_t id, int64_t image_id, struct row_blob state)
{
	return store_run(store, "put_state",
			 (const struct store_parameter[]){STORE_INT("id", id),
							  {"entity", STORE_TEXT, 0, entity},
							  STORE_INT("image_id", image_id),
							  {"state", STORE_BLOB, (int64_t)state.size, state.data},
							  {0}});
}

int store_delete_state(struct store *store, int64_t id)
{
	return store_run(store, "delete_state", (const struct store_parameter[]){STORE_INT("id", id), {0}});
}

static int running_close(struct store *store, const char *how, int64_t run_id, int64_t boot_ns)
{
	static const char *const names[] = {"close_processes", "close_tools", "close_tasks", "close_runs",
					    "close_containers"};
	const struct store_parameter parameters[] = {
		{"how", STORE_TEXT, 0, how}, STORE_INT("run_id", run_id), STORE_INT("boot_ns", boot_ns), {0}};
	int error = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && error == 0; i++)
		error = store_run(store, names[i], parameters);
	return error;
}

int store_close_running(struct store *store, int64_t boot_ns)
{
	int error = running_close(store, "lost", ROW_NULL, boot_ns);

	return error < 0 ? error : store_run(store, "delete_states", (const struct store_parameter[]){{0}});
}

int store_mark_left(struct store *store, int64_t run_id, int64_t boot_ns)
{
	return running_close(store, "left", run_id, boot_ns);
}

/* ---- the stream -------------------------------------------------------------- */

static int stream_write(struct store *store, const struct store_stream *stream)
{
	return store_run(
		store, "write_stream",
		(const struct store_parameter[]){{"boot_id", STORE_TEXT, 0, stream->boot_id},
						 STORE_INT("ring_epoch", (int64_t)stream->ring_epoch),
						 STORE_INT("ring_offset", (int64_t)stream->ring_offset),
						 STORE_INT("rev", (int64_t)writer_of(store)->rev),
						 STORE_INT("committed_boot_ns", (int64_t)stream->committed_boot_ns),
						 STORE_INT("committed_unix_ns", (int64_t)stream->committed_unix_ns),
						 {0}});
}

int store_commit(struct store *store, const struct store_stream *stream)
{
	int error = stream_write(store, stream);

	if (error == 0)
		error = store_end(store);
	if (error < 0)
		store_rollback(store);
	return error;
}

/* ---- opening ----------------------------------------------------------------- */

static void next_rev(sqlite3_context *context, int count, sqlite3_value **values)
{
	struct store *store = sqlite3_user_data(context);

	sqlite3_result_int64(context, (int64_t)++writer_of(store)->rev);
}

int store_init_writer(struct store *store)
{
	struct store_stream stream = {0};
	char boot_id[sizeof(stream.boot_id)];
	int error = 0;
	int rc = sqlite3_create_function_v2(store->db, "next_rev", 0, SQLITE_UTF8 | SQLITE_DIRECTONLY, store, next_rev,
					    NULL, NULL, NULL);

	if (rc != SQLITE_OK)
		return store_fail(store, rc, "next_rev");
	/* Work lists of expiry; in memory, and rolled back with its transaction. */
	error = store_exec(store, "CREATE TEMP TABLE expiring_runs (id INTEGER PRIMARY KEY);"
				  "CREATE TEMP TABLE expiring_tools (id INTEGER PRIMARY KEY);"
				  "CREATE TEMP TABLE expiring_processes (id INTEGER PRIMARY KEY);"
				  "CREATE TEMP TABLE used_images (id INTEGER PRIMARY KEY, tool_id INTEGER);"
				  "INSERT INTO used_images VALUES (0, -1)");
	for (enum store_table table = 0; error == 0 && table < STORE_TABLE_COUNT; table++)
		error = table_prepare(store, table);
	if (error < 0)
		return error;
	error = store_read_stream(store, &stream);
	if (error < 0)
		return error == -ENODATA ? 0 : error;
	store_read_boot_id(boot_id);
	writer_of(store)->committed_rev = stream.rev + (strcmp(stream.boot_id, boot_id) == 0 ? 0 : REV_SKIP_AFTER_BOOT);
	writer_of(store)->rev = writer_of(store)->committed_rev;
	return 0;
}

void store_deinit_writer(struct store *store)
{
	struct store_writer *writer = writer_of(store);

	if (store->db && writer->lock_fd >= 0)
		store_rollback(store);
	for (size_t i = 0; i < STORE_TABLE_COUNT; i++)
		sqlite3_finalize(writer->puts[i]);
	for (size_t i = 0; i < STORE_STATEMENTS_MAX; i++)
		sqlite3_finalize(writer->statements[i]);
}
