/* Retention: what ended long ago goes, whole runs at a time. See store.h. */
#include <errno.h>

#include "common/store/internal.h"

/* Pages given back in one call: 16 MiB, so that the writer is not held up for long. */
#define VACUUM_PAGES "4096"

/* In this order: what a run is made of is found through the run. */
static const char *const steps_find[] = {"expire_find_runs", "expire_find_tools",
					 "expire_find_processes"};
static const char *const steps_before[] = {"expire_samples", "expire_processes", "expire_incidents",
					   "expire_tools", "expire_tasks"};
static const char *const steps_after[] = {"expire_containers", "expire_losses", "expire_host_samples",
					  "expire_images", "expire_cgroups"};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static int expire_step(struct store *store, const char *name, const struct store_expiry *expiry)
{
	sqlite3_stmt *statement = NULL;
	int error = store_find_statement(store, name, &statement);

	if (error < 0)
		return error;
	store_bind_integer(statement, "before_unix_ns", expiry->before_unix_ns);
	store_bind_integer(statement, "limit", expiry->limit);
	store_bind_integer(statement, "kept_rev", expiry->with_unsent ? INT64_MAX : expiry->shipped_rev);
	return store_run_statement(store, statement);
}

static int expire_steps(struct store *store, const char *const *names, size_t count,
			const struct store_expiry *expiry)
{
	int error = 0;

	for (size_t i = 0; error == 0 && i < count; i++)
		error = expire_step(store, names[i], expiry);
	store_forget_images(store); /* some may have gone */
	return error;
}

static int count_unsent(struct store *store, const struct store_expiry *expiry, int64_t *ret_count)
{
	sqlite3_stmt *statement = NULL;
	int error = store_find_statement(store, "expire_count_unsent", &statement);
	int rc;

	if (error < 0)
		return error;
	store_bind_integer(statement, "shipped_rev", expiry->shipped_rev);
	rc = sqlite3_step(statement);
	if (rc == SQLITE_ROW)
		*ret_count = sqlite3_column_int64(statement, 0);
	else
		error = store_fail(store, rc, "cannot count what was not sent");
	sqlite3_reset(statement);
	return error;
}

static int expire_rows(struct store *store, const struct store_expiry *expiry, int64_t *ret_count,
		       int64_t *ret_unsent_count)
{
	int error = store_begin(store);

	if (error == 0)
		error = expire_steps(store, steps_find, COUNT(steps_find), expiry);
	if (error == 0 && expiry->with_unsent && expiry->shipped_rev != INT64_MAX)
		error = count_unsent(store, expiry, ret_unsent_count);
	if (error == 0)
		error = expire_steps(store, steps_before, COUNT(steps_before), expiry);
	if (error == 0)
		error = expire_step(store, "expire_runs", expiry);
	if (error < 0)
		return error;
	*ret_count = sqlite3_changes64(store->db);
	error = expire_steps(store, steps_after, COUNT(steps_after), expiry);
	if (error == 0)
		error = store_exec(store, "DELETE FROM expiring_runs; DELETE FROM expiring_tools;"
					  "DELETE FROM expiring_processes");
	return error < 0 ? error : store_end(store);
}

int64_t store_expire(struct store *store, const struct store_expiry *expiry,
		     int64_t *ret_unsent_count)
{
	int64_t count = 0, unsent_count = 0;
	int error;

	if (!sqlite3_get_autocommit(store->db))
		return -EINVAL;
	error = expire_rows(store, expiry, &count, &unsent_count);
	if (error < 0) {
		store_rollback(store);
		return error;
	}
	*ret_unsent_count = unsent_count;
	/* What cannot be given back now (it is written to the log first, on a disk that may be full) is
	 * the next time. The rows are gone all the same, and are to be counted. */
	store_exec(store, "PRAGMA incremental_vacuum(" VACUUM_PAGES ")");
	return count;
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
