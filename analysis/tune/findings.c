/* What could be better about a run. See findings.h. */
#include "analysis/tune/findings.h"

#include <errno.h>
#include <string.h>

#include <uthash.h>

#include "analysis/tune/asking.h"
#include "common/grow.h"

#define PARAMETERS_MAX (QUESTION_PARAMETERS_MAX + 3)

/* ---- one question ---------------------------------------------------------------------- */

/* Wall time that a task could save, of the finding of the question at hand. */
struct saving {
	size_t finding, task; /* task: in the schedule */
	int64_t wall_ns;
};

struct subject {
	size_t finding;
	UT_hash_handle hh; /* by the finding's subject */
};

struct finder {
	const struct findings_request *request;
	struct findings_of_run *findings;
	const struct schedule *schedule;
	/* Of the question at hand: */
	const struct question *question;
	size_t first; /* finding */
	struct subject *subjects;
	struct saving *savings;
	size_t saving_count, saving_capacity;
};

static void finding_free(struct finding_of_run *finding)
{
	free(finding->subject);
	free(finding->sentence);
	free(finding->advice);
}

/* Returns the finding of this row's subject, which is made if there is none yet; NULL if out of memory. */
static struct finding_of_run *finding_get(struct finder *finder, const struct store_value *values)
{
	const struct question_finding *about = &finder->question->finding;
	const struct findings_request *request = finder->request;
	struct findings_of_run *findings = finder->findings;
	char *text = request->format(&values[about->subject - finder->question->columns], about->subject);
	struct finding_of_run *items, made = {.question = finder->question, .subject = text};
	struct subject *subject = NULL;

	if (!text)
		return NULL;
	HASH_FIND_STR(finder->subjects, text, subject);
	if (subject) {
		free(text);
		return &findings->items[subject->finding];
	}
	made.sentence = finding_text(finder->question, about->sentence, values, request->format);
	made.advice = finding_text(finder->question, about->advice, values, request->format);
	items = grow(findings->items, &findings->capacity, findings->count + 1, sizeof(*items));
	subject = calloc(1, sizeof(*subject));
	if (items)
		findings->items = items;
	if (!items || !subject || !made.sentence || !made.advice) {
		finding_free(&made);
		free(subject);
		return NULL;
	}
	subject->finding = findings->count;
	HASH_ADD_KEYPTR(hh, finder->subjects, text, strlen(text), subject);
	items[findings->count] = made;
	return &items[findings->count++];
}

static int64_t impact_of(const struct question *question, enum question_impact impact, const struct store_value *values)
{
	const struct question_field *column = question->finding.impacts[impact];
	const struct store_value *value = column ? &values[column - question->columns] : NULL;

	return value && value->type == STORE_VALUE_INTEGER && value->integer > 0 ? value->integer : 0;
}

/* Returns the row's task in the schedule, or SCHEDULE_NO_TASK. */
static size_t task_of(const struct finder *finder, const struct store_value *values)
{
	const struct question_field *column = question_column(finder->question, "task_id");
	size_t task =
		column ? report_find_task(finder->request->report, values[column - finder->question->columns].integer)
		       : REPORT_NO_TASK;

	return task == REPORT_NO_TASK ? SCHEDULE_NO_TASK : finder->request->account->index_of[task];
}

static int row_take(void *context, const struct store_value *values)
{
	struct finder *finder = context;
	int64_t wall_ns = impact_of(finder->question, QUESTION_SAVES_WALL, values);
	struct finding_of_run *finding = finding_get(finder, values);
	size_t task = task_of(finder, values);
	struct saving *savings;

	if (!finding)
		return -ENOMEM;
	finding->task_count++;
	finding->cpu_ns += impact_of(finder->question, QUESTION_SAVES_CPU, values);
	finding->memory_byte_seconds += impact_of(finder->question, QUESTION_SAVES_MEMORY, values);
	finding->gpu_ns += impact_of(finder->question, QUESTION_SAVES_GPU, values);
	if (task ==
	    SCHEDULE_NO_TASK) { /* between the tasks, or in the engine or script itself: the run waits for that */
		finding->direct_ns += wall_ns;
		return 0;
	}
	savings = grow(finder->savings, &finder->saving_capacity, finder->saving_count + 1, sizeof(*savings));
	if (!savings)
		return -ENOMEM;
	finder->savings = savings;
	savings[finder->saving_count++] = (struct saving){(size_t)(finding - finder->findings->items), task, wall_ns};
	finding->tasks_ns = row_add(finding->tasks_ns, wall_ns);
	return 0;
}

/* Asks about one part of the run: tasks of another host have other ids. */
static int part_ask(struct finder *finder, const struct row_run *run, const struct store_parameter *bound)
{
	struct store_value values[QUESTION_COLUMNS_MAX];
	struct store_parameter parameters[PARAMETERS_MAX] = {
		STORE_INT("run_id", run->id),
		STORE_INT("host_id", run->host_id),
	};
	struct store_result *result;
	int error, more;

	for (size_t i = 2; bound && bound->name && i < PARAMETERS_MAX - 1; bound++)
		if (strcmp(bound->name, "run_id") != 0)
			parameters[i++] = *bound;
	error = question_ask(finder->question, finder->request->report->store, parameters, &result);
	if (error < 0)
		return error;
	while (error == 0 && (more = store_result_next(result)) != 0) {
		if (more > 0)
			question_row(finder->question, result, values);
		error = more < 0 ? more : row_take(finder, values);
	}
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

/* What the run saves if its tasks save that. */
static int saving_set(const struct finder *finder, struct finding_of_run *finding, const int64_t *saved_ns)
{
	int error = schedule_what_if(finder->schedule, saved_ns, &finding->wall);

	finding->wall.high_ns = row_least(finding->wall.high_ns + finding->direct_ns, most_saved(finder, finding));
	finding->wall.low_ns = finding->question->finding.saving == QUESTION_SAVING_LEAST &&
					       account_is_prompt(report_run(finder->request->report))
				       ? row_least(finding->wall.low_ns + finding->direct_ns, finding->wall.high_ns)
				       : 0;
	return error;
}

/* Whether the finding is about time, and could save hardly any of the run's: its tasks are short, or others took as long. */
static bool saves_little(const struct finder *finder, const struct finding_of_run *finding)
{
	const struct schedule *schedule = finder->schedule;

	return finding->direct_ns + finding->tasks_ns > 0 &&
	       finding->wall.high_ns < (schedule->end_ns - schedule->begin_ns) / FINDINGS_LEAST_PART &&
	       finding->cpu_ns == 0 && finding->memory_byte_seconds == 0 && finding->gpu_ns == 0;
}

static int compare_savings(const void *left, const void *right)
{
	const struct saving *a = left, *b = right;

	return a->finding != b->finding ? (a->finding < b->finding ? -1 : 1)
					: (a->task > b->task) - (a->task < b->task);
}

/* The larger is kept. */
static double claim_of(const struct finding_of_run *finding)
{
	return (double)finding->direct_ns + (double)finding->tasks_ns + (double)finding->cpu_ns +
	       (double)finding->memory_byte_seconds + (double)finding->gpu_ns;
}

struct claim {
	size_t finding;
	double size;
};

static int compare_claims(const void *left, const void *right)
{
	const struct claim *a = left, *b = right;

	if (a->size != b->size)
		return a->size > b->size ? -1 : 1;
	return a->finding < b->finding ? -1 : 1;
}

/* Keeps FINDINGS_OF_QUESTION_MAX findings of the question at hand: to measure one takes as long as the run has tasks. */
static int most_keep(struct finder *finder)
{
	struct findings_of_run *findings = finder->findings;
	size_t count = findings->count - finder->first, saving_count = 0;
	struct finding_of_run *items = findings->items + finder->first;
	struct claim *claims;
	size_t *kept_as;

	if (count <= FINDINGS_OF_QUESTION_MAX)
		return 0;
	claims = calloc(count, sizeof(*claims));
	kept_as = calloc(count, sizeof(*kept_as));
	if (!claims || !kept_as) {
		free(claims);
		free(kept_as);
		return -ENOMEM;
	}
	for (size_t i = 0; i < count; i++)
		claims[i] = (struct claim){i, claim_of(&items[i])};
	qsort(claims, count, sizeof(*claims), compare_claims);
	for (size_t i = FINDINGS_OF_QUESTION_MAX; i < count; i++)
		kept_as[claims[i].finding] = SIZE_MAX;
	findings->count = finder->first;
	for (size_t i = 0; i < count; i++) {
		if (kept_as[i] == SIZE_MAX) {
			finding_free(&items[i]);
			continue;
		}
		kept_as[i] = findings->count;
		findings->items[findings->count++] = items[i];
	}
	for (size_t i = 0; i < finder->saving_count; i++) {
		struct saving saving = finder->savings[i];

		saving.finding = kept_as[saving.finding - finder->first];
		if (saving.finding != SIZE_MAX)
			finder->savings[saving_count++] = saving;
	}
	finder->saving_count = saving_count;
	free(claims);
	free(kept_as);
	return 0;
}

/* Sets what the findings of the question at hand save. */
static int savings_set(struct finder *finder)
{
	int64_t *saved_ns = calloc(finder->schedule->count + 1, sizeof(*saved_ns));
	size_t begin = 0, end;
	int error = saved_ns ? 0 : -ENOMEM;

	if (finder->saving_count > 0)
		qsort(finder->savings, finder->saving_count, sizeof(*finder->savings), compare_savings);
	for (size_t i = finder->first; i < finder->findings->count && error == 0; i++, begin = end) {
		for (end = begin; end < finder->saving_count && finder->savings[end].finding == i; end++)
			saved_ns[finder->savings[end].task] += finder->savings[end].wall_ns;
		error = saving_set(finder, &finder->findings->items[i], saved_ns);
		for (size_t k = begin; k < end; k++)
			saved_ns[finder->savings[k].task] = 0;
	}
	free(saved_ns);
	return error;
}

/* Drops the findings of the question at hand that save little. */
static void little_drop(struct finder *finder)
{
	struct findings_of_run *findings = finder->findings;
	size_t kept = finder->first;

	for (size_t i = finder->first; i < findings->count; i++)
		if (saves_little(finder, &findings->items[i]))
			finding_free(&findings->items[i]);
		else
			findings->items[kept++] = findings->items[i];
	findings->count = kept;
}

static void subjects_free(struct finder *finder)
{
	struct subject *subject, *next;

	HASH_ITER (hh, finder->subjects, subject, next) {
		HASH_DEL(finder->subjects, subject);
		free(subject);
	}
}

static int question_take(struct finder *finder, const struct question *question)
{
	const struct findings_request *request = finder->request;
	const struct store_parameter *bound = request->bind(question, request->data);
	struct asking asking = {request->report, request->account, question, bound, row_take, finder};
	const struct rows *parts = &request->report->parts;
	int error = 0;

	finder->question = question;
	finder->first = finder->findings->count;
	finder->saving_count = 0;
	if (question->of_account)
		error = asking_ask(&asking);
	for (size_t i = 0; !question->of_account && i < parts->count && error == 0; i++)
		error = part_ask(finder, &ROWS_ITEM(parts, part, i)->run, bound);
	subjects_free(finder);
	if (error == 0)
		error = most_keep(finder);
	if (error == 0)
		error = savings_set(finder);
	little_drop(finder);
	return error;
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
	if (a->gpu_ns != b->gpu_ns)
		return a->gpu_ns > b->gpu_ns ? -1 : 1;
	return strcmp(a->sentence, b->sentence);
}

int findings_find(const struct findings_request *request, struct findings_of_run *ret_findings)
{
	struct finder finder = {.request = request, .findings = ret_findings, .schedule = &request->account->schedule};
	const struct question *question;
	int error = 0;

	*ret_findings = (struct findings_of_run){0};
	for (size_t i = 0; error == 0 && (question = catalogue_get(request->catalogue, i)); i++)
		if (question->finding.kind && strcmp(question->finding.kind, request->kind) == 0 &&
		    (!request->name || strcmp(question->name, request->name) == 0))
			error = question_take(&finder, question);
	for (size_t i = 0; i < ret_findings->count; i++)
		ret_findings->items[i].worth = request->worth(&ret_findings->items[i], request->data);
	if (ret_findings->count > 0)
		qsort(ret_findings->items, ret_findings->count, sizeof(*ret_findings->items), compare_findings);
	free(finder.savings);
	return error;
}

void findings_free(struct findings_of_run *findings)
{
	for (size_t i = 0; i < findings->count; i++)
		finding_free(&findings->items[i]);
	free(findings->items);
	*findings = (struct findings_of_run){0};
}
