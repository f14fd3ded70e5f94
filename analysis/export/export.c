/* The table of formats. See export.h. */
#include "analysis/export/export.h"

#include <string.h>

#include "analysis/export/formats.h"

const struct export_format export_formats[] = {
	{"perfetto", export_perfetto}, {"otlp", export_otlp},
	{"trace", export_trace},       {"benchmark", export_benchmark},
	{"csv", export_csv},           {"ndjson", export_ndjson},
	{"multiqc", export_multiqc},   {0},
};

const struct export_format *export_find(const char *name)
{
	for (const struct export_format *format = export_formats; format->name; format++)
		if (strcmp(format->name, name) == 0)
			return format;
	return NULL;
}
