/* tracer report [RUN]: a run as a page for a browser: one file to look at, send and keep. */
#include <unistd.h>

#include "cli/advise/price_list.h"
#include "cli/page/page.h"
#include "cli/report/sample_options.h"
#include "cli/source.h"

static const char *output_path, *prices_path, *names_path;
static int64_t command_bytes_max = REPORT_COMMAND_BYTES_MAX;
static int format = REPORT_PAGE_HTML;
static bool is_shared, with_previous, no_findings;
static struct engine_names *names;

static const struct option_spec option_specs[] = {
	{"output", 'o', "FILE", "file", "write to FILE instead of standard output", .text = &output_path},
	{"format", 'f', "FORMAT", "html md data", "html: a page; md: Markdown; data: of the page (html)",
	 .choice = &format},
	{"with-previous", 0, NULL, NULL, "with the failed attempts before it at the same work", .flag = &with_previous},
	{"share", 0, NULL, NULL, "for others: no arguments, paths, hosts, names", .flag = &is_shared},
	{"no-findings", 0, NULL, NULL, "data without findings, which take long", .flag = &no_findings},
	{"commands-size", 0, "BYTES", NULL, "at most so much of command lines (16M)", .bytes = &command_bytes_max,
	 .least = 1},
	OPTION_SPECS_OF_RUN,
	OPTION_SPEC_NAMES(&names_path),
	OPTION_SPECS_OF_SAMPLES,
	OPTION_SPEC_PRICES(&prices_path),
	OPTION_SPEC_SOURCE,
	OPTION_SPECS_LAST,
};

static int report_show(struct view *view)
{
	const struct options *options = view->options;
	const struct report_page_request request = {
		.options = options,
		.names = &names,
		.verb = "report",
		.prices_path = prices_path,
		.is_shared = is_shared,
		.no_findings = no_findings,
		.format = (enum report_page_format)format,
		.with_previous = with_previous,
		.output_path = output_path,
		.command_bytes_max = command_bytes_max,
	};
	struct rows runs = {0};
	int error = source_find_run(view->store, options, options->operand_count ? options->operands[0] : NULL, &runs);

	if (error == 0)
		error = report_page_write(view->store, ROWS_ITEM(&runs, run, 0), &request);
	rows_free(&runs);
	return error;
}

static int report_main(const struct options *options)
{
	if (format != REPORT_PAGE_MARKDOWN && !output_path && isatty(STDOUT_FILENO))
		return options_misuse(options, "a page is not for a terminal: --output FILE, or --format md");
	if (no_findings && format != REPORT_PAGE_DATA)
		return options_misuse(options, "--no-findings is of --format data");
	return names_show(names_path, &names, options, report_show);
}

const struct verb verb_report = {
	.name = "report",
	.operands = "[RUN]",
	.operands_most = 1,
	.summary = "write a run as a page for a browser",
	.description = "Writes the latest run, or RUN, as one file of HTML: why it failed, what would\n"
		       "make it faster, a timeline of its tasks, tools and processes, and all figures\n"
		       "as tables. It opens without a network, and makes no request.\n"
		       "\n"
		       "--with-previous  one page of all attempts (nextflow -resume, snakemake again):\n"
		       "          one after the other, without the time between them\n"
		       "--share   for others: what ran, when and how much, but not what it was called",
	.options = option_specs,
	.examples = "  tracer report -o run.html\n"
		    "  tracer report --with-previous -o attempts.html\n"
		    "  tracer report --share -o for-others.html\n"
		    "  tracer report --format md | less\n"
		    "  tracer report 3f2a -o run.html --names trace.txt",
	.completion = "run",
	.main = report_main,
};
