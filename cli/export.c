/* tracer export [RUN]: a run in the format of another program. */
#include "export/export.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cli/names.h"
#include "cli/source.h"

#define FORMATS "perfetto otlp trace benchmark csv ndjson multiqc"

static const struct export_format *format;
static const char *output_path, *names_path;
static struct names *names;

static int format_take(const struct options *options, const char *value)
{
	format = export_find(value);
	return format ? 0 : options_misuse(options, "--format takes one of " FORMATS ", not '%s'", value);
}

static const struct option_spec option_specs[] = {
	{"format", 'f', "FORMAT", FORMATS, "the format: one of those above", .take = format_take},
	{"output", 'o', "FILE", "file", "write to FILE instead of standard output", .text = &output_path},
	{"names", 'n', "FILE", "file", "use the engine's task names from its trace.txt, log or benchmark; none: forget",
	 .text = &names_path},
	OPTION_SPEC_SOURCE,
	OPTION_SPECS_LAST,
};

/* A file that takes the place of --output only when it is complete. */
struct target {
	FILE *file;
	char *temporary; /* NULL: standard output */
};

static int target_open(struct target *target)
{
	int fd;

	*target = (struct target){.file = stdout};
	if (!output_path)
		return 0;
	if (asprintf(&target->temporary, "%s.XXXXXX", output_path) < 0)
		return -ENOMEM;
	fd = mkstemp(target->temporary);
	target->file = fd < 0 ? NULL : fdopen(fd, "w");
	if (target->file)
		return 0;
	say("tracer export: cannot write to %s: %s", output_path, strerror(errno));
	free(target->temporary);
	return VERB_FAILED;
}

/* Returns `error`, or VERB_FAILED after printing why the file could not be written. */
static int target_close(struct target *target, int error)
{
	if (!target->temporary)
		return error; /* main() checks standard output */
	if (ferror(target->file) | fclose(target->file) || (error == 0 && rename(target->temporary, output_path) < 0))
		error = error ? error : say("tracer export: cannot write %s: %s", output_path, strerror(errno));
	if (error)
		unlink(target->temporary);
	free(target->temporary);
	return error;
}

static int run_write(struct report *report)
{
	struct target target;
	int error = names_join_run(&names, report);

	if (error == 0)
		error = target_open(&target);
	return error ? error : target_close(&target, format->write(report, target.file));
}

static int export_show(struct view *view)
{
	const struct options *options = view->options;
	struct rows runs = {0};
	struct report report = {0};
	int error = source_find_run(view->store, options->operand_count ? options->operands[0] : NULL, &runs);

	if (error == 0)
		error = report_load(&report, view->store, runs.items, true);
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
		       "multiqc    a table of tasks by name for MultiQC: name it *_mqc.json",
	.options = option_specs,
	.examples = "  tracer export --format perfetto -o run.json\n"
		    "  tracer export 3f2a --format trace -o trace.txt\n"
		    "  tracer export --format ndjson | jq 'select(.type == \"process\")'",
	.completion = "run",
	.main = export_main,
};
