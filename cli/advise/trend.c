/* Runs of a name in time order. See trend.h. */
#include "cli/advise/trend.h"

#include <errno.h>

#include "analysis/query/units.h"
#include "analysis/tune/trend.h"
#include "cli/screen/table.h"

struct trend_view {
	const struct view *view;
	const char *name;
	struct history history;
	struct trend trend;
};

static bool has_change_at(const struct trend_view *shown, size_t run)
{
	for (size_t i = 0; i < shown->trend.count; i++)
		if (shown->trend.steps[i].changed_run == run)
			return true;
	return false;
}

static void runs_fill(const struct trend_view *shown, struct table *table, const double *relative)
{
	bool raw = shown->view->options->raw;

	for (size_t i = 0; i < shown->history.run_count; i++) {
		const struct history_run *run = &shown->history.runs[i];

		table_add(table, STYLE_DIM, units_time(run->begin_unix_ns));
		table_add_all(table, units_id(run->id, shown->view->output.width > 0),
			      units_duration(run->end_unix_ns - run->begin_unix_ns, raw), units_ratio(relative[i]),
			      NULL);
		table_add(table, run->is_comparable ? STYLE_WARNING : STYLE_BAD,
			  !run->is_comparable       ? "failed: not used"
			  : has_change_at(shown, i) ? "change"
						    : "");
	}
}

static void print_change(const struct trend_view *shown, const struct trend_step *step)
{
	const struct history_run *run = &shown->history.runs[step->changed_run];

	output_print(&shown->view->output, STYLE_PLAIN,
		     "%s: %.2f times as long (%.2f to %.2f) from run %s on (%s), p = %.2g\n", step->name, step->ratio,
		     step->low, step->high, units_id(run->id, true), units_time(run->begin_unix_ns), step->adjusted_p);
}

static void print_changes(const struct trend_view *shown)
{
	size_t found = 0, insufficient = 0, fewest = SIZE_MAX;
	const struct output *output = &shown->view->output;

	for (size_t i = 0; i < shown->trend.count; i++) {
		const struct trend_step *step = &shown->trend.steps[i];

		if (step->missing_runs > 0) {
			insufficient++;
			fewest = step->missing_runs < fewest ? step->missing_runs : fewest;
		} else if (step->changed_run != TREND_NO_RUN) {
			found++;
			print_change(shown, step);
		}
	}
	if (insufficient == shown->trend.count)
		output_print(output, STYLE_WARNING, "insufficient: %s needed\n",
			     units_counted(shown->trend.count ? (int64_t)fewest : TREND_RUNS_LEAST, false, "more run",
					   "more runs"));
	else if (found == 0)
		output_print(output, STYLE_PLAIN, "no change found\n");
	if (insufficient > 0 && insufficient < shown->trend.count)
		output_print(output, STYLE_DIM, "Not tested: %s of %s steps, with fewer than %d runs\n",
			     units_count((int64_t)insufficient, false), units_count((int64_t)shown->trend.count, false),
			     TREND_RUNS_LEAST);
}

static void print_left_out(const struct trend_view *shown)
{
	const struct output *output = &shown->view->output;

	if (shown->history.omitted_run_count > 0)
		output_print(output, STYLE_DIM, "Not shown: %s earlier runs\n",
			     units_count((int64_t)shown->history.omitted_run_count, false));
	if (shown->history.omitted_task_count > 0)
		output_print(output, STYLE_DIM, "Not compared: %s tasks that failed or were recorded incompletely\n",
			     units_count((int64_t)shown->history.omitted_task_count, false));
}

static int print_text(const struct trend_view *shown, const double *relative)
{
	static const struct table_column columns[] = {
		{"began", TABLE_LEFT, 0, 0},      {"run", TABLE_LEFT, 0, 1},    {"wall", TABLE_RIGHT, 0, 0},
		{"to median", TABLE_RIGHT, 0, 0}, {"", TABLE_LEFT, 0, 0, true},
	};
	struct table *table = table_new(columns, sizeof(columns) / sizeof(columns[0]));
	int error;

	output_print(&shown->view->output, STYLE_TITLE, "runs of %s\n", shown->name);
	runs_fill(shown, table, relative);
	error = table_finish(table, &shown->view->output);
	if (error == 0) {
		print_changes(shown);
		print_left_out(shown);
	}
	return error;
}

static int print_document(const struct trend_view *shown, const double *relative)
{
	return document_print(trend_to_json(shown->name, &shown->history, &shown->trend, relative), "steps",
			      trend_columns(), shown->view->options->format);
}

static int print(const struct trend_view *shown)
{
	double *relative;
	int error = trend_relative(&shown->trend, shown->history.run_count, &relative);

	if (error == 0)
		error = shown->view->options->format ? print_document(shown, relative) : print_text(shown, relative);
	free(relative);
	return error;
}

int trend_show(struct view *view, const char *name)
{
	const struct store_parameter filter[] = {SOURCE_FILTER(view->options)};
	struct trend_view shown = {.view = view};
	struct rows run = {0};
	int error = source_find_run(view->store, view->options, name, &run);

	if (error == 0) {
		shown.name = ROWS_ITEM(&run, run, 0)->name;
		error = history_load(
			view->store,
			&(struct history_request){.name = shown.name, .last = TREND_RUNS_MAX, .filter = filter},
			&shown.history);
	}
	if (error == 0)
		error = trend_init(&shown.trend, shown.history.steps, shown.history.step_count,
				   shown.history.run_count);
	if (error == 0)
		error = print(&shown);
	trend_deinit(&shown.trend);
	history_free(&shown.history);
	rows_free(&run);
	return error;
}
