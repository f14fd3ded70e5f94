/* tracer tune [RUN]: where the time of a run went, and what would make it faster and cheaper.
 *
 * The answers are findings (tune/NAME.sql), ordered by what the run would save.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/query/units.h"
#include "analysis/tune/tuning.h"
#include "cli/advise/price_list.h"
#include "cli/advise/right_size.h"
#include "cli/advise/threshold_options.h"
#include "cli/advise/trend.h"
#include "cli/report/sample_options.h"
#include "cli/screen/table.h"
#include "cli/site_rules.h"
#include "cli/source.h"

#define NAMES_MAX 12 /* rows of the critical path on a terminal */

static bool list, right_size, raw;
static int by = -1; /* 1: by sample, else by task */
static const char *trend;
static int64_t input_bytes = ROW_NULL;
static const char *prices_path, *names_path;
static struct engine_names *names;
static int64_t limit = 10;

static const struct option_spec option_specs[] = {
	{"list", 'l', NULL, NULL, "list the findings and their thresholds", .flag = &list},
	{"limit", 'n', "N", NULL, "show at most N findings (10); 0: all", .number = &limit, .most = INT64_MAX},
	{"by", 'b', "KEY", "task sample", "add up the time of tasks by name (task) or by sample (task)", .choice = &by},
	OPTION_SPECS_OF_SAMPLES,
	{"right-size", 0, NULL, NULL, "print the memory and cores to request for tasks, by name", .flag = &right_size},
	{"input-size", 0, "BYTES", NULL, "with --right-size: also for an input of that size, such as 10G",
	 .bytes = &input_bytes, .least = 1},
	{"trend", 0, "NAME", "run", "show where the runs of that name became slower or faster", .text = &trend},
	OPTION_SPEC_SET("serial_task.least=1m"),
	OPTION_SPEC_HOST("RUN is one on this host of a lake; with --right-size, --trend: all are"),
	OPTION_SPEC_USER("RUN is one of USER; with --right-size, --trend: all are"),
	OPTION_SPEC_NAMES(&names_path),
	OPTION_SPEC_PRICES(&prices_path),
	OPTION_SPEC_RAW,
	OPTION_SPECS_OF_FORMATS(FORMAT_WORDS " " RIGHT_SIZE_FORMATS,
				"table, json, ndjson (a row a line) or csv; with --right-size also nextflow, "
				"snakemake, slurm"),
	OPTION_SPEC_SOURCE,
	OPTION_SPECS_LAST,
};

/* ---- text -------------------------------------------------------------------------- */

static const char *share_text(int64_t part, int64_t whole)
{
	const struct store_value share = {.type = STORE_VALUE_REAL,
					  .real = whole > 0 ? (double)part / (double)whole : 0};

	return units_value(QUESTION_SHARE, &share, false);
}

static void time_add(struct table *table, const struct tuning *tune, const char *title, int64_t ns, int64_t whole,
		     const char *note)
{
	if (ns <= 0)
		return;
	table_add(table, STYLE_PLAIN, title);
	table_add(table, STYLE_PLAIN, units_duration(ns, raw));
	table_add(table, STYLE_DIM, share_text(ns, whole));
	table_add(table, STYLE_DIM, note);
}

static const struct table_column time_columns[] = {
	{"", TABLE_LEFT, 0, 0},
	{"", TABLE_RIGHT, 0, 0},
	{"", TABLE_RIGHT, 0, 0},
	{"", TABLE_LEFT, 0, 1, true},
};

/* Of tasks that ended together, the last one need not be the one that was waited for. */
static void print_unsure(const struct tuning *tune, const struct output *output)
{
	size_t count = tune->account.path_count, unsure_count = tune->account.unsure_count;

	if (unsure_count > 0)
		output_print(output, STYLE_DIM,
			     "  (uncertain for %s of %s tasks on the path: several others had just ended)\n",
			     units_count((int64_t)unsure_count, false), units_count((int64_t)count, false));
}

static int print_wall(const struct tuning *tune, const struct output *output)
{
	const struct schedule *schedule = &tune->account.schedule;
	bool computes = tuning_driver_computes(tune);
	const char *const titles[] = {"  tasks", "  gaps", "  queue", computes ? "  script" : "  engine"};
	const char *const notes[] = {
		"on the critical path",
		computes ? "no task ran: the script itself computed"
			 : "no task ran: the next one on the path had not begun",
		"others ran: the next one on the path had not begun",
		computes ? "itself, before the first task and after the last"
			 : "before the first task and after the last",
	};
	struct table *table = table_new(time_columns, 4);

	fputc('\n', output->file);
	output_print(output, STYLE_TITLE, "Where the wall time went");
	output_print(output, STYLE_DIM, "  (what waited for what: inferred from times%s)\n",
		     schedule->causes ? " and files" : "");
	print_unsure(tune, output);
	for (size_t i = 0; i < SCHEDULE_OWNER_COUNT; i++)
		time_add(table, tune, titles[i], schedule->owned_ns[i], schedule->end_ns - schedule->begin_ns,
			 notes[i]);
	return table_finish(table, output);
}

static int print_processors(const struct tuning *tune, const struct output *output)
{
	const struct account *account = &tune->account;
	struct table *table;

	if (account->held_ns == ROW_NULL || account->held_ns == 0)
		return 0;
	table = table_new(time_columns, 4);
	fputc('\n', output->file);
	output_print(output, STYLE_TITLE, "Where the processors went");
	output_print(output, STYLE_DIM, "  (%s allowed × the wall time)\n",
		     units_core_limit(report_cores_milli(tune->report)));
	time_add(table, tune, "  used", account->used_ns, account->held_ns, "");
	time_add(table, tune, "  idle: storage", account->waiting_storage_ns, account->held_ns,
		 "threads waited for storage");
	time_add(table, tune, "  idle: memory", account->waiting_memory_ns, account->held_ns, "reclaim, swap");
	time_add(table, tune, "  taken", account->waiting_processor_ns, account->held_ns,
		 "threads waited for others, each other or a quota");
	time_add(table, tune, "  idle", account->idle_ns, account->held_ns, "held, but nothing to do");
	return table_finish(table, output);
}

/* By sample, those that are not on the path are shown, too: samples do not wait for each other. */
static int print_path(const struct tuning *tune, const struct output *output)
{
	const bool by_sample = tune->by_sample;
	const struct table_column columns[] = {
		{by_sample ? "samples on the critical path" : "tasks on the critical path", TABLE_LEFT, 40, 0},
		{"tasks", TABLE_RIGHT, 0, 3},
		{"on the path", TABLE_RIGHT, 0, 0},
		{"share", TABLE_RIGHT, 0, 2},
		{"all tasks", TABLE_RIGHT, 0, by_sample ? 1 : 4},
		{"CPU", TABLE_RIGHT, 0, by_sample ? 4 : 5},
		{"processors", TABLE_RIGHT, 0, by_sample ? 5 : 1},
		{"bound by", TABLE_LEFT, 0, 0},
	};
	const struct account *account = &tune->account;
	const struct schedule *schedule = &account->schedule;
	struct table *table = table_new(columns, sizeof(columns) / sizeof(columns[0]));

	fputc('\n', output->file);
	for (size_t i = 0; i < account->name_count && i < NAMES_MAX; i++) {
		const struct account_name *name = &account->names[i];

		if (name->path_ns == 0 && !by_sample)
			break;
		table_add_name(table, STYLE_PLAIN, "  ", name->name);
		table_add_all(table, units_count((int64_t)name->task_count, false), units_duration(name->path_ns, raw),
			      share_text(name->path_ns, schedule->end_ns - schedule->begin_ns),
			      units_duration(name->times.wall_ns, raw), units_duration(name->times.cpu_ns, raw),
			      units_cores(name->times.cpu_ns, name->times.wall_ns), account_bound_name(name->bound),
			      NULL);
	}
	return table_finish(table, output);
}

static void print_imbalance(const struct tuning *tune, const struct output *output)
{
	const struct account *account = &tune->account;
	const struct account_name *longest;
	int64_t median_ns;

	if (account->name_count > NAMES_MAX)
		output_print(output, STYLE_DIM, "  %s more: --json\n",
			     units_count((int64_t)(account->name_count - NAMES_MAX), false));
	longest = account_longest(account, &median_ns);
	if (longest && median_ns > 0)
		output_print(output, STYLE_PLAIN, "  Imbalance: tasks on %s ran for %s, %.2f times the median (%s)\n",
			     longest->name, units_duration(longest->times.wall_ns, raw),
			     (double)longest->times.wall_ns / (double)median_ns, units_duration(median_ns, raw));
	samples_print_misfit(tune->report->samples->samples.misfit, output);
}

/* Ends that read the same are one figure; nothing for sure is "up to". */
static void print_interval(const struct tuning *tune, const struct output *output, const struct schedule_saving *wall,
			   const char *title)
{
	const char *low = units_duration(wall->low_ns, raw), *high = units_duration(wall->high_ns, raw);

	if (wall->low_ns > 0 && strcmp(low, high) != 0)
		output_print(output, STYLE_GOOD, "%s%s to %s", title, low, high);
	else
		output_print(output, STYLE_GOOD, "%s%s", wall->low_ns > 0 ? title : "saves up to ", high);
}

static void print_savings(const struct tuning *tune, const struct output *output, const struct finding_of_run *finding)
{
	const struct schedule_saving *wall = &finding->wall;
	bool at_least = finding->question->finding.saving == QUESTION_SAVING_LEAST;
	int64_t micros =
		at_least ? tuning_least_micros(tune, finding) : tuning_saved_micros(tune, finding, wall->high_ns);
	const char *separator = at_least ? "saves " : "saves up to ";

	if (wall->high_ns > 0) {
		print_interval(tune, output, wall, separator);
		separator = ", ";
	}
	if (finding->cpu_ns > 0) {
		output_print(output, STYLE_GOOD, "%s%s of processors", separator, units_duration(finding->cpu_ns, raw));
		separator = ", ";
	}
	if (finding->gpu_ns > 0) {
		output_print(output, STYLE_GOOD, "%s%.1f GPU-hours", separator, (double)finding->gpu_ns / 3.6e12);
		separator = ", ";
	}
	if (finding->memory_byte_seconds > 0) {
		output_print(output, STYLE_GOOD, "%s%s GiB-hours", separator,
			     units_number((double)finding->memory_byte_seconds / GIB / 3600));
		separator = ", ";
	}
	if (*separator == 's')
		output_print(output, STYLE_DIM, "saving unknown");
	else if (micros > 0)
		output_print(output, STYLE_DIM, ", %s %s", prices_currency(tune->prices),
			     units_number((double)micros / 1e6));
	fputc('\n', output->file);
}

static void print_finding(const struct tuning *tune, const struct output *whole, size_t index)
{
	const struct finding_of_run *finding = &tune->findings.items[index];
	struct output_flow flow;
	const struct output *output = &flow.inner;

	output_print(whole, STYLE_TITLE, "%3zu. %s  ", index + 1, finding->question->name);
	print_savings(tune, whole, finding);
	output_flow_begin(&flow, whole);
	output_print(output, STYLE_PLAIN, "     %s\n", finding->sentence);
	fprintf(output->file, "     %s ", output->unicode ? "→" : "->");
	output_print(output, STYLE_PLAIN, "%s\n", finding->advice);
	output_flow_end(&flow, 7);
}

static void print_findings(const struct tuning *tune, const struct output *output)
{
	const struct findings_of_run *findings = &tune->findings;
	size_t shown = limit > 0 && (size_t)limit < findings->count ? (size_t)limit : findings->count;

	if (findings->count == 0) {
		fputc('\n', output->file);
		output_print(output, STYLE_TITLE, "Nothing found that would make this run faster or cheaper\n");
		return;
	}
	fputc('\n', output->file);
	output_print(output, STYLE_TITLE, "What could be better");
	output_print(output, STYLE_DIM, "  (what can save most first; each alone, they do not add up)\n");
	for (size_t i = 0; i < shown; i++)
		print_finding(tune, output, i);
	say_cut(shown, findings->count, "findings");
	price_doubts_print(&tune->doubts, tune->prices, output);
}

/* What makes the conclusions less sure. */
static void print_doubts(const struct tuning *tune, const struct output *whole)
{
	const struct row_run *run = report_run(tune->report);
	const struct row_host *host = report_host(tune->report);
	int64_t partial_count = tuning_lower_bound_count(tune);
	struct output_flow flow;
	const struct output *output = &flow.inner;

	output_flow_begin(&flow, whole);
	if (report_unended(run))
		output_print(output, STYLE_WARNING, "%s\n", report_unended(run));
	if (run->lost_count > 0)
		output_print(output, STYLE_BAD,
			     "INCOMPLETE: %s of this host were lost while it ran. Where nothing seems to have run, "
			     "something may have.\n",
			     units_counted(run->lost_count, raw, "record", "records"));
	if (partial_count > 0)
		output_print(output, STYLE_WARNING, "The figures of %s are lower bounds: see tracer show.\n",
			     units_counted(partial_count, raw, "process", "processes"));
	if (host && host->delay_accounting == 0)
		output_print(output, STYLE_WARNING,
			     "Delay accounting is off: waits for memory are unknown, those for storage estimated. To "
			     "turn it on: sysctl kernel.task_delayacct=1\n");
	output_flow_end(&flow, 0);
}

static int print_text(const struct tuning *tune, const struct output *output)
{
	const struct row_run *run = report_run(tune->report);
	const struct schedule *schedule = &tune->account.schedule;
	int error;

	output_print(output, STYLE_TITLE, "run %s", run->name);
	output_print(output, STYLE_PLAIN, "  %s, %s, %s of CPU time",
		     units_duration(schedule->end_ns - schedule->begin_ns, raw),
		     units_counted(run->task_count, false, "task", "tasks"), units_duration(run->cpu_ns, raw));
	if (run->gpu_busy_ns != ROW_NULL)
		output_print(output, STYLE_PLAIN, ", %s of GPU time", units_duration(run->gpu_busy_ns, raw));
	fputc('\n', output->file);
	print_doubts(tune, output);
	error = print_wall(tune, output);
	if (error == 0)
		error = print_path(tune, output);
	if (error == 0 && tune->by_sample)
		print_imbalance(tune, output);
	if (error == 0)
		error = print_processors(tune, output);
	if (error == 0)
		print_findings(tune, output);
	return error;
}

/* ---- the verb ---------------------------------------------------------------------- */

/* With what `tune` has of the site: prices and findings. */
static int run_show(struct view *view, struct tuning tune)
{
	const struct options *options = view->options;
	struct report report = {0};
	struct rows run = {0};
	struct sample_names *sample_names = NULL;
	int error = source_find_run(view->store, options, options->operand_count ? options->operands[0] : NULL, &run);

	if (error == 0)
		error = report_load(&report, view->store, ROWS_ITEM(&run, run, 0), false);
	if (error == 0)
		error = names_join_run(&names, &report);
	if (error == 0)
		error = sample_options_read(options, by == 1, &sample_names);
	if (error == 0 && by == 1)
		error = report_load_samples(&report, sample_names);
	if (error == 0)
		error = report_load_lines(&report);
	tune.report = &report;
	if (error == 0)
		error = tuning_make(&tune, finding_value);
	if (error == 0)
		error = options->format ? document_print(tuning_to_json(&tune), "findings",
							 tuning_finding_columns(&tune), options->format)
					: print_text(&tune, &view->output);
	tuning_free(&tune);
	sample_names_free(sample_names);
	report_free(&report);
	rows_free(&run);
	return error;
}

static int tune_show(struct view *view)
{
	struct tuning tune = {.thresholds = &thresholds_given, .by_sample = by == 1};
	int error = VERB_FAILED;

	tune.catalogue = site_queries_load(NULL);
	if (tune.catalogue)
		error = threshold_options_check(view->options, tune.catalogue, TUNING_KIND);
	if (error == 0) {
		tune.prices = price_list_load(prices_path);
		error = tune.prices ? run_show(view, tune) : VERB_FAILED;
	}
	prices_free(tune.prices);
	catalogue_free(tune.catalogue);
	return error;
}

/* ---- right sizes, trends ----------------------------------------------------------- */

static int right_size_tune(struct view *view)
{
	const struct right_size_request request = {input_bytes, &names};

	return right_size_show(view, &request, (const char *const *)view->options->operands,
			       view->options->operand_count);
}

static int trend_tune(struct view *view)
{
	return trend_show(view, trend);
}

static int tune_main(const struct options *options)
{
	raw = options->raw;
	if (list + right_size + (trend != NULL) > 1)
		return options_misuse(options, "give only one of --list, --right-size and --trend");
	if (!right_size && options->format >= FORMAT_COUNT)
		return options_misuse(options, "this format needs --right-size");
	if (!right_size && input_bytes != ROW_NULL)
		return options_misuse(options, "--input-size needs --right-size");
	if ((by >= 0 || sample_sheet || sample_pattern) && (list || right_size || trend))
		return options_misuse(options, "--by and samples are for one run");
	if ((options->host || options->user_id != ROW_NULL) && list)
		return options_misuse(options, "--list takes no --%s", options->host ? "host" : "user");
	if (names_path && (list || trend))
		return options_misuse(options, "--names is for one run, or --right-size");
	if (right_size)
		return names_show(names_path, &names, options, right_size_tune);
	if (options_check_most(options, list || trend ? 0 : 1))
		return VERB_USAGE;
	if (trend)
		return source_show(options, trend_tune);
	return list ? threshold_options_list(options, TUNING_KIND) : names_show(names_path, &names, options, tune_show);
}

const struct verb verb_tune = {
	.name = "tune",
	.operands = "[RUN]",
	.operands_most = SIZE_MAX,
	.summary = "show where a run's time went, and what would make it faster and cheaper",
	.description = "Shows where the wall time of a run went: every moment belongs to a task on\n"
		       "the critical path, to a wait before one, or to the engine. Then where the\n"
		       "processors went, and what could be better. \"Saves up to\" is the most that is\n"
		       "possible; a saving without these words is certain if the advice is followed.\n"
		       "\n"
		       "RUN       a run (an id, a name, latest); with --right-size any number of names\n"
		       "          of tasks or runs, else all\n"
		       "\n"
		       "tracer help FINDING describes a finding (docs/tune.md).",
	.options = option_specs,
	.examples = "  tracer tune\n"
		    "  tracer tune latest --set serial_task.least=1m\n"
		    "  tracer tune --right-size --format nextflow > resources.config\n"
		    "  tracer tune --trend rnaseq",
	.completion = "run",
	.main = tune_main,
};
