/* A run in the formats of other programs.
 *
 * Each format is one writer that walks the report and holds at most one task in memory, or one request of spans.
 * Texts of traced processes are escaped (common/text.h): they are valid UTF-8 without control characters.
 */
#pragma once

#include "analysis/query/report.h"
#include "analysis/versions/versions.h"

struct export_format {
	const char *name;
	/* Returns 0 or -errno; check ferror() for write errors. */
	int (*write)(const struct report *report, FILE *file);
	/* Instead, of formats that name versions of software. */
	int (*write_versions)(struct versions *versions, FILE *file);
};

/* All formats; the last has no name. */
extern const struct export_format export_formats[];

/* Returns NULL if there is none of that name. */
const struct export_format *export_find(const char *name);
