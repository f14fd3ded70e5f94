/* The canonical dump, which must be identical when a recording is replayed twice. See store.h.
 *
 * A table is a line "table NAME: COLUMN, ..." followed by one line per row, ordered by
 * key. Integers are printed as they are, text in quotes with all but plain ASCII as
 * \xHH, blobs as x'HH...', NULL as NULL. What depends on the time of commits, not
 * on their content, is omitted.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/store/internal.h"

static const char *const left_out[] = {"rev", "committed_boot_ns", "committed_unix_ns"};

static const struct {
	const char *name;
	const char *key;
} tables[] = {
#define R(NAME, name, table, key) {#table, key},
	ROWS(R)
#undef R
		{"states", "id"},
	{"stream", "id"},
};

static bool column_is_dumped(sqlite3_stmt *statement, int column)
{
	const char *name = sqlite3_column_name(statement, column);

	for (size_t i = 0; i < sizeof(left_out) / sizeof(left_out[0]); i++)
		if (strcmp(name, left_out[i]) == 0)
			return false;
	return true;
}

static void write_text(FILE *file, const unsigned char *text, int size)
{
	fputc('"', file);
	for (int i = 0; i < size; i++)
		if (text[i] >= 0x20 && text[i] < 0x7f && text[i] != '"' && text[i] != '\\')
			fputc(text[i], file);
		else
			fprintf(file, "\\x%02x", text[i]);
	fputc('"', file);
}

static void write_blob(FILE *file, const unsigned char *data, int size)
{
	fputs("x'", file);
	for (int i = 0; i < size; i++)
		fprintf(file, "%02x", data[i]);
	fputc('\'', file);
}

static void write_value(FILE *file, sqlite3_stmt *statement, int column)
{
	switch (sqlite3_column_type(statement, column)) {
	case SQLITE_NULL: fputs("NULL", file); break;
	case SQLITE_TEXT:
		write_text(file, sqlite3_column_text(statement, column), sqlite3_column_bytes(statement, column));
		break;
	case SQLITE_BLOB:
		write_blob(file, sqlite3_column_blob(statement, column), sqlite3_column_bytes(statement, column));
		break;
	default: fprintf(file, "%lld", (long long)sqlite3_column_int64(statement, column));
	}
}

static void write_head(FILE *file, sqlite3_stmt *statement, const char *table)
{
	fprintf(file, "table %s:", table);
	for (int i = 0; i < sqlite3_column_count(statement); i++)
		if (column_is_dumped(statement, i))
			fprintf(file, " %s", sqlite3_column_name(statement, i));
	fputc('\n', file);
}

static void write_row(FILE *file, sqlite3_stmt *statement)
{
	const char *separator = "";

	for (int i = 0; i < sqlite3_column_count(statement); i++) {
		if (!column_is_dumped(statement, i))
			continue;
		fputs(separator, file);
		write_value(file, statement, i);
		separator = " ";
	}
	fputc('\n', file);
}

static int dump_table(struct store *store, FILE *file, const char *table, const char *key)
{
	sqlite3_stmt *statement = NULL;
	char sql[128];
	int error = 0;
	int rc;

	snprintf(sql, sizeof(sql), "SELECT * FROM %s ORDER BY %s", table, key);
	rc = sqlite3_prepare_v2(store->db, sql, -1, &statement, NULL);
	if (rc != SQLITE_OK)
		return store_fail(store, rc, table);
	write_head(file, statement, table);
	while ((rc = sqlite3_step(statement)) == SQLITE_ROW)
		write_row(file, statement);
	if (rc != SQLITE_DONE)
		error = store_fail(store, rc, table);
	sqlite3_finalize(statement);
	return error;
}

/* Dumps all tables as of the same commit. */
static int dump_tables(struct store *store, FILE *file)
{
	bool own = sqlite3_get_autocommit(store->db) != 0;
	int error = own ? store_begin_reading(store) : 0;

	for (size_t i = 0; error == 0 && i < sizeof(tables) / sizeof(tables[0]); i++)
		error = dump_table(store, file, tables[i].name, tables[i].key);
	if (own)
		store_end_reading(store);
	return error;
}

int store_dump(struct store *store, int fd)
{
	int copy = dup(fd);
	FILE *file = copy < 0 ? NULL : fdopen(copy, "w");
	int error;

	if (!file) {
		error = -errno;
		if (copy >= 0)
			close(copy);
		return error;
	}
	error = dump_tables(store, file);
	if (fclose(file) != 0 && error == 0)
		error = errno ? -errno : -EIO;
	return error;
}
