/* The SQLite store: one writer (tracer-correlator), any number of readers.
 *
 * Opening checks what can be wrong with the file and says it in one line: not a
 * database, written by a newer release, read-only, another writer, no space.
 */
#pragma once

#include <stdbool.h>

#include "common/store/rows.h"

struct store;
struct store_parameter;
struct store_result;

struct store_error {
	char text[512]; /* what failed, why, what to do */
};

/* `path` must exist. 0; -ENOENT; -EUCLEAN (not a store, or corrupt); -EPROTO (newer
 * schema than this program knows, or older and not yet migrated by a writer);
 * -EACCES; -errno. The text in `ret_error` is for a person. */
int store_open_reader(const char *path, struct store **ret_store, struct store_error *ret_error);

/* Creates the file (0640) where there is none, migrates an older one in a single
 * transaction, takes the writer's lock (flock on PATH.lock; released by the kernel
 * however the process ends). As above, and -EBUSY (another correlator writes it),
 * -EROFS, -ENOSPC. */
int store_open_writer(const char *path, struct store **ret_store, struct store_error *ret_error);

/* Before the last store_close(): all that was committed is in the file itself, on the disk, and
 * nothing stays beside it. 0 or -errno. */
int store_settle(struct store *store);

/* The newest schema that this release knows. */
int store_schema_version(void);

/* An empty store in memory, to ask it for the columns of this release. */
int store_open_empty(struct store **ret_store, struct store_error *ret_error);

/* How much of the file a reader of SQLite's keeps in memory (2 MiB where nothing is said). */
int store_limit_cache(struct store *store, int kib);

void store_close(struct store *store);

/* The error of the last failed call, in words that are safe to show. */
const char *store_error_text(const struct store *store);

/* ---- writing: put rows, then commit -------------------------------------------
 * The first put or statement begins a transaction. All return 0, -ENOSPC (disk
 * full: roll back and try the whole batch again later), -EBUSY, -EIO,
 * -EUCLEAN (corrupt), -EINVAL (a column that must be known is NULL). After a failure
 * everything fails alike until store_rollback, so that no half of a batch is
 * committed. */
#define R(NAME, name, table, key) int store_put_##name(struct store *store, const struct row_##name *row);
ROWS(R)
#undef R

/* Puts processes many at a time, for less than half. `next` fills in another row and returns true;
 * false: there is none. What a row borrows is borrowed until `next` is called again. */
typedef bool store_next_process(void *context, struct row_process *ret_row);
int store_put_processes(struct store *store, store_next_process *next, void *context);

/* After a merge, the stored processes of a tool count as changed: their run and task are those of the
 * tool's row. */
int store_renew_processes(struct store *store, int64_t tool_id);
/* Moves incidents and containers of a task that was merged. */
int store_move_task(struct store *store, int64_t from_task_id, int64_t to_task_id);

/* What the correlator remembers of an entity beyond its row: its own affair. */
struct store_state {
	int64_t id; /* of the row, or of what has none */
	const char *entity;
	int64_t image_id; /* of the row where it is another one's, ROW_NULL */
	const void *data;
	size_t size;
};

int store_put_state(struct store *store, const struct store_state *state);
int store_delete_state(struct store *store, int64_t id);
/* All that lives according to the store ended then, nobody saw how; and nothing but the host has a
 * state any more. */
int store_close_living(struct store *store, int64_t boot_ns);

struct store_stream {
	char boot_id[40];
	uint64_t ring_epoch;
	uint64_t ring_offset;
	uint64_t rev;
	uint64_t committed_boot_ns;
	uint64_t committed_unix_ns;
};

/* Writes the stream row and commits; nothing put since the last commit is lost or
 * half there. On failure the transaction is rolled back. `stream->rev` is not read:
 * the store counts revisions itself. */
int store_commit(struct store *store, const struct store_stream *stream);
void store_rollback(struct store *store);

/* 0, or -ENODATA: the store has no stream yet. */
int store_read_stream(struct store *store, struct store_stream *ret_stream);

/* Copies a run with all that is in it, its host, the containers that it ran in and what was lost
 * meanwhile, nothing of others; what still ran is marked as left (docs/model.md). `ask` answers
 * the questions of these names. All of it is committed, or nothing: -errno. */
typedef int store_ask(struct store *store, const char *question, const struct store_parameter *parameters,
		      struct store_result **ret_result);
int store_copy_run(struct store *to, struct store *from, const struct row_run *run, store_ask *ask);

/* ---- deleting what is old -------------------------------------------------------
 * Rows are looked for in the order of their revisions, which is the order in which they were last
 * written: so the oldest is found without a search, and a step is bounded. All of this is called
 * between a commit and the next put (-EINVAL otherwise). */

struct store_expiry {
	int64_t before_unix_ns;      /* what ended before goes; INT64_MAX: whenever it ended */
	int64_t first_rev, last_rev; /* above the first, up to the last */
	int64_t shipped_rev;         /* up to there everything was sent */
};

struct store_expired {
	int64_t row_count;    /* deleted */
	int64_t unsent_count; /* of them, rows that had yet to be sent */
	bool has_more;        /* of these revisions: the same step is due again */
};

/* Deletes runs that ended, each with all that is in it, and of runs that live on processes that
 * ended, incidents and samples; containers, losses and samples of the host. Leaves the transaction
 * open, so that what was unsent is noted in the same: store_commit() follows. 0 or -errno, then
 * nothing was deleted. */
int store_expire(struct store *store, const struct store_expiry *expiry, struct store_expired *ret_expired);
#define STORE_EXPIRY_ROWS_MAX 20000
/* Up to which revision a step from `first_rev` on may go, `end_rev` at most, so that no table has
 * many more than `row_count` rows in it. 0 or -errno. */
int store_find_window(struct store *store, int64_t first_rev, int64_t end_rev, int64_t row_count,
		      int64_t *ret_last_rev);
/* The first revision that was written after `before_unix_ns`; INT64_MAX: none is known to have
 * been. Times after `future_unix_ns` are a wrong clock's. 0 or -errno. */
int store_find_young(struct store *store, int64_t before_unix_ns, int64_t future_unix_ns, int64_t *ret_rev);
/* Deletes texts that no process refers to and paths that nobody asks for. 0 or -errno. */
int store_tidy(struct store *store);
/* Pages that are empty go back to the disk, a bounded number at a time. */
void store_give_back(struct store *store);

/* Bytes of the database that hold something, or -errno. */
int64_t store_used_bytes(struct store *store);

/* ---- reading ------------------------------------------------------------------
 * What is asked of a store is the text of a query; the questions that people ask are in query/.
 * Parameters are bound by name. */
struct store_parameter {
	const char *name; /* without the colon */
	enum { STORE_NULL, STORE_INTEGER, STORE_TEXT, STORE_REAL, STORE_BLOB } type;
	int64_t integer; /* of a blob its size */
	const char *text;
	double real;
};
/* clang-format off */
#define STORE_INT(name, number) {name, STORE_INTEGER, number, NULL, 0}
/* clang-format on */

/* The name of the next parameter in the text of a query, without its colon, and how long it is; NULL:
 * there is none. Those in comments and quotes are none. */
const char *store_next_parameter(const char *sql, size_t *ret_size);

struct store_text {
	const char *name; /* for errors: of somebody else's, where it is from */
	const char *sql;
	unsigned limit_s; /* 0: one of ours. Else somebody else's: it is refused unless it is one
			    * statement that only reads, and ends after so many seconds */
};

struct store_value {
	enum { STORE_VALUE_NULL, STORE_VALUE_INTEGER, STORE_VALUE_REAL, STORE_VALUE_TEXT, STORE_VALUE_BLOB } type;
	int64_t integer;
	double real;
	const char *data; /* text (NUL-terminated behind its `size` bytes) or blob (not); "" of
			   * what is neither: never NULL, whoever answers */
	size_t size;
};

/* Whether a question takes a way over the network: few large ones are better then than many small. */
bool store_is_remote(const struct store *store);

/* Between these two every query sees the same commit: a report does not mix two. */
int store_begin_reading(struct store *store);
void store_end_reading(struct store *store);

/* `parameters` ends with a NULL name; those left out are NULL. -EINVAL: no such parameter. -EPERM:
 * it does more than read. */
int store_query_text(struct store *store, const struct store_text *text, const struct store_parameter *parameters,
		     struct store_result **ret_result);
/* The same will be asked soon, once: a lake is sent it now, and what it answers is as of now. */
void store_ask_ahead(struct store *store, const struct store_text *text, const struct store_parameter *parameters);
/* queries/NAME.sql, which are for daemons. -EINVAL: there is none of that name. */
int store_query(struct store *store, const char *name, const struct store_parameter *parameters,
		struct store_result **ret_result);
/* What leaves the host: entities/NAME.sql, by index. The result has the columns of the
 * entity, `rev` and `host_id` among them, rows in the order of `rev`, at most `limit`. */
#define STORE_ENTITY_NAME_BYTES 32
const char *store_entity_name(size_t index); /* NULL past the last */
int store_query_entity(struct store *store, size_t index, int64_t after_rev, int64_t limit,
		       struct store_result **ret_result);
/* 1: a row; 0: the end; -ETIME: the query's time is over; -errno. */
int store_result_next(struct store_result *result);
size_t store_result_width(const struct store_result *result);
const char *store_result_name(const struct store_result *result, size_t column);
/* Valid until the next call of store_result_next. */
struct store_value store_result_value(struct store_result *result, size_t column);
/* Which column has that name. Where none has, a mistake of ours or what answers is no lake: its
 * number is none, its value NULL, and store_result_next() fails with -EPROTO. */
size_t store_result_find(struct store_result *result, const char *column);
struct store_value store_result_get(struct store_result *result, const char *column);
/* All columns of such a row by their names; texts and blobs are the result's. */
#define R(NAME, name, table, key) void store_result_get_##name(struct store_result *result, struct row_##name *ret_row);
ROWS(R)
#undef R
void store_result_free(struct store_result *result);

/* Every table in a fixed order of rows and columns, one line a row, `rev` and the
 * commit times left out: two stores with the same content print the same bytes. */
int store_dump(struct store *store, int fd);
