/* Internal declarations of the SQLite store: for its own files, and the writer's (correlator/store/). */
#pragma once

#include <limits.h>
#include <sqlite3.h>

#include "common/store/driver.h"

#define STORE_STATEMENTS_KEPT 4 /* cached statements of queries */

/* A writer's begins with this one. */
struct store {
	struct store_base base;
	sqlite3 *db;
	sqlite3_stmt *kept[STORE_STATEMENTS_KEPT];
	uint64_t deadline_boot_ns; /* of a user-supplied query */
	int64_t user_id;           /* of a restricted reader */
};

/* ---- store.c: errors ---- */

/* Sets the store's error to "`what`: SQLite's message" and returns -errno. */
int store_fail(struct store *store, int rc, const char *what);
/* Sets the store's error to `words`, the error text of another store, and returns `error`. */
int store_fail_as(struct store *store, int error, const char *words);
/* Sets the error of a store that cannot be opened, and returns `error`. */
__attribute__((format(printf, 3, 4))) int store_refuse(struct store_error *ret_error, int error, const char *format,
						       ...);
/* The same, with an explanation to the user. */
int store_explain(struct store_error *ret_error, int error, const char *path, const char *what);

/* ---- store.c: opening ---- */

/* Opens the file before SQLite does, for exact errors and to create it with mode 0640. */
int store_probe_file(const char *path, int flags, struct store_error *ret_error);
/* Has no effect once SQLite is in use. No program of ours uses it in more than one thread: its locks, and statistics of
 * memory, would take time at each allocation and each bound value. */
void store_configure_sqlite(void);
/* Opens a connection that trusts nothing in the file except its rows. */
int store_connect(struct store *store, const char *name, int flags, const char *vfs);
/* Reads the schema version, 0 for an empty database. Returns -EUCLEAN for a database of another program. */
int store_read_version(struct store *store, int64_t *ret_version);
int store_refuse_newer(const char *path, int64_t version, struct store_error *ret_error);
/* Migrates from `version` to the newest schema, atomically. */
int store_migrate(struct store *store, int64_t version);
/* Returns 0 or -ENAMETOOLONG. */
int store_lock_name(const char *path, char name[PATH_MAX]);

/* ---- store.c: statements ---- */

/* Runs statements that return no rows. Returns 0 or -errno. */
int store_exec(struct store *store, const char *sql);
/* Reads the first column of the first row of `sql`; 0 if there is no row. */
int store_read_integer(struct store *store, const char *sql, int64_t *ret_value);

/* ---- reader.c ---- */

/* Returns SQLITE_RANGE if the statement does not have it; or another result code. */
int store_bind_parameter(sqlite3_stmt *statement, const struct store_parameter *parameter,
			 sqlite3_destructor_type texts);
/* Finalizes the cached statements. */
void store_forget_statements(struct store *store);

/* ---- query.c: embedded .sql files ---- */

struct store_sql {
	const char *name; /* of the file, without .sql */
	const char *sql;
};

/* Returns NULL if none of the texts has that name. */
const struct store_sql *store_sql_find(const struct store_sql *texts, size_t count, const char *name);
