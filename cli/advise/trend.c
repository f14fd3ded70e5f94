/* Runs of a name in time order. See trend.h. */
#include "cli/advise/trend.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "analysis/query/units.h"
#include "analysis/tune/history.h"
#include "analysis/tune/rank.h"
#include "analysis/tune/trend.h"
#include "cli/screen/table.h"

struct trend_view {
	const struct view *view;
	const char *name;
	struct history history;
	struct trend trend;
};

/* Returns the index of the whole runs' step, trend.count if none succeeded. */
static size_t whole_index(const struct trend_view *shown)
{
	size_t i = 0;

	while (i < shown->trend.count && strcmp(shown->trend.steps[i].name, HISTORY_WHOLE) != 0)
		i++;
	return i;
}

/* Sets the value of each run relative to their median, NAN if unknown. */
static void relative_values(const struct trend_view *shown, double *ret_values, double *scratch)
{
	size_t index = whole_index(shown), run_count = shown->history.run_count, count = 0;
	double median;

	for (size_t run = 0; run < run_count; run++) {
		ret_values[run] = index < shown->trend.count ? shown->trend.values.items[index].values[run] : NAN;
		if (!isnan(ret_values[run]))
			scratch[count++] = ret_values[run];
	}
	median = rank_median(scratch, count);
	for (size_t run = 0; run < run_count; run++)
		ret_values[run] = exp(ret_values[run] - median);
}

static const char *ratio_text(double ratio, char text[UNITS_SIZE])
{
	if (isfinite(ratio))
		snprintf(text, UNITS_SIZE, "%.2f", ratio);
	else
		snprintf(text, UNITS_SIZE, "-");
	return text;
}

/* ---- text ---------------------------------------------------------------------------- */

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
	char ratio[UNITS_SIZE];

	for (size_t i = 0; i < shown->history.run_count; i++) {
		const struct history_run *run = &shown->history.runs[i];

		table_add(table, STYLE_DIM, units_time(run->begin_unix_ns));
		table_add_all(table, units_id(run->id, shown->view->output.width > 0),
			      units_duration(run->end_unix_ns - run->begin_unix_ns, raw),
			      ratio_text(relative[i], ratio), NULL);
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
		output_print(output, STYLE_WARNING, "insufficient: %s more %s needed\n",
			     units_count(shown->trend.count ? (int64_t)fewest : TREND_RUNS_LEAST, false),
			     units_plural(shown->trend.count ? (int64_t)fewest : TREND_RUNS_LEAST, "run", "runs"));
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

/* ---- JSON ---------------------------------------------------------------------------- */

/* Unknown is null. */
static void set_real(json_t *object, const char *name, double value)
{
	json_object_set_new(object, name, isfinite(value) ? json_real(value) : json_null());
}

static json_t *run_to_object(const struct history_run *run, double relative)
{
	json_t *object = json_object();

	json_set_integer(object, "id", run->id);
	json_set_integer(object, "started_unix_ns", run->begin_unix_ns);
	json_set_integer(object, "wall_ns", run->end_unix_ns - run->begin_unix_ns);
	json_object_set_new(object, "succeeded", json_boolean(run->is_comparable));
	set_real(object, "relative", relative);
	return object;
}

static json_t *step_to_object(const struct trend_view *shown, const struct trend_step *step)
{
	json_t *object = json_object();

	json_set_string(object, "name", step->name);
	json_set_integer(object, "run_count", (int64_t)step->run_count);
	json_set_integer(object, "missing_run_count", (int64_t)step->missing_runs);
	json_set_integer(object, "changed_run_id",
			 step->changed_run == TREND_NO_RUN ? ROW_NULL : shown->history.runs[step->changed_run].id);
	set_real(object, "ratio", step->ratio);
	set_real(object, "ratio_low", step->low);
	set_real(object, "ratio_high", step->high);
	set_real(object, "p", step->p);
	set_real(object, "adjusted_p", step->adjusted_p);
	set_real(object, "input_slope", step->slope);
	return object;
}

static int print_document(const struct trend_view *shown, const double *relative)
{
	const struct trend_step none = {.changed_run = TREND_NO_RUN};
	json_t *root = json_object(), *runs = json_array(), *steps = json_array();

	json_set_string(root, "name", shown->name);
	for (size_t i = 0; i < shown->history.run_count; i++)
		json_array_append_new(runs, run_to_object(&shown->history.runs[i], relative[i]));
	for (size_t i = 0; i < shown->trend.count; i++)
		json_array_append_new(steps, step_to_object(shown, &shown->trend.steps[i]));
	json_object_set_new(root, "runs", runs);
	json_object_set_new(root, "steps", steps);
	json_set_integer(root, "omitted_run_count", (int64_t)shown->history.omitted_run_count);
	json_set_integer(root, "omitted_task_count", (int64_t)shown->history.omitted_task_count);
	return document_print(root, "steps", step_to_object(shown, &none), shown->view->options->format);
}

/* ---- both ---------------------------------------------------------------------------- */

static int print(const struct trend_view *shown)
{
	size_t count = shown->history.run_count;
	double *relative = calloc(2 * count + 1, sizeof(*relative));
	int error;

	if (!relative)
		return -ENOMEM;
	relative_values(shown, relative, relative + count);
	error = shown->view->options->format ? print_document(shown, relative) : print_text(shown, relative);
	free(relative);
	return error;
}

int trend_show(struct view *view, const char *name)
{
	struct trend_view shown = {.view = view};
	struct rows run = {0};
	int error = source_find_run(view->store, name, &run);

	if (error == 0) {
		shown.name = ROWS_ITEM(&run, run, 0)->name;
		error = history_load(view->store, &(struct history_request){.name = shown.name, .last = TREND_RUNS_MAX},
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
