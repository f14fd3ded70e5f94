/* tracer export [RUN]: a run in the format of another program. */
#include "analysis/export/export.h"

#include <errno.h>
#include <string.h>

#include "cli/report/names.h"
#include "cli/screen/output_file.h"
#include "cli/site_rules.h"
#include "cli/source.h"
#include "common/progress.h"

#define FORMATS "perfetto otlp trace benchmark csv ndjson multiqc versions crate methods"

static const struct export_format *format;
static const char *output_path, *names_path;
static struct engine_names *names;

static int format_take(const struct options *options, const char *value)
{
	format = export_find(value);
	return format ? 0 : options_misuse(options, "--format takes one of " FORMATS ", not '%s'", value);
}

static const struct option_spec option_specs[] = {
	{"format", 'f', "FORMAT", FORMATS, "the format: one of those above", .take = format_take},
	{"output", 'o', "FILE", "file", "write to FILE instead of standard output", .text = &output_path},
	OPTION_SPECS_OF_RUN,
	OPTION_SPEC_NAMES(&names_path),
	OPTION_SPEC_SOURCE,
	OPTION_SPECS_LAST,
};

/* Packages that own programs are looked up with the rights of the user who exports. */
static int versions_write(const struct report *report, FILE *file)
{
	struct rules *rules = site_rules_load(NULL);
	struct versions versions = {.report = report, .rules = rules, .owners = rules ? owners_new("") : NULL};
	int error = VERB_FAILED;

	if (rules)
		error = versions.owners ? format->write_versions(&versions, file) : -ENOMEM;
	versions_free(&versions);
	owners_free(versions.owners);
	rules_free(rules);
	return error;
}

static int run_write(struct report *report)
{
	struct output_file target;
	int error = names_join_run(&names, report);

	if (error == 0)
		error = output_file_open(&target, "export", output_path);
	if (error)
		return error;
	report->advance = output_advance;
	error = format->write ? format->write(report, target.file) : versions_write(report, target.file);
	progress_hide();
	return output_file_close(&target, "export", error);
}

static int export_show(struct view *view)
{
	const struct options *options = view->options;
	struct rows runs = {0};
	struct report report = {0};
	int error = source_find_run(view->store, options, options->operand_count ? options->operands[0] : NULL, &runs);

	if (error == 0)
		error = report_load(&report, view->store, runs.items, true);
	if (error == 0)
		error = report_load_labels(&report);
	if (error == 0)
		error = run_write(&report);
	report_free(&report);
	rows_free(&runs);
	return error;
}

static int export_main(const struct options *options)
{
	if (!format)
		return options_misuse(options, "--format is missing: one of " FORMATS);
	return names_show(names_path, &names, options, export_show);
}

const struct verb verb_export = {
	.name = "export",
	.operands = "[RUN]",
	.operands_most = 1,
	.summary = "write a run in the format of another program",
	.description = "Writes the latest run, or RUN, in one of these formats (docs/export.md):\n"
		       "\n"
		       "perfetto   trace-event JSON for Perfetto, speedscope and chrome://tracing\n"
		       "otlp       OpenTelemetry traces (OTLP/JSON): run, tasks and tools as spans\n"
		       "trace      tasks as in Nextflow's trace.txt, with trace.raw = true\n"
		       "benchmark  tasks as in Snakemake's benchmark files (--benchmark-extended)\n"
		       "csv        tasks with all their figures\n"
		       "ndjson     all rows of the run, one object a line\n"
		       "multiqc    a table of tasks by name for MultiQC: name it *_mqc.json\n"
		       "versions   software with the version executed, by name of task, as nf-core's\n"
		       "           versions.yml; for MultiQC name it *_mqc_versions.yml\n"
		       "crate      ro-crate-metadata.json of a Process Run Crate 0.5: tasks with their\n"
		       "           software and what they used, without arguments and files\n"
		       "methods    paragraphs for the methods of a paper",
	.options = option_specs,
	.examples = "  tracer export --format perfetto -o run.json\n"
		    "  tracer export 3f2a --format trace -o trace.txt\n"
		    "  tracer export --format ndjson | jq 'select(.type == \"process\")'",
	.completion = "run",
	.main = export_main,
};
