/* Internal declarations of the writer; included only by its own files. */
#pragma once

#include "common/store/internal.h"
#include "correlator/store/writer.h"

enum store_table {
#define R(NAME, name, table, key) STORE_TABLE_##NAME,
	ROWS(R)
#undef R
		STORE_TABLE_COUNT
};

#define STORE_STATEMENTS_MAX 48

#define STORE_IMAGES_REMEMBERED 64
#define STORE_IMAGE_KEY_MAX 512

struct store_image {
	int64_t id;
	size_t size; /* of the key; 0: none */
	char key[STORE_IMAGE_KEY_MAX];
};

struct store_writer {
	struct store store; /* what readers use */
	struct store_driver driver;
	int lock_fd;
	bool is_shared;      /* others write it, too */
	int write_error;     /* -errno: all calls fail until the rollback */
	bool room_is_scarce; /* the disk is nearly full: the WAL is kept small */
	uint64_t rev;        /* highest assigned, including the open transaction */
	uint64_t committed_rev;
	sqlite3_stmt *puts[STORE_TABLE_COUNT];
	sqlite3_stmt *statements[STORE_STATEMENTS_MAX];
	struct store_image images[STORE_IMAGES_REMEMBERED], *last_image;
};

/* Only for stores that were opened for writing. */
static inline struct store_writer *writer_of(struct store *store)
{
	return (struct store_writer *)store;
}

/* ---- open.c ---- */

/* Called between transactions of a writer: keeps the WAL small while the disk is nearly full, and lets it
 * grow again otherwise. Returns 0 or -errno. */
int store_watch_room(struct store *store);

/* Opens a store for writing. Returns 0; 1 if it is shared and another writer has it; -errno. */
int store_open_for_writing(const char *path, bool is_shared, struct store **ret_store, struct store_error *ret_error);

/* ---- locks.c ---- */

/* Returns the name of the VFS through which the only writer of a store opens it. Read locks of other processes do not keep
 * it from writing. */
const char *store_locks_vfs(void);

/* ---- writer.c ---- */

/* Continues revisions from the stream row, and defines the SQL function next_rev(). */
int store_init_writer(struct store *store);
void store_deinit_writer(struct store *store);
/* Marks what was still running of a run at `boot_ns` as `left`: it is no longer observed. */
int store_mark_left(struct store *store, int64_t run_id, int64_t boot_ns);
/* Begins a transaction if none is open. */
int store_begin(struct store *store);
/* Commits it; on failure the caller must call store_rollback(). */
int store_end(struct store *store);
/* Finds the statement of statements/NAME.sql, which is prepared on first use, and binds those of the parameters that it
 * has; texts are borrowed. ROW_NULL is NULL. */
int store_bind(struct store *store, const char *name, const struct store_parameter *parameters,
	       sqlite3_stmt **ret_statement);
/* Resets a statement whose last step returned `rc`. */
int store_finish(struct store *store, sqlite3_stmt *statement, int rc);
/* Runs a statement that returns no rows, and resets it. */
int store_run_statement(struct store *store, sqlite3_stmt *statement);
/* Finds the number that statements/NAME.sql returns; `absent` if it is NULL or there is no row. */
int store_find_number(struct store *store, const char *name, const struct store_parameter *parameters, int64_t absent,
		      int64_t *ret_number);
/* Runs statements/NAME.sql, which returns no rows, within a transaction. */
int store_run(struct store *store, const char *name, const struct store_parameter *parameters);

/* ---- images.c: within the transaction ---- */

/* Returns the row of images with the texts of this process; inserts it if there is none. */
int store_image_id(struct store *store, const struct row_process *row, int64_t *ret_id);
void store_forget_images(struct store *store);
