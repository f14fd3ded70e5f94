/* The writers of the formats, and what they share. */
#pragma once

#include "analysis/export/export.h"

int export_perfetto(const struct report *report, FILE *file);
int export_otlp(const struct report *report, FILE *file);
int export_trace(const struct report *report, FILE *file);
int export_benchmark(const struct report *report, FILE *file);
int export_csv(const struct report *report, FILE *file);
int export_ndjson(const struct report *report, FILE *file);
int export_multiqc(const struct report *report, FILE *file);
int export_versions(struct versions *versions, FILE *file);
int export_crate(struct versions *versions, FILE *file);
int export_methods(struct versions *versions, FILE *file);

/* The times of a task, tool or process by the clock of the wall, which several hosts share. */
struct export_span {
	int64_t begin_unix_ns, end_unix_ns;
};

/* A row that has not ended lasts until `now_unix_ns`, as does one with times that cannot be. */
#define EXPORT_SPAN(row, now_unix_ns) \
	export_span((row)->started_unix_ns, row_subtract((row)->end_boot_ns, (row)->begin_boot_ns), now_unix_ns)
struct export_span export_span(int64_t started_unix_ns, int64_t wall_ns, int64_t now_unix_ns);

/* When the run ended or, if it has not, when its host was last heard of. */
int64_t export_now_unix_ns(const struct report *report);

/* Whether a task is exported: a run's own pseudo-task is only if there is no other. */
bool export_has_task(const struct report *report, size_t index);

/* Writes how a version is known, escaped: "path /opt/samtools-1.17/samtools". */
void export_basis_write(FILE *file, const struct software *software);

/* Writes a member whose text is escaped. */
void export_json_text(struct json_writer *json, const char *name, const char *text);
