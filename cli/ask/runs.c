/* tracer runs: what ran on this host, newest first. */
#include <errno.h>

#include "analysis/query/ask.h"
#include "analysis/query/joined.h"
#include "analysis/query/report.h"
#include "analysis/query/units.h"
#include "cli/screen/table.h"
#include "cli/source.h"
#include "common/clock.h"

#define LIMIT_DEFAULT 20
#define HOSTS_NAMED 2                           /* in the line of a run that several hosts share */
#define RECENT_NS (7 * INT64_C(86400000000000)) /* a lake reads old months only if recent runs are too few */
#define PARTS_EXPECTED 16 /* per listed run, on average: if there are more, all runs are searched */

static bool all;
static int64_t limit = LIMIT_DEFAULT;
static const char *wanted_name;

static const struct option_spec option_specs[] = {
	{"all", 'a', NULL, NULL, "include the system's own runs: services, login sessions", .flag = &all},
	OPTION_SPEC_SINCE("runs that began from then on: 90s, 15m, 2h, 3d, 2w (ago), 2026-11-22"),
	OPTION_SPEC_UNTIL("runs that began before then"),
	{"limit", 'n', "N", NULL, "show at most N runs (default 20); 0: all", .number = &limit, .most = INT32_MAX},
	OPTION_SPEC_USER("runs of USER (name or number)"),
	{"name", 0, "TEXT", NULL, "runs whose name contains TEXT", .text = &wanted_name},
	OPTION_SPEC_HOST("runs on this host of a lake"),
	OPTION_SPECS_OF_VIEW,
};

static const struct table_column columns[] = {
	{"run", TABLE_LEFT, 0, 0},    {"began", TABLE_LEFT, 0, 2},      {"user", TABLE_LEFT, 0, 3},
	{"name", TABLE_LEFT, 25, 0},  {"status", TABLE_LEFT, 0, 0},     {"wall", TABLE_RIGHT, 0, 1},
	{"CPU", TABLE_RIGHT, 0, 4},   {"cores", TABLE_RIGHT, 0, 6},     {"peak RSS", TABLE_RIGHT, 0, 5},
	{"tasks", TABLE_RIGHT, 0, 5}, {"processes", TABLE_RIGHT, 0, 7}, {"failed", TABLE_RIGHT, 0, 7},
	{"host", TABLE_LEFT, 0, 2}, /* last: only if there are several */
};

#define COLUMN_COUNT (sizeof(columns) / sizeof(columns[0]))

/* The listed runs, their parts and hosts. */
struct listing {
	const struct view *view;
	struct rows runs, parts, hosts;
	int64_t left_out_count; /* matching runs of the system's own that are omitted */
	int64_t count;          /* of matching runs; 0: those listed are all */
};

static void status_add(struct table *table, const struct row_run *run)
{
	if (run->lost_count > 0)
		table_add(table, STYLE_BAD, "incomplete");
	else
		table_add_name(table, report_has_failed(run->status) ? STYLE_BAD : STYLE_PLAIN, "", run->status);
}

static const struct row_host *host_of(const struct listing *list, const struct row_run *run)
{
	return joined_host(&list->hosts, run);
}

static int64_t wall_ns(const struct listing *list, const struct row_run *run)
{
	int64_t now_boot_ns =
		run->end_boot_ns == ROW_NULL ? report_now_boot_ns(list->view->store, host_of(list, run)) : ROW_NULL;

	return report_span_ns(run->begin_boot_ns, run->end_boot_ns, now_boot_ns);
}

/* Returns a listed run combined with all its parts; `*ret_count` is their number, 0 if it has none. */
static struct row_run whole_of(const struct listing *list, const struct row_run *run, const struct row_part **ret_parts,
			       size_t *ret_count)
{
	*ret_parts = joined_find(&list->parts, run->id, ret_count);
	return *ret_count > 0 ? joined_sum(*ret_parts, *ret_count) : *run;
}

static const char *hostname_of(const struct listing *list, const struct row_run *run)
{
	const struct row_host *host = host_of(list, run);

	return host ? host->hostname : "-";
}

/* "host-1, host-2 and 3 more" */
static void hosts_add(struct table *table, const struct listing *list, const struct row_run *run,
		      const struct row_part *parts, size_t count)
{
	char text[1024];
	size_t hosts = 1;
	int used = snprintf(text, sizeof(text), "%.255s", hostname_of(list, run));

	for (size_t i = 1; i < count; i++)
		if (joined_is_new_host(parts, i) && hosts++ < HOSTS_NAMED)
			used += snprintf(text + used, sizeof(text) - (size_t)used, ", %.255s",
					 hostname_of(list, &parts[i].run));
	if (hosts > HOSTS_NAMED)
		snprintf(text + used, sizeof(text) - (size_t)used, " and %zu more", hosts - HOSTS_NAMED);
	table_add_name(table, STYLE_DIM, "", text);
}

static void run_add(struct table *table, const struct listing *list, const struct row_run *listed)
{
	const struct row_part *parts;
	size_t part_count;
	const struct row_run whole = whole_of(list, listed, &parts, &part_count), *run = &whole;
	int64_t wall = wall_ns(list, run);
	bool raw = list->view->options->raw, is_narrow = list->view->output.width;

	table_add(table, STYLE_PLAIN, units_id(run->id, is_narrow));
	table_add(table, STYLE_DIM,
		  is_narrow ? units_time_short(run->started_unix_ns) : units_time(run->started_unix_ns));
	table_add(table, STYLE_PLAIN, units_user(run->user_id));
	table_add_name(table, STYLE_TITLE, "", run->name);
	status_add(table, run);
	table_add_all(table, units_duration(wall, raw), units_duration(run->cpu_ns, raw),
		      units_cores(run->cpu_ns, wall), units_bytes(run->peak_rss_bytes, raw),
		      units_count(run->task_count, raw), units_count(run->process_count, raw), NULL);
	table_add(table, run->failed_count > 0 ? STYLE_BAD : STYLE_PLAIN, units_count(run->failed_count, raw));
	if (list->hosts.count > 1)
		hosts_add(table, list, run, parts, part_count);
}

static int print_table(const struct listing *list)
{
	struct table *table = table_new(columns, list->hosts.count > 1 ? COLUMN_COUNT : COLUMN_COUNT - 1);

	for (size_t i = 0; i < list->runs.count; i++)
		run_add(table, list, ROWS_ITEM(&list->runs, run, i));
	return table_finish(table, &list->view->output);
}

static json_t *parts_to_json(const struct listing *list, const struct row_part *parts, size_t count)
{
	json_t *array = json_array();

	for (size_t i = 0; i < count; i++) {
		const struct row_host *host = host_of(list, &parts[i].run);
		json_t *part = json_object();

		json_set_integer(part, "id", parts[i].run.id);
		json_set_string(part, "host", host ? host->hostname : NULL);
		json_set_string(part, "status", parts[i].run.status);
		json_array_append_new(array, part);
	}
	return array;
}

static json_t *run_to_json(const struct listing *list, const struct row_run *listed)
{
	const struct row_part *parts;
	size_t part_count;
	const struct row_run run = whole_of(list, listed, &parts, &part_count);
	const struct row_host *host = host_of(list, &run);
	json_t *item = row_to_json(&row_type_run, &run);

	json_set_string(item, "host", host ? host->hostname : NULL);
	json_set_integer(item, "wall_ns", row_subtract(run.end_boot_ns, run.begin_boot_ns));
	if (part_count > 0)
		json_object_set_new(item, "parts", parts_to_json(list, parts, part_count));
	return item;
}

static int print_document(const struct listing *list)
{
	json_t *array = json_array(), *object = json_object();
	json_t *members = run_to_json(list, &(const struct row_run){0});

	for (size_t i = 0; i < list->runs.count; i++)
		json_array_append_new(array, run_to_json(list, ROWS_ITEM(&list->runs, run, i)));
	json_object_set_new(object, "runs", array);
	json_set_integer(object, "left_out_count", list->left_out_count);
	json_object_set_new(members, "parts", json_null());
	return document_print(object, "runs", members, list->view->options->format);
}

/* Loads the parts of the listed runs, and of few others: only runs with a key can have parts. */
static int parts_load(struct listing *list)
{
	int64_t since_unix_ns = INT64_MAX;

	for (size_t i = 0; i < list->runs.count; i++) {
		const struct row_run *run = ROWS_ITEM(&list->runs, run, i);

		if (run->run_key && run->started_unix_ns < since_unix_ns)
			since_unix_ns = run->started_unix_ns;
	}
	return since_unix_ns == INT64_MAX ? 0 : joined_load(list->view->store, NULL, since_unix_ns, &list->parts);
}

/* Parameters of analysis/query/questions/runs.sql; those from FILTER_ALL on are also those of runs_count.sql, from
 * FILTER_SINCE on those of runs_left_out.sql. */
enum { FILTER_CANDIDATES, FILTER_LIMIT, FILTER_ALL, FILTER_SINCE };

static int count_load(struct store *store, const char *query, const char *column, const struct store_parameter *filter,
		      int64_t *ret_count)
{
	struct store_result *result;
	int more, error = query_ask(store, query, filter, &result);

	if (error < 0)
		return error;
	more = store_result_next(result);
	if (more > 0)
		*ret_count = store_result_get(result, column).integer;
	store_result_free(result);
	return more < 0 ? more : 0;
}

/* Searches the latest parts first, and all of them only if these do not suffice. */
static int runs_load(struct listing *list)
{
	struct store *store = list->view->store;
	const struct options *options = list->view->options;
	bool has_until = options->until_unix_ns != OPTIONS_NO_TIME;
	int64_t until_unix_ns = has_until ? options->until_unix_ns : (int64_t)clock_unix_ns();
	int64_t given_unix_ns = options->since_unix_ns == OPTIONS_NO_TIME ? 0 : options->since_unix_ns;
	int64_t most = limit ? limit : INT64_MAX;
	struct store_parameter filter[] = {
		[FILTER_CANDIDATES] = {"candidate_limit", STORE_INTEGER,
				       most > INT64_MAX / PARTS_EXPECTED ? INT64_MAX : most * PARTS_EXPECTED, NULL},
		[FILTER_LIMIT] = {"limit", STORE_INTEGER, most, NULL},
		[FILTER_ALL] = {"with_system", STORE_INTEGER, all, NULL},
		[FILTER_SINCE] = {"since_unix_ns", STORE_INTEGER, given_unix_ns, NULL},
		{"until_unix_ns", has_until ? STORE_INTEGER : STORE_NULL, until_unix_ns, NULL},
		{"name", wanted_name ? STORE_TEXT : STORE_NULL, 0, wanted_name},
		SOURCE_FILTER(options),
		{0},
	};
	int64_t *since = &filter[FILTER_SINCE].integer, *candidates = &filter[FILTER_CANDIDATES].integer;
	int error;

	if (!all)
		query_ask_ahead(store, "runs_left_out", filter + FILTER_SINCE);
	query_ask_ahead(store, "hosts", NULL);
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
	if (error == 0 && !all)
		error = count_load(store, "runs_left_out", "left_out_count", filter + FILTER_SINCE,
				   &list->left_out_count);
	if (error == 0 && (int64_t)list->runs.count == most)
		error = count_load(store, "runs_count", "run_count", filter + FILTER_ALL, &list->count);
	return error;
}

/* Printed to standard error, so that programs can parse the list. */
static void print_left_out(const struct listing *list)
{
	if (list->left_out_count > 0)
		say("tracer runs: %s of the system's own not shown; use --all to include them",
		    units_count(list->left_out_count, false));
	else if (list->runs.count == 0)
		say("tracer runs: no matching runs");
}

static int runs_show(struct view *view)
{
	struct listing list = {.view = view};
	bool is_table = view->options->format == FORMAT_TABLE;
	int error = runs_load(&list);

	if (error == 0)
		error = parts_load(&list);
	if (error == 0)
		error = rows_load(&list.hosts, &row_type_host, view->store, "hosts", NULL);
	if (error == 0 && !is_table)
		error = print_document(&list);
	else if (error == 0 && list.runs.count > 0)
		error = print_table(&list);
	if (error == 0)
		say_cut(list.runs.count, (size_t)list.count, "runs");
	if (error == 0 && is_table)
		print_left_out(&list);
	rows_free(&list.runs);
	rows_free(&list.parts);
	rows_free(&list.hosts);
	return error;
}

const struct verb verb_runs = {
	.name = "runs",
	.summary = "list runs, newest first",
	.description = "Lists what ran on this host: pipelines, commands, jobs, services, newest first;\n"
		       "in a lake, on all hosts. A run that several hosts share is one line, with the\n"
		       "figures of all of them. The system's own runs (services of the distribution,\n"
		       "login sessions) are left out unless --all is given. To refer to a run, use the\n"
		       "first digits of its id, as in tracer show 3f2a.",
	.options = option_specs,
	.examples = "  tracer runs --since 2h\n"
		    "  tracer runs --user alice --name snakemake --json",
	.show = runs_show,
};
