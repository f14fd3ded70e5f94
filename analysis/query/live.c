/* Warnings and expected ends of what runs now. See live.h. */
#include "analysis/query/live.h"

#include <errno.h>
#include <string.h>

#include "analysis/query/ask.h"
#include "analysis/query/finding_text.h"
#include "analysis/query/thresholds.h"
#include "common/grow.h"

/* The findings of kind "top", the most urgent first; then when runs and processes are expected to end. */
static const char *const names[] = {"memory_nearly_full", "disk_nearly_full", "task_stuck",   "run_slower",
				    "task_slower",        "expected_ends",    "file_progress"};

enum { EXPECTED_ENDS = 5, FILE_PROGRESS, COUNT };
#define WARNING_COUNT EXPECTED_ENDS

/* A shipped question with its defaults, bound once: a time such as 15m is from now, and an answer is found again by the
 * values that were sent. */
struct inquiry {
	struct question *question;
	struct thresholds defaults;
};

static int inquiry_make(struct inquiry *inquiry, const char *name)
{
	const char *text = query_text(name);
	struct tree_error error;

	if (question_parse(name, NULL, text, strlen(text), &inquiry->question, &error) < 0)
		return -ENOMEM;
	thresholds_bind(&inquiry->defaults, inquiry->question, NULL);
	return 0;
}

/* ---- warnings -------------------------------------------------------------------- */

static int row_take(struct live *live, const struct question *question, struct store_result *result)
{
	struct live_warning *warnings = grow(live->warnings, &live->warning_capacity, live->warning_count + 1,
					     sizeof(*warnings)),
			    *warning;
	struct store_value values[QUESTION_COLUMNS_MAX];
	const char *run = result_text(result, "run");
	char *advice;

	if (!warnings)
		return -ENOMEM;
	live->warnings = warnings;
	warning = &warnings[live->warning_count++];
	question_row(question, result, values);
	advice = finding_text(question, question->finding.advice, values, finding_value);
	*warning = (struct live_warning){
		.host_id = result_integer(result, "host_id"),
		.run_id = result_integer(result, "run_id"),
		.user_id = result_integer(result, "user_id"),
		.run = run ? strdup(run) : NULL,
		.sentence = finding_text(question, question->finding.sentence, values, finding_value),
		.object = result_to_json(result),
	};
	json_set_string(warning->object, "warning", question->name);
	json_set_string(warning->object, "sentence", warning->sentence);
	json_set_string(warning->object, "advice", advice);
	free(advice);
	return warning->sentence ? 0 : -ENOMEM;
}

static int warnings_take(struct live *live, struct store *store, const struct inquiry *inquiry)
{
	struct store_result *result;
	int error = question_ask(inquiry->question, store, inquiry->defaults.bound, &result), more;

	if (error < 0)
		return error;
	while (error == 0 && (more = store_result_next(result)) != 0)
		error = more < 0 ? more : row_take(live, inquiry->question, result);
	store_result_free(result);
	return error;
}

/* ---- all ------------------------------------------------------------------------- */

/* A run of one process is expected to end with the file that it reads, if its history does not say when. */
static int ends_add(struct live *live)
{
	int error = 0;

	for (size_t i = 0; i < live->progress.count && error == 0; i++) {
		const struct row_file_progress *progress = ROWS_ITEM(&live->progress, file_progress, i);
		const struct row_expected_end end = {
			.host_id = progress->host_id,
			.run_id = progress->run_id,
			.run = progress->run,
			.user_id = progress->user_id,
			.earliest_unix_ns = progress->earliest_unix_ns,
			.latest_unix_ns = progress->latest_unix_ns,
			.earlier_count = ROW_NULL,
		};

		if (progress->is_whole_run == 1 && !live_end_of(live, progress->run_id))
			error = rows_add(&live->ends, &row_type_expected_end, &end);
	}
	return error;
}

static int all_take(struct live *live, struct store *store, const struct inquiry inquiries[COUNT])
{
	int error = 0;

	for (size_t i = 0; i < COUNT; i++)
		query_ask_ahead(store, names[i], inquiries[i].defaults.bound);
	for (size_t i = 0; i < WARNING_COUNT && error == 0; i++)
		error = warnings_take(live, store, &inquiries[i]);
	if (error == 0)
		error = rows_load(&live->ends, &row_type_expected_end, store, names[EXPECTED_ENDS],
				  inquiries[EXPECTED_ENDS].defaults.bound);
	if (error == 0)
		error = rows_load(&live->progress, &row_type_file_progress, store, names[FILE_PROGRESS],
				  inquiries[FILE_PROGRESS].defaults.bound);
	return error < 0 ? error : ends_add(live);
}

int live_load(struct live *live, struct store *store)
{
	struct inquiry inquiries[COUNT] = {0};
	int error = 0;

	*live = (struct live){0};
	for (size_t i = 0; i < COUNT && error == 0; i++)
		error = inquiry_make(&inquiries[i], names[i]);
	if (error == 0)
		error = all_take(live, store, inquiries);
	for (size_t i = 0; i < COUNT; i++)
		question_free(inquiries[i].question);
	return error;
}

static void warning_free(struct live_warning *warning)
{
	free(warning->run);
	free(warning->sentence);
	json_decref(warning->object);
}

void live_free(struct live *live)
{
	for (size_t i = 0; i < live->warning_count; i++)
		warning_free(&live->warnings[i]);
	free(live->warnings);
	rows_free(&live->ends);
	rows_free(&live->progress);
	*live = (struct live){0};
}

void live_keep(struct live *live, live_wanted *wanted, const void *data)
{
	size_t count = 0;

	for (size_t i = 0; i < live->warning_count; i++) {
		struct live_warning *warning = &live->warnings[i];

		if (wanted(warning->host_id, warning->run_id, warning->user_id, data))
			live->warnings[count++] = *warning;
		else
			warning_free(warning);
	}
	live->warning_count = count;
	count = 0;
	for (size_t i = 0; i < live->ends.count; i++) {
		const struct row_expected_end *end = ROWS_ITEM(&live->ends, expected_end, i);

		if (wanted(end->host_id, end->run_id, end->user_id, data))
			*ROWS_ITEM(&live->ends, expected_end, count++) = *end;
	}
	live->ends.count = count;
	count = 0;
	for (size_t i = 0; i < live->progress.count; i++) {
		const struct row_file_progress *progress = ROWS_ITEM(&live->progress, file_progress, i);

		if (wanted(progress->host_id, progress->run_id, progress->user_id, data))
			*ROWS_ITEM(&live->progress, file_progress, count++) = *progress;
	}
	live->progress.count = count;
}

const struct row_expected_end *live_end_of(const struct live *live, int64_t run_id)
{
	for (size_t i = 0; i < live->ends.count; i++)
		if (ROWS_ITEM(&live->ends, expected_end, i)->run_id == run_id)
			return ROWS_ITEM(&live->ends, expected_end, i);
	return NULL;
}

const struct row_file_progress *live_progress_of(const struct live *live, int64_t tool_id)
{
	const struct row_file_progress *found = NULL;

	for (size_t i = 0; i < live->progress.count; i++) {
		const struct row_file_progress *progress = ROWS_ITEM(&live->progress, file_progress, i);

		if (progress->tool_id == tool_id && (!found || progress->latest_unix_ns > found->latest_unix_ns))
			found = progress;
	}
	return found;
}

/* ---- JSON ------------------------------------------------------------------------ */

json_t *live_warnings_to_json(const struct live *live)
{
	json_t *array = json_array();

	for (size_t i = 0; i < live->warning_count; i++)
		json_array_append(array, live->warnings[i].object);
	return array;
}

json_t *live_end_to_json(const struct row_expected_end *end)
{
	json_t *object;

	if (!end)
		return json_null();
	object = json_object();
	json_set_integer(object, "earliest_unix_ns", end->earliest_unix_ns);
	json_set_integer(object, "latest_unix_ns", end->latest_unix_ns);
	json_set_string(object, "basis", end->earlier_count == ROW_NULL ? "file" : "history");
	json_set_integer(object, "earlier_count", end->earlier_count);
	return object;
}

json_t *live_ends_to_json(const struct live *live)
{
	json_t *array = json_array();

	for (size_t i = 0; i < live->ends.count; i++) {
		const struct row_expected_end *end = ROWS_ITEM(&live->ends, expected_end, i);
		json_t *object = live_end_to_json(end);

		json_set_integer(object, "host_id", end->host_id);
		json_set_integer(object, "run_id", end->run_id);
		json_set_string(object, "run", end->run);
		json_array_append_new(array, object);
	}
	return array;
}

json_t *live_progress_to_json(const struct live *live)
{
	json_t *array = json_array();

	for (size_t i = 0; i < live->progress.count; i++) {
		const struct row_file_progress *progress = ROWS_ITEM(&live->progress, file_progress, i);
		json_t *object = row_to_json(&row_type_file_progress, progress);

		json_object_del(object, "is_whole_run");
		json_array_append_new(array, object);
	}
	return array;
}
