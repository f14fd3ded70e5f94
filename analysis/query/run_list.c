/* Lists runs. See run_list.h. */
#include "analysis/query/run_list.h"

#include "analysis/query/ask.h"
#include "analysis/query/report.h"
#include "analysis/query/units.h"
#include "common/clock.h"

#define RECENT_NS (7 * INT64_C(86400000000000)) /* a lake reads old months only if recent runs are too few */
#define PARTS_EXPECTED 16 /* per listed run, on average: if there are more, all runs are searched */

/* ---- loading ----------------------------------------------------------------- */

/* Loads the parts of the listed runs, and of few others: only runs with a key can have parts. */
static int parts_load(struct run_list *list)
{
	int64_t since_unix_ns = INT64_MAX;

	for (size_t i = 0; i < list->runs.count; i++) {
		const struct row_run *run = ROWS_ITEM(&list->runs, run, i);

		if (run->run_key && run->started_unix_ns < since_unix_ns)
			since_unix_ns = run->started_unix_ns;
	}
	return since_unix_ns == INT64_MAX ? 0 : joined_load(list->store, NULL, since_unix_ns, &list->parts);
}

/* Parameters of questions/runs.sql; those from FILTER_ALL on are also those of runs_count.sql, from FILTER_SINCE on
 * those of runs_left_out.sql. */
enum { FILTER_CANDIDATES, FILTER_LIMIT, FILTER_ALL, FILTER_SINCE };

static int count_load(struct store *store, const char *query, const struct store_parameter *filter, int64_t *ret_count)
{
	struct store_result *result;
	int more, error = query_ask(store, query, filter, &result);

	if (error < 0)
		return error;
	more = store_result_next(result);
	if (more > 0)
		*ret_count = store_result_get(result, "row_count").integer;
	store_result_free(result);
	return more < 0 ? more : 0;
}

/* Searches the latest parts first, and all of them only if these do not suffice. */
static int runs_load(struct run_list *list, const struct run_list_request *request)
{
	struct store *store = list->store;
	int64_t most = request->most, until_unix_ns = request->until_unix_ns;
	int64_t given_unix_ns = request->since_unix_ns == ROW_NULL ? 0 : request->since_unix_ns;
	struct store_parameter filter[] = {
		[FILTER_CANDIDATES] = {"candidate_limit", STORE_INTEGER,
				       most > INT64_MAX / PARTS_EXPECTED ? INT64_MAX : most * PARTS_EXPECTED, NULL},
		[FILTER_LIMIT] = {"limit", STORE_INTEGER, most, NULL},
		[FILTER_ALL] = {"with_system", STORE_INTEGER, request->with_system, NULL},
		[FILTER_SINCE] = {"since_unix_ns", STORE_INTEGER, given_unix_ns, NULL},
		{"until_unix_ns", until_unix_ns != ROW_NULL ? STORE_INTEGER : STORE_NULL, until_unix_ns, NULL},
		{"name", request->name ? STORE_TEXT : STORE_NULL, 0, request->name},
		{"status", request->status ? STORE_TEXT : STORE_NULL, 0, request->status},
		{"host", request->host ? STORE_TEXT : STORE_NULL, 0, request->host},
		{"user_id", request->user_id != ROW_NULL ? STORE_INTEGER : STORE_NULL, request->user_id, NULL},
		{0},
	};
	int64_t *since = &filter[FILTER_SINCE].integer, *candidates = &filter[FILTER_CANDIDATES].integer;
	int error;

	if (!request->with_system)
		query_ask_ahead(store, "runs_left_out", filter + FILTER_SINCE);
	query_ask_ahead(store, "hosts", NULL);
	if (until_unix_ns == ROW_NULL)
		until_unix_ns = (int64_t)clock_unix_ns();
	if (until_unix_ns - RECENT_NS > given_unix_ns)
		*since = until_unix_ns - RECENT_NS;
	error = rows_load(&list->runs, &row_type_run, store, "runs", filter);
	if (error == 0 && (int64_t)list->runs.count < most && (*candidates != INT64_MAX || *since != given_unix_ns)) {
		*candidates = INT64_MAX;
		*since = given_unix_ns;
		rows_free(&list->runs);
		error = rows_load(&list->runs, &row_type_run, store, "runs", filter);
	}
	*since = given_unix_ns;
	if (error == 0 && !request->with_system)
		error = count_load(store, "runs_left_out", filter + FILTER_SINCE, &list->left_out_count);
	list->count = (int64_t)list->runs.count;
	if (error == 0 && list->count == most)
		error = count_load(store, "runs_count", filter + FILTER_ALL, &list->count);
	return error;
}

static bool is_of_item(const struct run_list_item *item, int64_t run_id)
{
	for (size_t i = 0; i < item->part_count; i++)
		if (item->parts[i].run.id == run_id)
			return true;
	return item->run.id == run_id;
}

static bool is_listed(int64_t host_id, int64_t run_id, int64_t user_id, const void *data)
{
	const struct run_list *list = data;
	bool is_found = false;

	(void)host_id;
	(void)user_id;
	for (size_t i = 0; i < list->runs.count && !is_found; i++) {
		const struct run_list_item item = run_list_get(list, i);

		is_found = is_of_item(&item, run_id);
	}
	return is_found;
}

/* What is known about those that run. */
static int live_of_list(struct run_list *list)
{
	bool any_runs = false;
	int error;

	for (size_t i = 0; i < list->runs.count; i++)
		any_runs |= run_list_get(list, i).run.end_boot_ns == ROW_NULL;
	if (!any_runs)
		return 0;
	error = live_load(&list->live, list->store);
	live_keep(&list->live, is_listed, list);
	return error;
}

int run_list_load(struct run_list *list, struct store *store, const struct run_list_request *request)
{
	int error;

	*list = (struct run_list){.store = store};
	error = runs_load(list, request);
	if (error == 0)
		error = parts_load(list);
	if (error == 0)
		error = rows_load(&list->hosts, &row_type_host, store, "hosts", NULL);
	return error < 0 ? error : live_of_list(list);
}

void run_list_free(struct run_list *list)
{
	rows_free(&list->runs);
	rows_free(&list->parts);
	rows_free(&list->hosts);
	live_free(&list->live);
}

/* ---- a run --------------------------------------------------------------------- */

struct run_list_item run_list_get(const struct run_list *list, size_t index)
{
	struct run_list_item item = {.run = *ROWS_ITEM(&list->runs, run, index)};
	struct row_run *run = &item.run;
	int64_t now_boot_ns = ROW_NULL;

	item.parts = joined_find(&list->parts, run->id, &item.part_count);
	if (item.part_count > 0)
		*run = joined_sum(item.parts, item.part_count);
	if (run->end_boot_ns == ROW_NULL)
		now_boot_ns = report_now_boot_ns(list->store, joined_host(&list->hosts, run));
	item.wall_ns = report_span_ns(run->begin_boot_ns, run->end_boot_ns, now_boot_ns);
	return item;
}

const struct row_expected_end *run_list_end(const struct run_list *list, const struct run_list_item *item)
{
	return item->part_count > 1 ? NULL : live_end_of(&list->live, item->run.id);
}

static json_t *warnings_to_json(const struct run_list *list, const struct run_list_item *item)
{
	json_t *array = json_array();

	for (size_t i = 0; i < list->live.warning_count; i++)
		if (is_of_item(item, list->live.warnings[i].run_id))
			json_array_append(array, list->live.warnings[i].object);
	return array;
}

static void host_set(json_t *object, const struct run_list *list, const struct row_run *run)
{
	const struct row_host *host = joined_host(&list->hosts, run);

	json_set_string(object, "host", host ? host->hostname : NULL);
}

static json_t *parts_to_json(const struct run_list *list, const struct run_list_item *item)
{
	json_t *array = json_array();

	for (size_t i = 0; i < item->part_count; i++) {
		const struct row_run *run = &item->parts[i].run;
		json_t *part = json_object();

		json_set_integer(part, "id", run->id);
		host_set(part, list, run);
		json_set_string(part, "status", run->status);
		json_array_append_new(array, part);
	}
	return array;
}

static json_t *item_to_json(const struct run_list *list, const struct run_list_item *item)
{
	const struct row_run *run = &item->run;
	json_t *object = row_to_json(&row_type_run, run);

	host_set(object, list, run);
	json_set_string(object, "user", run->user_id == ROW_NULL ? NULL : units_user(run->user_id));
	json_set_integer(object, "wall_ns", row_subtract(run->end_boot_ns, run->begin_boot_ns));
	json_set_integer(object, "elapsed_ns", item->wall_ns);
	json_object_set_new(object, "expected_end", live_end_to_json(run_list_end(list, item)));
	json_object_set_new(object, "warnings", warnings_to_json(list, item));
	if (item->part_count > 0)
		json_object_set_new(object, "parts", parts_to_json(list, item));
	return object;
}

json_t *run_list_to_json(const struct run_list *list)
{
	json_t *array = json_array(), *object = json_object();

	for (size_t i = 0; i < list->runs.count; i++) {
		const struct run_list_item item = run_list_get(list, i);

		json_array_append_new(array, item_to_json(list, &item));
	}
	json_object_set_new(object, "runs", array);
	json_set_integer(object, "run_count", list->count);
	json_set_integer(object, "left_out_count", list->left_out_count);
	return object;
}

json_t *run_list_columns(void)
{
	json_t *object = item_to_json(&(struct run_list){0}, &(struct run_list_item){0});

	json_object_set_new(object, "parts", json_null());
	return object;
}
