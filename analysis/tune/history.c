/* Earlier runs of a pipeline. See history.h. */
#include "analysis/tune/history.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BEGAN_EARLIER_NS INT64_C(120000000000) /* parts of a run, by another host's clock */

static int compare_parts(const void *left, const void *right)
{
	const struct row_history_run *a = left, *b = right;

	if (a->whole_id != b->whole_id)
		return a->whole_id < b->whole_id ? -1 : 1;
	return (a->id > b->id) - (a->id < b->id);
}

static int compare_runs(const void *left, const void *right)
{
	const struct history_run *a = left, *b = right;

	if (a->begin_unix_ns != b->begin_unix_ns)
		return a->begin_unix_ns < b->begin_unix_ns ? -1 : 1;
	return (a->id > b->id) - (a->id < b->id);
}

static const struct row_history_run *part_at(const struct history *history, size_t index)
{
	return ROWS_ITEM(&history->parts, history_run, index);
}

static struct history_run run_of(const struct history *history, size_t first)
{
	const struct row_history_run *part = part_at(history, first);
	struct history_run run = {.id = part->whole_id,
				  .begin_unix_ns = part->started_unix_ns,
				  .end_unix_ns = part->end_unix_ns,
				  .first = first,
				  .is_comparable = true};

	for (size_t i = first; i < history->parts.count && part_at(history, i)->whole_id == run.id; i++) {
		part = part_at(history, i);
		run.part_count++;
		run.is_comparable &= strcmp(part->status, "succeeded") == 0;
		run.begin_unix_ns = row_least(run.begin_unix_ns, part->started_unix_ns);
		run.end_unix_ns = row_most(run.end_unix_ns, part->end_unix_ns);
	}
	return run;
}

static bool is_left_out(const struct history *history, const struct history_run *run, int64_t without_id)
{
	for (size_t i = 0; i < run->part_count; i++)
		if (part_at(history, run->first + i)->id == without_id)
			return true;
	return run->id == without_id;
}

/* Joins the parts into runs, and keeps the last ones. */
static int runs_make(struct history *history, const struct history_request *request)
{
	size_t last = request->last ? request->last : SIZE_MAX;

	history->runs = calloc(history->parts.count + 1, sizeof(*history->runs));
	if (!history->runs)
		return -ENOMEM;
	if (history->parts.count > 0)
		qsort(history->parts.items, history->parts.count, sizeof(struct row_history_run), compare_parts);
	for (size_t i = 0; i < history->parts.count;) {
		struct history_run run = run_of(history, i);

		i += run.part_count;
		if (!is_left_out(history, &run, request->without_id))
			history->runs[history->run_count++] = run;
	}
	qsort(history->runs, history->run_count, sizeof(*history->runs), compare_runs);
	if (history->run_count > last) {
		history->omitted_run_count = history->run_count - last;
		history->run_count = last;
		memmove(history->runs, history->runs + history->omitted_run_count, last * sizeof(*history->runs));
	}
	return 0;
}

/* ---- tasks --------------------------------------------------------------------------- */

/* The index of the run with a part of each id. */
struct place {
	int64_t id;
	size_t run;
};

static int compare_places(const void *left, const void *right)
{
	const struct place *a = left, *b = right;

	return (a->id > b->id) - (a->id < b->id);
}

static struct place *places_make(const struct history *history, size_t *ret_count)
{
	struct place *places = calloc(history->parts.count + 1, sizeof(*places));

	*ret_count = 0;
	for (size_t run = 0; places && run < history->run_count; run++)
		for (size_t i = 0; i < history->runs[run].part_count; i++)
			places[(*ret_count)++] =
				(struct place){part_at(history, history->runs[run].first + i)->id, run};
	if (places)
		qsort(places, *ret_count, sizeof(*places), compare_places);
	return places;
}

/* The run itself as a task. */
static struct steps_task whole_of(const struct history *history, size_t index)
{
	const struct history_run *run = &history->runs[index];
	struct steps_task whole = {.name = HISTORY_WHOLE, .run = index};

	whole.figures[STEPS_WALL] = run->end_unix_ns - run->begin_unix_ns;
	whole.figures[STEPS_PEAK_RSS] = whole.figures[STEPS_GPU] = ROW_NULL;
	for (size_t i = 0; i < run->part_count; i++) {
		const struct row_history_run *part = part_at(history, run->first + i);

		whole.figures[STEPS_CPU] = row_add(whole.figures[STEPS_CPU], part->cpu_ns);
		whole.figures[STEPS_GPU] = row_add_known(whole.figures[STEPS_GPU], part->gpu_busy_ns);
		whole.figures[STEPS_READ] = row_add(whole.figures[STEPS_READ], part->read_bytes);
		whole.figures[STEPS_PEAK_RSS] = row_most(part->peak_rss_bytes, whole.figures[STEPS_PEAK_RSS]);
		whole.rchar_bytes = row_add(whole.rchar_bytes, part->rchar_bytes);
	}
	return whole;
}

static bool is_comparable(const struct row_history_task *task)
{
	return strcmp(task->status, "succeeded") == 0 && task->lost_count == 0 && task->wall_ns != ROW_NULL;
}

static struct steps_task task_of(const struct row_history_task *row, size_t run)
{
	return (struct steps_task){
		.name = row->name,
		.label = row->label,
		.run = run,
		.figures = {[STEPS_WALL] = row->wall_ns,
			    [STEPS_CPU] = row->cpu_ns,
			    [STEPS_PEAK_RSS] = row->peak_rss_bytes,
			    [STEPS_READ] = row->read_bytes,
			    [STEPS_GPU] = row->gpu_busy_ns},
		.rchar_bytes = row->rchar_bytes,
	};
}

static int steps_make(struct history *history)
{
	size_t place_count;
	struct place *places = places_make(history, &place_count);

	history->steps = calloc(history->run_count + history->tasks.count + 1, sizeof(*history->steps));
	history->task_ids = calloc(history->run_count + history->tasks.count + 1, sizeof(*history->task_ids));
	if (!places || !history->steps || !history->task_ids) {
		free(places);
		return -ENOMEM;
	}
	for (size_t run = 0; run < history->run_count; run++)
		if (history->runs[run].is_comparable)
			history->steps[history->step_count++] = whole_of(history, run);
	for (size_t i = 0; i < history->tasks.count; i++) {
		const struct row_history_task *row = ROWS_ITEM(&history->tasks, history_task, i);
		struct place *place = bsearch(&(struct place){.id = row->run_id}, places, place_count, sizeof(*places),
					      compare_places);

		if (place && is_comparable(row)) {
			history->task_ids[history->step_count] = row->task_id;
			history->steps[history->step_count++] = task_of(row, place->run);
		} else if (place) {
			history->omitted_task_count++;
		}
	}
	free(places);
	return 0;
}

int history_load(struct store *store, const struct history_request *request, struct history *ret_history)
{
	struct history *history = ret_history;
	struct store_parameter parameters[] = {
		{"name", request->name ? STORE_TEXT : STORE_NULL, 0, request->name},
		{"run_id", request->run_id ? STORE_INTEGER : STORE_NULL, request->run_id, NULL},
		{"host", STORE_NULL, 0, NULL},
		{"user_id", STORE_NULL, 0, NULL},
		{0},
		{0},
	};
	int error;

	if (request->filter)
		memcpy(&parameters[2], request->filter, 2 * sizeof(*parameters));
	*history = (struct history){0};
	error = rows_load(&history->parts, &row_type_history_run, store, "history_runs", parameters);
	if (error == 0)
		error = runs_make(history, request);
	if (error < 0 || history->run_count == 0)
		return error;
	parameters[4] = (struct store_parameter){"since_unix_ns", STORE_INTEGER,
						 history->runs[0].begin_unix_ns - BEGAN_EARLIER_NS, NULL};
	error = rows_load(&history->tasks, &row_type_history_task, store, "history_tasks", parameters);
	return error < 0 ? error : steps_make(history);
}

/* ---- samples and labels -------------------------------------------------------------- */

/* Sets the parts of a run (row_part), to be freed. */
static int parts_make(const struct history *history, const struct history_run *run, struct rows *ret_parts)
{
	struct row_part *items = calloc(run->part_count, sizeof(*items));

	if (!items)
		return -ENOMEM;
	for (size_t i = 0; i < run->part_count; i++) {
		const struct row_history_run *part = part_at(history, run->first + i);

		items[i] = (struct row_part){.run = {.id = part->id, .host_id = part->host_id}, .joined_id = run->id};
	}
	*ret_parts = (struct rows){.items = items, .count = run->part_count};
	return 0;
}

static int run_load_samples(struct store *store, const struct sample_names *names, const struct history *history,
			    struct history_run *run)
{
	struct rows parts = {0};
	int error = parts_make(history, run, &parts);

	if (error == 0)
		error = run_samples_load(store, &parts, run->id, names, &run->samples);
	rows_free(&parts);
	return error;
}

int history_load_samples(struct store *store, const struct sample_names *names, struct history *history)
{
	int error = 0;

	for (size_t i = 0; error == 0 && i < history->run_count; i++) {
		const struct samples *samples = &history->runs[i].samples.samples;

		error = run_load_samples(store, names, history, &history->runs[i]);
		if (error == 0 && *samples->misfit)
			history->misfit = samples->misfit;
		else
			history->sampled_count++;
	}
	for (size_t i = 0; error == 0 && i < history->step_count; i++) {
		struct steps_task *task = &history->steps[i];
		const char *sample = run_samples_find(&history->runs[task->run].samples, history->task_ids[i]);

		task->sample = run_samples_is_name(sample) ? sample : NULL;
	}
	return error;
}

int history_load_labels(struct store *store, struct history *history)
{
	int error = 0;

	for (size_t i = 0; error == 0 && i < history->run_count; i++) {
		struct rows parts = {0};

		error = parts_make(history, &history->runs[i], &parts);
		if (error == 0)
			error = labels_load(store, &parts, &history->runs[i].labels);
		rows_free(&parts);
	}
	for (size_t i = 0; error == 0 && i < history->step_count; i++) {
		struct steps_task *task = &history->steps[i];

		if (!task->label)
			task->label = labels_find(&history->runs[task->run].labels, history->task_ids[i]);
	}
	return error;
}

void history_free(struct history *history)
{
	for (size_t i = 0; i < history->run_count; i++) {
		run_samples_free(&history->runs[i].samples);
		labels_free(&history->runs[i].labels);
	}
	free(history->task_ids);
	rows_free(&history->parts);
	rows_free(&history->tasks);
	free(history->runs);
	free(history->steps);
	*history = (struct history){0};
}
