/* See names.h. */
#include "cli/report/names.h"

#include <ctype.h>
#include <errno.h>

#include <uthash.h>
#include <utlist.h>

#include "cli/report/names_figures.h"
#include "cli/report/names_kept.h"
#include "cli/screen/output.h"
#include "cli/screen/units.h"
#include "common/yaml/arena.h"

#define LINE_BYTES_MAX (1 << 20)
#define ENTRIES_MAX 1000000
#define COLUMNS_MAX 256

#define FILE_JOBS_MAX 64 /* a file shared by more jobs does not identify any */

/* A name, and the key by which its task is found. */
struct entry {
	UT_hash_handle hh;
	struct engine_name name;
	char key[]; /* "ab/cdef01", "rule wildcards" */
};

/* A job of a Snakemake log, matched to a task by the files on the task's command line. */
struct job {
	const char *rule, *wildcards;
	unsigned number; /* in order of start */
	unsigned input_count;
	bool taken; /* matched to a task */
};

/* A use of a file by a job. */
struct use {
	struct use *next;
	struct job *job;
	bool is_output;
};

struct file {
	UT_hash_handle hh;
	struct use *uses;
	unsigned use_count;
	char path[];
};

/* What names_learn() found out of a task, and of all tasks of one name. */
struct learned_task {
	UT_hash_handle hh;
	int64_t id;
	const char *engine_name;
};

struct learned_name {
	UT_hash_handle hh;
	const char *engine_name; /* NULL: they have several */
	char name[];
};

struct names {
	const char *path;      /* of the file that the user gave; NULL: it is a kept one */
	struct arena arena;    /* owns everything below */
	struct entry *entries; /* by key */
	size_t count;
	struct file *files; /* by path */
	struct learned_task *learned_tasks;
	struct learned_name *learned_names;
};

/* Columns of trace.txt or of a benchmark file. */
enum { COLUMN_HASH, COLUMN_NAME, COLUMN_PROCESS, COLUMN_TAG, COLUMN_RULE, COLUMN_WILDCARDS, COLUMN_COUNT };

struct reader {
	const char *path;
	FILE *file;
	struct names *names;
	char *line; /* without the line end */
	unsigned number;
	bool known; /* the type of the file is known */
	bool is_table, is_json;
	int column_count, columns[COLUMN_COUNT]; /* -1: no such column */
	int figure_columns[NAMES_FIGURE_COUNT];
	struct engine_name figures; /* of the line that is being read */
	/* Snakemake's log */
	struct job *job; /* the job whose lines follow, or NULL */
	unsigned job_count;
};

static int refuse(const struct reader *reader, const char *format, ...) __attribute__((format(printf, 2, 3)));

static int refuse(const struct reader *reader, const char *format, ...)
{
	char reason[512];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(reason, sizeof(reason), format, arguments);
	va_end(arguments);
	if (reader->number)
		say("tracer: %s:%u: %s", reader->path, reader->number, reason);
	else
		say("tracer: %s: %s", reader->path, reason);
	return -1;
}

/* ---- entries */

static int no_memory(const struct reader *reader)
{
	return refuse(reader, "%s", strerror(ENOMEM));
}

static const char *text_keep(struct reader *reader, const char *text)
{
	return arena_copy(&reader->names->arena, text, strlen(text));
}

/* The last entry of a key counts: a log may contain several runs, one after the other. */
static int entry_add(struct reader *reader, const char *key, const char *name, const char *label)
{
	struct names *names = reader->names;
	struct entry *entry;

	if (names->count++ >= ENTRIES_MAX)
		return refuse(reader, "more than %d names", ENTRIES_MAX);
	HASH_FIND_STR(names->entries, key, entry);
	if (!entry) {
		entry = arena_alloc(&names->arena, sizeof(*entry) + strlen(key) + 1);
		if (!entry)
			return no_memory(reader);
		strcpy(entry->key, key);
		HASH_ADD_STR(names->entries, key, entry);
	}
	entry->name = reader->figures;
	entry->name.name = text_keep(reader, name);
	entry->name.label = text_keep(reader, label);
	return entry->name.name && entry->name.label ? 0 : no_memory(reader);
}

/* ---- Nextflow */

static bool is_hash(const char *text)
{
	size_t hex = strspn(text, "0123456789abcdef");

	return hex == 2 && text[2] == '/' && strspn(text + 3, "0123456789abcdef") == 6;
}

/* "ALIGN:BWA (s1)" is the task s1 of the process ALIGN:BWA. */
static int add_nextflow(struct reader *reader, const char *hash, char *name)
{
	char key[10], *label = name + strlen(name);
	size_t size = strlen(name);

	snprintf(key, sizeof(key), "%.9s", hash);
	if (size > 0 && name[size - 1] == ')') {
		char *bracket = strstr(name, " (");

		if (bracket) {
			name[size - 1] = '\0';
			*bracket = '\0';
			label = bracket + 2;
		}
	}
	return entry_add(reader, key, name, label);
}

/* "... [ab/cdef01] Submitted process > NAME (tag)", and re-submitted. */
static int read_nextflow_log(struct reader *reader)
{
	static const char mark[] = "ubmitted process > ";
	char *name = strstr(reader->line, mark), *bracket = name;

	if (!name)
		return 0;
	while (bracket > reader->line && *bracket != '[')
		bracket--;
	if (*bracket != '[' || !is_hash(bracket + 1) || bracket[10] != ']')
		return 0;
	reader->known = true;
	return add_nextflow(reader, bracket + 1, name + strlen(mark));
}

/* ---- tables: trace.txt, benchmarks */

static int split(char *line, char **columns)
{
	int count = 0;

	while (count < COLUMNS_MAX) {
		columns[count++] = strsep(&line, "\t");
		if (!line)
			break;
	}
	return count;
}

static int column_find(char **columns, int count, const char *name)
{
	for (int i = 0; i < count; i++)
		if (strcmp(columns[i], name) == 0)
			return i;
	return -1;
}

static bool read_header(struct reader *reader, char **columns, int count)
{
	static const char *const names[COLUMN_COUNT] = {"hash", "name", "process", "tag", "rule_name", "wildcards"};
	const int *found = reader->columns;

	for (int i = 0; i < COLUMN_COUNT; i++)
		reader->columns[i] = column_find(columns, count, names[i]);
	for (int i = 0; i < NAMES_FIGURE_COUNT; i++)
		reader->figure_columns[i] = column_find(columns, count, names_figure_columns[i]);
	reader->column_count = count;
	return (found[COLUMN_HASH] >= 0 && (found[COLUMN_NAME] >= 0 || found[COLUMN_PROCESS] >= 0)) ||
	       found[COLUMN_RULE] >= 0;
}

/* Converts {'sample': 'a', 'unit': 1} or sample=a,unit=1 to the form of a label, "sample=a,unit=1". */
static void wildcards_read(const char *text, char *ret_text, size_t capacity)
{
	size_t length = 0;

	for (; *text && length + 1 < capacity; text++) {
		if (strchr("{}'\" ", *text))
			continue;
		ret_text[length++] = *text == ':' ? '=' : *text;
	}
	ret_text[length] = '\0';
}

static int add_rule(struct reader *reader, const char *rule, const char *wildcards)
{
	char key[1024], label[512];

	wildcards_read(wildcards, label, sizeof(label));
	snprintf(key, sizeof(key), "%s %s", rule, label);
	return entry_add(reader, key, rule, label);
}

static int read_row(struct reader *reader)
{
	char *columns[COLUMNS_MAX], *fields[COLUMN_COUNT];
	const char *figures[NAMES_FIGURE_COUNT];
	int count = split(reader->line, columns);

	if (count != reader->column_count)
		return refuse(reader, "%d columns, but the header has %d", count, reader->column_count);
	for (int i = 0; i < COLUMN_COUNT; i++)
		fields[i] = reader->columns[i] < 0 ? NULL : columns[reader->columns[i]];
	for (int i = 0; i < NAMES_FIGURE_COUNT; i++)
		figures[i] = reader->figure_columns[i] < 0 ? NULL : columns[reader->figure_columns[i]];
	names_figures_read(figures, &reader->figures);
	if (fields[COLUMN_RULE])
		return add_rule(reader, fields[COLUMN_RULE], fields[COLUMN_WILDCARDS] ? fields[COLUMN_WILDCARDS] : "");
	if (!is_hash(fields[COLUMN_HASH]) || fields[COLUMN_HASH][9])
		return refuse(reader, "\"%.40s\" is not a task hash, such as ab/cdef01", fields[COLUMN_HASH]);
	if (fields[COLUMN_NAME])
		return add_nextflow(reader, fields[COLUMN_HASH], fields[COLUMN_NAME]);
	return entry_add(reader, fields[COLUMN_HASH], fields[COLUMN_PROCESS],
			 fields[COLUMN_TAG] ? fields[COLUMN_TAG] : "");
}

static void json_figures_read(struct reader *reader, const json_t *object)
{
	const char *figures[NAMES_FIGURE_COUNT];
	char texts[NAMES_FIGURE_COUNT][32];

	for (int i = 0; i < NAMES_FIGURE_COUNT; i++) {
		const json_t *value = json_object_get(object, names_figure_columns[i]);

		snprintf(texts[i], sizeof(texts[i]), "%f", json_number_value(value));
		figures[i] = json_is_number(value) ? texts[i] : NULL;
	}
	names_figures_read(figures, &reader->figures);
}

/* One object per line, with rule_name and wildcards. */
static int read_json(struct reader *reader)
{
	json_error_t error;
	json_t *object = json_loads(reader->line, 0, &error), *wildcards;
	const char *rule = json_string_value(json_object_get(object, "rule_name")), *key;
	char text[512] = "";
	json_t *value;
	int r;

	if (!rule) {
		r = object ? refuse(reader, "the object has no rule_name")
			   : refuse(reader, "invalid JSON: %.200s", error.text);
		json_decref(object);
		return r;
	}
	reader->known = reader->is_json = true;
	wildcards = json_object_get(object, "wildcards");
	json_object_foreach (wildcards, key, value) {
		size_t length = strlen(text);

		if (json_is_string(value))
			snprintf(text + length, sizeof(text) - length, "%s%s=%s", length ? "," : "", key,
				 json_string_value(value));
	}
	json_figures_read(reader, object);
	r = add_rule(reader, rule, text);
	json_decref(object);
	return r;
}

/* ---- Snakemake's log */

/* Ends the current job after its last line. */
static int job_end(struct reader *reader)
{
	struct job *job = reader->job;

	reader->job = NULL;
	return job ? add_rule(reader, job->rule, job->wildcards) : 0;
}

static int job_add_file(struct reader *reader, const char *path, size_t size, bool is_output)
{
	struct names *names = reader->names;
	struct file *file;
	struct use *use;

	if (size == 0)
		return 0;
	HASH_FIND(hh, names->files, path, size, file);
	if (!file) {
		file = arena_alloc(&names->arena, sizeof(*file) + size);
		if (!file)
			return no_memory(reader);
		memcpy(file->path, path, size);
		HASH_ADD(hh, names->files, path, size, file);
	}
	reader->job->input_count += !is_output;
	if (file->use_count++ >= FILE_JOBS_MAX)
		return 0;
	use = arena_alloc(&names->arena, sizeof(*use));
	if (!use)
		return no_memory(reader);
	*use = (struct use){file->uses, reader->job, is_output};
	file->uses = use;
	return 0;
}

/* "a.bam, b.bam (check log file(s) for error details)" */
static int job_add_files(struct reader *reader, const char *text, bool is_output)
{
	int r = 0;

	while (*text && *text != '(' && r == 0) {
		size_t size = strcspn(text, ", ");

		r = job_add_file(reader, text, size, is_output);
		text += size;
		text += strspn(text, ", ");
	}
	return r;
}

static int job_take_line(struct reader *reader, const char *line)
{
	static const struct {
		const char *key;
		bool is_output;
	} files[] = {{"output: ", true}, {"log: ", true}, {"benchmark: ", true}, {"input: ", false}};
	char wildcards[512];

	line += strspn(line, " \t");
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (strncmp(line, files[i].key, strlen(files[i].key)) == 0)
			return job_add_files(reader, line + strlen(files[i].key), files[i].is_output);
	if (strncmp(line, "wildcards: ", 11) != 0)
		return 0;
	wildcards_read(line + 11, wildcards, sizeof(wildcards));
	reader->job->wildcards = text_keep(reader, wildcards);
	return reader->job->wildcards ? 0 : no_memory(reader);
}

/* "rule NAME:", then lines "    KEY: VALUE" until one that is not indented. */
static int read_snakemake_log(struct reader *reader)
{
	static const char *const starts[] = {"rule ", "localrule ", "checkpoint ", "localcheckpoint "};
	const char *line = reader->line;
	int r;

	if (isspace((unsigned char)line[0]) && reader->job)
		return job_take_line(reader, line);
	r = job_end(reader);
	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]) && r == 0; i++) {
		size_t size = strlen(starts[i]), length = strlen(line);

		if (strncmp(line, starts[i], size) != 0 || line[length - 1] != ':')
			continue;
		reader->known = true;
		reader->job = arena_alloc(&reader->names->arena, sizeof(*reader->job));
		if (!reader->job)
			return no_memory(reader);
		*reader->job = (struct job){.wildcards = "", .number = reader->job_count++};
		reader->job->rule = arena_copy(&reader->names->arena, line + size, length - size - 1);
		return reader->job->rule ? 0 : no_memory(reader);
	}
	return r;
}

/* ---- a file */

static int read_line(struct reader *reader)
{
	char *columns[COLUMNS_MAX];

	if (reader->is_table)
		return reader->line[0] ? read_row(reader) : 0;
	if (!reader->known && reader->line[0] == '{')
		return read_json(reader);
	if (!reader->known && reader->number == 1 && strchr(reader->line, '\t')) {
		int count = split(reader->line, columns);

		if (read_header(reader, columns, count)) {
			reader->known = reader->is_table = true;
			return 0;
		}
		if (strcmp(columns[0], "s") == 0 && count > 1 && strcmp(columns[1], "h:m:s") == 0)
			return refuse(reader, "a benchmark without rule names: Snakemake writes them "
					      "with --benchmark-extended");
		return refuse(reader, "a table without the columns \"hash\" and \"name\"");
	}
	if (reader->line[0] == '{' && reader->is_json)
		return read_json(reader);
	int r = read_nextflow_log(reader);

	return r == 0 ? read_snakemake_log(reader) : r;
}

/* Reads a line of bounded length, without its end. Returns 1, or 0 at the end of the file. */
static int next_line(struct reader *reader)
{
	size_t size = 0;
	int c;

	reader->number++;
	while ((c = getc_unlocked(reader->file)) != EOF && c != '\n') {
		if (c == '\0')
			return refuse(reader, "NUL byte in the line: not a text file");
		if (size == LINE_BYTES_MAX)
			return refuse(reader, "line longer than %d bytes", LINE_BYTES_MAX);
		reader->line[size++] = (char)c;
	}
	if (size > 0 && reader->line[size - 1] == '\r')
		size--;
	reader->line[size] = '\0';
	if (c != EOF || size > 0)
		return 1;
	reader->number = 0;
	return ferror(reader->file) ? refuse(reader, "%s", strerror(errno)) : 0;
}

static int read_lines(struct reader *reader)
{
	int r;

	while ((r = next_line(reader)) > 0)
		if (read_line(reader) < 0)
			return -1;
	if (r == 0)
		r = job_end(reader);
	if (r == 0 && !reader->known)
		return refuse(reader, "no task names found: use Nextflow's trace.txt or .nextflow.log, or "
				      "Snakemake's log or benchmarks");
	return r;
}

int names_read(const char *path, struct names **ret_names)
{
	struct reader reader = {
		.path = path,
		.names = calloc(1, sizeof(*reader.names)),
		.line = malloc(LINE_BYTES_MAX + 1),
		.figures = {NULL, NULL, ROW_NULL, ROW_NULL, ROW_NULL},
	};
	int r;

	if (!reader.names || !reader.line) {
		r = no_memory(&reader);
	} else {
		reader.file = fopen(path, "re");
		r = reader.file ? read_lines(&reader) : refuse(&reader, "%s", strerror(errno));
	}
	if (reader.file)
		fclose(reader.file);
	free(reader.line);
	if (r < 0)
		names_free(reader.names);
	else
		*ret_names = reader.names;
	return r;
}

void names_free(struct names *names)
{
	if (!names)
		return;
	HASH_CLEAR(hh, names->entries);
	HASH_CLEAR(hh, names->files);
	HASH_CLEAR(hh, names->learned_tasks);
	HASH_CLEAR(hh, names->learned_names);
	arena_deinit(&names->arena);
	free(names);
}

static bool forgets;

int names_show(const char *path, struct names **names, const struct options *options, int (*show)(struct view *view))
{
	int status;

	forgets = path && strcmp(path, "none") == 0;
	if (path && !forgets && names_read(path, names) < 0)
		return VERB_FAILED;
	if (*names)
		(*names)->path = path;
	status = source_show(options, show);
	names_free(*names);
	return status;
}

/* ---- joining */

static const struct entry *find(const struct names *names, const char *key)
{
	struct entry *entry;

	HASH_FIND_STR(names->entries, key, entry);
	return entry;
}

/* Finds a task's name by the engine's id, or by rule and wildcards. */
static const struct entry *find_of_task(const struct names *names, const struct row_task *task)
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
	struct names *names;
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

static int names_join(struct names *names, struct report *report, size_t *ret_count)
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

/* Reads the file that was kept for the run, if none was given. Returns 0 or, after printing an error, an exit status. */
static int kept_read(struct names **names, int64_t run_id)
{
	char path[PATH_MAX];

	if (forgets)
		names_kept_drop(run_id);
	else if (!*names && names_kept_find(run_id, path) && names_read(path, names) < 0)
		return VERB_FAILED;
	return 0;
}

int names_join_run(struct names **names, struct report *report)
{
	int64_t run_id = report_run(report)->id;
	size_t count = 0;
	int error = kept_read(names, run_id);

	if (error == 0 && *names)
		error = names_join(*names, report, &count);
	if (error != 0 || !*names || !(*names)->path)
		return error;
	if (count > 0)
		names_kept_put(run_id, (*names)->path);
	else if (report->task_count > 1)
		say("tracer: no task of this run is in the --names file");
	return 0;
}

/* ---- learning */

static int task_learn(void *context, size_t index, const struct row_task *task, const struct row_tool *tools,
		      size_t count)
{
	struct joining *joining = context;
	struct names *names = joining->names;
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

static int run_learn(struct names *names, struct store *store, int64_t run_id, size_t *ret_count)
{
	static const struct report_writer writer = {.task = task_learn};
	struct report report = {0};
	struct joining joining = {.names = names, .report = &report};
	struct rows run = {0};
	int error = source_find_run(store, units_id(run_id, false), &run);

	if (error == 0)
		error = report_load(&report, store, ROWS_ITEM(&run, run, 0), false);
	if (error == 0)
		error = names_join(names, &report, ret_count);
	if (error == 0 && *ret_count > 0)
		error = report_walk(&report, NULL, 0, &writer, &joining);
	report_free(&report);
	rows_free(&run);
	return error;
}

int names_learn(struct names **names, struct store *store, const int64_t *run_ids, size_t count)
{
	bool is_given = *names != NULL;
	size_t found = 0;
	int error = 0;

	for (size_t i = 0; error == 0 && found == 0 && i < count; i++) {
		error = kept_read(names, run_ids[i]);
		if (error == 0 && *names)
			error = run_learn(*names, store, run_ids[i], &found);
		if (found > 0 && is_given)
			names_kept_put(run_ids[i], (*names)->path);
	}
	if (error == 0 && found == 0 && is_given)
		say("tracer: no task of these runs is in the --names file");
	return error;
}

const char *names_of(const struct names *names, int64_t task_id, const char *name)
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
