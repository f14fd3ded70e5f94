/* Bulk writing of processes.
 *
 * A host creates thousands of processes per second, but only dozens of other rows. So one statement
 * writes all processes of a commit: it reads them from `given_processes`, a virtual table of the rows that
 * the caller supplies one by one. A statement per row would open its tables, bind sixty parameters and
 * clear them again each time, which is half as much work again.
 */
#include <stdlib.h>

#include "correlator/store/internal.h"

/* ---- the virtual table --------------------------------------------------------- */

#define NAME(column) ", " #column
static const char declaration[] =
	"CREATE TABLE given_processes (rev" ROW_PROCESS_COLUMNS(NAME, NAME, NAME) ", image_id)";
#undef NAME

#define NUMBER(column) COLUMN_##column,
enum { COLUMN_REV, ROW_PROCESS_COLUMNS(NUMBER, NUMBER, NUMBER) COLUMN_IMAGE };
#undef NUMBER

struct given_table {
	sqlite3_vtab base;
	struct store_writer *writer;
};

static struct store_writer *table_writer(sqlite3_vtab_cursor *cursor)
{
	return ((struct given_table *)cursor->pVtab)->writer;
}

static int given_connect(sqlite3 *db, void *writer, int count, const char *const *values, sqlite3_vtab **ret_table,
			 char **ret_error)
{
	struct given_table *table = calloc(1, sizeof(*table));

	if (!table)
		return SQLITE_NOMEM;
	table->writer = writer;
	*ret_table = &table->base;
	return sqlite3_declare_vtab(db, declaration);
}

static int given_disconnect(sqlite3_vtab *table)
{
	free(table);
	return SQLITE_OK;
}

static int given_best_index(sqlite3_vtab *table, sqlite3_index_info *info)
{
	return SQLITE_OK; /* always a full scan, in the given order */
}

static int given_open(sqlite3_vtab *table, sqlite3_vtab_cursor **ret_cursor)
{
	*ret_cursor = calloc(1, sizeof(**ret_cursor));
	return *ret_cursor ? SQLITE_OK : SQLITE_NOMEM;
}

static int given_close(sqlite3_vtab_cursor *cursor)
{
	free(cursor);
	return SQLITE_OK;
}

static int given_next(sqlite3_vtab_cursor *cursor)
{
	struct store_writer *writer = table_writer(cursor);
	struct store_given *given = &writer->given;

	given->row = given->next(given->context, &given->process) ? &given->process : NULL;
	if (!given->row)
		return SQLITE_OK;
	writer->rev++;
	given->error = store_image_id(&writer->store, given->row, &given->image_id);
	return given->error < 0 ? SQLITE_ERROR : SQLITE_OK;
}

static int given_filter(sqlite3_vtab_cursor *cursor, int index, const char *text, int count, sqlite3_value **values)
{
	return given_next(cursor);
}

static int given_eof(sqlite3_vtab_cursor *cursor)
{
	return !table_writer(cursor)->given.row;
}

static int given_column(sqlite3_vtab_cursor *cursor, sqlite3_context *context, int column)
{
	struct store_writer *writer = table_writer(cursor);
	const struct row_process *row = writer->given.row;

	switch (column) {
	case COLUMN_REV: sqlite3_result_int64(context, (int64_t)writer->rev); break;
	case COLUMN_IMAGE: sqlite3_result_int64(context, writer->given.image_id); break;
#define I(name) \
	case COLUMN_##name: \
		if (row->name != ROW_NULL) \
			sqlite3_result_int64(context, row->name); \
		break;
#define T(name) \
	case COLUMN_##name: \
		sqlite3_result_text(context, row->name, -1, SQLITE_STATIC); \
		break;
#define B(name) \
	case COLUMN_##name: sqlite3_result_blob64(context, row->name.data, row->name.size, SQLITE_STATIC); break;
		ROW_PROCESS_COLUMNS(I, T, B)
#undef I
#undef T
#undef B
	}
	return SQLITE_OK;
}

static int given_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *ret_rowid)
{
	*ret_rowid = table_writer(cursor)->given.row->id;
	return SQLITE_OK;
}

/* Without xCreate, the table exists only in this connection and needs no CREATE statement. */
static const sqlite3_module given_module = {
	.xConnect = given_connect,
	.xDisconnect = given_disconnect,
	.xBestIndex = given_best_index,
	.xOpen = given_open,
	.xClose = given_close,
	.xFilter = given_filter,
	.xNext = given_next,
	.xEof = given_eof,
	.xColumn = given_column,
	.xRowid = given_rowid,
};

int store_init_processes(struct store *store)
{
	int rc = sqlite3_create_module(store->db, "given_processes", &given_module, writer_of(store));

	if (rc != SQLITE_OK)
		return store_fail(store, rc, "cannot write processes");
	return store_compose(store, "compose_put_processes", (const struct store_parameter[]){{0}},
			     &writer_of(store)->put_processes);
}

/* ---- writing -------------------------------------------------------------------- */

int store_put_processes(struct store *store, store_next_process *next, void *context)
{
	struct store_writer *writer = writer_of(store);
	int error = store_begin(store);

	if (error < 0)
		return error;
	writer->given = (struct store_given){.next = next, .context = context};
	error = store_run_statement(store, writer->put_processes);
	if (writer->given.error < 0) /* more specific than the statement's failure */
		error = writer->write_error = writer->given.error;
	return error;
}

static bool next_once(void *context, struct row_process *ret_row)
{
	const struct row_process **row = context;

	if (!*row)
		return false;
	*ret_row = **row;
	*row = NULL;
	return true;
}

int store_put_process(struct store *store, const struct row_process *row)
{
	return store_put_processes(store, next_once, &row);
}
