/* Prints the answer to a question. See answer.h. */
#include "cli/report/answer.h"

#include <errno.h>
#include <string.h>

#include "analysis/query/command.h"
#include "analysis/query/rows.h"
#include "analysis/query/units.h"
#include "cli/screen/table.h"
#include "common/text.h"

#define TITLE_BYTES 64
#define COMMAND_BYTES 16384
#define FLEXIBLE_PERCENT 30

static int rows_write(const struct answer *answer, struct json_writer *writer, size_t *row_count, const char *first,
		      const char *next, const char *after)
{
	int more = 0;

	while (writer->error == 0 && (more = store_result_next(answer->result)) > 0) {
		json_write_text(writer, (*row_count)++ ? next : first);
		json_write_object(writer);
		json_write_result(writer, answer->result);
		json_write_text(writer, after);
	}
	return more;
}

static int print_json(const struct answer *answer, const struct output *output, size_t *row_count)
{
	struct json_writer writer = {.file = output->file};
	int error;

	json_write_object(&writer);
	json_write_string(&writer, "query", answer->question->name);
	json_write_string(&writer, "title", answer->question->title);
	json_write_text(&writer, ",\"parameters\":");
	json_write_object(&writer);
	for (const struct store_parameter *parameter = answer->parameters; parameter->name; parameter++) {
		struct store_value value = {STORE_VALUE_NULL, parameter->integer, parameter->real, parameter->text, 0};

		value.type = parameter->type == STORE_INTEGER ? STORE_VALUE_INTEGER
			     : parameter->type == STORE_REAL  ? STORE_VALUE_REAL
			     : parameter->type == STORE_TEXT  ? STORE_VALUE_TEXT
							      : STORE_VALUE_NULL;
		json_write_member(&writer, parameter->name, &value);
	}
	json_write_text(&writer, "},\"rows\":[");
	error = rows_write(answer, &writer, row_count, "\n", ",\n", "}");
	json_write_text(&writer, error == 0 ? "\n]}\n" : "");
	return json_write_end(&writer) < 0 ? writer.error : error;
}

static int print_ndjson(const struct answer *answer, const struct output *output, size_t *row_count)
{
	struct json_writer writer = {.file = output->file};
	int error = rows_write(answer, &writer, row_count, "", "", "}\n");

	return json_write_end(&writer) < 0 ? writer.error : error;
}

/* ---- text ---------------------------------------------------------------------- */

static enum question_type type_of(const struct question *question, const char *column)
{
	const struct question_field *field = question_column(question, column);

	return field ? field->type : question_type_of(column);
}

/* Returns the value as text that is safe to print, to be freed; NULL if out of memory. */
static char *value_to_text(const struct store_value *value, enum question_type type, bool raw)
{
	char command[COMMAND_BYTES], *safe;
	const char *text = value->data;
	size_t size = value->size;

	if (value->type != STORE_VALUE_TEXT) {
		text = value->type == STORE_VALUE_BLOB
			       ? command_text(&(struct row_blob){value->data, size}, "", true, command, sizeof(command))
			       : units_value(type, value, raw);
		size = strlen(text);
	}
	safe = malloc(4 * size + 1);
	if (safe)
		text_escape(text, size, safe, 4 * size + 1);
	return safe;
}

/* Quotes where necessary, as in RFC 4180 (apart from its line ends). */
static void csv_print(FILE *file, const char *text)
{
	if (*text && !text[strcspn(text, ",\"")] && *text != ' ') {
		fputs(text, file);
		return;
	}
	fputc('"', file);
	for (; *text; text++)
		fputs(*text == '"' ? "\"\"" : (const char[]){*text, '\0'}, file);
	fputc('"', file);
}

/* An unknown value is an empty field, an empty text is "". */
static int csv_row_print(const struct answer *answer, FILE *file)
{
	const char *separator = "";

	for (size_t i = 0; i < store_result_width(answer->result); i++) {
		const char *name = store_result_name(answer->result, i);
		struct store_value value = store_result_value(answer->result, i);
		char *text;

		if (row_is_private(name))
			continue;
		fputs(separator, file);
		separator = ",";
		if (value.type == STORE_VALUE_NULL)
			continue;
		text = value_to_text(&value, type_of(answer->question, name), true);
		if (!text)
			return -ENOMEM;
		csv_print(file, text);
		free(text);
	}
	fputs("\n", file);
	return 0;
}

static int print_csv(const struct answer *answer, const struct output *output, size_t *row_count)
{
	const char *separator = "";
	int more, error = 0;

	for (size_t i = 0; i < store_result_width(answer->result); i++) {
		if (row_is_private(store_result_name(answer->result, i)))
			continue;
		fprintf(output->file, "%s%s", separator, store_result_name(answer->result, i));
		separator = ",";
	}
	fputs("\n", output->file);
	while (error == 0 && (more = store_result_next(answer->result)) != 0) {
		if (more < 0)
			return more;
		++*row_count;
		error = csv_row_print(answer, output->file);
	}
	return error;
}

/* ---- the table ----------------------------------------------------------------- */

struct columns {
	struct table_column shown[QUESTION_COLUMNS_MAX];
	char titles[QUESTION_COLUMNS_MAX][TITLE_BYTES];
	size_t index[QUESTION_COLUMNS_MAX]; /* in the result */
};

static bool is_text(enum question_type type)
{
	return type == QUESTION_TEXT || type == QUESTION_ARGUMENTS;
}

/* Returns the column to shorten on a narrow terminal: the first of arguments, else of texts. */
static size_t flexible_of(const struct question *question)
{
	size_t found = question->column_count;

	for (size_t i = question->column_count; i-- > 0;)
		if (question->columns[i].type == QUESTION_ARGUMENTS ||
		    (question->columns[i].type == QUESTION_TEXT &&
		     (found == question->column_count || question->columns[found].type == QUESTION_TEXT)))
			found = i;
	return found;
}

static void columns_find(const struct answer *answer, struct columns *ret_columns)
{
	const struct question *question = answer->question;
	size_t flexible = flexible_of(question);

	for (size_t i = 0; i < question->column_count; i++) {
		const struct question_field *field = &question->columns[i];
		enum table_align align = is_text(field->type) || field->type == QUESTION_ID ||
							 field->type == QUESTION_TIME || field->type == QUESTION_USER
						 ? TABLE_LEFT
						 : TABLE_RIGHT;

		ret_columns->index[i] = store_result_find(answer->result, field->name);
		ret_columns->shown[i] = (struct table_column){
			.title = question_field_title(field, ' ', ret_columns->titles[i], TITLE_BYTES),
			.align = align,
			.flexible = i == flexible ? FLEXIBLE_PERCENT : 0,
			.rank = i == 0 || i == flexible ? 0 : (unsigned)i, /* the last are dropped first */
		};
	}
}

static int cell_add(const struct answer *answer, const struct output *output, struct table *table,
		    const struct question_field *field, size_t index)
{
	struct store_value value = store_result_value(answer->result, index);
	char *text = value_to_text(&value, field->type, answer->raw);

	if (!text)
		return -ENOMEM;
	if (field->type == QUESTION_ID && output->width && strlen(text) > UNITS_ID_BRIEF)
		text[UNITS_ID_BRIEF] = '\0';
	table_add(table, STYLE_PLAIN, text);
	free(text);
	return 0;
}

static int table_fill(const struct answer *answer, const struct output *output, const struct columns *columns,
		      struct table *table, size_t *row_count)
{
	int more, error = 0;

	while (error == 0 && (more = store_result_next(answer->result)) != 0) {
		if (more < 0)
			return more;
		if (++*row_count > ANSWER_TABLE_ROWS_MAX)
			return -EFBIG;
		for (size_t i = 0; i < answer->question->column_count && error == 0; i++)
			error = cell_add(answer, output, table, &answer->question->columns[i], columns->index[i]);
	}
	return error;
}

static int print_table(const struct answer *answer, const struct output *output, size_t *row_count)
{
	struct columns columns = {0};
	struct table *table;
	int error;

	columns_find(answer, &columns);
	table = table_new(columns.shown, answer->question->column_count);
	if (!table)
		return -ENOMEM;
	error = table_fill(answer, output, &columns, table, row_count);
	if (error == 0 && *row_count > 0)
		error = table_print(table, output, true, NULL);
	table_free(table);
	return error;
}

int answer_print(const struct answer *answer, const struct output *output, size_t *ret_row_count)
{
	static int (*const printers[])(const struct answer *answer, const struct output *output, size_t *row_count) = {
		[ANSWER_TABLE] = print_table,
		[ANSWER_JSON] = print_json,
		[ANSWER_NDJSON] = print_ndjson,
		[ANSWER_CSV] = print_csv,
	};

	*ret_row_count = 0;
	return printers[answer->form](answer, output, ret_row_count);
}
