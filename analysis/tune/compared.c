/* See compared.h. */
#include "analysis/tune/compared.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/query/units.h"
#include "common/text.h"

static const char *const results[] = {COMPARE_RESULTS(TEXT_OF)};
static const char *const unit_names[] = {COMPARE_UNITS(TEXT_OF)};
static const char *const figure_names[] = {STEPS_FIGURES(TEXT_OF)};
static const char *const side_names[COMPARE_SIDES] = {"a", "b"};

bool compared_are_same(const struct compared *compared)
{
	const struct compared_side *a = &compared->sides[0], *b = &compared->sides[1];

	return a->id || b->id ? a->id == b->id : strcmp(a->name, b->name) == 0;
}

int compared_load(struct compared *compared, struct store *store, size_t last, const struct store_parameter *filter)
{
	int error = 0;

	for (int i = 0; error == 0 && i < COMPARE_SIDES; i++) {
		struct compared_side *side = &compared->sides[i];
		const struct history_request request = {
			.run_id = side->id,
			.name = side->id ? NULL : side->name,
			.last = side->id ? 0 : last,
			.without_id = side->id ? 0 : compared->sides[!i].id,
			.filter = filter,
		};

		error = history_load(store, &request, &side->history);
	}
	return error;
}

int compared_join(struct compared *compared)
{
	const struct compared_side *sides = compared->sides;
	size_t tasks = sides[0].history.step_count + sides[1].history.step_count;

	compared->tasks = calloc(tasks + 1, sizeof(*compared->tasks));
	compared->side_of_run =
		calloc(sides[0].history.run_count + sides[1].history.run_count, sizeof(*compared->side_of_run));
	if (!compared->tasks || !compared->side_of_run)
		return -ENOMEM;
	for (int side = 0; side < COMPARE_SIDES; side++) {
		const struct history *history = &sides[side].history;

		for (size_t i = 0; i < history->step_count; i++) {
			compared->tasks[compared->task_count] = history->steps[i];
			compared->tasks[compared->task_count++].run += compared->run_count;
		}
		for (size_t i = 0; i < history->run_count; i++)
			compared->side_of_run[compared->run_count++] = side;
	}
	return 0;
}

int compared_runs(const struct compared *compared, int64_t **ret_ids)
{
	int64_t *ids = calloc(compared->run_count + 1, sizeof(*ids));
	size_t count = 0;

	*ret_ids = ids;
	if (!ids)
		return -ENOMEM;
	for (int side = COMPARE_SIDES - 1; side >= 0; side--)
		for (size_t i = compared->sides[side].history.run_count; i > 0; i--)
			ids[count++] = compared->sides[side].history.runs[i - 1].id;
	return 0;
}

void compared_rename(struct compared *compared, const struct engine_names *names)
{
	for (size_t i = 0; i < compared->task_count; i++)
		compared->tasks[i].name = engine_names_of(names, ROW_NULL, compared->tasks[i].name);
}

int compared_find(struct compared *compared)
{
	return compare_init(&compared->compare, compared->tasks, compared->task_count, compared->side_of_run,
			    compared->run_count);
}

void compared_free(struct compared *compared)
{
	compare_deinit(&compared->compare);
	for (int i = 0; i < COMPARE_SIDES; i++) {
		history_free(&compared->sides[i].history);
		rows_free(&compared->sides[i].run);
	}
	free(compared->tasks);
	free(compared->side_of_run);
}

/* ---- JSON ---------------------------------------------------------------------------- */

const char *compare_result_name(enum compare_result result)
{
	return results[result];
}

int64_t compare_whole(double value)
{
	return isnan(value) ? ROW_NULL : (int64_t)llround(value);
}

static json_t *side_of_step(const struct compare_step *step, int side)
{
	json_t *object = json_object();

	json_set_integer(object, "run_count", (int64_t)step->run_counts[side]);
	json_set_integer(object, "task_count", (int64_t)step->task_counts[side]);
	for (enum steps_figure figure = 0; figure < STEPS_FIGURE_COUNT; figure++)
		json_set_integer(object, figure_names[figure], compare_whole(step->medians[side][figure]));
	return object;
}

static json_t *step_to_object(const struct compare_step *step)
{
	json_t *object = json_object();

	json_set_string(object, "name", step->name);
	json_set_string(object, "result", compare_result_name(step->result));
	for (int side = 0; side < COMPARE_SIDES; side++)
		json_object_set_new(object, side_names[side], side_of_step(step, side));
	json_set_real(object, "ratio", step->ratio);
	json_set_real(object, "ratio_low", step->low > 0 ? step->low : NAN);
	json_set_real(object, "ratio_high", step->high);
	json_set_real(object, "p", step->p);
	json_set_real(object, "adjusted_p", step->adjusted_p);
	json_set_real(object, "input_slope", step->slope);
	json_set_string(object, "tested", isfinite(step->p) ? unit_names[step->unit] : NULL);
	json_set_integer(object, "pair_count", (int64_t)step->pair_count);
	json_set_integer(object, "missing_run_count", (int64_t)step->missing_runs);
	return object;
}

static json_t *side_to_object(const struct compared_side *side, bool by_sample)
{
	json_t *object = json_object(), *ids = json_array();

	json_set_string(object, "name", side->name);
	for (size_t i = 0; i < side->history.run_count; i++)
		json_array_append_new(ids, json_string(units_id(side->history.runs[i].id, false)));
	json_object_set_new(object, "run_ids", ids);
	if (by_sample) {
		json_set_integer(object, "sampled_run_count", (int64_t)side->history.sampled_count);
		json_set_integer(object, "unsampled_run_count",
				 (int64_t)(side->history.run_count - side->history.sampled_count));
	}
	json_set_integer(object, "omitted_run_count", (int64_t)side->history.omitted_run_count);
	json_set_integer(object, "omitted_task_count", (int64_t)side->history.omitted_task_count);
	return object;
}

json_t *compared_columns(void)
{
	return step_to_object(&(const struct compare_step){0});
}

json_t *compared_to_json(const struct compared *compared)
{
	json_t *root = json_object(), *steps = json_array();

	for (int side = 0; side < COMPARE_SIDES; side++)
		json_object_set_new(root, side_names[side],
				    side_to_object(&compared->sides[side], compared->by_sample));
	for (size_t i = 0; i < compared->compare.count; i++)
		json_array_append_new(steps, step_to_object(&compared->compare.steps[i]));
	json_object_set_new(root, "steps", steps);
	return root;
}
