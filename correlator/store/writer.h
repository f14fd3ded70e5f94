/* Writing of a store (common/store/store.h): by one process at a time, tracer-correlator, while any number read it.
 *
 * These functions are for stores that the ones below opened; reading works as with all others.
 */
#pragma once

#include "common/store/store.h"

/* Creates the file (mode 0640) if it does not exist, migrates an older one in a single
 * transaction, and takes the writer's lock (flock on PATH.lock; released by the kernel
 * however the process ends). Returns the errors of store_open_reader(), and -EBUSY (another correlator is
 * writing), -EROFS, -ENOSPC. */
int store_open_writer(const char *path, struct store **ret_store, struct store_error *ret_error);

/* ---- writing: put rows, then commit -------------------------------------------
 * The first put or statement begins a transaction. All return 0, -ENOSPC (disk
 * full: roll back and retry the whole batch later), -EBUSY, -EIO,
 * -EUCLEAN (corrupt), -EINVAL (a NOT NULL column is NULL). After a failure
 * all calls fail the same way until store_rollback(), so that no partial batch is
 * committed. */
#define R(NAME, name, table, key) int store_put_##name(struct store *store, const struct row_##name *row);
ROWS(R)
#undef R

/* Marks the stored processes of a tool as changed after a merge: their run and task are those of the
 * tool. */
int store_renew_processes(struct store *store, int64_t tool_id);
/* Moves the incidents and containers of a merged task. */
int store_move_task(struct store *store, int64_t from_task_id, int64_t to_task_id);

/* Puts what the correlator keeps of an entity beyond its row, in a format private to it. `id`: of the row, or of an
 * entity without one. `image_id`: of the row, if different; or ROW_NULL. */
int store_put_state(struct store *store, const char *entity, int64_t id, int64_t image_id, struct row_blob state);
int store_delete_state(struct store *store, int64_t id);
/* Runs statements/NAME.sql, which reads what the correlator keeps for itself. */
int store_query_own(struct store *store, const char *name, const struct store_parameter *parameters,
		    struct store_result **ret_result);
/* Closes everything that is running according to the store as ended at `boot_ns` in an unknown way, and
 * deletes all states but the host's. */
int store_close_running(struct store *store, int64_t boot_ns);

/* Writes the stream row and commits everything put since the last commit, atomically.
 * On failure the transaction is rolled back. `stream->rev` is ignored:
 * the store counts revisions itself. */
int store_commit(struct store *store, const struct store_stream *stream);
void store_rollback(struct store *store);

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
int store_delete_unused(struct store *store);
/* Returns empty pages to the file system, a bounded number per call. */
void store_vacuum_step(struct store *store);

/* Returns the number of bytes in use in the database, or -errno. */
int64_t store_used_bytes(struct store *store);
