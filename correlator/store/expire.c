/* Retention: deletes what ended long ago, runs as a whole, in bounded steps. See writer.h. */
#include <errno.h>

#include "correlator/store/internal.h"

/* Pages released per call: 16 MiB, so that the writer is not blocked for long. */
#define VACUUM_PAGES "4096"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define PROCESSES_MAX STORE_EXPIRY_ROWS_MAX /* deleted per step, */
#define SAMPLES_MAX 100000                  /* however many the runs have */

/* The parts of a run are found through the run, so it is deleted last. */
static const char *const steps_find[] = {"expire_find_runs", "expire_find_tools", "expire_find_processes"};
static const char *const steps_rest[] = {"expire_incidents",  "expire_tools",  "expire_tasks",       "expire_runs",
					 "expire_containers", "expire_losses", "expire_host_samples"};

static int statement_bind(struct store *store, const char *name, const struct store_expiry *expiry,
			  sqlite3_stmt **ret_statement)
{
	int error = store_find_statement(store, name, ret_statement);

	if (error < 0)
		return error;
	store_bind(*ret_statement, (const struct store_parameter[]){
					   STORE_INT("before_unix_ns", expiry->before_unix_ns),
					   STORE_INT("first_rev", expiry->first_rev),
					   STORE_INT("last_rev", expiry->last_rev),
					   STORE_INT("shipped_rev", expiry->shipped_rev),
					   STORE_INT("run_id", expiry->run_id),
					   STORE_INT("user_id", expiry->of_user ? expiry->user_id : ROW_NULL),
					   STORE_INT("process_limit", expiry->run_id ? INT64_MAX : PROCESSES_MAX),
					   STORE_INT("sample_limit", expiry->run_id ? INT64_MAX : SAMPLES_MAX),
					   {0}});
	return 0;
}

static int steps_run(struct store *store, const char *const *names, size_t count, const struct store_expiry *expiry)
{
	sqlite3_stmt *statement;
	int error = 0;

	for (size_t i = 0; error == 0 && i < count; i++) {
		error = statement_bind(store, names[i], expiry, &statement);
		if (error == 0)
			error = store_run_statement(store, statement);
	}
	return error;
}

/* Runs a statement that returns, for each row it deletes, whether the row was still unsent. */
static int rows_delete(struct store *store, const char *name, const struct store_expiry *expiry,
		       struct store_expired *expired, int64_t *ret_count)
{
	sqlite3_stmt *statement;
	int error = statement_bind(store, name, expiry, &statement);
	int64_t count = 0;
	int rc;

	if (error < 0)
		return error;
	while ((rc = sqlite3_step(statement)) == SQLITE_ROW) {
		count++;
		expired->unsent_count += sqlite3_column_int(statement, 0);
	}
	if (rc != SQLITE_DONE)
		error = store_fail(store, rc, "cannot delete old rows");
	sqlite3_reset(statement);
	sqlite3_clear_bindings(statement);
	expired->row_count += count;
	*ret_count = count;
	return error;
}

static int rest_delete(struct store *store, const struct store_expiry *expiry, struct store_expired *expired)
{
	int64_t count;
	int error = 0;

	for (size_t i = 0; error == 0 && i < COUNT(steps_rest); i++)
		error = rows_delete(store, steps_rest[i], expiry, expired, &count);
	return error;
}

static int all_delete(struct store *store, const struct store_expiry *expiry, struct store_expired *expired)
{
	int64_t count;
	int error = rows_delete(store, "expire_samples", expiry, expired, &count);

	expired->has_more = !expiry->run_id && count == SAMPLES_MAX;
	if (error < 0 || expired->has_more)
		return error;
	error = rows_delete(store, "expire_processes", expiry, expired, &count);
	expired->has_more = !expiry->run_id && count == PROCESSES_MAX;
	return error < 0 || expired->has_more ? error : rest_delete(store, expiry, expired);
}

int store_expire(struct store *store, const struct store_expiry *expiry, struct store_expired *ret_expired)
{
	struct store_expired expired = {0};
	int error;

	if (!sqlite3_get_autocommit(store->db))
		return -EINVAL;
	error = store_begin(store);
	if (error == 0)
		error = steps_run(store, steps_find, COUNT(steps_find), expiry);
	if (error == 0)
		error = all_delete(store, expiry, &expired);
	if (error == 0)
		error = store_exec(store, "DELETE FROM expiring_runs; DELETE FROM expiring_tools;"
					  "DELETE FROM expiring_processes");
	if (error < 0)
		store_rollback(store);
	else
		*ret_expired = expired;
	return error;
}

int store_delete_unused(struct store *store)
{
	static const char *const names[] = {"expire_mark_images", "expire_images", "expire_unmark_images",
					    "expire_cgroups"};
	const struct store_expiry nothing = {0};
	int error;

	if (!sqlite3_get_autocommit(store->db))
		return -EINVAL;
	error = store_begin(store);
	if (error == 0)
		error = steps_run(store, names, COUNT(names), &nothing);
	store_forget_images(store); /* some may have been deleted */
	if (error == 0)
		return store_end(store);
	store_rollback(store);
	return error;
}

void store_vacuum_step(struct store *store)
{
	/* A failure is ignored, and the next call tries again: released pages are written to the WAL first,
	 * and the disk may be full. */
	store_exec(store, "PRAGMA incremental_vacuum(" VACUUM_PAGES ")");
}

/* Reads the single number that a statement returns; `absent` if it is NULL. */
static int number_find(struct store *store, const char *name, const struct store_parameter *parameters, int64_t absent,
		       int64_t *ret_number)
{
	sqlite3_stmt *statement;
	int rc, error = store_find_statement(store, name, &statement);

	if (error < 0)
		return error;
	store_bind(statement, parameters);
	rc = sqlite3_step(statement);
	if (rc != SQLITE_ROW)
		error = store_fail(store, rc, "cannot find old rows");
	else if (sqlite3_column_type(statement, 0) == SQLITE_NULL)
		*ret_number = absent;
	else
		*ret_number = sqlite3_column_int64(statement, 0);
	sqlite3_reset(statement);
	sqlite3_clear_bindings(statement);
	return error;
}

int store_find_window(struct store *store, int64_t first_rev, int64_t end_rev, int64_t row_count, int64_t *ret_last_rev)
{
	const struct store_parameter parameters[] = {STORE_INT("first_rev", first_rev),
						     STORE_INT("end_rev", end_rev),
						     STORE_INT("row_count", row_count),
						     {0}};

	return number_find(store, "expire_find_window", parameters, end_rev, ret_last_rev);
}

int store_find_young(struct store *store, int64_t before_unix_ns, int64_t future_unix_ns, int64_t *ret_rev)
{
	const struct store_parameter parameters[] = {
		STORE_INT("before_unix_ns", before_unix_ns), STORE_INT("future_unix_ns", future_unix_ns), {0}};

	return number_find(store, "expire_find_young", parameters, INT64_MAX, ret_rev);
}

/* Blocks of so many revisions are read, and there is about one for each part of the store of that size. */
#define HOLDINGS_BLOCK_REVS 32
#define HOLDINGS_PART_BYTES (512 << 10)

int store_find_holdings(struct store *store, struct store_holding *holdings, int holdings_max)
{
	int64_t distance = store_used_bytes(store) / HOLDINGS_PART_BYTES;
	sqlite3_stmt *statement;
	int error = store_find_statement(store, "expire_find_holdings", &statement), count = 0, rc;

	if (error < 0)
		return error;
	if (distance < HOLDINGS_BLOCK_REVS)
		distance = HOLDINGS_BLOCK_REVS;
	store_bind(statement, (const struct store_parameter[]){STORE_INT("distance", distance),
							       STORE_INT("width", HOLDINGS_BLOCK_REVS),
							       STORE_INT("holdings_limit", holdings_max),
							       {0}});
	while ((rc = sqlite3_step(statement)) == SQLITE_ROW)
		holdings[count++] = (struct store_holding){
			.user_id = sqlite3_column_int64(statement, 0),
			.bytes = sqlite3_column_int64(statement, 1),
			.first_rev = sqlite3_column_int64(statement, 2),
		};
	if (rc != SQLITE_DONE)
		error = store_fail(store, rc, "cannot find what users have in the store");
	sqlite3_reset(statement);
	sqlite3_clear_bindings(statement);
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
