/* tracer compare A B: whether the tasks of some runs took longer than those of others. */
#include "analysis/tune/compared.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "analysis/query/units.h"
#include "cli/report/names.h"
#include "cli/report/sample_options.h"
#include "cli/screen/table.h"
#include "cli/source.h"
#include "common/identity.h"

#define LIMIT_DEFAULT 20
#define LAST_DEFAULT 50

static int by = -1; /* 1: in pairs by sample */
static int64_t last = LAST_DEFAULT, limit = LIMIT_DEFAULT;
static const char *names_path;
static struct engine_names *engine_names;

static const struct option_spec option_specs[] = {
	{"by", 'b', "KEY", "task sample", "by task, or by task and in pairs by sample (task)", .choice = &by},
	OPTION_SPECS_OF_SAMPLES,
	{"last", 0, "N", NULL, "of runs of a name, compare the last N (50); 0: all", .number = &last,
	 .most = INT32_MAX},
	{"limit", 'n', "N", NULL, "show at most N task names (20); 0: all", .number = &limit, .most = INT32_MAX},
	OPTION_SPEC_NAMES(&names_path),
	OPTION_SPEC_HOST("only runs on this host of a lake"),
	OPTION_SPEC_USER("only runs of USER (name or number)"),
	OPTION_SPECS_OF_VIEW,
};

/* ---- text ---------------------------------------------------------------------------- */

static void interval_add(struct table *table, const struct compare_step *step)
{
	char text[UNITS_SIZE] = "";

	if (isfinite(step->low) && isfinite(step->high) && step->low > 0)
		snprintf(text, sizeof(text), "%.2f-%.2f", step->low, step->high);
	table_add(table, STYLE_DIM, text);
}

static void figure_add(struct table *table, const struct compare_step *step, enum steps_figure figure, bool raw)
{
	for (int side = 0; side < COMPARE_SIDES; side++) {
		int64_t value = compare_whole(step->medians[side][figure]);

		table_add(table, STYLE_PLAIN,
			  figure == STEPS_PEAK_RSS || figure == STEPS_READ ? units_bytes(value, raw)
									   : units_duration(value, raw));
	}
}

static void result_add(struct table *table, const struct compare_step *step)
{
	enum style style = step->result == COMPARE_SLOWER      ? STYLE_BAD
			   : step->result == COMPARE_FASTER    ? STYLE_GOOD
			   : step->result == COMPARE_DIFFERENT ? STYLE_WARNING
							       : STYLE_DIM;
	char text[80];

	if (step->result != COMPARE_INSUFFICIENT) {
		table_add(table, style, compare_result_name(step->result));
		return;
	}
	snprintf(text, sizeof(text), "insufficient: %s needed",
		 units_counted((int64_t)step->missing_runs, false, "more run", "more runs"));
	table_add(table, style, text);
}

static void step_add(struct table *table, const struct compare_step *step, bool raw)
{
	table_add_name(table, STYLE_TITLE, "", step->name);
	for (int side = 0; side < COMPARE_SIDES; side++)
		table_add(table, STYLE_PLAIN, units_count((int64_t)step->run_counts[side], false));
	figure_add(table, step, STEPS_WALL, raw);
	table_add(table, STYLE_PLAIN, units_ratio(step->ratio));
	interval_add(table, step);
	figure_add(table, step, STEPS_CPU, raw);
	figure_add(table, step, STEPS_GPU, raw);
	figure_add(table, step, STEPS_PEAK_RSS, raw);
	figure_add(table, step, STEPS_READ, raw);
	result_add(table, step);
}

static void print_head(const struct compared *compared, const struct output *output)
{
	for (int i = 0; i < COMPARE_SIDES; i++) {
		const struct compared_side *side = &compared->sides[i];

		output_print(output, STYLE_TITLE, "%c  %s", 'A' + i, side->name);
		if (side->id)
			output_print(output, STYLE_PLAIN, "  run %s of %s\n", units_id(side->id, true),
				     units_time(side->history.runs[0].begin_unix_ns));
		else
			output_print(output, STYLE_PLAIN, "  %s\n",
				     units_counted((int64_t)side->history.run_count, false, "run", "runs"));
	}
}

static void print_left_out(const struct compared *compared, const struct output *output, size_t shown)
{
	size_t runs = 0, tasks = 0;

	for (int i = 0; i < COMPARE_SIDES; i++) {
		runs += compared->sides[i].history.omitted_run_count;
		tasks += compared->sides[i].history.omitted_task_count;
	}
	say_cut(shown, compared->compare.count, "names of tasks");
	if (runs > 0)
		output_print(output, STYLE_DIM, "Not compared: %s earlier runs (--last)\n",
			     units_count((int64_t)runs, false));
	if (tasks > 0)
		output_print(output, STYLE_DIM, "Not compared: %s tasks that failed or were recorded incompletely\n",
			     units_count((int64_t)tasks, false));
}

/* How many names are compared in pairs, and why the samples of runs are not known. */
static void print_samples(const struct compared *compared, const struct output *output)
{
	size_t paired = 0, runs = 0;
	const char *misfit = NULL;

	for (size_t i = 0; i < compared->compare.count; i++)
		paired += compared->compare.steps[i].unit == COMPARE_SAMPLES ||
			  compared->compare.steps[i].unit == COMPARE_SAMPLES_OF_RUNS;
	for (int i = 0; i < COMPARE_SIDES; i++) {
		const struct history *history = &compared->sides[i].history;

		runs += history->run_count - history->sampled_count;
		misfit = history->misfit ? history->misfit : misfit;
	}
	output_print(output, STYLE_DIM, "Compared in pairs by sample: %zu of %zu task names\n", paired,
		     compared->compare.count);
	if (runs > 0)
		output_print(output, STYLE_DIM, "No sample structure found in %s: %s\n",
			     units_counted((int64_t)runs, false, "run", "runs"), misfit);
}

static int print_text(const struct compared *compared, const struct output *output, bool raw)
{
	static const struct table_column columns[] = {
		{"task", TABLE_LEFT, 25, 0},        {"runs A", TABLE_RIGHT, 0, 3},
		{"B", TABLE_RIGHT, 0, 3},           {"wall A", TABLE_RIGHT, 0, 1},
		{"B", TABLE_RIGHT, 0, 1},           {"ratio", TABLE_RIGHT, 0, 0},
		{"95 %", TABLE_RIGHT, 0, 2, true},  {"CPU A", TABLE_RIGHT, 0, 4},
		{"B", TABLE_RIGHT, 0, 4},           {"GPU A", TABLE_RIGHT, 0, 4, true},
		{"GPU B", TABLE_RIGHT, 0, 4, true}, {"peak RSS A", TABLE_RIGHT, 0, 5},
		{"B", TABLE_RIGHT, 0, 5},           {"read A", TABLE_RIGHT, 0, 6},
		{"B", TABLE_RIGHT, 0, 6},           {"result", TABLE_LEFT, 0, 0},
	};
	struct table *table = table_new(columns, sizeof(columns) / sizeof(columns[0]));
	size_t shown = limit && (size_t)limit < compared->compare.count ? (size_t)limit : compared->compare.count;
	int error;

	print_head(compared, output);
	for (size_t i = 0; i < shown; i++)
		step_add(table, &compared->compare.steps[i], raw);
	error = table_finish(table, output);
	print_left_out(compared, output, shown);
	if (compared->by_sample)
		print_samples(compared, output);
	return error;
}

/* ---- the verb ------------------------------------------------------------------------ */

/* An id or `latest` is one run, a name all runs of that name. */
static int side_find(const struct view *view, const char *operand, struct compared_side *side)
{
	int64_t first_id, last_id;
	const struct row_run *run;
	int error = source_find_run(view->store, view->options, operand, &side->run);

	if (error != 0)
		return error;
	run = ROWS_ITEM(&side->run, run, 0);
	side->name = run->name;
	if (strcmp(operand, "latest") == 0 ||
	    (identity_parse_prefix(operand, &first_id, &last_id) == 0 && run->id >= first_id && run->id <= last_id))
		side->id = run->id;
	return 0;
}

/* The file is of one run: all tasks of a name that it has one name for are renamed, on both sides. */
static int tasks_name(struct compared *compared, struct store *store)
{
	int64_t *run_ids;
	int error = compared_runs(compared, &run_ids);

	if (error == 0)
		error = names_learn(&engine_names, store, run_ids, compared->run_count);
	if (error == 0)
		compared_rename(compared, engine_names);
	free(run_ids);
	return error;
}

static int sides_load(struct view *view, struct compared *compared)
{
	const struct options *options = view->options;
	struct compared_side *sides = compared->sides;
	struct sample_names *names = NULL;
	const struct store_parameter filter[] = {SOURCE_FILTER(options)};
	int error = 0;

	for (int i = 0; error == 0 && i < COMPARE_SIDES; i++)
		error = side_find(view, options->operands[i], &sides[i]);
	if (error == 0 && compared_are_same(compared))
		return options_misuse(options, "A and B are the same: %s", sides[0].name);
	if (error == 0)
		error = compared_load(compared, view->store, (size_t)last, filter);
	for (int i = 0; error == 0 && i < COMPARE_SIDES; i++)
		if (sides[i].history.run_count == 0)
			error = say("tracer compare: no %s run to compare for '%s'",
				    sides[!i].id ? "other ended" : "ended", options->operands[i]);
	if (error == 0)
		error = sample_options_read(options, compared->by_sample, &names);
	for (int i = 0; compared->by_sample && error == 0 && i < COMPARE_SIDES; i++)
		error = history_load_samples(view->store, names, &sides[i].history);
	for (int i = 0; error == 0 && i < COMPARE_SIDES; i++)
		if (sides[0].history.run_count == 1 && sides[1].history.run_count == 1) /* else none is used */
			error = history_load_labels(view->store, &sides[i].history);
	sample_names_free(names);
	return error;
}

static int compare_show(struct view *view)
{
	struct compared compared = {.by_sample = by == 1};
	int error = sides_load(view, &compared);

	if (error == 0)
		error = compared_join(&compared);
	if (error == 0)
		error = tasks_name(&compared, view->store);
	if (error == 0)
		error = compared_find(&compared);
	if (error == 0)
		error = view->options->format ? document_print(compared_to_json(&compared), "steps", compared_columns(),
							       view->options->format)
					      : print_text(&compared, &view->output, view->options->raw);
	compared_free(&compared);
	return error;
}

static int compare_main(const struct options *options)
{
	return names_show(names_path, &engine_names, options, compare_show);
}

const struct verb verb_compare = {
	.name = "compare",
	.operands = "A B",
	.operands_least = 2,
	.operands_most = 2,
	.summary = "compare the tasks of runs with those of others",
	.description = "Compares the tasks of B with those of A, by name. A and B are each a run (an id,\n"
		       "latest) or the name of runs: then all of that name that have ended.\n"
		       "\n"
		       "ratio    wall time of B to A, after what the size of the input explains\n"
		       "95 %     its confidence interval\n"
		       "result   slower and faster need 5 runs on each side, fewer are insufficient.\n"
		       "         One run against one run shows a difference, but not its cause.\n"
		       "\n"
		       "With --by sample, where both sides have the samples, these are compared in\n"
		       "pairs. Runs that share samples are one pair, and 6 pairs are needed.\n"
		       "\n"
		       "Other columns are medians of the runs. Only tasks that succeeded are compared;\n"
		       "docs/tune.md describes the statistics.",
	.options = option_specs,
	.examples = "  tracer compare 3f2a latest\n"
		    "  tracer compare nightly.sh nightly-new.sh --last 10\n"
		    "  tracer compare batch.sh batch-new.sh --by sample --sample-sheet samples.csv\n"
		    "  tracer compare latest nightly.sh --json | jq '.steps[] | {name, ratio, result}'",
	.completion = "run",
	.main = compare_main,
};
