/* Prints the answer to a question. See answer.h. */
#include "cli/report/answer.h"

#include <errno.h>
#include <string.h>

#include "analysis/query/catalogue.h"
#include "analysis/query/command.h"
#include "analysis/query/rows.h"
#include "analysis/query/units.h"
#include "cli/screen/table.h"
#include "common/text.h"

#define TITLE_BYTES 64
#define COMMAND_BYTES 16384
#define FLEXIBLE_PERCENT 30

/* Writes an object, or a line of CSV. */
static void row_write(const struct answer *answer, struct json_writer *writer)
{
	json_write_line(writer);
	json_write_result(writer, answer->result);
	json_write_line_end(writer);
}

/* Who reads the rows may not know what is meant by them. */
static void definitions_write(const struct question *question, struct json_writer *writer)
{
	json_t *columns = catalogue_columns_to_json(question);
	char *text = json_dumps(columns, JSON_COMPACT | JSON_ENSURE_ASCII);

	json_write_string(writer, "query", question->name);
	json_write_string(writer, "title", question->title);
	json_write_string(writer, "explanation", question->explanation);
	json_write_text(writer, ",\"columns\":");
	json_write_text(writer, text ? text : "null");
	free(text);
	json_decref(columns);
}

static int print_json(const struct answer *answer, const struct output *output, size_t *row_count)
{
	struct json_writer writer = {.file = output->file};
	int more = 0;

	json_write_object(&writer);
	definitions_write(answer->question, &writer);
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
	while (writer.error == 0 && (more = store_result_next(answer->result)) > 0) {
		json_write_text(&writer, (*row_count)++ ? "," : "\n");
		row_write(answer, &writer);
	}
	json_write_text(&writer, more == 0 ? "]}\n" : "");
	return json_write_end(&writer) < 0 ? writer.error : more;
}

static int print_lines(const struct answer *answer, const struct output *output, size_t *row_count)
{
	struct json_writer writer = {.file = output->file};
	int more = 0;

	if (answer->format == FORMAT_CSV) {
		writer.form = ROW_AS_CSV_NAMES;
		row_write(answer, &writer);
		writer.form = ROW_AS_CSV;
	}
	while (writer.error == 0 && (more = store_result_next(answer->result)) > 0) {
		++*row_count;
		row_write(answer, &writer);
	}
	return json_write_end(&writer) < 0 ? writer.error : more;
}

/* ---- text ---------------------------------------------------------------------- */

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
			.optional = field->is_optional,
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
	error = table_fill(answer, output, &columns, table, row_count);
	if (error == 0 && *row_count > 0)
		error = table_print(table, output, NULL);
	table_free(table);
	return error;
}

int answer_print(const struct answer *answer, const struct output *output, size_t *ret_row_count)
{
	static int (*const printers[])(const struct answer *answer, const struct output *output, size_t *row_count) = {
		[FORMAT_TABLE] = print_table,
		[FORMAT_JSON] = print_json,
		[FORMAT_NDJSON] = print_lines,
		[FORMAT_CSV] = print_lines,
	};

	*ret_row_count = 0;
	return printers[answer->format](answer, output, ret_row_count);
}
