/* The table of formats, and what their writers share. See export.h and formats.h. */
#include "analysis/export/formats.h"

#include <errno.h>
#include <string.h>

#include "common/text.h"

const struct export_format export_formats[] = {
	{"perfetto", export_perfetto},
	{"otlp", export_otlp},
	{"trace", export_trace},
	{"benchmark", export_benchmark},
	{"csv", export_csv},
	{"ndjson", export_ndjson},
	{"multiqc", export_multiqc},
	{"versions", .write_versions = export_versions},
	{"crate", .write_versions = export_crate},
	{"methods", .write_versions = export_methods},
	{0},
};

const struct export_format *export_find(const char *name)
{
	for (const struct export_format *format = export_formats; format->name; format++)
		if (strcmp(format->name, name) == 0)
			return format;
	return NULL;
}

struct export_span export_span(int64_t started_unix_ns, int64_t wall_ns, int64_t now_unix_ns)
{
	int64_t end = row_add(started_unix_ns, wall_ns);

	if (started_unix_ns == ROW_NULL || started_unix_ns < 0)
		started_unix_ns = 0;
	if (wall_ns == ROW_NULL || wall_ns < 0 || end == ROW_NULL)
		end = now_unix_ns;
	return (struct export_span){started_unix_ns, end > started_unix_ns ? end : started_unix_ns};
}

int64_t export_now_unix_ns(const struct report *report)
{
	const struct row_run *run = report_run(report);

	return row_add(run->started_unix_ns, report_wall_ns(report, run->begin_boot_ns, run->end_boot_ns));
}

bool export_has_task(const struct report *report, size_t index)
{
	return !report->tasks[index].is_main || report->task_count == report->parts.count;
}

void export_json_text(struct json_writer *json, const char *name, const char *text)
{
	char *safe = text_escaped(text);

	if (!safe && json->error == 0)
		json->error = -ENOMEM;
	json_write_string(json, name, safe);
	free(safe);
}

void export_basis_write(FILE *file, const struct software *software)
{
	char *path = text_escaped(software->path), *image = text_escaped(software->image);
	char *package = text_escaped(software->package);

	if (software->basis == VERSION_OF_PACKAGE)
		fprintf(file, "%s package %s, installed at the time of export, of %s", software->manager, package,
			path);
	else if (software->basis == VERSION_OF_IMAGE)
		fprintf(file, "image %s", image);
	else
		fprintf(file, "%s%s", software->path ? "path " : "path unknown", path ? path : "");
	if (software->basis == VERSION_UNKNOWN && software->image)
		fprintf(file, ", image %s", image);
	free(package);
	free(image);
	free(path);
}
