/* tracer failed [RUN]: what a run failed of, what was tried again, what did no harm.
 *
 * Incidents say which process is to blame; whether the run failed of it shows in what became
 * of its task and of the attempts after it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command_text.h"
#include "cli/options.h"
#include "cli/report.h"
#include "cli/source.h"
#include "cli/units.h"
#include "common/identity.h"

#define COMMAND_SIZE 400 /* bytes of a command line on a terminal */

enum { OPTION_ALL = 1 };

static const struct option_spec option_specs[] = {
	{OPTION_ALL, "all", 'a', NULL, NULL, "what did no harm, and every attempt, too"},
	OPTION_SPEC_RAW,
	OPTION_SPEC_JSON,
	OPTION_SPEC_SOURCE,
	OPTION_SPEC_COLOR,
	OPTION_SPEC_HELP,
	OPTION_SPEC_END,
};

static const char *const verdict_names[] = {"fatal", "retried", "harmless"};

struct findings {
	struct report report;
	struct output output;
	bool all, raw;
	enum report_verdict *verdicts; /* of each incident; REPORT_VERDICT_COUNT: it is no failure */
	size_t counts[REPORT_VERDICT_COUNT];
};

/* ---- what became of it ------------------------------------------------------- */

static int judge_all(struct findings *findings)
{
	const struct report *report = &findings->report;

	findings->verdicts = calloc(report->incidents.count + 1, sizeof(*findings->verdicts));
	if (!findings->verdicts)
		return -ENOMEM;
	for (size_t i = 0; i < report->incidents.count; i++) {
		enum report_verdict verdict = report_judge(report, ROWS_ITEM(&report->incidents, incident, i));

		findings->verdicts[i] = verdict;
		if (verdict < REPORT_VERDICT_COUNT)
			findings->counts[verdict]++;
	}
	return 0;
}

/* The command line of the process, or of the nearest above that has one: a fork shares it.
 * Empty where none is known. 0 or -errno, said. */
static int load_command(const struct findings *findings, const struct row_incident *incident,
			struct rows *ret_line, const struct row_process **ret_process)
{
	struct store_parameter parameters[] = {
		{"process_id", STORE_INTEGER, incident->process_id, NULL},
		{"host_id", STORE_INTEGER, incident->host_id, NULL}, {0},
	};
	int error;

	*ret_process = NULL;
	if (incident->process_id == ROW_NULL)
		return 0;
	error = source_load(findings->report.store, &row_type_process, "ancestors", parameters, ret_line);
	for (size_t i = 0; error == 0 && i < ret_line->count && !*ret_process; i++)
		if (ROWS_ITEM(ret_line, process, i)->arguments.data)
			*ret_process = ROWS_ITEM(ret_line, process, i);
	return error;
}

/* ---- for people -------------------------------------------------------------- */

/* "ok", "exit 1", "SIGKILL", "" where it is not known. */
static const char *result_text(int64_t exit_code, int64_t signal, char text[UNITS_SIZE])
{
	if (signal != ROW_NULL && signal > 0)
		return units_signal(text, signal);
	text[0] = '\0';
	if (exit_code == 0)
		return "ok";
	if (exit_code != ROW_NULL)
		snprintf(text, UNITS_SIZE, "exit %" PRId64, exit_code);
	return text;
}

static const char *clock_text(const struct row_incident *incident, char text[UNITS_SIZE])
{
	units_time(text, incident->unix_ns);
	return strlen(text) > 11 ? text + 11 : text; /* no date */
}

static void print_field(const struct findings *findings, const char *label, const char *text)
{
	output_print(&findings->output, STYLE_DIM, "  %-8s  ", label);
	output_print_text(&findings->output, STYLE_PLAIN, text);
	fputc('\n', findings->output.file);
}

static void print_task(const struct findings *findings, const struct row_incident *incident)
{
	const struct row_task *task = report_task(&findings->report, incident->task_id);
	char result[UNITS_SIZE], wall[UNITS_SIZE], when[UNITS_SIZE];
	const struct output *output = &findings->output;

	output_print_text(output, STYLE_TITLE, task ? task->name : "a process");
	if (task && task->label && *task->label) {
		fputc(' ', output->file);
		output_print_text(output, STYLE_PLAIN, task->label);
	}
	output_print(output, STYLE_DIM, "  %s", clock_text(incident, when));
	if (!task)
		return;
	fprintf(output->file, "  %s after %s",
		strcmp(incident->kind, "oom-kill") == 0 && task->signal > 0
			? "OOM" : result_text(task->exit_code, task->signal, result),
		units_duration(wall, report_wall_ns(&findings->report, task->begin_boot_ns, task->end_boot_ns),
			       findings->raw));
}

/* The sentence without the task, which stands above it. */
static const char *bare_sentence(const struct row_incident *incident)
{
	static const char *const heads[] = {" failed: ", " was killed: ", " was interrupted: "};

	if (strncmp(incident->sentence, "task ", 5) != 0 && strncmp(incident->sentence, "run ", 4) != 0)
		return incident->sentence;
	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		const char *found = strstr(incident->sentence, heads[i]);

		if (found)
			return found + strlen(heads[i]);
	}
	return incident->sentence;
}

static void print_cause(const struct findings *findings, const struct row_incident *incident)
{
	print_field(findings, "cause", bare_sentence(incident));
	if (incident->cause)
		print_field(findings, "", incident->cause);
}

static int print_command(const struct findings *findings, const struct row_incident *incident)
{
	const struct row_process *process;
	struct rows line = {0};
	char text[4096];
	int error = load_command(findings, incident, &line, &process);

	if (error == 0 && process) {
		size_t capacity = findings->output.width ? COMMAND_SIZE : sizeof(text);

		print_field(findings, "command",
			    command_text(&process->arguments, process->program, true, text, capacity));
	}
	rows_free(&line);
	return error;
}

static void print_effect(const struct findings *findings)
{
	const struct row_run *run = report_run(&findings->report);
	const char *driver = run->engine && *run->engine ? run->engine : run->name;
	char result[UNITS_SIZE], text[512];
	size_t failed = 0, standing = 0;
	int used;

	for (size_t i = 0; i < findings->report.tasks.count; i++) {
		const struct row_task *task = ROWS_ITEM(&findings->report.tasks, task, i);

		if (strcmp(task->kind, "main") == 0)
			continue;
		standing++;
		failed += report_has_failed(task->status) && !report_task(&findings->report, task->retried_by_id);
	}
	result_text(run->exit_code, run->signal, result);
	used = snprintf(text, sizeof(text), "%.200s %s%s%s", driver,
			report_has_failed(run->status) ? "ended with " : "is ", report_has_failed(run->status) ? result : "",
			report_has_failed(run->status) ? "" : run->status);
	if (standing > 0)
		snprintf(text + used, sizeof(text) - (size_t)used, "; %zu of %zu tasks failed", failed, standing);
	print_field(findings, "effect", text);
}

static void print_attempts(const struct findings *findings, const struct row_incident *incident)
{
	const struct row_task *task = report_task(&findings->report, incident->task_id);
	size_t before = 0;

	for (size_t i = 0; task && i < findings->report.tasks.count; i++) {
		const struct row_task *other = ROWS_ITEM(&findings->report.tasks, task, i);

		before += other != task && report_last_attempt(&findings->report, other) == task;
	}
	if (before == 0)
		return;
	output_print(&findings->output, STYLE_DIM, "  %-8s  ", "attempts");
	fprintf(findings->output.file, "%zu, all failed\n", before + 1);
}

static int print_fatal(const struct findings *findings, const struct row_incident *incident)
{
	int error;

	fputc('\n', findings->output.file);
	output_print(&findings->output, STYLE_BAD, "%s  ",
		     strcmp(incident->kind, "interrupted") == 0 ? "INTERRUPTED" : "FATAL");
	print_task(findings, incident);
	fputc('\n', findings->output.file);
	error = print_command(findings, incident);
	print_cause(findings, incident);
	print_attempts(findings, incident);
	print_effect(findings);
	return error;
}

static int print_retried(const struct findings *findings, const struct row_incident *incident)
{
	const struct row_task *task = report_task(&findings->report, incident->task_id);
	const struct row_task *last = report_last_attempt(&findings->report, task);
	char later[UNITS_SIZE];

	fputc('\n', findings->output.file);
	output_print(&findings->output, STYLE_WARNING, "retried  ");
	print_task(findings, incident);
	output_print(&findings->output, STYLE_GOOD, ", then ok");
	fprintf(findings->output.file, " (+%s)\n",
		units_duration(later, row_subtract(last->end_boot_ns, task->end_boot_ns), findings->raw));
	print_cause(findings, incident);
	return 0;
}

static int print_harmless(const struct findings *findings, const struct row_incident *incident)
{
	if (!findings->all)
		return 0;
	fputc('\n', findings->output.file);
	output_print(&findings->output, STYLE_DIM, "harmless  ");
	print_task(findings, incident);
	fputc('\n', findings->output.file);
	print_cause(findings, incident);
	return 0;
}

static void print_head(const struct findings *findings)
{
	const struct row_run *run = report_run(&findings->report);
	const struct output *output = &findings->output;
	char id[IDENTITY_TEXT_SIZE], began[UNITS_SIZE], wall[UNITS_SIZE], result[UNITS_SIZE];

	identity_format(run->id, id);
	output_print_text(output, STYLE_TITLE, run->name);
	output_print(output, report_has_failed(run->status) ? STYLE_BAD : STYLE_PLAIN, "  %s", run->status);
	result_text(run->exit_code, run->signal, result);
	fprintf(output->file, "%s%s%s after %s", report_has_failed(run->status) && *result ? " (" : "",
		report_has_failed(run->status) ? result : "", report_has_failed(run->status) && *result ? ")" : "",
		units_duration(wall, report_wall_ns(&findings->report, run->begin_boot_ns, run->end_boot_ns),
			       findings->raw));
	output_print(output, STYLE_DIM, "  run %s  %s\n", id, units_time(began, run->started_unix_ns));
	fprintf(output->file, "%zu fatal, %zu retried (ok), %zu harmless%s\n",
		findings->counts[REPORT_FATAL], findings->counts[REPORT_RETRIED],
		findings->counts[REPORT_HARMLESS],
		findings->counts[REPORT_HARMLESS] > 0 && !findings->all ? " (--all)" : "");
	if (findings->counts[REPORT_FATAL] == 0 && report_has_failed(run->status))
		fprintf(output->file, "What it failed of is not known.\n");
}

static int print_all(const struct findings *findings)
{
	static int (*const print[])(const struct findings *, const struct row_incident *) = {
		print_fatal, print_retried, print_harmless,
	};
	const struct rows *incidents = &findings->report.incidents;
	int error = 0;

	print_head(findings);
	for (int verdict = 0; verdict < REPORT_VERDICT_COUNT; verdict++)
		for (size_t i = 0; i < incidents->count && error == 0; i++)
			if ((int)findings->verdicts[i] == verdict)
				error = print[verdict](findings, ROWS_ITEM(incidents, incident, i));
	return error;
}

/* ---- for programs ------------------------------------------------------------ */

static json_t *task_to_json(const struct report *report, const struct row_task *row)
{
	json_t *task = json_object();

	json_set_id(task, "id", row->id);
	json_set_string(task, "name", row->name);
	json_set_string(task, "label", row->label);
	json_set_string(task, "status", row->status);
	json_set_integer(task, "exit_code", row->exit_code);
	json_set_integer(task, "signal", row->signal);
	json_set_integer(task, "wall_ns", row_subtract(row->end_boot_ns, row->begin_boot_ns));
	json_set_id(task, "last_attempt_id", report_last_attempt(report, row)->id);
	return task;
}

static json_t *incident_to_json(const struct findings *findings, const struct row_incident *row)
{
	const struct row_task *task = report_task(&findings->report, row->task_id);
	json_t *incident = row_to_json(&row_type_incident, row);
	const struct row_process *process;
	struct rows line = {0};

	json_object_set_new(incident, "task",
			    task ? task_to_json(&findings->report, task) : json_null());
	if (load_command(findings, row, &line, &process) < 0) {
		json_decref(incident);
		incident = NULL;
	} else {
		json_set_arguments(incident, "command",
				   process ? &process->arguments : &(struct row_blob){0});
	}
	rows_free(&line);
	return incident;
}

static int print_json(const struct findings *findings)
{
	const struct rows *incidents = &findings->report.incidents;
	json_t *whole = json_object(), *run = row_to_json(&row_type_run, report_run(&findings->report));
	json_t *failures = json_array();
	int error = 0;

	json_set_integer(run, "wall_ns", row_subtract(report_run(&findings->report)->end_boot_ns,
						      report_run(&findings->report)->begin_boot_ns));
	json_object_set_new(whole, "run", run);
	json_object_set_new(whole, "failures", failures);
	for (size_t i = 0; i < incidents->count && error == 0; i++) {
		json_t *incident;

		if (findings->verdicts[i] == REPORT_VERDICT_COUNT)
			continue;
		incident = incident_to_json(findings, ROWS_ITEM(incidents, incident, i));
		error = incident ? 0 : -EIO;
		if (!incident)
			continue;
		json_set_string(incident, "verdict", verdict_names[findings->verdicts[i]]);
		json_array_append_new(failures, incident);
	}
	if (error == 0)
		error = json_print(whole);
	json_decref(whole);
	return error;
}

/* ---- finding the run --------------------------------------------------------- */

static int find_run(struct store *store, const char *name, struct rows *ret_runs)
{
	int error;

	if (name)
		return source_find_run(store, name, ret_runs);
	error = source_load(store, &row_type_run, "run_latest_failed", NULL, ret_runs);
	if (error == 0 && ret_runs->count == 0) {
		rows_free(ret_runs);
		fprintf(stderr, "tracer failed: no run has failed; see tracer runs\n");
		error = -ENOENT;
	}
	return error;
}

static int failed(const struct options *options, bool all)
{
	struct findings findings = {.all = all, .raw = options->raw};
	struct store *store = source_open(options);
	struct rows runs = {0};
	int error = -EIO;

	output_init(&findings.output, stdout, options->color);
	if (store)
		error = find_run(store, options->operand_count ? options->operands[0] : NULL, &runs);
	if (error == 0)
		error = report_load(&findings.report, store, &runs);
	if (error == 0)
		error = judge_all(&findings);
	if (error == 0)
		error = options->json ? print_json(&findings) : print_all(&findings);
	if (output_finish(&findings.output) < 0)
		error = -EIO;
	free(findings.verdicts);
	report_free(&findings.report);
	rows_free(&runs);
	source_close(store);
	return error < 0 ? VERB_FAILED : VERB_OK;
}

static int failed_main(const struct verb *verb, int argc, char **argv)
{
	struct options options;
	const char *value;
	bool all = false;
	int option;

	options_init(&options, verb, argc, argv);
	while ((option = options_next(&options, &value)) > 0)
		all = true;
	if (option < 0)
		return options_exit(option);
	if (options_check_operands(&options, 0, 1))
		return VERB_USAGE;
	return failed(&options, all);
}

const struct verb verb_failed = {
	.name = "failed",
	.operands = "[RUN]",
	.summary = "what a run failed of, and what was tried again",
	.description =
		"Tells what the latest run that failed, or RUN, failed of: the process whose\n"
		"status the task's own status came from, found down through shells and\n"
		"launchers. RUN is the beginning of an id, or a name.\n"
		"\n"
		"FATAL     the run failed of it\n"
		"INTERRUPTED  by ^C at its terminal, or the terminal was closed\n"
		"retried   the same work was done again, with success\n"
		"harmless  it failed or crashed, and the run went on without it: --all",
	.options = option_specs,
	.examples = "  tracer failed\n"
		    "  tracer failed 3f2a --all\n"
		    "  tracer failed --json | jq '.failures[] | {verdict, sentence, cause}'",
	.completion = "run",
	.main = failed_main,
};
