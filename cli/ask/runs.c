/* tracer runs: what ran on this host, newest first. */
#include "analysis/query/report.h"
#include "analysis/query/run_list.h"
#include "analysis/query/units.h"
#include "cli/report/living.h"
#include "cli/screen/table.h"
#include "cli/source.h"

#define LIMIT_DEFAULT 20
#define HOSTS_NAMED 2 /* in the line of a run that several hosts share */

static bool all;
static int64_t limit = LIMIT_DEFAULT;
static const char *wanted_name;
static int wanted_status;

/* By the index of `--status`; the first is any. */
static const char *const statuses[] = {NULL, "running", "succeeded", "failed", "killed", "ended"};

static const struct option_spec option_specs[] = {
	{"all", 'a', NULL, NULL, "include the system's own runs: services, login sessions", .flag = &all},
	OPTION_SPEC_SINCE("runs that began from then on: 90s, 15m, 2h, 3d, 2w (ago), 2026-11-22"),
	OPTION_SPEC_UNTIL("runs that began before then"),
	{"limit", 'n', "N", NULL, "show at most N runs (20); 0: all", .number = &limit, .most = INT32_MAX},
	OPTION_SPEC_USER("runs of USER (name or number)"),
	{"name", 0, "TEXT", NULL, "runs whose name contains TEXT", .text = &wanted_name},
	{"status", 0, "STATUS", "any running succeeded failed killed ended",
	 "runs with this status; ended: result unknown", .choice = &wanted_status},
	OPTION_SPEC_HOST("runs on this host of a lake"),
	OPTION_SPECS_OF_VIEW,
};

static const struct table_column columns[] = {
	{"run", TABLE_LEFT, 0, 0},
	{"began", TABLE_LEFT, 0, 2},
	{"user", TABLE_LEFT, 0, 3},
	{"name", TABLE_LEFT, 25, 0},
	{"status", TABLE_LEFT, 0, 0},
	{"ends in", TABLE_LEFT, 0, 2, true},
	{"wall", TABLE_RIGHT, 0, 1},
	{"CPU", TABLE_RIGHT, 0, 4},
	{"cores", TABLE_RIGHT, 0, 6},
	{"peak RSS", TABLE_RIGHT, 0, 5},
	{"GPU time", TABLE_RIGHT, 0, 4, true},
	{"GPU peak", TABLE_RIGHT, 0, 5, true},
	{"tasks", TABLE_RIGHT, 0, 5},
	{"processes", TABLE_RIGHT, 0, 7},
	{"failed", TABLE_RIGHT, 0, 7},
	{"host", TABLE_LEFT, 0, 2}, /* last: only if there are several */
};

#define COLUMN_COUNT (sizeof(columns) / sizeof(columns[0]))

static void status_add(struct table *table, const struct row_run *run)
{
	if (run->lost_count > 0)
		table_add(table, STYLE_BAD, "incomplete");
	else if (report_is_partial(run))
		table_add_name(table, report_has_failed(run->status) ? STYLE_BAD : STYLE_PLAIN, "partial, ",
			       run->status);
	else
		table_add_name(table, report_has_failed(run->status) ? STYLE_BAD : STYLE_PLAIN, "", run->status);
}

static const char *hostname_of(const struct run_list *list, const struct row_run *run)
{
	const struct row_host *host = joined_host(&list->hosts, run);

	return host ? host->hostname : "-";
}

/* "host-1, host-2 and 3 more" */
static void hosts_add(struct table *table, const struct run_list *list, const struct run_list_item *item)
{
	char text[1024];
	size_t hosts = 1;
	int used = snprintf(text, sizeof(text), "%.255s", hostname_of(list, &item->run));

	for (size_t i = 1; i < item->part_count; i++)
		if (joined_is_new_host(item->parts, i) && hosts++ < HOSTS_NAMED)
			used += snprintf(text + used, sizeof(text) - (size_t)used, ", %.255s",
					 hostname_of(list, &item->parts[i].run));
	if (hosts > HOSTS_NAMED)
		snprintf(text + used, sizeof(text) - (size_t)used, " and %zu more", hosts - HOSTS_NAMED);
	table_add_name(table, STYLE_DIM, "", text);
}

static void run_add(struct table *table, const struct run_list *list, size_t index, bool raw, bool is_narrow)
{
	const struct run_list_item item = run_list_get(list, index);
	const struct row_run *run = &item.run;

	table_add(table, STYLE_PLAIN, units_id(run->id, is_narrow));
	table_add(table, STYLE_DIM,
		  is_narrow ? units_time_short(run->started_unix_ns) : units_time(run->started_unix_ns));
	table_add(table, STYLE_PLAIN, units_user(run->user_id));
	table_add_name(table, STYLE_TITLE, "", run->name);
	status_add(table, run);
	table_add(table, STYLE_PLAIN, living_ends_in(run_list_end(list, &item), raw));
	table_add_all(table, units_duration(item.wall_ns, raw), units_duration(run->cpu_ns, raw),
		      units_cores(run->cpu_ns, item.wall_ns), units_bytes(run->peak_rss_bytes, raw),
		      units_duration(run->gpu_busy_ns, raw), units_bytes(run->gpu_peak_bytes, raw),
		      units_count(run->task_count, raw), units_count(run->process_count, raw), NULL);
	table_add(table, run->failed_count > 0 ? STYLE_BAD : STYLE_PLAIN, units_count(run->failed_count, raw));
	if (list->hosts.count > 1)
		hosts_add(table, list, &item);
}

static int print_table(const struct run_list *list, const struct view *view)
{
	struct table *table = table_new(columns, list->hosts.count > 1 ? COLUMN_COUNT : COLUMN_COUNT - 1);
	int error;

	for (size_t i = 0; i < list->runs.count; i++)
		run_add(table, list, i, view->options->raw, view->output.width);
	error = table_finish(table, &view->output);
	if (list->live.warning_count > 0)
		fputc('\n', view->output.file);
	living_print_warnings(&list->live, &view->output, SIZE_MAX);
	return error;
}

static int list_load(const struct view *view, struct run_list *list)
{
	const struct options *options = view->options;
	const struct run_list_request request = {
		.most = limit ? limit : INT64_MAX,
		.with_system = all,
		.since_unix_ns = options->since_unix_ns,
		.until_unix_ns = options->until_unix_ns,
		.name = wanted_name,
		.status = statuses[wanted_status],
		.host = options->host,
		.user_id = options->user_id,
	};

	return run_list_load(list, view->store, &request);
}

/* Printed to standard error, so that programs can parse the list. */
static void print_left_out(const struct run_list *list)
{
	if (list->left_out_count > 0)
		say("tracer runs: %s of the system's own not shown; use --all to include them",
		    units_count(list->left_out_count, false));
	else if (list->runs.count == 0)
		say("tracer runs: no matching runs");
}

static int runs_show(struct view *view)
{
	struct run_list list;
	bool is_table = view->options->format == FORMAT_TABLE;
	int error = list_load(view, &list);

	if (error == 0 && !is_table)
		error = document_print(run_list_to_json(&list), "runs", run_list_columns(), view->options->format);
	else if (error == 0 && list.runs.count > 0)
		error = print_table(&list, view);
	if (error == 0)
		say_cut(list.runs.count, (size_t)list.count, "runs");
	if (error == 0 && is_table)
		print_left_out(&list);
	if (error == 0)
		error = source_say_clocks(view->store, view->options->host, view->options->since_unix_ns);
	run_list_free(&list);
	return error;
}

const struct verb verb_runs = {
	.name = "runs",
	.summary = "list runs, newest first",
	.description = "Lists what ran on this host: pipelines, commands, jobs, services, newest first;\n"
		       "in a lake, on all hosts. A run that several hosts share is one line, with the\n"
		       "figures of all of them. Of those that run it says when they are expected to end,\n"
		       "and warns if they take longer than before, are stuck or are near their memory\n"
		       "limit (docs/live.md). The system's own runs (services of the distribution,\n"
		       "login sessions) are left out unless --all is given. To refer to a run, use the\n"
		       "first digits of its id, as in tracer show 3f2a.",
	.options = option_specs,
	.examples = "  tracer runs --since 2h\n"
		    "  tracer runs --user alice --name snakemake --json",
	.show = runs_show,
};
