/* The SQLite store: one writer (tracer-correlator), any number of readers.
 *
 * Opening checks for common problems and reports each in one line: not a
 * database, written by a newer release, read-only, another writer, no space.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "common/store/rows.h"

struct store;
struct store_parameter;
struct store_result;

struct store_error {
	char text[512]; /* what failed, why, what to do */
};

/* Opens an existing store. Returns 0; -ENOENT; -EUCLEAN (not a store, or corrupt); -EPROTO (the
 * schema is newer than this program knows, or older and not yet migrated by a writer);
 * -EACCES; -errno. `ret_error` gets a message for the user. */
int store_open_reader(const char *path, struct store **ret_store, struct store_error *ret_error);

/* Creates the file (mode 0640) if it does not exist, migrates an older one in a single
 * transaction, and takes the writer's lock (flock on PATH.lock; released by the kernel
 * however the process ends). Returns the same errors, and -EBUSY (another correlator is
 * writing), -EROFS, -ENOSPC. */
int store_open_writer(const char *path, struct store **ret_store, struct store_error *ret_error);

/* The same for several writers that put different runs (`tracer run`); -EBUSY if a correlator is writing. If no
 * other writer has it, runs that were not closed are closed, and the oldest above `bytes_max` deleted. */
int store_open_shared(const char *path, int64_t bytes_max, struct store **ret_store, struct store_error *ret_error);

/* Finds the process that writes the store, one of them if several do; 0 if none is known. */
pid_t store_find_writer(const char *path);

/* Call before the last store_close(): moves all commits into the database file, syncs it, and leaves only PATH.lock
 * beside it; if a reader uses the store, PATH-wal too, for the next writer. Returns 0 or -errno. */
int store_settle(struct store *store);

/* Returns the newest schema version that this release knows. */
int store_schema_version(void);

/* Opens an empty store in memory, to query it for the columns of this release. */
int store_open_empty(struct store **ret_store, struct store_error *ret_error);

/* Sets the SQLite page cache size of a reader (default 2 MiB). */
int store_limit_cache(struct store *store, int kib);

void store_close(struct store *store);

/* Returns the error message of the last failed call, safe to print. */
const char *store_error_text(const struct store *store);

/* ---- writing: put rows, then commit -------------------------------------------
 * The first put or statement begins a transaction. All return 0, -ENOSPC (disk
 * full: roll back and retry the whole batch later), -EBUSY, -EIO,
 * -EUCLEAN (corrupt), -EINVAL (a NOT NULL column is NULL). After a failure
 * all calls fail the same way until store_rollback(), so that no partial batch is
 * committed. */
#define R(NAME, name, table, key) int store_put_##name(struct store *store, const struct row_##name *row);
ROWS(R)
#undef R

/* Puts processes in bulk, at less than half the cost. `next` fills in the next row and returns true, or
 * returns false at the end. Texts of a row are borrowed until `next` is called again. */
typedef bool store_next_process(void *context, struct row_process *ret_row);
int store_put_processes(struct store *store, store_next_process *next, void *context);

/* Marks the stored processes of a tool as changed after a merge: their run and task are those of the
 * tool. */
int store_renew_processes(struct store *store, int64_t tool_id);
/* Moves the incidents and containers of a merged task. */
int store_move_task(struct store *store, int64_t from_task_id, int64_t to_task_id);

/* State of an entity that the correlator keeps beyond its row, in a format private to it. */
struct store_state {
	int64_t id; /* of the row, or of an entity without one */
	const char *entity;
	int64_t image_id; /* of the row, if different from `id`; or ROW_NULL */
	const void *data;
	size_t size;
};

int store_put_state(struct store *store, const struct store_state *state);
int store_delete_state(struct store *store, int64_t id);
/* Closes everything that is running according to the store as ended at `boot_ns` in an unknown way, and
 * deletes all states but the host's. */
int store_close_running(struct store *store, int64_t boot_ns);

struct store_stream {
	char boot_id[40];
	uint64_t ring_epoch;
	uint64_t ring_offset;
	uint64_t rev;
	uint64_t committed_boot_ns;
	uint64_t committed_unix_ns;
};

/* Writes the stream row and commits everything put since the last commit, atomically.
 * On failure the transaction is rolled back. `stream->rev` is ignored:
 * the store counts revisions itself. */
int store_commit(struct store *store, const struct store_stream *stream);
void store_rollback(struct store *store);

/* Returns 0, or -ENODATA if the store has no stream yet. */
int store_read_stream(struct store *store, struct store_stream *ret_stream);

/* Copies what was written of a run after revision `*rev` of `from`, and sets that: its parts, its host and the
 * containers that it ran in, and nothing else. Returns 0 with everything committed, or -errno with nothing. */
int store_copy_changes(struct store *to, struct store *from, const struct row_run *run, int64_t *rev);
/* Copies all of a run, in place of what was copied before, and the losses during it; what is still running is marked as
 * `left` (docs/model.md). Returns the same. */
int store_copy_run(struct store *to, struct store *from, const struct row_run *run);

/* ---- retention ------------------------------------------------------------------
 * Rows are examined in the order of their revisions, which is the order in which they were last
 * written: so the oldest are found without a search, and steps are bounded. These functions may only be
 * called between a commit and the next put (-EINVAL otherwise). */

struct store_expiry {
	int64_t before_unix_ns;      /* delete what ended before; INT64_MAX: all that ended */
	int64_t first_rev, last_rev; /* range: first excluded, last included */
	int64_t shipped_rev;         /* everything up to here was sent */
	int64_t run_id;              /* a run to delete in one step, however large; 0: none */
	bool of_user;                /* only what is charged to this user: see struct store_holding */
	int64_t user_id;
};

struct store_expired {
	int64_t row_count;    /* deleted */
	int64_t unsent_count; /* of these, not yet sent */
	bool has_more;        /* in this range: the same step must be repeated */
};

/* Deletes ended runs with all their parts; ended processes, incidents and samples of runs that are still
 * running; and containers, losses and samples of the host. Leaves the transaction open, so that the
 * caller can record unsent rows in it; store_commit() must follow. Returns 0, or -errno if
 * nothing was deleted. */
int store_expire(struct store *store, const struct store_expiry *expiry, struct store_expired *ret_expired);
#define STORE_EXPIRY_ROWS_MAX 20000
/* Finds the last revision, at most `end_rev`, of a step that begins at `first_rev`, such that it covers
 * hardly more than `row_count` rows of any table. Returns 0 or -errno. */
int store_find_window(struct store *store, int64_t first_rev, int64_t end_rev, int64_t row_count,
		      int64_t *ret_last_rev);
/* What a user has in the store. What belongs to a run is charged to the user of its root process, however many others
 * that one became or used; in the system run, to the user of each process. */
struct store_holding {
	int64_t user_id;   /* -1: unknown */
	int64_t bytes;     /* estimated from a part of the rows; of a small store, from all */
	int64_t first_rev; /* hardly any of it is older */
};
/* Finds the users who have most, in descending order. Returns how many, or -errno. */
int store_find_holdings(struct store *store, struct store_holding *holdings, int holdings_max);
/* Finds the first revision written after `before_unix_ns`, INT64_MAX if none is known. Times after
 * `future_unix_ns` are attributed to a wrong clock and ignored. Returns 0 or -errno. */
int store_find_young(struct store *store, int64_t before_unix_ns, int64_t future_unix_ns, int64_t *ret_rev);
/* Deletes texts that no process refers to and cgroup paths no longer needed. Returns 0 or -errno. */
int store_tidy(struct store *store);
/* Returns empty pages to the file system, a bounded number per call. */
void store_give_back(struct store *store);

/* Returns the number of bytes in use in the database, or -errno. */
int64_t store_used_bytes(struct store *store);

/* ---- reading ------------------------------------------------------------------
 * Queries are SQL texts; the user-facing ones are in query/.
 * Parameters are bound by name. */
struct store_parameter {
	const char *name; /* without the colon */
	enum { STORE_NULL, STORE_INTEGER, STORE_TEXT, STORE_REAL, STORE_BLOB } type;
	int64_t integer; /* for a blob, its size */
	const char *text;
	double real;
};
/* clang-format off */
#define STORE_INT(name, number) {name, STORE_INTEGER, number, NULL, 0}
/* clang-format on */

/* Returns the name of the next parameter in the text of a query, without the colon, and its length; NULL
 * if there is none. Comments and quoted texts are skipped. */
const char *store_next_parameter(const char *sql, size_t *ret_size);

struct store_text {
	const char *name; /* for errors; of a user-supplied query, its origin */
	const char *sql;
	unsigned limit_s; /* 0: a built-in query. Otherwise user-supplied: rejected unless it is one
			    * statement that only reads, and stopped after this many seconds */
};

struct store_value {
	enum { STORE_VALUE_NULL, STORE_VALUE_INTEGER, STORE_VALUE_REAL, STORE_VALUE_TEXT, STORE_VALUE_BLOB } type;
	int64_t integer;
	double real;
	const char *data; /* text (NUL-terminated after `size` bytes) or blob (not terminated); ""
			   * for other types; never NULL */
	size_t size;
};

/* Returns true if queries go over the network: then a few large ones are better than many small ones. */
bool store_is_remote(const struct store *store);

/* Between these two calls all queries see the same commit, so that a report is consistent. */
int store_begin_reading(struct store *store);
void store_end_reading(struct store *store);

/* `parameters` ends with a NULL name; missing ones are NULL. Returns 0; -EINVAL if the query has no such
 * parameter; -EPERM if it does more than read; -errno. */
int store_query_text(struct store *store, const struct store_text *text, const struct store_parameter *parameters,
		     struct store_result **ret_result);
/* Announces a query that will soon be run once: a lake runs it now, and the result is as of now. */
void store_ask_ahead(struct store *store, const struct store_text *text, const struct store_parameter *parameters);
/* Runs queries/NAME.sql, which are for daemons. Returns -EINVAL if no query has that name. */
int store_query(struct store *store, const char *name, const struct store_parameter *parameters,
		struct store_result **ret_result);
/* What leaves the host: entities/NAME.sql, by index. The result has the columns of the
 * entity, including `rev` and `host_id`, and at most `limit` rows in the order of `rev`. */
#define STORE_ENTITY_NAME_BYTES 32
const char *store_entity_name(size_t index); /* NULL past the last */
int store_query_entity(struct store *store, size_t index, int64_t after_rev, int64_t limit,
		       struct store_result **ret_result);
/* Returns 1 for a row; 0 at the end; -ETIME if the query exceeded its time limit; -errno. */
int store_result_next(struct store_result *result);
size_t store_result_width(const struct store_result *result);
const char *store_result_name(const struct store_result *result, size_t column);
/* The value is valid until the next call of store_result_next(). */
struct store_value store_result_value(struct store_result *result, size_t column);
/* Returns the index of the column of that name. If there is none (a bug, or the server is not a lake), the
 * index is out of range, its value is NULL, and store_result_next() fails with -EPROTO. */
size_t store_result_find(struct store_result *result, const char *column);
struct store_value store_result_get(struct store_result *result, const char *column);
/* Get all columns of such a row by name; texts and blobs are borrowed from the result. */
#define R(NAME, name, table, key) void store_result_get_##name(struct store_result *result, struct row_##name *ret_row);
ROWS(R)
#undef R
void store_result_free(struct store_result *result);
