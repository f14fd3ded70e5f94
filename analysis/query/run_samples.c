/* Which sample each task of a run worked on, from the store. See run_samples.h. */
#include "analysis/query/run_samples.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/query/ask.h"

struct input {
	const struct rows *lines;
	struct samples_task *tasks;
	const char **words;
	char **samples; /* that rules say, by task */
	size_t task_count, sample_count;
};

static int64_t line_bytes(const struct row_sample_word *row)
{
	return (int64_t)(row->arguments.size + (row->path ? strlen(row->path) : 0) +
			 (row->working_directory ? strlen(row->working_directory) : 0));
}

struct reader {
	struct rows *lines;
	struct rows tasks; /* of the part, by id */
	size_t next;       /* task */
	int64_t line_bytes;
};

/* Adds the tasks before that one which no line was read of. */
static int tasks_add(struct reader *reader, int64_t until_id)
{
	const struct row_sample_word *task;
	int error = 0;

	for (; reader->next < reader->tasks.count && error == 0; reader->next++) {
		task = ROWS_ITEM(&reader->tasks, sample_word, reader->next);
		if (task->task_id >= until_id)
			break;
		error = rows_add(reader->lines, &row_type_sample_word, task);
	}
	return error;
}

static int line_take(void *context, const void *row)
{
	struct row_sample_word line = *(const struct row_sample_word *)row;
	struct reader *reader = context;
	int error = tasks_add(reader, line.task_id);

	if (error < 0)
		return error;
	if (reader->next < reader->tasks.count &&
	    ROWS_ITEM(&reader->tasks, sample_word, reader->next)->task_id == line.task_id)
		reader->next++;
	reader->line_bytes += line_bytes(&line);
	if (reader->line_bytes > RUN_LINES_BYTES_MAX)
		line = (struct row_sample_word){.task_id = line.task_id, .name = line.name};
	return rows_add(reader->lines, &row_type_sample_word, &line);
}

static int tasks_load(struct store *store, const struct store_parameter *parameters, struct rows *tasks)
{
	struct store_result *result;
	int more = query_ask(store, "sample_tasks", parameters, &result);

	if (more < 0)
		return more;
	while ((more = store_result_next(result)) > 0) {
		const struct row_sample_word task = {.task_id = result_integer(result, "task_id"),
						     .name = result_text(result, "name")};

		more = rows_add(tasks, &row_type_sample_word, &task);
		if (more < 0)
			break;
	}
	store_result_free(result);
	return more;
}

static int part_load(struct store *store, const struct row_run *run, struct reader *reader)
{
	const struct store_parameter parameters[] = QUERY_PARAMETERS_OF("run_id", run->id, run->host_id);
	int error = tasks_load(store, parameters, &reader->tasks);

	if (error == 0)
		error = rows_each(&row_type_sample_word, store, "sample_words", parameters, line_take, reader);
	if (error == 0)
		error = tasks_add(reader, INT64_MAX);
	rows_free(&reader->tasks);
	reader->next = 0;
	return error;
}

int run_lines_load(struct store *store, const struct rows *parts, int64_t joined_id, struct rows *ret_lines)
{
	struct reader reader = {.lines = ret_lines};
	int error = 0;

	*ret_lines = (struct rows){0};
	for (size_t i = 0; i < parts->count && error == 0; i++) {
		const struct row_part *part = ROWS_ITEM(parts, part, i);

		if (part->joined_id == joined_id)
			error = part_load(store, &part->run, &reader);
	}
	return error;
}

/* Sets the words of a command line, each terminated by NUL, if `words` is not NULL. Returns their number. */
static size_t words_set(const struct row_blob *arguments, const char **words)
{
	const char *text = arguments->data;
	size_t count = 0;

	for (size_t at = 0; text && at < arguments->size; count++) {
		if (words)
			words[count] = text + at;
		at += strnlen(text + at, arguments->size - at) + 1;
	}
	return count;
}

/* Adds the sample that a rule says of a process, if any, to the last task. */
static int sample_classify(struct input *input, const struct rules *rules, const struct row_sample_word *line,
			   const char *const *words, size_t count)
{
	const struct rules_subject subject = {
		.path = line->path ? line->path : words[0],
		.argc = count,
		.argv = words,
		.working_directory = line->working_directory ? line->working_directory : "",
		.cgroup = "",
	};
	struct samples_task *task = &input->tasks[input->task_count - 1];
	struct rules_class class;

	rules_classify(rules, &subject, &class);
	if (!*class.sample)
		return 0;
	if (task->sample_count++ == 0)
		task->samples = (const char *const *)input->samples + input->sample_count;
	input->samples[input->sample_count] = strdup(class.sample);
	return input->samples[input->sample_count++] ? 0 : -ENOMEM;
}

/* Lines of one task are adjacent. */
static int tasks_make(struct input *input, const struct rules *rules, struct run_samples *samples)
{
	int error = 0;
	size_t word_count = 0;

	for (size_t i = 0; i < input->lines->count; i++)
		word_count += words_set(&ROWS_ITEM(input->lines, sample_word, i)->arguments, NULL);
	input->words = calloc(word_count + 1, sizeof(*input->words));
	input->tasks = calloc(input->lines->count + 1, sizeof(*input->tasks));
	input->samples = calloc(input->lines->count + 1, sizeof(*input->samples));
	samples->tasks = calloc(input->lines->count + 1, sizeof(*samples->tasks));
	if (!input->words || !input->samples || !input->tasks || !samples->tasks)
		return -ENOMEM;
	word_count = 0;
	for (size_t i = 0; i < input->lines->count && error == 0; i++) {
		const struct row_sample_word *line = ROWS_ITEM(input->lines, sample_word, i);
		size_t count = words_set(&line->arguments, input->words + word_count);

		if (i == 0 || line->task_id != samples->tasks[input->task_count - 1].id) {
			samples->tasks[input->task_count].id = line->task_id;
			input->tasks[input->task_count++] = (struct samples_task){
				.name = line->name,
				.words = input->words + word_count,
			};
		}
		input->tasks[input->task_count - 1].word_count += count;
		if (rules && count > 0)
			error = sample_classify(input, rules, line, input->words + word_count, count);
		word_count += count;
	}
	return error;
}

static int compare_tasks(const void *left, const void *right)
{
	const struct run_samples_task *a = left, *b = right;

	return a->id < b->id ? -1 : a->id > b->id;
}

int run_samples_make(const struct rows *lines, const struct sample_names *names, struct run_samples *ret_samples)
{
	const struct rules *rules = sample_names_rules(names);
	struct input input = {.lines = lines};
	int error;

	*ret_samples = (struct run_samples){0};
	error = tasks_make(&input, rules, ret_samples);
	if (error == 0)
		error = samples_find(input.tasks, input.task_count, rules ? NULL : names, &ret_samples->samples);
	if (error == 0) {
		ret_samples->task_count = input.task_count;
		for (size_t i = 0; i < input.task_count; i++)
			ret_samples->tasks[i].sample = ret_samples->samples.of_task[i];
		qsort(ret_samples->tasks, input.task_count, sizeof(*ret_samples->tasks), compare_tasks);
	}
	free(input.tasks);
	free(input.words);
	for (size_t i = 0; i < input.sample_count; i++)
		free(input.samples[i]);
	free(input.samples);
	return error;
}

int run_samples_load(struct store *store, const struct rows *parts, int64_t joined_id, const struct sample_names *names,
		     struct run_samples *ret_samples)
{
	struct rows lines;
	int error = run_lines_load(store, parts, joined_id, &lines);

	*ret_samples = (struct run_samples){0};
	if (error == 0)
		error = run_samples_make(&lines, names, ret_samples);
	rows_free(&lines);
	return error;
}

void run_samples_free(struct run_samples *samples)
{
	free(samples->tasks);
	samples_deinit(&samples->samples);
	*samples = (struct run_samples){0};
}

const char *run_samples_find(const struct run_samples *samples, int64_t task_id)
{
	const struct run_samples_task wanted = {.id = task_id}, *found = NULL;

	if (samples->task_count > 0)
		found = bsearch(&wanted, samples->tasks, samples->task_count, sizeof(wanted), compare_tasks);
	if (!found || found->sample == SAMPLES_NONE)
		return RUN_SAMPLES_NONE;
	return found->sample == SAMPLES_SHARED ? RUN_SAMPLES_SHARED : samples->samples.keys[found->sample];
}

bool run_samples_is_name(const char *name)
{
	return *name != '(';
}
