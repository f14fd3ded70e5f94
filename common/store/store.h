/* Reading of a store: any number of readers, while one writes it (correlator/store/).
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

/* Finds the process that writes the store, one of them if several do; 0 if none is known. */
pid_t store_find_writer(const char *path);

/* Returns the newest schema version that this release knows. */
int store_schema_version(void);

/* Opens an empty store in memory, to query it for the columns of this release. */
int store_open_empty(struct store **ret_store, struct store_error *ret_error);

/* Sets the SQLite page cache size of a reader (default 2 MiB). */
int store_limit_cache(struct store *store, int kib);

void store_close(struct store *store);

/* Returns the error message of the last failed call, safe to print. */
const char *store_error_text(const struct store *store);

struct store_stream {
	char boot_id[40];
	uint64_t ring_epoch;
	uint64_t ring_offset;
	uint64_t rev;
	uint64_t committed_boot_ns;
	uint64_t committed_unix_ns;
};

/* Returns 0, or -ENODATA if the store has no stream yet. */
int store_read_stream(struct store *store, struct store_stream *ret_stream);

/* Reads the id of this boot, to compare; "" if it cannot be read. */
void store_read_boot_id(char ret_boot_id[40]);

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

/* A line of a query that is wrong if only one user's rows are seen: a restricted reader refuses it. */
#define STORE_NEEDS_ALL_LINE "\n-- needs: all users\n"

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

/* From now on this reader sees only what ran as that user: the rows that docs/security.md names. What it may not see is
 * as if it did not exist; a query that would be wrong without it fails with -EPERM. To be called before anything is
 * read; it cannot be undone. Returns 0; -ENOTSUP for a lake; -EPERM, -EBUSY; -errno, and the reader is of no use. */
int store_restrict(struct store *store, int64_t user_id);
bool store_is_restricted(const struct store *store);
/* Returns the name of a table of which such a reader sees rows, by index, or NULL past the last. */
const char *store_restricted_table(size_t index);

/* Returns true if queries go over the network: then a few large ones are better than many small ones. */
bool store_is_remote(const struct store *store);

/* A store that was filled from recordings may have several hosts; this is the one seen first. */
struct store_host {
	int64_t id, first_seen_unix_ns; /* 0, INT64_MAX: no probe has ever connected */
};
int store_read_host(struct store *store, struct store_host *ret_host);

/* Between these two calls all queries see the same commit, so that a report is consistent. */
int store_begin_reading(struct store *store);
void store_end_reading(struct store *store);

/* `parameters` ends with a NULL name; missing ones are NULL. Returns 0; -EINVAL if the query has no such
 * parameter; -EPERM if it does more than read; -errno. */
int store_query_text(struct store *store, const struct store_text *text, const struct store_parameter *parameters,
		     struct store_result **ret_result);
/* Announces a query that will soon be run once: a lake runs it now, and the result is as of now. */
size_t store_ahead_most(const struct store *store); /* how many at a time; 0: the engine would not benefit */
void store_ask_ahead(struct store *store, const struct store_text *text, const struct store_parameter *parameters);
bool store_has_query(const char *name);
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
