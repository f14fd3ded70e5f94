/* tracer show [RUN]: one run, from its figures down to its processes. */

#include "cli/report/names.h"
#include "cli/report/sample_options.h"
#include "cli/report/views.h"
#include "cli/source.h"
#include "common/progress.h"

static struct report_style style;
static int by = -1; /* enum report_view from REPORT_TABLE on */
static int64_t limit;
static const char *names_path;
static struct engine_names *names;

static const struct option_spec option_specs[] = {
	{"by", 'b', "KEY", REPORT_KEYS, REPORT_KEYS_HELP, .choice = &by},
	{"processes", 'p', NULL, NULL, "also show processes, below their tools", .flag = &style.with_processes},
	{"series", 0, NULL, NULL, "what processes used over time; not as a table", .flag = &style.with_series},
	{"all", 'a', NULL, NULL, "show every task, shell and helper on its own line", .flag = &style.all},
	{"limit", 'n', "N", NULL, "show at most N tasks or lines of --by (0: all; on a terminal 40 tasks)",
	 .number = &limit, .most = INT32_MAX},
	OPTION_SPECS_OF_RUN,
	OPTION_SPEC_NAMES(&names_path),
	OPTION_SPECS_OF_SAMPLES,
	OPTION_SPECS_OF_VIEW,
};

static int show(struct view *view)
{
	const struct options *options = view->options;
	struct rows runs = {0};
	struct report report = {0};
	struct sample_names *sample_names = NULL;
	bool by_sample = style.view == REPORT_SAMPLES;
	int error = source_find_run(view->store, options, options->operand_count ? options->operands[0] : NULL, &runs);

	if (error == 0)
		error = sample_options_read(options, by_sample, &sample_names);
	if (error == 0)
		error = report_load(&report, view->store, runs.items, true);
	report.advance = output_advance;
	if (error == 0)
		error = names_join_run(&names, &report);
	if (error == 0 && by_sample)
		error = report_load_samples(&report, sample_names);
	if (error == 0 && (style.view == REPORT_TREE || style.format)) /* tables have none */
		error = report_load_labels(&report);
	if (error == 0)
		error = report_print(&report, &view->output, &style);
	progress_hide();
	sample_names_free(sample_names);
	report_free(&report);
	rows_free(&runs);
	return error;
}

static int show_main(const struct options *options)
{
	style.raw = options->raw;
	style.most = (size_t)limit;
	style.format = (enum format)options->format;
	if (by >= 0)
		style.view = REPORT_TABLE + by;
	if (style.with_processes && style.view != REPORT_TREE && !options->format)
		return options_misuse(options, "--processes is not for a table --by");
	if (style.with_series && !options->format)
		return options_misuse(options, "--series requires --format json, ndjson or csv");
	return names_show(names_path, &names, options, show);
}

const struct verb verb_show = {
	.name = "show",
	.operands = "[RUN]",
	.operands_most = 1,
	.summary = "show a run: its tasks, tools and figures",
	.description = "Shows the latest run, or RUN: the beginning of its id, its name or key, or a\n"
		       "part of its name that no other name contains. Figures come from the kernel's\n"
		       "counters at the end of each process, threads included. On a terminal, a run of\n"
		       "more than 40 tasks shows the failed ones first, then the longest; narrow\n"
		       "terminals omit columns. Other output is complete: every task in order of start,\n"
		       "and with --processes full command lines, last.\n"
		       "\n"
		       "wall      from the first process to the last\n"
		       "CPU       time on processors; cores is CPU divided by wall\n"
		       "peak RSS  peak resident set of the largest single process\n"
		       "read, written  bytes from and to storage, excluding page cache hits\n"
		       "sent, received  bytes by TCP and UDP; shown only if there were any\n"
		       "waited    time in which threads were ready to run but had no processor\n"
		       "of its limit  peak usage of its memory cgroup, relative to the limit\n"
		       "-         unknown; never counted as zero",
	.options = option_specs,
	.examples = "  tracer show\n"
		    "  tracer show 3f2a --processes\n"
		    "  tracer show --by task | less\n"
		    "  tracer show --by sample\n"
		    "  tracer show --names trace.txt --by task\n"
		    "  tracer show --json | jq '.tasks[] | {name, cpu_ns}'",
	.completion = "run",
	.main = show_main,
};
