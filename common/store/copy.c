/* Copying of one run to another store, for `tracer run --store`. See store.h. */

#include "common/store/internal.h"

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

/* The functions that copy rows, and the queries that find them in the other store. */
static const struct {
	int (*copy)(struct store *to, struct store_result *result);
	const char *query;
	bool is_of_run, is_of_host;
} copies[] = {
	{host_copy, "hosts", false, false},       {container_copy, "containers", true, true},
	{run_copy, "run", false, false},          {task_copy, "tasks", true, true},
	{tool_copy, "tools", true, true},         {process_copy, "processes", true, true},
	{sample_copy, "run_samples", true, true}, {host_sample_copy, "host_samples", false, true},
	{incident_copy, "incidents", true, true}, {loss_copy, "run_losses", true, true},
};

static int rows_copy(struct store *to, struct store *from, size_t index, const struct row_run *run, store_ask *ask)
{
	struct store_parameter parameters[5] = {0};
	struct store_result *result;
	size_t count = 0;
	int error, more;

	if (copies[index].is_of_host)
		parameters[count++] = (struct store_parameter){"host_id", STORE_INTEGER, run->host_id, NULL};
	if (copies[index].is_of_run)
		parameters[count++] = (struct store_parameter){"run_id", STORE_INTEGER, run->id, NULL};
	if (copies[index].copy == run_copy) {
		parameters[count++] = (struct store_parameter){"first_id", STORE_INTEGER, run->id, NULL};
		parameters[count++] = (struct store_parameter){"last_id", STORE_INTEGER, run->id, NULL};
	}
	if (copies[index].copy == host_sample_copy) {
		parameters[count++] =
			(struct store_parameter){"since_unix_ns", STORE_INTEGER, run->started_unix_ns, NULL};
		parameters[count++] = (struct store_parameter){"limit", STORE_INTEGER, INT64_MAX, NULL};
	}
	error = ask(from, copies[index].query, parameters, &result);
	if (error < 0)
		return store_fail_as(to, error, store_error_text(from));
	while (error == 0 && (more = store_result_next(result)) != 0)
		error = more < 0 ? store_fail_as(to, more, store_error_text(from)) : copies[index].copy(to, result);
	store_result_free(result);
	return error;
}

int store_copy_run(struct store *to, struct store *from, const struct row_run *run, store_ask *ask)
{
	struct store_stream stream;
	int error = store_read_stream(from, &stream);

	if (error < 0)
		return store_fail_as(to, error, store_error_text(from));
	error = store_begin(to);
	for (size_t i = 0; error == 0 && i < sizeof(copies) / sizeof(copies[0]); i++)
		error = rows_copy(to, from, i, run, ask);
	if (error == 0)
		error = store_leave_running(to, run->id, (int64_t)stream.committed_boot_ns);
	if (error < 0)
		store_rollback(to);
	return error < 0 ? error : store_commit(to, &stream);
}
