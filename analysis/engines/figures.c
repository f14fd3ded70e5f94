/* What an engine reported about a task. See reader.h. */
#include "analysis/engines/reader.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

const char *const engine_figure_columns[ENGINE_FIGURE_COUNT] = {
	[ENGINE_REALTIME] = "realtime", [ENGINE_CPU_SHARE] = "%cpu",    [ENGINE_PEAK_RSS] = "peak_rss",
	[ENGINE_SECONDS] = "s",         [ENGINE_CPU_TIME] = "cpu_time", [ENGINE_MAX_RSS] = "max_rss",
};

struct unit {
	const char *name;
	double size;
};

/* The first is that of a number without a unit. Nextflow's KB has 1,024 bytes. */
static const struct unit times_ns[] = {{"ms", 1e6}, {"s", 1e9}, {"m", 60e9}, {"h", 3600e9}, {"d", 86400e9}, {0}};
static const struct unit bytes[] = {{"B", 1},           {"KB", 1024},          {"MB", 1048576},
				    {"GB", 1073741824}, {"TB", 1099511627776}, {0}};
static const struct unit seconds[] = {{"s", 1e9}, {0}};
static const struct unit mebibytes[] = {{"MB", 1048576}, {0}};
static const struct unit percents[] = {{"%", 0.01}, {0}};

/* A sum of numbers with units: "1m 3s", "1.2 GB", "512". Returns a negative number if it is not one. */
static double parse(const char *text, const struct unit *units)
{
	double sum = 0;

	do {
		const struct unit *unit = units;
		char *end;
		double number = strtod(text, &end);
		size_t size;

		if (end == text || !(number >= 0))
			return -1;
		text = end + strspn(end, " ");
		size = strcspn(text, " 0123456789.");
		while (size > 0 && unit->name && (strncmp(unit->name, text, size) != 0 || unit->name[size]))
			unit++;
		if (!unit->name)
			return -1;
		sum += number * unit->size;
		text += size;
		text += strspn(text, " ");
	} while (*text);
	return sum;
}

static int64_t figure(const char *text, const struct unit *units)
{
	double value = text ? parse(text, units) : -1;

	return value < 0 || value > 9e18 ? ROW_NULL : (int64_t)value;
}

void engine_figures_read(const char *const texts[ENGINE_FIGURE_COUNT], struct engine_name *ret_name)
{
	double share = texts[ENGINE_CPU_SHARE] ? parse(texts[ENGINE_CPU_SHARE], percents) : -1;

	ret_name->wall_ns = figure(texts[ENGINE_REALTIME], times_ns);
	if (ret_name->wall_ns == ROW_NULL)
		ret_name->wall_ns = figure(texts[ENGINE_SECONDS], seconds);
	ret_name->cpu_ns = figure(texts[ENGINE_CPU_TIME], seconds);
	if (ret_name->cpu_ns == ROW_NULL && share >= 0 && ret_name->wall_ns != ROW_NULL && share < 1e6)
		ret_name->cpu_ns = (int64_t)(share * (double)ret_name->wall_ns);
	ret_name->peak_rss_bytes = figure(texts[ENGINE_PEAK_RSS], bytes);
	if (ret_name->peak_rss_bytes == ROW_NULL)
		ret_name->peak_rss_bytes = figure(texts[ENGINE_MAX_RSS], mebibytes);
}
