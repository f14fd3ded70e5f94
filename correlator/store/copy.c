/* Copying of one run to another store, for `tracer run`. See copy.h.
 *
 * While the run goes on, the rows that changed are copied. A process may be taken for one of the run's first, and turn
 * out to be of another later. So in the end the whole run is copied once more, in place of what is there. */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <sys/file.h>

#include "correlator/store/copy.h"
#include "correlator/store/internal.h"

#define R(NAME, name, table, key) \
	__attribute__((unused)) static int name##_copy(struct store *to, struct store_result *result) \
	{ \
		struct row_##name row; \
\
		store_result_get_##name(result, &row); \
		return store_put_##name(to, &row); \
	}
ROWS(R)
#undef R

#define PROCESS_IS_OF_RUN \
	"EXISTS (SELECT 1 FROM process_rows p JOIN tools t ON t.id = p.tool_id WHERE p.id = process_id AND t.run_id = :run_id)"

/* The functions that copy rows, and which rows of the other store they copy. */
static const struct {
	int (*copy)(struct store *to, struct store_result *result);
	const char *table, *condition;
} copies[] = {
	{host_copy, "hosts", "id = :host_id"},
	{container_copy, "containers", "run_id = :run_id"},
	{run_copy, "runs", "id = :run_id"},
	{task_copy, "tasks", "run_id = :run_id"},
	{tool_copy, "tools", "run_id = :run_id"},
	{process_copy, "processes", "+tool_id IN (SELECT id FROM tools WHERE run_id = :run_id)"},
	{sample_copy, "samples", PROCESS_IS_OF_RUN},
	{host_sample_copy, "host_samples", "unix_ns >= :begin_unix_ns"},
	{file_system_sample_copy, "file_system_samples", "unix_ns >= :begin_unix_ns"},
	{incident_copy, "incidents", "run_id = :run_id"},
	/* The sum of these is stored, so they are copied once, in the end. */
	{loss_copy, "losses", "unix_ns + last_boot_ns - first_boot_ns >= :begin_unix_ns AND unix_ns <= :end_unix_ns"},
};
#define COPIES_COUNT (sizeof(copies) / sizeof(copies[0]))

static int rows_copy(struct store *to, struct store *from, size_t index, const struct store_parameter *all)
{
	struct store_parameter parameters[6] = {0};
	struct store_result *result;
	char sql[384];
	size_t count = 0;
	int error, more;

	snprintf(sql, sizeof(sql), "SELECT * FROM %s WHERE rev > :rev AND %s", copies[index].table,
		 copies[index].condition);
	for (; all->name; all++)
		if (strstr(sql, all->name))
			parameters[count++] = *all;
	error = store_query_text(from, &(struct store_text){copies[index].table, sql, 0}, parameters, &result);
	if (error < 0)
		return store_fail_as(to, error, store_error_text(from));
	while (error == 0 && (more = store_result_next(result)) != 0)
		error = more < 0 ? store_fail_as(to, more, store_error_text(from)) : copies[index].copy(to, result);
	store_result_free(result);
	return error;
}

/* Copies what changed after `after_rev`, in a transaction that is open or begins with it. */
static int changes_copy(struct store *to, struct store *from, const struct row_run *run,
			const struct store_stream *stream, int64_t after_rev, bool is_end)
{
	int64_t wall_ns = run->end_boot_ns == ROW_NULL ? INT64_MAX / 2 : run->end_boot_ns - run->begin_boot_ns;
	const struct store_parameter parameters[] = {STORE_INT("rev", after_rev),
						     STORE_INT("host_id", run->host_id),
						     STORE_INT("run_id", run->id),
						     STORE_INT("begin_unix_ns", run->started_unix_ns),
						     STORE_INT("end_unix_ns", run->started_unix_ns + wall_ns),
						     {0}};
	int error = store_begin(to);

	for (size_t i = 0; error == 0 && i < COPIES_COUNT; i++)
		if (is_end || copies[i].copy != loss_copy)
			error = rows_copy(to, from, i, parameters);
	if (error < 0)
		return error;
	return store_run(to, "see_host",
			 (const struct store_parameter[]){STORE_INT("id", run->host_id),
							  STORE_INT("unix_ns", (int64_t)stream->committed_unix_ns),
							  {0}});
}

/* A copy is not of a ring: its stream says only how far it is. */
static int copy_commit(struct store *to, struct store_stream *stream, int error)
{
	stream->ring_epoch = stream->ring_offset = 0;
	if (error < 0)
		store_rollback(to);
	return error < 0 ? error : store_commit(to, stream);
}

int store_copy_run(struct store *to, struct store *from, const struct row_run *run, int64_t *rev, bool is_end)
{
	struct store_stream stream;
	struct store_expired expired;
	int error = store_read_stream(from, &stream);

	if (error < 0)
		return store_fail_as(to, error, store_error_text(from));
	if (is_end)
		error = store_expire(to, &(struct store_expiry){.run_id = run->id}, &expired);
	if (error == 0)
		error = changes_copy(to, from, run, &stream, is_end ? 0 : *rev, is_end);
	if (error == 0 && is_end)
		error = store_mark_left(to, run->id, (int64_t)stream.committed_boot_ns);
	error = copy_commit(to, &stream, error);
	if (error == 0)
		*rev = (int64_t)stream.rev;
	return error;
}

/* ---- opening ------------------------------------------------------------------ */

/* Deletes the oldest runs until the store has at most `bytes_max` bytes. */
static int runs_limit(struct store *store, struct store_stream *stream, int64_t bytes_max)
{
	struct store_expiry expiry = {.before_unix_ns = INT64_MAX, .shipped_rev = INT64_MAX};
	struct store_expired expired;
	int error = 0;

	while (error == 0 && expiry.first_rev < (int64_t)stream->rev && store_used_bytes(store) > bytes_max) {
		error = store_find_window(store, expiry.first_rev, (int64_t)stream->rev, STORE_EXPIRY_ROWS_MAX,
					  &expiry.last_rev);
		if (error == 0)
			error = copy_commit(store, stream, store_expire(store, &expiry, &expired));
		if (error == 0 && !expired.has_more)
			expiry.first_rev = expiry.last_rev;
	}
	return error < 0 || expiry.first_rev == 0 ? error : store_delete_unused(store);
}

/* Closes what earlier commands left running when they were killed, if no other has the store open. */
static int killed_close(struct store *store, int64_t bytes_max)
{
	struct store_stream stream;
	int error = store_read_stream(store, &stream);

	if (error == -ENODATA || (error == 0 && stream.ring_epoch != 0))
		return 0; /* new, or a correlator's */
	if (error == 0)
		error = store_close_running(store, (int64_t)stream.committed_boot_ns);
	error = copy_commit(store, &stream, error);
	return error < 0 ? error : runs_limit(store, &stream, bytes_max);
}

int store_open_shared(const char *path, int64_t bytes_max, struct store **ret_store, struct store_error *ret_error)
{
	struct store *store;
	int error = store_open_for_writing(path, true, &store, ret_error);

	if (error == 0)
		error = killed_close(store, bytes_max);
	else if (error == 1)
		error = 0;
	else
		return error;
	if (error == 0 && flock(writer_of(store)->lock_fd, LOCK_SH) < 0)
		error = store_fail_as(store, -errno, "cannot share its lock");
	if (error < 0) {
		store_explain(ret_error, error, path, store->base.error);
		store_close(store);
		return error;
	}
	*ret_store = store;
	return 0;
}

int store_checkpoint(struct store *store)
{
	int persist = 0;

	sqlite3_file_control(store->db, "main", SQLITE_FCNTL_PERSIST_WAL, &persist);
	sqlite3_busy_timeout(store->db, 0); /* a checkpoint that has to wait for a reader does what it can */
	return store_exec(store, "PRAGMA synchronous = FULL; PRAGMA wal_checkpoint(TRUNCATE)");
}
