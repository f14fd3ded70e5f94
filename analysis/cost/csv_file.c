/* Reads CSV files, with libcsv. See csv_file.h. */
#include "analysis/cost/csv_file.h"

#include <csv.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/progress.h"

#define ROW_BYTES_MAX 65536
#define FILE_COLUMNS_MAX 1024
#define LARGE_BYTES (8 << 20) /* reading a smaller file needs no progress */

struct reader {
	const struct csv_columns *columns;
	csv_take *take;
	void *context;
	struct tree_error *error;
	const char *path;
	unsigned line;
	int result;

	bool has_header;
	int wanted[FILE_COLUMNS_MAX]; /* column of the file to index in `columns`, or -1 */
	size_t file_column_count;

	size_t field; /* of the row being read */
	size_t used;
	struct csv_row row;
	char texts[ROW_BYTES_MAX];
};

static void refuse(struct reader *reader, const char *reason)
{
	if (reader->result == 0)
		reader->result = tree_error_set(reader->error, reader->path, reader->line, "%s", reason);
}

static int column_find(const struct csv_columns *columns, const char *name, size_t size)
{
	for (size_t i = 0; i < columns->count; i++)
		if (strlen(columns->names[i]) == size && strncasecmp(columns->names[i], name, size) == 0)
			return (int)i;
	return -1;
}

static void header_take(struct reader *reader, const char *text, size_t size)
{
	static const char mark[] = "\xef\xbb\xbf"; /* of UTF-8 files that were made on Windows */

	if (reader->field == 0 && size >= 3 && memcmp(text, mark, 3) == 0) {
		text += 3;
		size -= 3;
	}
	if (reader->field == FILE_COLUMNS_MAX) {
		refuse(reader, "too many columns");
		return;
	}
	reader->wanted[reader->field++] = column_find(reader->columns, text, size);
}

static void header_check(struct reader *reader)
{
	bool found[CSV_COLUMNS_MAX] = {false};

	reader->has_header = true;
	reader->file_column_count = reader->field;
	for (size_t i = 0; i < reader->file_column_count; i++)
		if (reader->wanted[i] >= 0)
			found[reader->wanted[i]] = true;
	for (size_t i = 0; i < reader->columns->required_count && reader->result == 0; i++)
		if (!found[i])
			reader->result = tree_error_set(reader->error, reader->path, reader->line,
							"the header line has no column %s", reader->columns->names[i]);
}

static void on_field(void *data, size_t size, void *context)
{
	struct reader *reader = context;
	const char *text = data ? data : "";
	int index;

	if (reader->result < 0)
		return;
	if (!reader->has_header) {
		header_take(reader, text, size);
		return;
	}
	index = reader->field < reader->file_column_count ? reader->wanted[reader->field] : -1;
	reader->field++;
	if (index < 0)
		return;
	if (size > CSV_FIELD_BYTES_MAX || reader->used + size + 1 > ROW_BYTES_MAX) {
		refuse(reader, "a field is too long");
		return;
	}
	if (memchr(text, '\0', size)) {
		refuse(reader, "contains a NUL byte");
		return;
	}
	memcpy(reader->texts + reader->used, text, size);
	reader->texts[reader->used + size] = '\0';
	reader->row.fields[index] = reader->texts + reader->used;
	reader->used += size + 1;
}

static void row_begin(struct reader *reader)
{
	for (size_t i = 0; i < reader->columns->count; i++)
		reader->row.fields[i] = "";
	reader->field = 0;
	reader->used = 0;
}

static void on_row(int terminator, void *context)
{
	struct reader *reader = context;

	(void)terminator;
	if (reader->result == 0 && !reader->has_header) {
		header_check(reader);
	} else if (reader->result == 0) {
		reader->row.line = reader->line;
		reader->result = reader->take(reader->context, &reader->row, reader->error);
		if (reader->result == -EINVAL) {
			snprintf(reader->error->file, sizeof(reader->error->file), "%s", reader->path);
			reader->error->line = reader->line;
		}
	}
	row_begin(reader);
}

static void lines_read(struct reader *reader, struct csv_parser *parser, FILE *file)
{
	char *line = NULL;
	size_t capacity = 0;
	int64_t bytes = 0;
	ssize_t size;

	while (reader->result == 0 && (size = getline(&line, &capacity, file)) > 0) {
		bytes += size;
		if (bytes > LARGE_BYTES)
			progress_show("tracer: %lld MiB read", (long long)(bytes >> 20));
		if (++reader->line <= reader->columns->skip_lines)
			continue;
		if (!reader->has_header && reader->columns->may_have_tabs && memchr(line, '\t', (size_t)size))
			csv_set_delim(parser, '\t');
		if (csv_parse(parser, line, (size_t)size, on_field, on_row, reader) != (size_t)size)
			refuse(reader, csv_error(parser) == CSV_EPARSE ? "a quoted field does not end where it should"
								       : "cannot be parsed");
	}
	free(line);
	progress_hide();
	if (reader->result == 0 && ferror(file))
		reader->result = tree_error_set(reader->error, reader->path, 0, "%s", strerror(errno));
	if (reader->result == 0 && csv_fini(parser, on_field, on_row, reader) != 0)
		refuse(reader, "the file ends inside a quoted field");
	if (reader->result == 0 && !reader->has_header)
		refuse(reader, "has no header line");
}

int csv_read(const char *path, const struct csv_columns *columns, csv_take *take, void *context,
	     struct tree_error *ret_error)
{
	struct reader *reader = calloc(1, sizeof(*reader));
	FILE *file = fopen(path, "re");
	struct csv_parser parser;
	int result;

	if (!reader) {
		result = -ENOMEM;
	} else if (!file) {
		result = -errno;
		tree_error_set(ret_error, path, 0, "%s", strerror(errno));
	} else if (csv_init(&parser, CSV_STRICT | CSV_STRICT_FINI | CSV_APPEND_NULL) != 0) {
		result = -ENOMEM;
	} else {
		*reader = (struct reader){
			.columns = columns, .take = take, .context = context, .error = ret_error, .path = path};
		row_begin(reader);
		lines_read(reader, &parser, file);
		csv_free(&parser);
		result = reader->result;
	}
	if (file)
		fclose(file);
	free(reader);
	return result;
}

/* ---- patterns ------------------------------------------------------------------------ */

int pattern_make(struct arena *arena, const char *text, struct pattern *ret_pattern)
{
	*ret_pattern = (struct pattern){0};
	if (!*text || strcmp(text, "*") == 0)
		return 0;
	ret_pattern->text = arena_copy(arena, text, strlen(text));
	ret_pattern->has_wildcard = strpbrk(text, "*?[\\");
	return ret_pattern->text ? 0 : -ENOMEM;
}

bool pattern_matches(const struct pattern *pattern, const char *text)
{
	if (!pattern->text || !text)
		return !pattern->text;
	return pattern->has_wildcard ? fnmatch(pattern->text, text, 0) == 0 : strcmp(pattern->text, text) == 0;
}
