/* Retention: what ended long ago goes, whole runs at a time. See store.h. */
#include <errno.h>

#include "common/store/internal.h"

/* Pages given back in one call: 16 MiB, so that the writer is not held up for long. */
#define VACUUM_PAGES "4096"

/* In this order: what a run is made of is found through the run. */
static const char *const steps_before[] = {
	"expire_find_runs", "expire_find_tools", "expire_find_processes", "expire_samples",
	"expire_processes", "expire_incidents", "expire_tools", "expire_tasks",
};
static const char *const steps_after[] = {"expire_containers", "expire_losses", "expire_host_samples",
					  "expire_images"};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct expiry {
	int64_t before_unix_ns;
	unsigned limit;
};

static int expire_step(struct store *store, const char *name, const struct expiry *expiry)
{
	sqlite3_stmt *statement = NULL;
	int error = store_find_statement(store, name, &statement);

	if (error < 0)
		return error;
	store_bind_integer(statement, "before_unix_ns", expiry->before_unix_ns);
	store_bind_integer(statement, "limit", expiry->limit);
	return store_run_statement(store, statement);
}

static int expire_steps(struct store *store, const char *const *names, size_t count,
			const struct expiry *expiry)
{
	int error = 0;

	for (size_t i = 0; error == 0 && i < count; i++)
		error = expire_step(store, names[i], expiry);
	return error;
}

static int expire_rows(struct store *store, const struct expiry *expiry, int64_t *ret_count)
{
	int error = store_begin(store);

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

int64_t store_expire(struct store *store, int64_t before_unix_ns, unsigned limit)
{
	const struct expiry expiry = {before_unix_ns, limit};
	int64_t count = 0;
	int error;

	if (!sqlite3_get_autocommit(store->db))
		return -EINVAL;
	error = expire_rows(store, &expiry, &count);
	if (error < 0) {
		store_rollback(store);
		return error;
	}
	error = store_exec(store, "PRAGMA incremental_vacuum(" VACUUM_PAGES ")");
	return error < 0 ? error : count;
}
