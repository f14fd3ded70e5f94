/* The text of a finding. See finding_text.h. */
#include "analysis/query/finding_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/query/command.h"
#include "analysis/query/units.h"

#define COMMAND_BYTES 512
#define PLURAL "(s)"
#define TIMES " × " /* one thing is not counted: "align", not "1 × align" */

char *finding_value(const struct store_value *value, const struct question_field *column)
{
	char command[COMMAND_BYTES];

	if (value->type == STORE_VALUE_TEXT)
		return strndup(value->data, value->size);
	if (value->type == STORE_VALUE_BLOB)
		return strdup(command_text(&(struct row_blob){value->data, value->size}, "", false, command,
					   sizeof(command)));
	return strdup(units_value(column->type, value, false));
}

/* Writes the text between two values: "(s)" as the plural of what the value before it counts. */
static void plain_write(FILE *file, const char *text, size_t size, bool is_one)
{
	const char *plural = memmem(text, size, PLURAL, strlen(PLURAL));
	size_t before = plural ? (size_t)(plural - text) : size;

	fwrite(text, 1, before, file);
	if (!plural)
		return;
	if (!is_one)
		fputc('s', file);
	fwrite(plural + strlen(PLURAL), 1, size - before - strlen(PLURAL), file);
}

char *finding_text(const struct question *question, const char *template, const struct store_value *values,
		   finding_format *format)
{
	char *text = NULL;
	size_t size;
	bool is_one = false; /* the value before */
	FILE *file = open_memstream(&text, &size);

	if (!file)
		return NULL;
	while (*template) {
		size_t plain = strcspn(template, "{"), name_size;
		char name[QUESTION_NAME_MAX + 1];
		const struct question_field *column;
		const struct store_value *value;
		char *formatted;

		plain_write(file, template, plain, is_one);
		template += plain;
		if (!*template)
			break;
		name_size = strcspn(++template, "}");
		snprintf(name, sizeof(name), "%.*s", (int)name_size, template);
		template += name_size + 1;
		column = question_column(question, name);
		value = &values[column - question->columns];
		is_one = column->type == QUESTION_COUNT && value->type == STORE_VALUE_INTEGER && value->integer == 1;
		if (is_one && strncmp(template, TIMES, strlen(TIMES)) == 0) {
			template += strlen(TIMES);
			continue;
		}
		formatted = format(value, column);
		if (formatted)
			fputs(formatted, file);
		free(formatted);
	}
	return fclose(file) == 0 ? text : NULL;
}
