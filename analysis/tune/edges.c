/* Which task another one waited for, by the files that both name. See edges.h. */
#include "analysis/tune/edges.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#include "common/grow.h"

#define NAME_BYTES_LEAST 3
#define NAMES_MAX 200000   /* different ones; further ones are ignored */
#define CANDIDATES_MAX 256 /* the last to end */

/* ---- names ------------------------------------------------------------------------- */

struct name {
	UT_hash_handle hh;
	size_t number, last_task;
	char text[];
};

struct reader {
	struct edges *edges;
	const struct report *report;
	const size_t *index_of;
	struct name *known;
	size_t task; /* in the schedule, of the row at hand */
};

/* Returns the name of a file in a word, without folders and an option before it; NULL if it does not look like one. */
static const char *name_in(const char *word)
{
	const char *equals = strrchr(word, '='), *slash;
	bool has_folder;

	word = equals ? equals + 1 : word;
	slash = strrchr(word, '/');
	has_folder = slash != NULL;
	word = slash ? slash + 1 : word;
	if (!isalnum((unsigned char)*word) || strlen(word) < NAME_BYTES_LEAST)
		return NULL;
	for (const char *at = word; *at; at++)
		if (isspace((unsigned char)*at))
			return NULL;
	return has_folder || strchr(word, '.') ? word : NULL;
}

static int name_add(struct reader *reader, const char *text)
{
	struct edges *edges = reader->edges;
	size_t *names, *counts;
	struct name *name;

	HASH_FIND_STR(reader->known, text, name);
	if (!name && edges->name_count == NAMES_MAX)
		return 0;
	if (!name) {
		counts = grow(edges->task_counts, &edges->name_capacity, edges->name_count + 1, sizeof(*counts));
		if (!counts)
			return -ENOMEM;
		edges->task_counts = counts;
		name = calloc(1, sizeof(*name) + strlen(text) + 1);
		if (!name)
			return -ENOMEM;
		strcpy(name->text, text);
		counts[edges->name_count] = 0;
		name->number = edges->name_count++;
		name->last_task = SCHEDULE_NO_TASK;
		HASH_ADD_STR(reader->known, text, name);
	}
	if (name->last_task == reader->task)
		return 0;
	names = grow(edges->names, &edges->capacity, edges->used + 1, sizeof(*names));
	if (!names)
		return -ENOMEM;
	edges->names = names;
	name->last_task = reader->task;
	edges->task_counts[name->number]++;
	names[edges->used++] = name->number;
	edges->tasks[reader->task].count++;
	return 0;
}

/* Rows of one task are adjacent. */
static int line_take(struct reader *reader, const struct row_sample_word *row)
{
	size_t task = report_find_task(reader->report, row->task_id), place;
	const char *text = row->arguments.data;
	int error = 0;

	place = task == REPORT_NO_TASK ? SCHEDULE_NO_TASK : reader->index_of[task];
	if (place == SCHEDULE_NO_TASK)
		return 0;
	if (place != reader->task)
		reader->edges->tasks[place].first = reader->edges->used;
	reader->task = place;
	for (size_t at = 0, size; text && at < row->arguments.size && error == 0; at += size + 1) {
		const char *name;

		size = strnlen(text + at, row->arguments.size - at);
		name = at + size < row->arguments.size ? name_in(text + at) : NULL; /* else it was cut */
		if (name)
			error = name_add(reader, name);
	}
	return error;
}

int edges_load(struct edges *edges, const struct report *report, const struct schedule *schedule,
	       const size_t *index_of)
{
	struct reader reader = {edges, report, index_of, .task = SCHEDULE_NO_TASK};
	struct name *name, *next;
	int error = 0;

	*edges = (struct edges){.tasks = calloc(schedule->count + 1, sizeof(*edges->tasks))};
	if (!edges->tasks)
		return -ENOMEM;
	for (size_t i = 0; i < report->lines->count && error == 0; i++)
		error = line_take(&reader, ROWS_ITEM(report->lines, sample_word, i));
	HASH_ITER (hh, reader.known, name, next) {
		HASH_DEL(reader.known, name);
		free(name);
	}
	return error;
}

void edges_free(struct edges *edges)
{
	free(edges->tasks);
	free(edges->names);
	free(edges->task_counts);
	*edges = (struct edges){0};
}

/* ---- causes ------------------------------------------------------------------------ */

/* Returns how many tasks have the rarest name that a task has in common with the marked one; SIZE_MAX: there is none. */
static size_t rarest_of(const struct edges *edges, size_t task, const size_t *marks, size_t mark)
{
	const struct edges_task *own = &edges->tasks[task];
	size_t rarest = SIZE_MAX;

	for (size_t i = own->first; i < own->first + own->count; i++) {
		size_t name = edges->names[i];

		if (marks[name] == mark && edges->task_counts[name] < rarest)
			rarest = edges->task_counts[name];
	}
	return rarest;
}

/* Among these in the order of their ends; the last one if all tell as much. */
static size_t cause_of(const struct edges *edges, const struct schedule *schedule, size_t begin, size_t end,
		       const size_t *marks, size_t mark)
{
	size_t best = SCHEDULE_NO_TASK, best_count = SIZE_MAX, worst_count = 0;

	for (size_t i = end; i-- > begin;) {
		size_t count = rarest_of(edges, schedule->by_end[i], marks, mark);

		if (count < best_count) {
			best = schedule->by_end[i];
			best_count = count;
		}
		worst_count = count > worst_count ? count : worst_count;
	}
	return best_count < worst_count ? best : SCHEDULE_NO_TASK;
}

int edges_find(const struct edges *edges, const struct schedule *schedule, int64_t window_ns, size_t *ret_causes)
{
	size_t *marks = calloc(edges->name_count + 1, sizeof(*marks));

	if (!marks)
		return -ENOMEM;
	for (size_t task = 0; task < schedule->count; task++) {
		const struct edges_task *own = &edges->tasks[task];
		size_t begin, end;

		schedule_ended_before(schedule, task, window_ns, &begin, &end);
		ret_causes[task] = SCHEDULE_NO_TASK;
		if (end - begin == 1)
			continue;
		for (size_t i = own->first; i < own->first + own->count; i++)
			marks[edges->names[i]] = task + 1;
		begin = end > CANDIDATES_MAX ? end - CANDIDATES_MAX : 0;
		ret_causes[task] = cause_of(edges, schedule, begin, end, marks, task + 1);
	}
	free(marks);
	return 0;
}
