/* See document.h. */
#include "cli/screen/document.h"

#include <errno.h>
#include <string.h>

#include "analysis/query/csv.h"

#define ESCAPED "_escaped" /* ends the name of a marker of JSON; in CSV all texts are escaped */

static int json_print(const json_t *value, size_t flags)
{
	return json_dumpf(value, stdout, flags | JSON_ENSURE_ASCII) < 0 || fputc('\n', stdout) == EOF ? -EIO : 0;
}

static int lines_print(const json_t *rows)
{
	const json_t *row;
	size_t i;
	int error = 0;

	json_array_foreach (rows, i, row)
		error = error ? error : json_print(row, JSON_COMPACT);
	return error;
}

/* Adds what members a row has, and the objects in it. */
static void columns_add(json_t *columns, const json_t *row)
{
	const char *name;
	json_t *value;

	json_object_foreach ((json_t *)row, name, value) {
		json_t *column = json_object_get(columns, name);
		size_t size = strlen(name);

		if (size > strlen(ESCAPED) && strcmp(name + size - strlen(ESCAPED), ESCAPED) == 0)
			continue;
		if (json_is_object(value) && !json_is_object(column))
			json_object_set_new(columns, name, column = json_object());
		if (json_is_object(value))
			columns_add(column, value);
		else if (!column)
			json_object_set_new(columns, name, json_null());
	}
}

static int csv_print(const json_t *rows, json_t *columns)
{
	struct json_writer writer = {.file = stdout, .form = ROW_AS_CSV_NAMES};
	json_t *all = columns ? json_incref(columns) : json_object();
	const json_t *row;
	size_t i;

	if (!columns)
		json_array_foreach (rows, i, row)
			columns_add(all, row);
	csv_write_row(&writer, all, all);
	writer.form = ROW_AS_CSV;
	json_array_foreach (rows, i, row)
		csv_write_row(&writer, all, row);
	json_decref(all);
	return json_write_end(&writer);
}

int document_print(json_t *document, const char *rows, json_t *columns, enum format format)
{
	json_t *array = rows ? json_incref(json_object_get(document, rows)) : json_pack("[O]", document);
	int error = -ENOMEM;

	if (document && format == FORMAT_JSON)
		error = json_print(document, JSON_INDENT(2));
	else if (array)
		error = format == FORMAT_CSV ? csv_print(array, columns) : lines_print(array);
	json_decref(array);
	json_decref(columns);
	json_decref(document);
	return error;
}
