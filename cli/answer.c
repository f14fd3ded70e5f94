/* What a question is answered with, printed. See answer.h. */
#include "cli/answer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command_text.h"
#include "query/rows.h"
#include "cli/table.h"
#include "cli/units.h"
#include "common/text.h"

#define TITLE_BYTES 64
#define COMMAND_BYTES 16384
#define ID_SHOWN 8 /* digits on a terminal: enough to name what it is of */
#define FLEXIBLE_PERCENT 30
#define REAL_DIGITS 15

/* The revision says in which order rows were written, not what ran (docs/json.md). */
static bool is_left_out(const char *column)
{
	return strcmp(column, "rev") == 0;
}

/* ---- JSON ---------------------------------------------------------------------- */

static void value_to_json(json_t *object, const char *name, const struct store_value *value)
{
	switch (value->type) {
	case STORE_VALUE_TEXT:
		json_set_string(object, name, value->data);
		break;
	case STORE_VALUE_BLOB:
		json_set_arguments(object, name, &(struct row_blob){value->data, value->size});
		break;
	case STORE_VALUE_REAL:
		json_object_set_new(object, name, json_real(value->real));
		break;
	default:
		json_set_column(object, name, value->type == STORE_VALUE_INTEGER ? value->integer : ROW_NULL);
	}
}

void answer_row_to_json(struct store_result *result, json_t *object)
{
	for (size_t i = 0; i < store_result_width(result); i++) {
		struct store_value value = store_result_value(result, i);

		if (!is_left_out(store_result_name(result, i)))
			value_to_json(object, store_result_name(result, i), &value);
	}
}

/* Takes the value over. */
static int json_dump(json_t *value, FILE *file)
{
	int result = json_dumpf(value, file, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_ENCODE_ANY |
				JSON_REAL_PRECISION(REAL_DIGITS));

	json_decref(value);
	return result < 0 ? -EIO : 0;
}

static json_t *parameters_to_json(const struct store_parameter *parameters)
{
	json_t *object = json_object();

	for (; parameters->name; parameters++) {
		struct store_value value = {STORE_VALUE_NULL, parameters->integer, parameters->real, parameters->text, 0};

		value.type = parameters->type == STORE_INTEGER ? STORE_VALUE_INTEGER :
			     parameters->type == STORE_REAL    ? STORE_VALUE_REAL :
			     parameters->type == STORE_TEXT    ? STORE_VALUE_TEXT : STORE_VALUE_NULL;
		value_to_json(object, parameters->name, &value);
	}
	return object;
}

/* Each row an object: `first` before the first, `next` before the others, `after` behind each. */
static int rows_to_json(const struct answer *answer, FILE *file, const char *first, const char *next,
			const char *after, size_t *row_count)
{
	int more, error = 0;

	while (error == 0 && (more = store_result_next(answer->result)) != 0) {
		json_t *object = json_object();

		if (more < 0) {
			json_decref(object);
			return more;
		}
		answer_row_to_json(answer->result, object);
		fputs((*row_count)++ ? next : first, file);
		error = json_dump(object, file);
		fputs(after, file);
	}
	return error;
}

static int print_json(const struct answer *answer, const struct output *output, size_t *row_count)
{
	FILE *file = output->file;
	int error;

	fprintf(file, "{\"query\":\"%s\",\"title\":", answer->question->name);
	error = json_dump(json_string(answer->question->title), file);
	fputs(",\"parameters\":", file);
	if (error == 0)
		error = json_dump(parameters_to_json(answer->parameters), file);
	fputs(",\"rows\":[", file);
	if (error == 0)
		error = rows_to_json(answer, file, "\n", ",\n", "", row_count);
	if (error == 0)
		fputs("\n]}\n", file);
	return error;
}

static int print_ndjson(const struct answer *answer, const struct output *output, size_t *row_count)
{
	return rows_to_json(answer, output->file, "", "", "\n", row_count);
}

/* ---- text ---------------------------------------------------------------------- */

static enum question_type type_of(const struct question *question, const char *column)
{
	const struct question_field *field = question_column(question, column);

	return field ? field->type : question_type_of(column);
}

/* The value as text that is safe to show; to free. NULL: out of memory. */
static char *value_to_text(const struct store_value *value, enum question_type type, bool raw)
{
	char unit[UNITS_SIZE], *command, *safe;
	const char *text = unit;
	size_t size;

	command = value->type == STORE_VALUE_BLOB ? malloc(COMMAND_BYTES) : NULL;
	if (value->type == STORE_VALUE_TEXT)
		text = value->data;
	else if (command)
		text = command_text(&(struct row_blob){value->data, value->size}, "", true, command, COMMAND_BYTES);
	else
		text = units_value(type, value, raw);
	size = value->type == STORE_VALUE_TEXT ? value->size : strlen(text);
	safe = malloc(4 * size + 1);
	if (safe)
		text_escape(text, size, safe, 4 * size + 1);
	free(command);
	return safe;
}

/* As RFC 4180 has it, but for the end of lines: in quotes where it needs them. */
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

/* Unknown is empty; an empty text is "". */
static int csv_row_print(const struct answer *answer, FILE *file)
{
	const char *separator = "";

	for (size_t i = 0; i < store_result_width(answer->result); i++) {
		const char *name = store_result_name(answer->result, i);
		struct store_value value = store_result_value(answer->result, i);
		char *text;

		if (is_left_out(name))
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
		if (is_left_out(store_result_name(answer->result, i)))
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

/* The longest text gives way on a narrow terminal: arguments, else the first text. */
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
		enum table_align align = is_text(field->type) || field->type == QUESTION_ID || field->type == QUESTION_TIME ||
					 field->type == QUESTION_USER ? TABLE_LEFT : TABLE_RIGHT;

		ret_columns->index[i] = store_result_find(answer->result, field->name);
		ret_columns->shown[i] = (struct table_column){
			.title = question_field_title(field, ' ', ret_columns->titles[i], TITLE_BYTES),
			.align = align,
			.flexible = i == flexible ? FLEXIBLE_PERCENT : 0,
			.rank = i == 0 || i == flexible ? 0 : (unsigned)i, /* the last ones go first */
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
	if (field->type == QUESTION_ID && output->width && strlen(text) > ID_SHOWN)
		text[ID_SHOWN] = '\0';
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
		[ANSWER_TABLE] = print_table, [ANSWER_JSON] = print_json, [ANSWER_NDJSON] = print_ndjson,
		[ANSWER_CSV] = print_csv,
	};

	*ret_row_count = 0;
	return printers[answer->form](answer, output, ret_row_count);
}
