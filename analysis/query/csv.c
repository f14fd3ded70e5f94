/* Rows as CSV. See csv.h. */
#include "analysis/query/csv.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "common/identity.h"
#include "common/text.h"

#define NAME_SIZE 256

static void separate(struct json_writer *writer)
{
	if (writer->has_members)
		json_write_text(writer, ",");
	writer->has_members = true;
}

static void fail(struct json_writer *writer)
{
	writer->error = writer->error ? writer->error : -ENOMEM;
}

static void put_quoted(struct json_writer *writer, const char *text)
{
	char piece[128];
	size_t used = 0;

	json_write_text(writer, "\"");
	for (; *text; text++) {
		if (*text == '"')
			piece[used++] = '"';
		piece[used++] = *text;
		if (used >= sizeof(piece) - 2 || !text[1]) {
			piece[used] = '\0';
			json_write_text(writer, piece);
			used = 0;
		}
	}
	json_write_text(writer, "\"");
}

/* Puts a text that is valid UTF-8 without control characters. */
static void put_safe(struct json_writer *writer, const char *text)
{
	if (!*text || text[strcspn(text, ",\"")] || *text == ' ' || text[strlen(text) - 1] == ' ')
		put_quoted(writer, text);
	else
		json_write_text(writer, text);
}

static void put_text(struct json_writer *writer, const char *text)
{
	size_t size = strlen(text);
	char *safe = malloc(4 * size + 2);
	bool is_formula = *text && strchr("=+-@", *text);

	if (!safe) {
		fail(writer);
		return;
	}
	*safe = '\'';
	text_escape(text, size, safe + is_formula, 4 * size + 1);
	put_safe(writer, safe);
	free(safe);
}

static void put_arguments(struct json_writer *writer, const struct store_value *value)
{
	char *text = NULL;
	size_t size;
	bool escaped;
	struct json_writer array = {.file = open_memstream(&text, &size)};

	if (array.file) {
		json_write_arguments(&array, value->data, value->size, &escaped);
		json_write_end(&array);
		fclose(array.file);
	}
	if (text)
		put_safe(writer, text);
	else
		fail(writer);
	free(text);
}

void csv_write_member(struct json_writer *writer, const char *name, const struct store_value *value)
{
	char text[64] = "";

	separate(writer);
	if (writer->form == ROW_AS_CSV_NAMES)
		put_safe(writer, name);
	else if (value->type == STORE_VALUE_TEXT)
		put_text(writer, value->data);
	else if (value->type == STORE_VALUE_BLOB)
		put_arguments(writer, value);
	else if (value->type == STORE_VALUE_REAL && isfinite(value->real))
		snprintf(text, sizeof(text), "%.*g", ROWS_REAL_DIGITS, value->real);
	else if (value->type == STORE_VALUE_INTEGER && value->integer != ROW_NULL && identity_is_column(name))
		identity_format(value->integer, text);
	else if (value->type == STORE_VALUE_INTEGER && value->integer != ROW_NULL)
		snprintf(text, sizeof(text), "%" PRId64, value->integer);
	json_write_text(writer, text);
}

static void put_tree(struct json_writer *writer, const json_t *value)
{
	char *text = NULL;

	if (json_is_string(value)) {
		put_text(writer, json_string_value(value));
	} else if (value && !json_is_null(value)) {
		text = json_dumps(value, JSON_ENCODE_ANY | JSON_ENSURE_ASCII | JSON_COMPACT);
		if (text)
			put_safe(writer, text);
		else
			fail(writer);
	}
	free(text);
}

/* `prefix` is the name of the object that these members are in, with a dot, or "". */
static void members_write(struct json_writer *writer, const char *prefix, const json_t *columns, const json_t *row)
{
	const char *name;
	json_t *column;

	json_object_foreach ((json_t *)columns, name, column) {
		const json_t *value = json_object_get(row, name);
		char whole[NAME_SIZE];

		snprintf(whole, sizeof(whole), "%s%s%s", prefix, name, json_is_object(column) ? "." : "");
		if (json_is_object(column)) {
			members_write(writer, whole, column, value);
			continue;
		}
		separate(writer);
		if (writer->form == ROW_AS_CSV_NAMES)
			put_safe(writer, whole);
		else
			put_tree(writer, value);
	}
}

void csv_write_row(struct json_writer *writer, const json_t *columns, const json_t *row)
{
	json_write_line(writer);
	members_write(writer, "", columns, row);
	json_write_line_end(writer);
}
