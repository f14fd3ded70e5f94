/* Rows as spans. See spans.h. */
#include "shipper/spans.h"

#include <errno.h>
#include <string.h>

#include "common/otlp/span.h"
#include "spans-sql.h"

static const struct store_text queries[] = {{"runs" SPANS_SUFFIX, spans_runs, 0},
					    {"tasks" SPANS_SUFFIX, spans_tasks, 0}};
static const struct store_text run_query = {"run of a span", spans_run, 0},
			       host_query = {"host of a span", spans_host, 0};

static const struct store_text *query_of(const char *entity)
{
	return strcmp(entity, "runs") == 0 ? &queries[0] : strcmp(entity, "tasks") == 0 ? &queries[1] : NULL;
}

bool spans_has_entity(const char *entity)
{
	return query_of(entity);
}

int spans_query(struct store *store, const char *entity, int64_t after_rev, int64_t limit,
		struct store_result **ret_result)
{
	const struct store_parameter parameters[] = {STORE_INT("cursor", after_rev), STORE_INT("limit", limit), {0}};

	return store_query_text(store, query_of(entity), parameters, ret_result);
}

/* ---- what is left out ------------------------------------------------------------------ */

#define I(name) \
	if (settings_leave_out(settings, entity, #name)) \
		row->name = ROW_NULL;
#define T(name) \
	if (settings_leave_out(settings, entity, #name)) \
		row->name = NULL;

static void run_redact(struct row_run *row, const struct settings *settings)
{
	static const char entity[] = "runs";

	ROW_RUN_COLUMNS(I, T, )
}

static void task_redact(struct row_task *row, const struct settings *settings)
{
	static const char entity[] = "tasks";

	ROW_TASK_COLUMNS(I, T, )
}

static void host_redact(struct row_host *row, const struct settings *settings)
{
	static const char entity[] = "hosts";

	ROW_HOST_COLUMNS(I, T, )
}

#undef I
#undef T

/* ---- the run and its host ---------------------------------------------------------------- */

/* Returns 1 if there is such a row; 0; -errno. */
static int row_find(struct store *store, const struct store_text *query, int64_t id, struct store_result **ret_result)
{
	const struct store_parameter parameters[] = {STORE_INT("id", id), {0}};
	int error = store_query_text(store, query, parameters, ret_result);

	return error < 0 ? error : store_result_next(*ret_result);
}

static void result_drop(struct store_result **result)
{
	if (*result)
		store_result_free(*result);
	*result = NULL;
}

/* The ids are kept: they identify the trace. */
static int run_read(struct spans *spans, struct store *store, const struct settings *settings, int64_t id)
{
	int result = 0;

	if (spans->run_result && spans->run.id == id)
		return 0;
	result_drop(&spans->run_result);
	spans->run = (struct row_run){.id = id};
	result = row_find(store, &run_query, id, &spans->run_result);
	if (result == 1) {
		store_result_get_run(spans->run_result, &spans->run);
		run_redact(&spans->run, settings);
	}
	return result < 0 ? result : 0;
}

static int host_read(struct spans *spans, struct store *store, const struct settings *settings, int64_t id)
{
	int result = 0;

	if ((spans->host_result && spans->host.id == id) || settings_leave_out(settings, "hosts", NULL))
		return 0;
	result_drop(&spans->host_result);
	spans->host = (struct row_host){.id = id};
	result = row_find(store, &host_query, id, &spans->host_result);
	if (result == 1) {
		store_result_get_host(spans->host_result, &spans->host);
		host_redact(&spans->host, settings);
	}
	return result < 0 ? result : 0;
}

void spans_deinit(struct spans *spans)
{
	result_drop(&spans->run_result);
	result_drop(&spans->host_result);
	*spans = (struct spans){0};
}

/* ---- spans ----------------------------------------------------------------------------- */

/* A time that was left out makes a span without duration. */
static struct otlp_times times_of(int64_t started_unix_ns, int64_t begin_boot_ns, int64_t end_boot_ns)
{
	bool is_known = begin_boot_ns != ROW_NULL && end_boot_ns > begin_boot_ns;

	return (struct otlp_times){started_unix_ns, started_unix_ns + (is_known ? end_boot_ns - begin_boot_ns : 0)};
}

#define TIMES(row) times_of((row)->started_unix_ns, (row)->begin_boot_ns, (row)->end_boot_ns)

static int task_write(struct spans *spans, struct store *store, const struct settings *settings,
		      struct store_result *result, struct json_text *text)
{
	struct row_task task;
	int error;

	store_result_get_task(result, &task);
	task_redact(&task, settings);
	error = run_read(spans, store, settings, store_result_get(result, "run_id").integer);
	if (error == 0)
		error = host_read(spans, store, settings, task.host_id);
	if (error < 0)
		return error;
	spans->run.host_id = task.host_id;
	otlp_resource_begin(text, &spans->run, &spans->host);
	otlp_task(text, &spans->run, &task, task.name, TIMES(&task));
	return 0;
}

static int run_write(struct spans *spans, struct store *store, const struct settings *settings,
		     struct store_result *result, struct json_text *text)
{
	struct row_run run;
	int error;

	store_result_get_run(result, &run);
	run_redact(&run, settings);
	error = host_read(spans, store, settings, run.host_id);
	if (error < 0)
		return error;
	otlp_resource_begin(text, &run, &spans->host);
	otlp_run(text, &run, TIMES(&run));
	return 0;
}

int spans_write(struct spans *spans, struct store *store, const struct settings *settings, const char *entity,
		struct store_result *result, struct json_text *text)
{
	int error;

	json_text_clear(text);
	error = strcmp(entity, "runs") == 0 ? run_write(spans, store, settings, result, text)
					    : task_write(spans, store, settings, result, text);
	otlp_resource_end(text);
	json_text_raw(text, "\n");
	return error == 0 && text->failed ? -ENOMEM : error;
}
