/* What could be better about a run. See findings.h. */
#include "tune/findings.h"

#include <errno.h>
#include <string.h>

#include "common/grow.h"

#define PARAMETERS_MAX (QUESTION_PARAMETERS_MAX + 3)

/* ---- the schedule ---------------------------------------------------------------------- */

static int64_t end_of(const struct report *report, const struct report_task *task)
{
	return task->end_boot_ns != ROW_NULL ? task->end_boot_ns : report->now_boot_ns;
}

int findings_schedule(const struct report *report, struct schedule *ret_schedule, struct schedule_task **ret_spans,
		      size_t **ret_tasks)
{
	struct schedule_task *spans = calloc(report->task_count + 1, sizeof(*spans));
	size_t *tasks = calloc(report->task_count + 1, sizeof(*tasks)), count = 0;
	const struct row_run *run = report_run(report);
	int64_t end = run->end_boot_ns != ROW_NULL ? run->end_boot_ns : report->now_boot_ns;
	int error = -ENOMEM;

	for (size_t i = 0; spans && tasks && i < report->task_count; i++) {
		const struct report_task *task = &report->tasks[i];

		if (task->is_main)
			continue;
		spans[count] = (struct schedule_task){task->begin_boot_ns, end_of(report, task)};
		tasks[count++] = i;
	}
	if (spans && tasks)
		error = schedule_init(ret_schedule, spans, count, run->begin_boot_ns, end);
	if (error < 0) {
		free(spans);
		free(tasks);
		return error;
	}
	*ret_spans = spans;
	*ret_tasks = tasks;
	return 0;
}

/* ---- one question ---------------------------------------------------------------------- */

struct finder {
	const struct findings_request *request;
	struct findings_of_run *findings;
	struct schedule schedule;
	struct schedule_task *spans;
	size_t *tasks;    /* of the report, by index in the schedule */
	size_t *index_of; /* in the schedule, by index in the report */
	int64_t **saved;  /* of each finding: wall time that each task could save */
	size_t saved_capacity;
	size_t first; /* finding of the question at hand */
};

/* Returns the text of a template, to be freed; NULL if out of memory. */
static char *fill(const struct findings_request *request, const struct question *question, const char *template,
		  struct store_result *result)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	if (!file)
		return NULL;
	while (*template) {
		size_t plain = strcspn(template, "{"), name_size;
		char name[QUESTION_NAME_MAX + 1];
		struct store_value value;

		fwrite(template, 1, plain, file);
		template += plain;
		if (!*template)
			break;
		name_size = strcspn(++template, "}");
		snprintf(name, sizeof(name), "%.*s", (int)name_size, template);
		template += name_size + 1;
		value = store_result_get(result, name);
		fputs(request->format(question_column(question, name)->type, &value, request->data), file);
	}
	return fclose(file) == 0 ? text : NULL;
}

/* Returns the finding of the same question and subject, which is made if there is none yet; NULL if out of memory. */
static struct finding_of_run *finding_get(struct finder *finder, const struct question *question,
					  struct store_result *result)
{
	const struct findings_request *request = finder->request;
	struct findings_of_run *findings = finder->findings;
	struct store_value subject = store_result_get(result, question->finding.subject->name);
	const char *text = request->format(question->finding.subject->type, &subject, request->data);
	struct finding_of_run *items;
	int64_t **saved;

	for (size_t i = finder->first; i < findings->count; i++)
		if (strcmp(findings->items[i].subject, text) == 0)
			return &findings->items[i];
	saved = grow(finder->saved, &finder->saved_capacity, findings->count + 1, sizeof(*saved));
	if (!saved)
		return NULL;
	finder->saved = saved;
	saved[findings->count] = calloc(finder->schedule.count + 1, sizeof(**saved));
	items = grow(findings->items, &findings->capacity, findings->count + 1, sizeof(*items));
	if (items)
		findings->items = items;
	if (!items || !saved[findings->count]) {
		free(saved[findings->count]);
		return NULL;
	}
	items[findings->count] = (struct finding_of_run){
		.question = question,
		.subject = strdup(text),
		.sentence = fill(request, question, question->finding.sentence, result),
		.advice = fill(request, question, question->finding.advice, result),
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
	if (!question_column(question, "task_id")) {
		finding->wall.low_ns += wall_ns;
		finding->wall.high_ns += wall_ns;
		return 0;
	}
	task = report_find_task(report, result_integer(result, "task_id"));
	if (task != REPORT_NO_TASK && finder->index_of[task] != SCHEDULE_NO_TASK)
		finder->saved[finding - finder->findings->items][finder->index_of[task]] += wall_ns;
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

static int question_take(struct finder *finder, const struct question *question)
{
	const struct rows *parts = &finder->request->report->parts;
	struct findings_of_run *findings = finder->findings;
	int error = 0;

	finder->first = findings->count;
	for (size_t i = 0; i < parts->count && error == 0; i++)
		error = part_ask(finder, question, &ROWS_ITEM(parts, part, i)->run);
	for (size_t i = finder->first; i < findings->count && error == 0; i++)
		if (question_column(question, "task_id"))
			error = schedule_what_if(&finder->schedule, finder->saved[i], &findings->items[i].wall);
	return error;
}

/* ---- all ------------------------------------------------------------------------------- */

static int compare_findings(const void *left, const void *right)
{
	const struct finding_of_run *a = left, *b = right;

	if (a->wall.low_ns != b->wall.low_ns)
		return a->wall.low_ns > b->wall.low_ns ? -1 : 1;
	if (a->wall.high_ns != b->wall.high_ns)
		return a->wall.high_ns > b->wall.high_ns ? -1 : 1;
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
	for (size_t i = 0; i < finder->schedule.count; i++)
		finder->index_of[finder->tasks[i]] = i;
	return 0;
}

int findings_find(const struct findings_request *request, struct findings_of_run *ret_findings)
{
	struct finder finder = {.request = request, .findings = ret_findings};
	const struct question *question;
	int error;

	*ret_findings = (struct findings_of_run){0};
	error = findings_schedule(request->report, &finder.schedule, &finder.spans, &finder.tasks);
	if (error == 0)
		error = index_make(&finder);
	for (size_t i = 0; error == 0 && (question = catalogue_get(request->catalogue, i)); i++)
		if (question->finding.kind && strcmp(question->finding.kind, request->kind) == 0 &&
		    (!request->name || strcmp(question->name, request->name) == 0))
			error = question_take(&finder, question);
	for (size_t i = 0; i < ret_findings->count; i++)
		free(finder.saved[i]);
	if (ret_findings->count > 0)
		qsort(ret_findings->items, ret_findings->count, sizeof(*ret_findings->items), compare_findings);
	free(finder.saved);
	free(finder.index_of);
	schedule_deinit(&finder.schedule);
	free(finder.spans);
	free(finder.tasks);
	return error;
}

void findings_free(struct findings_of_run *findings)
{
	for (size_t i = 0; i < findings->count; i++) {
		free(findings->items[i].subject);
		free(findings->items[i].sentence);
		free(findings->items[i].advice);
	}
	free(findings->items);
	*findings = (struct findings_of_run){0};
}
