/* What could be better about a run. See findings.h. */
#include "tune/findings.h"

#include <errno.h>
#include <string.h>

#include "common/grow.h"

#define PARAMETERS_MAX (QUESTION_PARAMETERS_MAX + 3)

/* ---- one question ---------------------------------------------------------------------- */

struct finder {
	const struct findings_request *request;
	struct findings_of_run *findings;
	const struct schedule *schedule;
	size_t *index_of; /* in the schedule, by index in the report */
	int64_t **saved;  /* of each finding of the question at hand: wall time that each task could save */
	size_t saved_capacity;
	size_t first; /* finding of the question at hand */
};

/* Returns the finding of the same question and subject, which is made if there is none yet; NULL if out of memory. */
static struct finding_of_run *finding_get(struct finder *finder, const struct question *question,
					  struct store_result *result)
{
	const struct findings_request *request = finder->request;
	struct findings_of_run *findings = finder->findings;
	struct store_value subject = store_result_get(result, question->finding.subject->name);
	char *text = request->format(&subject, question->finding.subject->type);
	struct finding_of_run *items;
	int64_t **saved;

	for (size_t i = finder->first; text && i < findings->count; i++)
		if (strcmp(findings->items[i].subject, text) == 0) {
			free(text);
			return &findings->items[i];
		}
	saved = grow(finder->saved, &finder->saved_capacity, findings->count + 1, sizeof(*saved));
	if (!saved) {
		free(text);
		return NULL;
	}
	finder->saved = saved;
	saved[findings->count] = calloc(finder->schedule->count + 1, sizeof(**saved));
	items = grow(findings->items, &findings->capacity, findings->count + 1, sizeof(*items));
	if (items)
		findings->items = items;
	if (!items || !saved[findings->count]) {
		free(saved[findings->count]);
		free(text);
		return NULL;
	}
	items[findings->count] = (struct finding_of_run){
		.question = question,
		.subject = text,
		.sentence = finding_text(question, question->finding.sentence, result, request->format),
		.advice = finding_text(question, question->finding.advice, result, request->format),
	};
	items += findings->count++; /* counted, so that it is freed */
	return items->subject && items->sentence && items->advice ? items : NULL;
}

static int64_t impact_of(const struct question *question, enum question_impact impact, struct store_result *result)
{
	const struct question_field *column = question->finding.impacts[impact];
	int64_t number = column ? result_integer(result, column->name) : ROW_NULL;

	return number == ROW_NULL || number < 0 ? 0 : number;
}

static int64_t least_of(int64_t left, int64_t right)
{
	return left < right ? left : right;
}

static int row_take(struct finder *finder, const struct question *question, struct store_result *result)
{
	struct finding_of_run *finding = finding_get(finder, question, result);
	const struct report *report = finder->request->report;
	int64_t wall_ns = impact_of(question, QUESTION_SAVES_WALL, result);
	size_t task;

	if (!finding)
		return -ENOMEM;
	finding->task_count++;
	finding->cpu_ns += impact_of(question, QUESTION_SAVES_CPU, result);
	finding->memory_byte_seconds += impact_of(question, QUESTION_SAVES_MEMORY, result);
	task = question_column(question, "task_id") ? report_find_task(report, result_integer(result, "task_id"))
						    : REPORT_NO_TASK;
	if (task != REPORT_NO_TASK && finder->index_of[task] != SCHEDULE_NO_TASK) {
		finder->saved[finding - finder->findings->items][finder->index_of[task]] += wall_ns;
		return 0;
	}
	/* Between the tasks, or in the engine or script itself: the run waits for that. */
	finding->direct_ns += wall_ns;
	return 0;
}

/* Asks the question about one part of the run: tasks of another host have other ids. */
static int part_ask(struct finder *finder, const struct question *question, const struct row_run *run)
{
	const struct findings_request *request = finder->request;
	const struct store_parameter *bound = request->bind(question, request->data);
	struct store_parameter parameters[PARAMETERS_MAX] = {
		STORE_INT("run_id", run->id),
		STORE_INT("host_id", run->host_id),
	};
	struct store_result *result;
	int error, more;

	for (size_t i = 2; bound && bound->name && i < PARAMETERS_MAX - 1; bound++)
		if (strcmp(bound->name, "run_id") != 0)
			parameters[i++] = *bound;
	error = question_ask(question, request->report->store, parameters, &result);
	if (error < 0)
		return error;
	while (error == 0 && (more = store_result_next(result)) != 0)
		error = more < 0 ? more : row_take(finder, question, result);
	store_result_free(result);
	return error;
}

/* The most that the run can save: what is left to compute takes the processors that it may use so long. */
static int64_t most_saved(const struct finder *finder, const struct finding_of_run *finding)
{
	const struct report *report = finder->request->report;
	int64_t wall_ns = finder->schedule->end_ns - finder->schedule->begin_ns, cpu_ns = report_run(report)->cpu_ns;
	int64_t cores_milli = finding->question->finding.saving == QUESTION_SAVING_BEYOND
				      ? report_host_cores_milli(report)
				      : report_cores_milli(report);

	if (cpu_ns == ROW_NULL || cores_milli == ROW_NULL || cores_milli <= 0 || cpu_ns <= finding->cpu_ns)
		return wall_ns;
	cpu_ns = (int64_t)((double)(cpu_ns - finding->cpu_ns) * 1000 / (double)cores_milli);
	return cpu_ns < wall_ns ? wall_ns - cpu_ns : 0;
}

/* Whether each task of the run begins as soon as it can: its engine, if it has one, waits for processes. Others look
 * now and then, and what is certain for these is not for them. */
static bool is_prompt(const struct row_run *run)
{
	static const char *const engines[] = {"make", "ninja", "parallel", "xargs"};

	for (size_t i = 0; run->engine && i < sizeof(engines) / sizeof(engines[0]); i++)
		if (strcmp(run->engine, engines[i]) == 0)
			return true;
	return !run->engine;
}

/* What the run saves if its tasks save that. */
static int saving_set(const struct finder *finder, struct finding_of_run *finding, const int64_t *saved_ns)
{
	int error = schedule_what_if(finder->schedule, saved_ns, &finding->wall);
	int64_t direct_ns = finding->direct_ns;

	/* Each part is asked for itself: the run only waited where no host had a task. */
	if (report_hosts_count(finder->request->report) > 1)
		direct_ns = least_of(direct_ns, finder->schedule->owned_ns[SCHEDULE_GAP]);
	finding->wall.high_ns = least_of(finding->wall.high_ns + direct_ns, most_saved(finder, finding));
	finding->wall.low_ns = finding->question->finding.saving == QUESTION_SAVING_LEAST &&
					       is_prompt(report_run(finder->request->report))
				       ? least_of(finding->wall.low_ns + direct_ns, finding->wall.high_ns)
				       : 0;
	return error;
}

/* Whether tasks could save time, but of the run's hardly any: they are short, or others took as long. */
static bool saves_little(const struct finder *finder, const struct finding_of_run *finding, const int64_t *saved_ns)
{
	const struct schedule *schedule = finder->schedule;
	bool of_wall = finding->direct_ns > 0;

	for (size_t i = 0; i < schedule->count; i++)
		of_wall = of_wall || saved_ns[i] > 0;
	return of_wall && finding->wall.high_ns < (schedule->end_ns - schedule->begin_ns) / FINDINGS_LEAST_PART &&
	       finding->cpu_ns == 0 && finding->memory_byte_seconds == 0;
}

static void finding_free(struct finding_of_run *finding)
{
	free(finding->subject);
	free(finding->sentence);
	free(finding->advice);
}

/* Sets what the findings of the question at hand save, and drops those that save little. */
static int savings_set(struct finder *finder)
{
	struct findings_of_run *findings = finder->findings;
	size_t kept = finder->first;
	int error = 0;

	for (size_t i = finder->first; i < findings->count; i++) {
		if (error == 0)
			error = saving_set(finder, &findings->items[i], finder->saved[i]);
		if (error == 0 && saves_little(finder, &findings->items[i], finder->saved[i]))
			finding_free(&findings->items[i]);
		else
			findings->items[kept++] = findings->items[i];
		free(finder->saved[i]);
	}
	findings->count = kept;
	return error;
}

static int question_take(struct finder *finder, const struct question *question)
{
	const struct rows *parts = &finder->request->report->parts;
	struct findings_of_run *findings = finder->findings;
	int error = 0;

	finder->first = findings->count;
	for (size_t i = 0; i < parts->count && error == 0; i++)
		error = part_ask(finder, question, &ROWS_ITEM(parts, part, i)->run);
	return savings_set(finder) < 0 ? -ENOMEM : error;
}

/* ---- all ------------------------------------------------------------------------------- */

static int compare_findings(const void *left, const void *right)
{
	const struct finding_of_run *a = left, *b = right;

	if (a->worth != b->worth)
		return a->worth > b->worth ? -1 : 1;
	if (a->wall.high_ns != b->wall.high_ns)
		return a->wall.high_ns > b->wall.high_ns ? -1 : 1;
	if (a->wall.low_ns != b->wall.low_ns)
		return a->wall.low_ns > b->wall.low_ns ? -1 : 1;
	if (a->cpu_ns != b->cpu_ns)
		return a->cpu_ns > b->cpu_ns ? -1 : 1;
	if (a->memory_byte_seconds != b->memory_byte_seconds)
		return a->memory_byte_seconds > b->memory_byte_seconds ? -1 : 1;
	return strcmp(a->sentence, b->sentence);
}

static int index_make(struct finder *finder)
{
	size_t count = finder->request->report->task_count;

	finder->index_of = calloc(count + 1, sizeof(*finder->index_of));
	if (!finder->index_of)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		finder->index_of[i] = SCHEDULE_NO_TASK;
	for (size_t i = 0; i < finder->schedule->count; i++)
		finder->index_of[finder->request->account->tasks[i]] = i;
	return 0;
}

int findings_find(const struct findings_request *request, struct findings_of_run *ret_findings)
{
	struct finder finder = {.request = request, .findings = ret_findings};
	const struct question *question;
	int error;

	*ret_findings = (struct findings_of_run){0};
	finder.schedule = &request->account->schedule;
	error = index_make(&finder);
	for (size_t i = 0; error == 0 && (question = catalogue_get(request->catalogue, i)); i++)
		if (question->finding.kind && strcmp(question->finding.kind, request->kind) == 0 &&
		    (!request->name || strcmp(question->name, request->name) == 0))
			error = question_take(&finder, question);
	for (size_t i = 0; i < ret_findings->count; i++)
		ret_findings->items[i].worth = request->worth(&ret_findings->items[i], request->data);
	if (ret_findings->count > 0)
		qsort(ret_findings->items, ret_findings->count, sizeof(*ret_findings->items), compare_findings);
	free(finder.saved);
	free(finder.index_of);
	return error;
}

void findings_free(struct findings_of_run *findings)
{
	for (size_t i = 0; i < findings->count; i++)
		finding_free(&findings->items[i]);
	free(findings->items);
	*findings = (struct findings_of_run){0};
}
