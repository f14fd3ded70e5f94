/* The text of a finding. See finding_text.h. */
#include "analysis/query/finding_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/query/command.h"
#include "analysis/query/units.h"

#define COMMAND_BYTES 512

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

char *finding_text(const struct question *question, const char *template, const struct store_value *values,
		   finding_format *format)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	if (!file)
		return NULL;
	while (*template) {
		size_t plain = strcspn(template, "{"), name_size;
		char name[QUESTION_NAME_MAX + 1];
		const struct question_field *column;
		char *formatted;

		fwrite(template, 1, plain, file);
		template += plain;
		if (!*template)
			break;
		name_size = strcspn(++template, "}");
		snprintf(name, sizeof(name), "%.*s", (int)name_size, template);
		template += name_size + 1;
		column = question_column(question, name);
		formatted = format(&values[column - question->columns], column);
		if (formatted)
			fputs(formatted, file);
		free(formatted);
	}
	return fclose(file) == 0 ? text : NULL;
}
