/* Fuzz target: any bytes as a question's file, then values for its parameters.
 *
 * A refusal says where and why, in text that is safe to display; an accepted file yields complete
 * texts, valid names, and every parameter found.
 */
#include <errno.h>

#include "analysis/query/ask.h"
#include "analysis/query/question.h"
#include "tests/fuzz/fuzz.h"

static void check_field(const struct question_field *field)
{
	struct store_parameter value;
	char title[16];

	require(*field->name && strlen(field->name) <= QUESTION_NAME_MAX && field->type < QUESTION_TYPE_COUNT);
	require(*field->meaning);
	require(strlen(question_field_title(field, '-', title, sizeof(title))) < sizeof(title));
	if (field->preset)
		require(question_parse_value(field, field->preset, &value) == 0);
	question_parse_value(field, field->meaning, &value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tree_error error;
	struct question *question = NULL;
	char *text = malloc(size ? size : 1); /* exact size, to detect reads past the end */
	int result;

	require(text);
	memcpy(text, data, size);
	result = question_parse("fuzz", "fuzz.sql", text, size, &question, &error);
	free(text);
	require(result == 0 || result == -EINVAL);
	if (result < 0) {
		require(!question && *error.reason && !strpbrk(error.reason, "\033\n"));
		return 0;
	}
	require(*question->title && *question->explanation && question->column_count > 0);
	require(strlen(question->sql) == size);
	for (size_t i = 0; i < question->parameter_count; i++)
		check_field(&question->parameters[i]);
	for (size_t i = 0; i < question->column_count; i++)
		check_field(&question->columns[i]);
	question_free(question);
	return 0;
}
