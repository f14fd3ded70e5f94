/* tracer show [RUN]: one run, from its figures down to its processes. */
#include <stdio.h>

#include "cli/names.h"
#include "cli/options.h"
#include "cli/source.h"
#include "cli/views.h"

enum { OPTION_TREE = 1, OPTION_TABLE, OPTION_TOOLS, OPTION_PROCESSES, OPTION_SAMPLES, OPTION_ALL, OPTION_NAMES };

static const struct option_spec option_specs[] = {
	{OPTION_TREE, "tree", 't', NULL, NULL, "run, tasks and tools as a tree (the default)"},
	{OPTION_TABLE, "table", 'T', NULL, NULL, "tasks grouped by name: count, median, longest"},
	{OPTION_TOOLS, "tools", 0, NULL, NULL, "tools grouped by name over the whole run"},
	{OPTION_PROCESSES, "processes", 'p', NULL, NULL, "processes beneath their tools too"},
	{OPTION_SAMPLES, "samples", 0, NULL, NULL, "with --json: the processes of each task over time"},
	{OPTION_ALL, "all", 'a', NULL, NULL, "every task, shell and helper on its own line"},
	{OPTION_NAMES, "names", 'n', "FILE", "file",
	 "the engine's names of tasks, from its trace.txt, .nextflow.log, log or benchmark"},
	OPTION_SPECS_OF_VIEW
};

static void style_take(struct report_style *style, int option)
{
	switch (option) {
	case OPTION_TREE:
		style->view = REPORT_TREE;
		break;
	case OPTION_TABLE:
		style->view = REPORT_TABLE;
		break;
	case OPTION_TOOLS:
		style->view = REPORT_TOOLS;
		break;
	case OPTION_PROCESSES:
		style->with_processes = true;
		break;
	case OPTION_SAMPLES:
		style->with_samples = true;
		break;
	case OPTION_ALL:
		style->all = true;
		break;
	}
}

/* The report's tasks get the names that the engine has for them. */
static int name_tasks(struct report *report, const struct names *names)
{
	size_t count = 0;
	int error = names_join(names, report, &count);

	if (error == 0 && count == 0 && report->task_count > 1)
		fprintf(stderr, "tracer show: no task of this run is in the file of --names\n");
	return error;
}

static int show(const struct options *options, const struct report_style *style,
		const struct names *names)
{
	const char *name = options->operand_count ? options->operands[0] : NULL;
	struct output output;
	struct rows runs = {0};
	struct report report = {0};
	struct store *store = source_open(options);
	bool is_found = false;
	int error = -1;

	output_init(&output, stdout, options->color);
	if (!store)
		goto out;
	error = source_find_run(store, name, &runs);
	is_found = error == 0;
	if (error == 0)
		error = report_load(&report, store, &runs);
	if (error == 0 && names)
		error = name_tasks(&report, names);
	if (error == 0)
		error = options->json ? report_write_json(&report, stdout, style->with_processes, style->with_samples)
				      : report_print(&report, &output, style);
	if (is_found && error < 0 && !ferror(stdout))
		source_say(store, error);
out:
	if (output_finish(&output) < 0)
		error = -1;
	report_free(&report);
	rows_free(&runs);
	source_close(store);
	return error < 0 ? VERB_FAILED : VERB_OK;
}

static int show_main(const struct verb *verb, int argc, char **argv)
{
	struct report_style style = {.view = REPORT_TREE};
	struct options options;
	const char *value, *path = NULL;
	struct names *names = NULL;
	int option;

	options_init(&options, verb, argc, argv);
	while ((option = options_next(&options, &value)) > 0) {
		if (option == OPTION_NAMES)
			path = value;
		style_take(&style, option);
	}
	if (option < 0)
		return options_exit(option);
	if (options_check_operands(&options, 0, 1))
		return VERB_USAGE;
	style.raw = options.raw;
	if (style.with_processes && style.view != REPORT_TREE && !options.json)
		return options_misuse(&options, "--processes belongs to the tree");
	if (style.with_samples && !options.json)
		return options_misuse(&options, "--samples belongs to --json");
	if (path && names_read(path, &names) < 0)
		return VERB_FAILED;
	int status = show(&options, &style, names);

	names_free(names);
	return status;
}

const struct verb verb_show = {
	.name = "show",
	.operands = "[RUN]",
	.summary = "show a run: tasks, tools, figures",
	.description =
		"Shows the latest run, or RUN: the beginning of its id, or its name. Figures\n"
		"come from the kernel's counters at the end of each process, threads included. A\n"
		"part of a name will do where no other name has it. On a terminal, a run of more\n"
		"than 40 tasks shows the failed ones first, then the longest; narrow ones lose\n"
		"columns. What goes elsewhere is whole: every task as it began, and with\n"
		"--processes whole command lines, last.\n"
		"\n"
		"wall      from the first process to the last\n"
		"CPU       time on processors; cores is CPU divided by wall\n"
		"peak RSS  resident set of the largest single process at its peak\n"
		"read, written  bytes from and to storage, not what the page cache gave\n"
		"sent, received  by TCP and UDP; there only where something was\n"
		"waited    time in which threads were ready to run and had no processor\n"
		"of its limit  the most that its memory cgroup used, of what it may\n"
		"-         not known; it is never counted as zero",
	.options = option_specs,
	.examples = "  tracer show\n"
		    "  tracer show 3f2a --processes\n"
		    "  tracer show --table | less\n"
		    "  tracer show --names trace.txt --table\n"
		    "  tracer show --json | jq '.tasks[] | {name, cpu_ns}'",
	.completion = "run",
	.main = show_main,
};
