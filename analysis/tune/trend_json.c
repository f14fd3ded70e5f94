/* What is shown of a trend, and as JSON. See trend.h. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/query/rows.h"
#include "analysis/tune/rank.h"
#include "analysis/tune/trend.h"

/* Returns the index of the whole runs' step, trend.count if none succeeded. */
static size_t whole_index(const struct trend *trend)
{
	size_t i = 0;

	while (i < trend->count && strcmp(trend->steps[i].name, HISTORY_WHOLE) != 0)
		i++;
	return i;
}

int trend_relative(const struct trend *trend, size_t run_count, double **ret_values)
{
	size_t index = whole_index(trend), count = 0;
	double *values = calloc(2 * run_count + 1, sizeof(*values)), median;

	*ret_values = values;
	if (!values)
		return -ENOMEM;
	for (size_t run = 0; run < run_count; run++) {
		values[run] = index < trend->count ? trend->values.items[index].values[run] : NAN;
		if (!isnan(values[run]))
			values[run_count + count++] = values[run];
	}
	median = rank_median(values + run_count, count);
	for (size_t run = 0; run < run_count; run++)
		values[run] = exp(values[run] - median);
	return 0;
}

static json_t *run_to_object(const struct history_run *run, double relative)
{
	json_t *object = json_object();

	json_set_integer(object, "id", run->id);
	json_set_integer(object, "started_unix_ns", run->begin_unix_ns);
	json_set_integer(object, "wall_ns", run->end_unix_ns - run->begin_unix_ns);
	json_object_set_new(object, "succeeded", json_boolean(run->is_comparable));
	json_set_real(object, "relative", relative);
	return object;
}

static json_t *step_to_object(const struct history *history, const struct trend_step *step)
{
	json_t *object = json_object();

	json_set_string(object, "name", step->name);
	json_set_integer(object, "run_count", (int64_t)step->run_count);
	json_set_integer(object, "missing_run_count", (int64_t)step->missing_runs);
	json_set_integer(object, "changed_run_id",
			 step->changed_run == TREND_NO_RUN ? ROW_NULL : history->runs[step->changed_run].id);
	json_set_real(object, "ratio", step->ratio);
	json_set_real(object, "ratio_low", step->low);
	json_set_real(object, "ratio_high", step->high);
	json_set_real(object, "p", step->p);
	json_set_real(object, "adjusted_p", step->adjusted_p);
	json_set_real(object, "input_slope", step->slope);
	return object;
}

json_t *trend_columns(void)
{
	return step_to_object(NULL, &(const struct trend_step){.changed_run = TREND_NO_RUN});
}

json_t *trend_to_json(const char *name, const struct history *history, const struct trend *trend,
		      const double *relative)
{
	json_t *root = json_object(), *runs = json_array(), *steps = json_array();

	json_set_string(root, "name", name);
	for (size_t i = 0; i < history->run_count; i++)
		json_array_append_new(runs, run_to_object(&history->runs[i], relative[i]));
	for (size_t i = 0; i < trend->count; i++)
		json_array_append_new(steps, step_to_object(history, &trend->steps[i]));
	json_object_set_new(root, "runs", runs);
	json_object_set_new(root, "steps", steps);
	json_set_integer(root, "omitted_run_count", (int64_t)history->omitted_run_count);
	json_set_integer(root, "omitted_task_count", (int64_t)history->omitted_task_count);
	return root;
}
