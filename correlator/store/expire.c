/* Retention: deletes what ended long ago, runs as a whole, in bounded steps. See writer.h. */
#include <errno.h>

#include "correlator/store/internal.h"

/* Pages released per call: 16 MiB, so that the writer is not blocked for long. */
#define VACUUM_PAGES "4096"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define PROCESSES_MAX STORE_EXPIRY_ROWS_MAX /* deleted per step, */
#define SAMPLES_MAX 100000                  /* however many the runs have */

/* Statements of expiry. Those that delete rows return, for each, whether it was still unsent. */
struct statement {
	const char *name;
	int64_t rows_max; /* 0: no limit */
};

/* The parts of a run are found through the run, so it is deleted last. */
static const struct statement expiry_statements[] = {
	{"expire_find_runs"},
	{"expire_find_tools"},
	{"expire_find_processes"},
	{"expire_samples", SAMPLES_MAX},
	{"expire_processes", PROCESSES_MAX},
	{"expire_incidents"},
	{"expire_tools"},
	{"expire_tasks"},
	{"expire_runs"},
	{"expire_containers"},
	{"expire_losses"},
	{"expire_host_samples"},
	{"expire_file_system_samples"},
};

static const struct statement unused_statements[] = {
	{"expire_mark_images"},
	{"expire_images"},
	{"expire_unmark_images"},
	{"expire_cgroups"},
};

static int statement_run(struct store *store, const struct statement *which, const struct store_expiry *expiry,
			 struct store_expired *expired)
{
	const struct store_parameter parameters[] = {
		STORE_INT("before_unix_ns", expiry->before_unix_ns),
		STORE_INT("first_rev", expiry->first_rev),
		STORE_INT("last_rev", expiry->last_rev),
		STORE_INT("shipped_rev", expiry->shipped_rev),
		STORE_INT("run_id", expiry->run_id),
		STORE_INT("user_id", expiry->of_user ? expiry->user_id : ROW_NULL),
		STORE_INT("process_limit", expiry->run_id ? INT64_MAX : PROCESSES_MAX),
		STORE_INT("sample_limit", expiry->run_id ? INT64_MAX : SAMPLES_MAX),
		{0}};
	sqlite3_stmt *statement;
	int64_t count = 0;
	int rc, error = store_bind(store, which->name, parameters, &statement);

	if (error < 0)
		return error;
	for (; (rc = sqlite3_step(statement)) == SQLITE_ROW; count++)
		expired->unsent_count += sqlite3_column_int(statement, 0);
	expired->row_count += count;
	expired->has_more = !expiry->run_id && which->rows_max && count == which->rows_max;
	return store_finish(store, statement, rc);
}

/* Runs statements in a transaction, which it leaves open, until one has more to delete. */
static int statements_run(struct store *store, const struct statement *statements, size_t count,
			  const struct store_expiry *expiry, struct store_expired *expired)
{
	int error;

	if (!sqlite3_get_autocommit(store->db))
		return -EINVAL;
	error = store_begin(store);
	for (size_t i = 0; error == 0 && !expired->has_more && i < count; i++)
		error = statement_run(store, &statements[i], expiry, expired);
	if (error == 0)
		error = store_exec(store, "DELETE FROM expiring_runs; DELETE FROM expiring_tools;"
					  "DELETE FROM expiring_processes");
	if (error < 0)
		store_rollback(store);
	return error;
}

int store_expire(struct store *store, const struct store_expiry *expiry, struct store_expired *ret_expired)
{
	*ret_expired = (struct store_expired){0};
	return statements_run(store, expiry_statements, COUNT(expiry_statements), expiry, ret_expired);
}

int store_delete_unused(struct store *store)
{
	int error = statements_run(store, unused_statements, COUNT(unused_statements), &(struct store_expiry){0},
				   &(struct store_expired){0});

	if (error < 0)
		return error;
	store_forget_images(store); /* some may have been deleted */
	error = store_end(store);
	if (error < 0)
		store_rollback(store);
	return error;
}

void store_vacuum_step(struct store *store)
{
	/* A failure is ignored, and the next call tries again: released pages are written to the WAL first,
	 * and the disk may be full. */
	store_exec(store, "PRAGMA incremental_vacuum(" VACUUM_PAGES ")");
}

int store_find_window(struct store *store, int64_t first_rev, int64_t end_rev, int64_t row_count, int64_t *ret_last_rev)
{
	const struct store_parameter parameters[] = {STORE_INT("first_rev", first_rev),
						     STORE_INT("end_rev", end_rev),
						     STORE_INT("row_count", row_count),
						     {0}};

	return store_find_number(store, "expire_find_window", parameters, end_rev, ret_last_rev);
}

int store_find_young(struct store *store, int64_t before_unix_ns, int64_t future_unix_ns, int64_t *ret_rev)
{
	const struct store_parameter parameters[] = {
		STORE_INT("before_unix_ns", before_unix_ns), STORE_INT("future_unix_ns", future_unix_ns), {0}};

	return store_find_number(store, "expire_find_young", parameters, INT64_MAX, ret_rev);
}

/* Blocks of so many revisions are read, and there is about one for each part of the store of that size. */
#define HOLDINGS_BLOCK_REVS 32
#define HOLDINGS_PART_BYTES (512 << 10)

int store_find_holdings(struct store *store, struct store_holding *holdings, int holdings_max)
{
	int64_t distance = store_used_bytes(store) / HOLDINGS_PART_BYTES;
	const struct store_parameter parameters[] = {
		STORE_INT("distance", distance < HOLDINGS_BLOCK_REVS ? HOLDINGS_BLOCK_REVS : distance),
		STORE_INT("width", HOLDINGS_BLOCK_REVS),
		STORE_INT("holdings_limit", holdings_max),
		{0}};
	sqlite3_stmt *statement;
	int error = store_bind(store, "expire_find_holdings", parameters, &statement), count = 0, rc;

	if (error < 0)
		return error;
	while ((rc = sqlite3_step(statement)) == SQLITE_ROW)
		holdings[count++] = (struct store_holding){
			.user_id = sqlite3_column_int64(statement, 0),
			.bytes = sqlite3_column_int64(statement, 1),
			.first_rev = sqlite3_column_int64(statement, 2),
		};
	error = store_finish(store, statement, rc);
	return error < 0 ? error : count;
}

int64_t store_used_bytes(struct store *store)
{
	int64_t pages = 0, free_pages = 0, page_bytes = 0;
	int error = store_read_integer(store, "PRAGMA page_count", &pages);

	if (error == 0)
		error = store_read_integer(store, "PRAGMA freelist_count", &free_pages);
	if (error == 0)
		error = store_read_integer(store, "PRAGMA page_size", &page_bytes);
	return error < 0 ? error : (pages - free_pages) * page_bytes;
}
