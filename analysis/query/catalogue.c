/* All questions that can be asked. See catalogue.h. */
#include "analysis/query/catalogue.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/query/ask.h"

#define QUESTIONS_MAX 512
#define SUFFIX ".sql"

struct catalogue {
	struct question *questions[QUESTIONS_MAX];
	size_t count;
	/* Only while loading: */
	struct store *empty; /* with this release's schema */
	catalogue_refused *refused;
	void *data;
};

static int refuse(struct catalogue *catalogue, const struct tree_error *error)
{
	catalogue->refused(error, catalogue->data);
	return 0;
}

static size_t index_of(const struct catalogue *catalogue, const char *name)
{
	size_t index = 0;

	while (index < catalogue->count && strcmp(catalogue->questions[index]->name, name) != 0)
		index++;
	return index;
}

/* ---- trial on an empty store --------------------------------------------------- */

/* Returns a column that is declared but not selected, or the reverse; NULL if there is none. */
static const char *columns_compare(const struct question *question, struct store_result *result)
{
	for (size_t i = 0; i < question->column_count; i++) {
		size_t k = 0;

		while (k < store_result_width(result) &&
		       strcmp(store_result_name(result, k), question->columns[i].name) != 0)
			k++;
		if (k == store_result_width(result))
			return question->columns[i].name;
	}
	for (size_t k = 0; k < store_result_width(result) && !question->relation; k++)
		if (!question_column(question, store_result_name(result, k)))
			return store_result_name(result, k);
	return NULL;
}

/* Returns 0, -ENOMEM, or -EINVAL with `*ret_error` set. */
static int question_try(struct catalogue *catalogue, const struct question *question, struct tree_error *ret_error)
{
	struct store_result *result;
	const char *column, *words;
	int error;

	error = question_ask(question, catalogue->empty, NULL, &result);
	if (error == -ENOMEM)
		return error;
	if (error < 0) {
		words = store_error_text(catalogue->empty);
		if (strncmp(words, question->file, strlen(question->file)) == 0)
			words += strlen(question->file);
		ret_error->line = *words == ':' ? (unsigned)strtoul(words + 1, NULL, 10) : 0;
		words += strspn(words, ":0123456789 ");
		snprintf(ret_error->reason, sizeof(ret_error->reason), "%.255s", words);
		return -EINVAL;
	}
	column = columns_compare(question, result);
	if (column)
		snprintf(ret_error->reason, sizeof(ret_error->reason),
			 "the column %.64s must be both declared and selected", column);
	ret_error->line = 1;
	store_result_free(result);
	return column ? -EINVAL : 0;
}

/* ---- site questions ------------------------------------------------------------ */

static int question_add(struct catalogue *catalogue, struct question *question, struct tree_error *error)
{
	size_t index = index_of(catalogue, question->name);
	int result = question_try(catalogue, question, error);

	if (result == 0 && index == QUESTIONS_MAX)
		result = -EINVAL;
	if (result == 0 && index < catalogue->count && !question->replaces) {
		error->line = 1;
		snprintf(error->reason, sizeof(error->reason),
			 "a shipped question has this name: choose another, or add `-- replaces: %s`", question->name);
		result = -EINVAL;
	}
	if (result < 0) {
		question_free(question);
		return result == -ENOMEM ? result : refuse(catalogue, error);
	}
	if (index < catalogue->count)
		question_free(catalogue->questions[index]);
	else
		catalogue->count++;
	catalogue->questions[index] = question;
	return 0;
}

static int file_take(struct catalogue *catalogue, const char *directory, const char *name)
{
	char path[4096], own[256], *text = NULL;
	struct tree_error error;
	struct question *question;
	size_t size;
	int result;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	snprintf(own, sizeof(own), "%.*s", (int)(strlen(name) - strlen(SUFFIX)), name);
	result = tree_read_file(path, &text, &size, &error);
	if (result == 0)
		result = question_parse(own, path, text, size, &question, &error);
	free(text);
	if (result < 0)
		return result == -ENOMEM ? result : refuse(catalogue, &error);
	return question_add(catalogue, question, &error);
}

static int is_question_file(const struct dirent *entry)
{
	size_t size = strlen(entry->d_name);

	return entry->d_name[0] != '.' && size > strlen(SUFFIX) &&
	       strcmp(entry->d_name + size - strlen(SUFFIX), SUFFIX) == 0;
}

static int directory_take(struct catalogue *catalogue, const char *directory)
{
	struct tree_error refused = {.line = 0};
	struct store_error error = {""};
	struct dirent **entries = NULL;
	int result = 0, count = scandir(directory, &entries, is_question_file, alphasort);

	if (count < 0 && errno == ENOENT)
		return 0;
	if (count < 0 || (count > 0 && store_open_empty(&catalogue->empty, &error) < 0)) {
		tree_error_set(&refused, directory, 0, "%s", count < 0 ? strerror(errno) : error.text);
		refuse(catalogue, &refused);
	}
	for (int i = 0; i < count; i++) {
		if (result == 0 && catalogue->empty)
			result = file_take(catalogue, directory, entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	store_close(catalogue->empty);
	catalogue->empty = NULL;
	return result;
}

/* ---- all questions ------------------------------------------------------------- */

static int shipped_take(struct catalogue *catalogue)
{
	struct tree_error error;
	int result = 0;

	for (size_t i = 0; query_is_question(i) && result == 0; i++) {
		const char *name = query_name(i), *text = query_text(name);

		result =
			question_parse(name, NULL, text, strlen(text), &catalogue->questions[catalogue->count], &error);
		if (result == 0)
			catalogue->count++;
		else if (result == -EINVAL)
			result = refuse(catalogue, &error);
	}
	return result;
}

static int question_compare(const void *left, const void *right)
{
	const struct question *const *a = left, *const *b = right;

	return strcmp((*a)->name, (*b)->name);
}

int catalogue_load(const char *directory, catalogue_refused *refused, void *data, struct catalogue **ret_catalogue)
{
	struct catalogue *catalogue = calloc(1, sizeof(*catalogue));
	int error;

	if (!catalogue)
		return -ENOMEM;
	catalogue->refused = refused;
	catalogue->data = data;
	error = shipped_take(catalogue);
	if (error == 0 && directory)
		error = directory_take(catalogue, directory);
	if (error < 0) {
		catalogue_free(catalogue);
		return error;
	}
	qsort(catalogue->questions, catalogue->count, sizeof(catalogue->questions[0]), question_compare);
	*ret_catalogue = catalogue;
	return 0;
}

void catalogue_free(struct catalogue *catalogue)
{
	if (!catalogue)
		return;
	for (size_t i = 0; i < catalogue->count; i++)
		question_free(catalogue->questions[i]);
	free(catalogue);
}

const struct question *catalogue_get(const struct catalogue *catalogue, size_t index)
{
	return index < catalogue->count ? catalogue->questions[index] : NULL;
}

const struct question *catalogue_find(const struct catalogue *catalogue, const char *name)
{
	return catalogue_get(catalogue, index_of(catalogue, name));
}

/* ---- JSON ---------------------------------------------------------------------- */

static json_t *fields_to_json(const struct question_field *fields, size_t count, bool are_parameters)
{
	json_t *array = json_array();

	for (size_t i = 0; i < count; i++) {
		json_t *field = json_pack("{s:s, s:s, s:s, s:s}", "name", fields[i].name, "type",
					  question_type_name(fields[i].type), "unit",
					  question_type_unit(fields[i].type), "meaning", fields[i].meaning);
		char option[QUESTION_NAME_MAX + 1];

		if (are_parameters)
			json_object_update_new(field,
					       json_pack("{s:s, s:s?, s:s?}", "option",
							 question_field_title(&fields[i], '-', option, sizeof(option)),
							 "default", fields[i].preset, "source", fields[i].source));
		json_array_append_new(array, field);
	}
	return array;
}

json_t *catalogue_columns_to_json(const struct question *question)
{
	return fields_to_json(question->columns, question->column_count, false);
}

static json_t *question_to_json(const struct question *question)
{
	return json_pack("{s:s, s:s, s:s, s:s?, s:s?, s:b, s:o, s:o, s:s?}", "name", question->name, "title",
			 question->title, "explanation", question->explanation, "file", question->file, "finding_of",
			 question->finding.kind, "is_query", !question->of_account, "parameters",
			 fields_to_json(question->parameters, question->parameter_count, true), "columns",
			 catalogue_columns_to_json(question), "all_columns_of", question->relation);
}

json_t *catalogue_to_json(const struct catalogue *catalogue)
{
	json_t *array = json_array();
	const struct question *question;

	for (size_t i = 0; (question = catalogue_get(catalogue, i)); i++)
		json_array_append_new(array, question_to_json(question));
	return array;
}
