/* Tables and JSON lines, in which an engine also wrote what it measured: trace.txt and benchmarks. See reader.h. */
#include "analysis/engines/reader.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

static int split(char *line, char **columns)
{
	int count = 0;

	while (count < COLUMNS_MAX) {
		columns[count++] = strsep(&line, "\t");
		if (!line)
			break;
	}
	return count;
}

static int column_find(char **columns, int count, const char *name)
{
	for (int i = 0; i < count; i++)
		if (strcmp(columns[i], name) == 0)
			return i;
	return -1;
}

/* Sets the columns of the header. Returns whether it is one that has names of tasks. */
static bool header_read(struct reader *reader, char **columns, int count)
{
	static const char *const names[COLUMN_COUNT] = {"hash", "name", "process", "tag", "rule_name", "wildcards"};
	const int *found = reader->columns;

	for (int i = 0; i < COLUMN_COUNT; i++)
		reader->columns[i] = column_find(columns, count, names[i]);
	for (int i = 0; i < ENGINE_FIGURE_COUNT; i++)
		reader->figure_columns[i] = column_find(columns, count, engine_figure_columns[i]);
	reader->column_count = count;
	return (found[COLUMN_HASH] >= 0 && (found[COLUMN_NAME] >= 0 || found[COLUMN_PROCESS] >= 0)) ||
	       found[COLUMN_RULE] >= 0;
}

int table_read_header(struct reader *reader)
{
	char *columns[COLUMNS_MAX];
	int count = split(reader->line, columns);

	if (header_read(reader, columns, count)) {
		reader->known = reader->is_table = true;
		return 0;
	}
	if (strcmp(columns[0], "s") == 0 && count > 1 && strcmp(columns[1], "h:m:s") == 0)
		return reader_refuse(reader, "a benchmark without rule names: Snakemake writes them "
					     "with --benchmark-extended");
	return reader_refuse(reader,
			     "no columns \"hash\" and \"name\": expected Nextflow's table (nextflow run -with-trace)");
}

int table_read_row(struct reader *reader)
{
	char *columns[COLUMNS_MAX], *fields[COLUMN_COUNT];
	const char *figures[ENGINE_FIGURE_COUNT];
	int count = split(reader->line, columns);

	if (count != reader->column_count)
		return reader_refuse(reader, "%d columns, but the header has %d", count, reader->column_count);
	for (int i = 0; i < COLUMN_COUNT; i++)
		fields[i] = reader->columns[i] < 0 ? NULL : columns[reader->columns[i]];
	for (int i = 0; i < ENGINE_FIGURE_COUNT; i++)
		figures[i] = reader->figure_columns[i] < 0 ? NULL : columns[reader->figure_columns[i]];
	engine_figures_read(figures, &reader->figures);
	if (fields[COLUMN_RULE])
		return snakemake_add(reader, fields[COLUMN_RULE],
				     fields[COLUMN_WILDCARDS] ? fields[COLUMN_WILDCARDS] : "");
	if (!nextflow_is_hash(fields[COLUMN_HASH]) || fields[COLUMN_HASH][9])
		return reader_refuse(reader, "\"%.40s\" is not a task hash, such as ab/cdef01", fields[COLUMN_HASH]);
	if (fields[COLUMN_NAME])
		return nextflow_add(reader, fields[COLUMN_HASH], fields[COLUMN_NAME]);
	return reader_add(reader, fields[COLUMN_HASH], fields[COLUMN_PROCESS],
			  fields[COLUMN_TAG] ? fields[COLUMN_TAG] : "");
}

static void json_figures_read(struct reader *reader, const json_t *object)
{
	const char *figures[ENGINE_FIGURE_COUNT];
	char texts[ENGINE_FIGURE_COUNT][32];

	for (int i = 0; i < ENGINE_FIGURE_COUNT; i++) {
		const json_t *value = json_object_get(object, engine_figure_columns[i]);

		snprintf(texts[i], sizeof(texts[i]), "%f", json_number_value(value));
		figures[i] = json_is_number(value) ? texts[i] : NULL;
	}
	engine_figures_read(figures, &reader->figures);
}

/* One object per line, with rule_name and wildcards. */
int benchmark_read_json(struct reader *reader)
{
	json_error_t error;
	json_t *object = json_loads(reader->line, 0, &error), *wildcards;
	const char *rule = json_string_value(json_object_get(object, "rule_name")), *key;
	char text[512] = "";
	json_t *value;
	int r;

	if (!rule) {
		r = object ? reader_refuse(reader, "the object has no rule_name")
			   : reader_refuse(reader, "invalid JSON: %.200s", error.text);
		json_decref(object);
		return r;
	}
	reader->known = reader->is_json = true;
	wildcards = json_object_get(object, "wildcards");
	json_object_foreach (wildcards, key, value) {
		size_t length = strlen(text);

		if (json_is_string(value))
			snprintf(text + length, sizeof(text) - length, "%s%s=%s", length ? "," : "", key,
				 json_string_value(value));
	}
	json_figures_read(reader, object);
	r = snakemake_add(reader, rule, text);
	json_decref(object);
	return r;
}
