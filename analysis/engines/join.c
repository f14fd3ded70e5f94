/* Joins the names of a file and the tasks of runs. See names.h. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <utlist.h>

#include "analysis/engines/reader.h"

static const struct entry *find(const struct engine_names *names, const char *key)
{
	struct entry *entry;

	HASH_FIND_STR(names->entries, key, entry);
	return entry;
}

/* Finds a task's name by the engine's id, or by rule and wildcards. */
static const struct entry *find_of_task(const struct engine_names *names, const struct row_task *task)
{
	const struct entry *entry = task->label ? find(names, task->label) : NULL;
	char key[1024];

	if (entry)
		return entry;
	snprintf(key, sizeof(key), "%s %s", task->name, task->label ? task->label : "");
	return find(names, key);
}

/* A candidate match of task and job: how many of the job's files are on the task's command lines. */
struct pair {
	struct pair *next;
	struct job *job;
	unsigned task;
	unsigned score, input_count;
	bool has_output;
};

struct joining {
	struct engine_names *names;
	struct report *report;
	struct pair *pairs; /* the task's first */
	unsigned index;     /* of the task */
};

static struct pair *pair_of(struct joining *joining, struct job *job)
{
	struct pair *pair;

	for (pair = joining->pairs; pair && pair->task == joining->index; pair = pair->next)
		if (pair->job == job)
			return pair;
	pair = arena_alloc(&joining->names->arena, sizeof(*pair));
	if (pair) {
		*pair = (struct pair){.next = joining->pairs, .task = joining->index, .job = job};
		joining->pairs = pair;
	}
	return pair;
}

static int pairs_add_file(struct joining *joining, const struct file *file)
{
	for (const struct use *use = file->use_count > FILE_JOBS_MAX ? NULL : file->uses; use; use = use->next) {
		struct pair *pair = pair_of(joining, use->job);

		if (!pair)
			return -ENOMEM;
		pair->score += use->is_output ? 2 : 1;
		pair->input_count += !use->is_output;
		pair->has_output = pair->has_output || use->is_output;
	}
	return 0;
}

/* Counts each word of the command line that is a file of a job, once per word. */
static int pairs_add_words(struct joining *joining, const struct row_blob *arguments)
{
	static const char ends[] = " \t\r\n;|&<>()\"'`=,";
	const char *begin = arguments->data, *text = begin, *end = begin + arguments->size;
	int r = 0;

	while (text && text < end && r == 0) {
		struct file *file = NULL;
		size_t size = 0;

		while (text + size < end && text[size] && !strchr(ends, text[size]))
			size++;
		if (size > 0)
			HASH_FIND(hh, joining->names->files, text, size, file);
		if (file && !memmem(begin, (size_t)(text - begin), text, size))
			r = pairs_add_file(joining, file);
		text += size + 1;
	}
	return r;
}

/* The first process whose command line names files of jobs identifies the task. */
static int process_join(void *context, const void *row)
{
	const struct row_process *process = row;
	struct joining *joining = context;
	int r = process->arguments.data ? pairs_add_words(joining, &process->arguments) : 0;

	return r < 0 ? r : joining->pairs && joining->pairs->task == joining->index;
}

static int task_join(void *context, size_t index, const struct row_task *task, const struct row_tool *tools,
		     size_t count)
{
	struct joining *joining = context;
	const struct entry *entry = strcmp(task->kind, "main") == 0 ? NULL : find_of_task(joining->names, task);

	joining->index = (unsigned)index;
	if (entry)
		joining->report->engine_names[index] = entry->name;
	else if (joining->names->files && strcmp(task->kind, "main") != 0)
		return report_each_process(joining->report, task, process_join, joining);
	return 0;
}

/* Best match first; then tasks and jobs by start. */
static int compare_pairs(const struct pair *a, const struct pair *b)
{
	if (a->score != b->score)
		return a->score > b->score ? -1 : 1;
	if (a->task != b->task)
		return a->task < b->task ? -1 : 1;
	return a->job->number < b->job->number ? -1 : a->job->number > b->job->number;
}

/* Matches each job to one task. A task that names none of the job's output files must name all its inputs. */
static void jobs_join(struct joining *joining)
{
	LL_SORT(joining->pairs, compare_pairs);
	for (const struct pair *pair = joining->pairs; pair; pair = pair->next) {
		struct engine_name *name = &joining->report->engine_names[pair->task];

		if (pair->job->taken || name->name || (!pair->has_output && pair->input_count < pair->job->input_count))
			continue;
		pair->job->taken = true;
		*name = (struct engine_name){pair->job->rule, pair->job->wildcards, ROW_NULL, ROW_NULL, ROW_NULL};
	}
}

int engine_names_join(struct engine_names *names, struct report *report, size_t *ret_count)
{
	static const struct report_writer writer = {.task = task_join};
	struct joining joining = {.names = names, .report = report};
	int r;

	*ret_count = 0;
	report->engine_names = calloc(report->task_count + 1, sizeof(*report->engine_names));
	if (!report->engine_names)
		return -ENOMEM;
	r = report_walk(report, NULL, 0, &writer, &joining);
	if (r == 0)
		jobs_join(&joining);
	for (size_t i = 0; i < report->task_count; i++)
		*ret_count += report->engine_names[i].name != NULL;
	return r;
}

static int task_learn(void *context, size_t index, const struct row_task *task, const struct row_tool *tools,
		      size_t count)
{
	struct joining *joining = context;
	struct engine_names *names = joining->names;
	const char *engine_name = joining->report->engine_names[index].name;
	struct learned_task *learned;
	struct learned_name *all;

	if (!engine_name)
		return 0;
	learned = arena_alloc(&names->arena, sizeof(*learned));
	if (!learned)
		return -ENOMEM;
	*learned = (struct learned_task){.id = task->id, .engine_name = engine_name};
	HASH_ADD(hh, names->learned_tasks, id, sizeof(learned->id), learned);
	HASH_FIND_STR(names->learned_names, task->name, all);
	if (all) {
		if (all->engine_name && strcmp(all->engine_name, engine_name) != 0)
			all->engine_name = NULL;
		return 0;
	}
	all = arena_alloc(&names->arena, sizeof(*all) + strlen(task->name) + 1);
	if (!all)
		return -ENOMEM;
	strcpy(all->name, task->name);
	all->engine_name = engine_name;
	HASH_ADD_STR(names->learned_names, name, all);
	return 0;
}

int engine_names_learn(struct engine_names *names, struct store *store, int64_t run_id, size_t *ret_count)
{
	static const struct report_writer writer = {.task = task_learn};
	const struct store_parameter id[] = {
		{"first_id", STORE_INTEGER, run_id, NULL},
		{"last_id", STORE_INTEGER, run_id, NULL},
		{0},
	};
	struct report report = {0};
	struct joining joining = {.names = names, .report = &report};
	struct rows run = {0};
	int error = rows_load(&run, &row_type_run, store, "run", id);

	*ret_count = 0;
	if (error == 0 && run.count > 0)
		error = report_load(&report, store, ROWS_ITEM(&run, run, 0), false);
	if (error == 0 && run.count > 0)
		error = engine_names_join(names, &report, ret_count);
	if (error == 0 && *ret_count > 0)
		error = report_walk(&report, NULL, 0, &writer, &joining);
	report_free(&report);
	rows_free(&run);
	return error;
}

const char *engine_names_of(const struct engine_names *names, int64_t task_id, const char *name)
{
	struct learned_task *task;
	struct learned_name *all;

	if (!names)
		return name;
	HASH_FIND(hh, names->learned_tasks, &task_id, sizeof(task_id), task);
	if (task)
		return task->engine_name;
	HASH_FIND_STR(names->learned_names, name, all);
	return all && all->engine_name ? all->engine_name : name;
}
