/* See names.h. */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/engines/reader.h"

#define LINE_BYTES_MAX (1 << 20)
#define ENTRIES_MAX 1000000

int reader_refuse(const struct reader *reader, const char *format, ...)
{
	int length = snprintf(reader->reason, ENGINE_NAMES_REASON_SIZE,
			      reader->number ? "%s:%u: " : "%s: ", reader->path, reader->number);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(reader->reason + length, ENGINE_NAMES_REASON_SIZE - (size_t)length, format, arguments);
	va_end(arguments);
	return -EINVAL;
}

int reader_no_memory(const struct reader *reader)
{
	return reader_refuse(reader, "%s", strerror(ENOMEM));
}

const char *reader_keep(struct reader *reader, const char *text)
{
	return arena_copy(&reader->names->arena, text, strlen(text));
}

int reader_add(struct reader *reader, const char *key, const char *name, const char *label)
{
	struct engine_names *names = reader->names;
	struct entry *entry;

	if (names->count++ >= ENTRIES_MAX)
		return reader_refuse(reader, "more than %d names", ENTRIES_MAX);
	HASH_FIND_STR(names->entries, key, entry);
	if (!entry) {
		entry = arena_alloc(&names->arena, sizeof(*entry) + strlen(key) + 1);
		if (!entry)
			return reader_no_memory(reader);
		strcpy(entry->key, key);
		HASH_ADD_STR(names->entries, key, entry);
	}
	entry->name = reader->figures;
	entry->name.name = reader_keep(reader, name);
	entry->name.label = reader_keep(reader, label);
	return entry->name.name && entry->name.label ? 0 : reader_no_memory(reader);
}

static int read_line(struct reader *reader)
{
	int r;

	if (reader->is_table)
		return reader->line[0] ? table_read_row(reader) : 0;
	if (reader->line[0] == '{' && (!reader->known || reader->is_json))
		return benchmark_read_json(reader);
	if (!reader->known && reader->number == 1 && strchr(reader->line, '\t'))
		return table_read_header(reader);
	r = nextflow_read_log(reader);
	return r == 0 ? snakemake_read_log(reader) : r;
}

/* Reads a line of bounded length, without its end. Returns 1, or 0 at the end of the file. */
static int next_line(struct reader *reader)
{
	size_t size = 0;
	int c;

	reader->number++;
	while ((c = getc_unlocked(reader->file)) != EOF && c != '\n') {
		if (c == '\0')
			return reader_refuse(reader, "NUL byte in the line: not a text file");
		if (size == LINE_BYTES_MAX)
			return reader_refuse(reader, "line longer than %d bytes", LINE_BYTES_MAX);
		reader->line[size++] = (char)c;
	}
	if (size > 0 && reader->line[size - 1] == '\r')
		size--;
	reader->line[size] = '\0';
	if (c != EOF || size > 0)
		return 1;
	reader->number = 0;
	return ferror(reader->file) ? reader_refuse(reader, "%s", strerror(errno)) : 0;
}

static int read_lines(struct reader *reader)
{
	int r;

	while ((r = next_line(reader)) > 0)
		if ((r = read_line(reader)) < 0)
			return r;
	if (r == 0)
		r = snakemake_end_job(reader);
	if (r == 0 && !reader->known)
		return reader_refuse(reader, "no task names found: use Nextflow's trace.txt or .nextflow.log, or "
					     "Snakemake's log or benchmarks");
	return r;
}

int engine_names_parse(FILE *file, const char *path, struct engine_names **ret_names,
		       char reason[ENGINE_NAMES_REASON_SIZE])
{
	struct reader reader = {
		.path = path,
		.file = file,
		.reason = reason,
		.names = calloc(1, sizeof(*reader.names)),
		.line = malloc(LINE_BYTES_MAX + 1),
		.figures = {NULL, NULL, ROW_NULL, ROW_NULL, ROW_NULL},
	};
	int r = reader.names && reader.line ? read_lines(&reader) : reader_no_memory(&reader);

	fclose(file);
	free(reader.line);
	if (r < 0)
		engine_names_free(reader.names);
	else
		*ret_names = reader.names;
	return r;
}

int engine_names_read(const char *path, struct engine_names **ret_names, char reason[ENGINE_NAMES_REASON_SIZE])
{
	FILE *file = fopen(path, "re");

	if (file)
		return engine_names_parse(file, path, ret_names, reason);
	snprintf(reason, ENGINE_NAMES_REASON_SIZE, "%s: %s", path, strerror(errno));
	return -EINVAL;
}

void engine_names_free(struct engine_names *names)
{
	if (!names)
		return;
	HASH_CLEAR(hh, names->entries);
	HASH_CLEAR(hh, names->files);
	HASH_CLEAR(hh, names->learned_tasks);
	HASH_CLEAR(hh, names->learned_names);
	arena_deinit(&names->arena);
	free(names);
}
