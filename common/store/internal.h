/* What the files of the store share among themselves; no one else includes it. */
#pragma once

#include <sqlite3.h>

#include "common/store/driver.h"

/* Tables that are written row by row, in the order of ROWS. */
enum store_table {
#define NOT_HERE(NAME, name, table, key)
#define R(NAME, name, table, key) STORE_TABLE_##NAME,
	ROWS_AND_PROCESS(R, NOT_HERE)
#undef NOT_HERE
#undef R
		STORE_TABLE_COUNT
};

#define STORE_STATEMENTS_MAX 32

#define STORE_STATEMENTS_KEPT 4 /* of queries */

#define STORE_IMAGES_REMEMBERED 64
#define STORE_IMAGE_KEY_MAX 512

struct store_image {
	int64_t id; /* 0: none */
	size_t size;
	char key[STORE_IMAGE_KEY_MAX];
};

/* The processes being written: processes.c. */
struct store_given {
	store_next_process *next;
	void *context;
	struct row_process process;
	const struct row_process *row; /* NULL: behind the last */
	int64_t image_id;
	int error; /* of what the statement asked for meanwhile */
};

struct store {
	struct store_base base;
	sqlite3 *db;
	int lock_fd;         /* -1: a reader */
	int write_error;     /* negative errno: everything fails until the rollback */
	bool room_is_scarce; /* on the disk: the WAL is kept small */
	uint64_t rev;        /* highest given out, the open transaction included */
	uint64_t committed_rev;
	sqlite3_stmt *puts[STORE_TABLE_COUNT];
	sqlite3_stmt *put_processes;
	sqlite3_stmt *statements[STORE_STATEMENTS_MAX];
	sqlite3_stmt *kept[STORE_STATEMENTS_KEPT];
	struct store_image images[STORE_IMAGES_REMEMBERED], *last_image;
	struct store_given given;
	uint64_t deadline_boot_ns; /* of a query that somebody else wrote */
};

/* ---- store.c: errors ---- */

/* Notes "`what`: SQLite's words" as the store's error and returns the errno. */
int store_fail(struct store *store, int rc, const char *what);
/* Notes the words of another store as this one's error, and returns `error`. */
int store_fail_as(struct store *store, int error, const char *words);
/* Runs statements that return no row. 0 or negative errno. */
int store_exec(struct store *store, const char *sql);
/* The first column of the first row of `sql`; 0 where there is none. */
int store_read_integer(struct store *store, const char *sql, int64_t *ret_value);

/* Closes it and frees what belongs to it. */
void store_destroy(struct store *store);

/* Between transactions of a writer: keeps the WAL small where the disk is nearly full, and lets it
 * grow again where it is not. 0 or negative errno. */
int store_watch_room(struct store *store);

/* ---- writer.c ---- */

int store_read_stream_row(struct store *store, struct store_stream *ret_stream);

/* Takes the revision up where the stream row left it; next_rev() for statements. */
int store_init_writer(struct store *store);
void store_deinit_writer(struct store *store);
/* What of a run still ran then is marked as left: nobody looks on. */
int store_leave_living(struct store *store, int64_t run_id, int64_t boot_ns);
/* Begins a transaction where none is open. */
int store_begin(struct store *store);
/* Commits it; on failure store_rollback must follow. */
int store_end(struct store *store);
/* statements/NAME.sql, prepared once and reset. */
int store_find_statement(struct store *store, const char *name, sqlite3_stmt **ret_statement);
/* Runs a statement that returns no row and resets it. */
int store_run_statement(struct store *store, sqlite3_stmt *statement);
/* Binds what the statement has of these parameters; texts are only borrowed. ROW_NULL is NULL. */
void store_bind(sqlite3_stmt *statement, const struct store_parameter *parameters);
/* Within a transaction, runs statements/NAME.sql, which returns no row. */
int store_run(struct store *store, const char *name, const struct store_parameter *parameters);

/* ---- processes.c ---- */

/* The table that processes are given in, and the statement that reads it. */
int store_init_processes(struct store *store);

/* ---- images.c: within the transaction ---- */

/* The row of images with the texts of this process; made where there is none. */
int store_image_id(struct store *store, const struct row_process *row, int64_t *ret_id);
void store_forget_images(struct store *store);

/* ---- embedded.c: the .sql files ---- */

/* entities/NAME.sql of that index, NULL past the last. */
const char *store_entity_text(size_t index);
/* The text of statements/NAME.sql, NULL if there is none; `ret_index` numbers the statements from 0, below STORE_STATEMENTS_MAX. */
const char *store_statement_text(const char *name, size_t *ret_index);
/* The migration to `version` (1 ..), NULL past the newest. */
const char *store_migration_text(int version);
/* Makes the views anew, over the tables of the newest schema. */
const char *store_views_text(void);
