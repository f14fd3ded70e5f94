/* Internal declarations of the store; included only by its own files. */
#pragma once

#include <sqlite3.h>

#include "common/store/driver.h"

/* Tables written row by row, in the order of ROWS. */
enum store_table {
#define NOT_HERE(NAME, name, table, key)
#define R(NAME, name, table, key) STORE_TABLE_##NAME,
	ROWS_AND_PROCESS(R, NOT_HERE)
#undef NOT_HERE
#undef R
		STORE_TABLE_COUNT
};

#define STORE_STATEMENTS_MAX 40

#define STORE_STATEMENTS_KEPT 4 /* cached statements of queries */

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
	const struct row_process *row; /* NULL: past the last */
	int64_t image_id;
	int error; /* that occurred while SQLite fetched rows */
};

struct store {
	struct store_base base;
	sqlite3 *db;
	int lock_fd;         /* -1: a reader */
	bool is_shared;      /* others write it, too */
	int write_error;     /* -errno: all calls fail until the rollback */
	bool room_is_scarce; /* the disk is nearly full: the WAL is kept small */
	uint64_t rev;        /* highest assigned, including the open transaction */
	uint64_t committed_rev;
	sqlite3_stmt *puts[STORE_TABLE_COUNT];
	sqlite3_stmt *put_processes;
	sqlite3_stmt *statements[STORE_STATEMENTS_MAX];
	sqlite3_stmt *kept[STORE_STATEMENTS_KEPT];
	struct store_image images[STORE_IMAGES_REMEMBERED], *last_image;
	struct store_given given;
	uint64_t deadline_boot_ns; /* of a user-supplied query */
};

/* ---- store.c: errors ---- */

/* Sets the store's error to "`what`: SQLite's message" and returns -errno. */
int store_fail(struct store *store, int rc, const char *what);
/* Sets the store's error to `words`, the error text of another store, and returns `error`. */
int store_fail_as(struct store *store, int error, const char *words);
/* Runs statements that return no rows. Returns 0 or -errno. */
int store_exec(struct store *store, const char *sql);
/* Reads the first column of the first row of `sql`; 0 if there is no row. */
int store_read_integer(struct store *store, const char *sql, int64_t *ret_value);

/* Closes the store and frees its resources. */
void store_destroy(struct store *store);

/* Called between transactions of a writer: keeps the WAL small while the disk is nearly full, and lets it
 * grow again otherwise. Returns 0 or -errno. */
int store_watch_room(struct store *store);

/* ---- locks.c ---- */

/* Returns the name of the VFS through which the only writer of a store opens it. Read locks of other processes do not keep
 * it from writing. */
const char *store_locks_vfs(void);

/* ---- copy.c ---- */

/* For a store that only `tracer run` writes and no other has open: closes what earlier ones left running when they were
 * killed, and deletes the oldest runs until the store has at most `bytes_max` bytes. Returns 0 or -errno. */
int store_clean(struct store *store, int64_t bytes_max);

/* ---- writer.c ---- */

int store_read_stream_row(struct store *store, struct store_stream *ret_stream);

/* Continues revisions from the stream row, and defines the SQL function next_rev(). */
int store_init_writer(struct store *store);
void store_deinit_writer(struct store *store);
/* Marks what was still running of a run at `boot_ns` as `left`: it is no longer observed. */
int store_leave_running(struct store *store, int64_t run_id, int64_t boot_ns);
/* Begins a transaction if none is open. */
int store_begin(struct store *store);
/* Commits it; on failure the caller must call store_rollback(). */
int store_end(struct store *store);
/* Finds the statement of statements/NAME.sql, which is prepared on first use. */
int store_find_statement(struct store *store, const char *name, sqlite3_stmt **ret_statement);
/* Runs a statement that returns no rows, and resets it. */
int store_run_statement(struct store *store, sqlite3_stmt *statement);
/* Binds those of the parameters that the statement has; texts are borrowed. ROW_NULL is NULL. */
void store_bind(sqlite3_stmt *statement, const struct store_parameter *parameters);
/* Runs statements/NAME.sql, which returns no rows, within a transaction. */
int store_run(struct store *store, const char *name, const struct store_parameter *parameters);

/* ---- processes.c ---- */

/* Creates the virtual table that supplies processes, and the statement that reads it. */
int store_init_processes(struct store *store);

/* ---- images.c: within the transaction ---- */

/* Returns the row of images with the texts of this process; inserts it if there is none. */
int store_image_id(struct store *store, const struct row_process *row, int64_t *ret_id);
void store_forget_images(struct store *store);

/* ---- embedded.c: the .sql files ---- */

/* Returns the text of an entities/NAME.sql by index; NULL past the last. */
const char *store_entity_text(size_t index);
/* Returns the text of statements/NAME.sql, or NULL; `*ret_index` is its index, below STORE_STATEMENTS_MAX. */
const char *store_statement_text(const char *name, size_t *ret_index);
/* Returns the migration to `version` (1 ..), or NULL past the newest. */
const char *store_migration_text(int version);
/* Returns the SQL that recreates the views over the tables of the newest schema. */
const char *store_views_text(void);
