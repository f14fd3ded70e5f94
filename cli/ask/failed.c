/* tracer failed [RUN]: why a run failed, what was retried, and which failures did no harm.
 *
 * Incidents name the process at fault; whether it made the run fail depends on the outcome of its task
 * and of later attempts.
 */
#include <errno.h>
#include <string.h>

#include "analysis/query/command.h"
#include "analysis/query/failure.h"
#include "analysis/query/units.h"
#include "cli/report/names.h"
#include "cli/source.h"

#define COMMAND_SIZE 400 /* bytes of a command line on a terminal */

static bool all;
static int64_t limit;
static const char *names_path;
static struct engine_names *names;

static const struct option_spec option_specs[] = {
	{"all", 'a', NULL, NULL, "include harmless failures and every attempt", .flag = &all},
	{"limit", 'n', "N", NULL, "show at most N failures (0: all, the default)", .number = &limit, .most = INT32_MAX},
	OPTION_SPECS_OF_RUN,
	OPTION_SPEC_NAMES(&names_path),
	OPTION_SPECS_OF_VIEW,
};

struct failures {
	struct report report;
	struct output output;
	bool raw;
	enum report_effect effect; /* of the incidents that are being printed */
	struct failure_streak streak;
	size_t count, shown;    /* of failures; without those that only --all shows */
	struct failure failure; /* the one that is being printed */
};

/* ---- text -------------------------------------------------------------------- */

static void print_field(const struct failures *failures, const char *label, const char *text)
{
	output_print(&failures->output, STYLE_DIM, "  %-8s  ", label);
	output_print(&failures->output, STYLE_PLAIN, "%s\n", text);
}

static void print_task(const struct failures *failures, const struct row_incident *incident)
{
	const struct row_task *task = failures->failure.task;
	const struct output *output = &failures->output;
	const char *label = task ? report_task_label(&failures->report, failures->failure.index, task) : NULL;

	output_print(output, STYLE_TITLE, "%s",
		     task ? report_task_name(&failures->report, failures->failure.index, task) : "a process");
	if (label && *label)
		output_print(output, STYLE_PLAIN, " %s", label);
	output_print(output, STYLE_DIM, "  %s", units_time_of_day(incident->unix_ns));
	if (!task)
		return;
	fprintf(output->file, "  %s after %s",
		strcmp(incident->kind, "oom-kill") == 0 && task->signal > 0
			? "OOM"
			: units_result(task->exit_code, task->signal),
		units_duration(report_wall_ns(&failures->report, task->begin_boot_ns, task->end_boot_ns),
			       failures->raw));
}

static void print_cause(const struct failures *failures, const struct row_incident *incident)
{
	print_field(failures, "cause", failure_sentence(incident));
	if (incident->cause)
		print_field(failures, "", incident->cause);
}

static void print_command(const struct failures *failures)
{
	const struct row_process *process = failures->failure.process;
	char text[4096];
	size_t capacity = failures->output.width ? COMMAND_SIZE : sizeof(text);

	if (process)
		print_field(failures, "command",
			    command_text(&process->arguments, process->program, true, text, capacity));
}

static void print_attempts(const struct failures *failures)
{
	size_t before = failure_attempts_before(&failures->report, &failures->failure);
	char text[64];

	if (before == 0)
		return;
	snprintf(text, sizeof(text), "%zu, all failed", before + 1);
	print_field(failures, "attempts", text);
}

static void print_effect(const struct failures *failures)
{
	char text[512];

	print_field(failures, "effect", failure_effect(&failures->report, text, sizeof(text)));
}

/* ", then ok (+3.1 s)" */
static void print_retry(const struct failures *failures)
{
	const struct report *report = &failures->report;
	const struct report_task *last = &report->tasks[report_last_attempt(report, failures->failure.index)];

	output_print(&failures->output, STYLE_GOOD, ", then ok");
	fprintf(failures->output.file, " (+%s)",
		units_duration(row_subtract(last->end_boot_ns, report->tasks[failures->failure.index].end_boot_ns),
			       failures->raw));
}

static void print_failure(const struct failures *failures, const struct row_incident *incident)
{
	static const struct {
		enum style style;
		const char *word;
	} heads[] = {
		[REPORT_FATAL] = {STYLE_BAD, "FATAL"},
		[REPORT_RETRIED] = {STYLE_WARNING, "retried"},
		[REPORT_HARMLESS] = {STYLE_DIM, "harmless"},
	};
	bool is_fatal = failures->effect == REPORT_FATAL;
	bool is_interrupted = is_fatal && strcmp(incident->kind, "interrupted") == 0;

	fputc('\n', failures->output.file);
	output_print(&failures->output, heads[failures->effect].style, "%s  ",
		     is_interrupted ? "INTERRUPTED" : heads[failures->effect].word);
	print_task(failures, incident);
	if (failures->effect == REPORT_RETRIED)
		print_retry(failures);
	fputc('\n', failures->output.file);
	if (is_fatal)
		print_command(failures);
	print_cause(failures, incident);
	if (is_fatal) {
		print_attempts(failures);
		print_effect(failures);
	}
}

/* "The 4 runs of this work before it failed, too: the first at 2026-11-20 11:45:23." */
static void print_streak(const struct failures *failures)
{
	const struct failure_streak *streak = &failures->streak;

	if (streak->count > 0)
		fprintf(failures->output.file, "The %s%zu run%s of this work before it failed, too: the first at %s.\n",
			streak->is_more ? "last " : "", streak->count, streak->count == 1 ? "" : "s",
			units_time(streak->begin_unix_ns));
}

static void print_head(const struct failures *failures)
{
	const struct row_run *run = report_run(&failures->report);
	const size_t *counts = failures->report.effect_counts;
	const struct output *output = &failures->output;
	const char *failure = failure_result(run);

	output_print(output, STYLE_TITLE, "%s", run->name);
	output_print(output, report_has_failed(run->status) ? STYLE_BAD : STYLE_PLAIN, "  %s", run->status);
	fprintf(output->file, "%s%s%s after %s", *failure ? " (" : "", failure, *failure ? ")" : "",
		units_duration(report_wall_ns(&failures->report, run->begin_boot_ns, run->end_boot_ns), failures->raw));
	output_print(output, STYLE_DIM, "  run %s  %s\n", units_id(run->id, output->width),
		     units_time(run->started_unix_ns));
	fprintf(output->file, "%zu fatal, %zu retried (ok), %zu harmless%s\n", counts[REPORT_FATAL],
		counts[REPORT_RETRIED], counts[REPORT_HARMLESS], counts[REPORT_HARMLESS] > 0 && !all ? " (--all)" : "");
	if (counts[REPORT_FATAL] == 0 && report_has_failed(run->status))
		fprintf(output->file, "The cause is unknown.\n");
	print_streak(failures);
}

static int print_incident(void *context, const void *row)
{
	struct failures *failures = context;
	int error;

	if (report_effect_of(&failures->report, row) != failures->effect)
		return 0;
	if (failures->effect == REPORT_HARMLESS && !all)
		return 0;
	failures->count++;
	if (limit && failures->count > (size_t)limit)
		return 0;
	failures->shown++;
	error = failure_load(&failures->report, row, &failures->failure);
	if (error == 0)
		print_failure(failures, row);
	failure_free(&failures->failure);
	return error;
}

static int print_all(struct failures *failures)
{
	int error = 0;

	print_head(failures);
	for (int effect = 0; effect < REPORT_EFFECT_COUNT && error == 0; effect++) {
		failures->effect = (enum report_effect)effect;
		if (failures->report.effect_counts[effect] > 0)
			error = report_each(&failures->report, REPORT_INCIDENTS, print_incident, failures);
	}
	if (error == 0)
		say_cut(failures->shown, failures->count, "failures");
	return error;
}

/* ---- JSON -------------------------------------------------------------------- */

static int print_document(struct failures *failures, enum format format)
{
	const struct row_run *row = report_run(&failures->report);
	json_t *whole = json_object(), *run = row_to_json(&row_type_run, row), *list = NULL;
	int error = failures_to_json(&failures->report, &list);

	json_set_integer(run, "wall_ns", row_subtract(row->end_boot_ns, row->begin_boot_ns));
	json_set_integer(run, "failed_before_count", (int64_t)failures->streak.count);
	json_object_set_new(whole, "run", run);
	json_object_set_new(whole, "failures", list);
	if (limit)
		say_cut((size_t)limit, json_array_size(list), "failures");
	while (limit && json_array_size(list) > (size_t)limit)
		json_array_remove(list, json_array_size(list) - 1);
	if (error == 0)
		return document_print(whole, "failures", failure_columns(failures->report.engine_names), format);
	json_decref(whole);
	return error;
}

static int print_none(const struct options *options)
{
	if (!options->format)
		return fputs("No run has failed.\n", stdout) < 0 ? -EIO : 0;
	return document_print(json_pack("{s:n, s:[]}", "run", "failures"), "failures", failure_columns(false),
			      options->format);
}

/* ---- the run --------------------------------------------------------- */

static int show_run(struct view *view, const struct row_run *run)
{
	struct failures failures = {.output = view->output, .raw = view->options->raw};
	int error = report_load(&failures.report, view->store, run, false);

	if (error == 0)
		error = names_join_run(&names, &failures.report);
	if (error == 0)
		error = report_load_labels(&failures.report);
	if (error == 0 && report_has_failed(run->status))
		error = failure_streak_load(view->store, run, &failures.streak);
	if (error == 0)
		error = view->options->format ? print_document(&failures, view->options->format) : print_all(&failures);
	report_free(&failures.report);
	return error;
}

static int failed_show(struct view *view)
{
	const struct options *options = view->options;
	struct rows runs = {0};
	const struct store_parameter filter[] = {SOURCE_FILTER(options), {0}};
	int error;

	if (options->operand_count)
		error = source_find_run(view->store, options, options->operands[0], &runs);
	else
		error = rows_load(&runs, &row_type_run, view->store, "run_latest_failed", filter);
	if (error == 0)
		error = runs.count ? show_run(view, runs.items) : print_none(options);
	rows_free(&runs);
	return error;
}

static int failed_main(const struct options *options)
{
	return names_show(names_path, &names, options, failed_show);
}

const struct verb verb_failed = {
	.name = "failed",
	.operands = "[RUN]",
	.operands_most = 1,
	.summary = "show why a run failed, and what was retried",
	.description = "Shows why the latest failed run, or RUN, failed: the process whose exit status\n"
		       "became the status of the task, traced down through shells and launchers. RUN is\n"
		       "the beginning of an id, or a name.\n"
		       "\n"
		       "FATAL     the run failed because of it\n"
		       "INTERRUPTED  by ^C at its terminal, or because the terminal was closed\n"
		       "retried   the same work was retried successfully\n"
		       "harmless  it failed or crashed, but the run continued without it: --all\n"
		       "\n"
		       "A task that never began, because it needed one that failed, left no trace:\n"
		       "only the engine's own output (make -k, snakemake -k) names it.",
	.options = option_specs,
	.examples = "  tracer failed\n"
		    "  tracer failed 3f2a --all\n"
		    "  tracer failed --json | jq '.failures[] | {effect, sentence, cause}'",
	.completion = "run",
	.main = failed_main,
};
