/* Findings about the shape of a run. See shape.h; what each means, and its thresholds, is in tune/NAME.sql. */
#include "tune/shape.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "query/ask.h"
#include "query/joined.h"

#define NONE SCHEDULE_NO_TASK
/* Of the time in which a run had most tasks at a time: what lasts less is no limit. */
#define PEAK_LEAST_SHARE 0.01
/* Other programs are named if they used at least this part of what tasks waited for. */
#define OTHERS_LEAST_SHARE 0.5
#define OTHERS_MAX 20 /* names of tasks for which that is asked */

struct asking {
	const struct report *report;
	const struct account *account;
	const struct schedule *schedule;
	const struct question *question;
	const struct store_parameter *parameters;
	struct store_value values[QUESTION_COLUMNS_MAX];
	shape_take *take;
	void *context;
};

static int64_t least_of(int64_t left, int64_t right)
{
	return left < right ? left : right;
}

static int64_t most_of(int64_t left, int64_t right)
{
	return left > right ? left : right;
}

static double known(int64_t ns)
{
	return ns == ROW_NULL || ns < 0 ? 0 : (double)ns;
}

/* ---- thresholds and rows ----------------------------------------------------------- */

static double given(const struct asking *asking, const char *name)
{
	for (const struct store_parameter *at = asking->parameters; at->name; at++)
		if (strcmp(at->name, name) == 0)
			return at->type == STORE_REAL ? at->real : (double)at->integer;
	return 0;
}

static void put(struct asking *asking, const char *name, struct store_value value)
{
	const struct question_field *column = question_column(asking->question, name);

	if (!value.data)
		value.data = "";
	if (column)
		asking->values[column - asking->question->columns] = value;
}

static void put_integer(struct asking *asking, const char *name, int64_t number)
{
	put(asking, name, (struct store_value){.type = STORE_VALUE_INTEGER, .integer = number});
}

static void put_real(struct asking *asking, const char *name, double number)
{
	put(asking, name, (struct store_value){.type = STORE_VALUE_REAL, .real = number});
}

static void put_text(struct asking *asking, const char *name, const char *text)
{
	put(asking, name, (struct store_value){.type = STORE_VALUE_TEXT, .data = text, .size = strlen(text)});
}

static const struct account_task *facts_of(const struct asking *asking, size_t task)
{
	return &asking->account->tasks[task];
}

static const char *name_of(const struct asking *asking, size_t task)
{
	return asking->account->task_names[facts_of(asking, task)->name].text;
}

static void put_task(struct asking *asking, size_t task)
{
	put_integer(asking, "task_id", asking->report->tasks[facts_of(asking, task)->index].id);
	put_text(asking, "name", name_of(asking, task));
}

static int row_give(struct asking *asking)
{
	return asking->take(asking->context, asking->values);
}

/* ---- tasks in time ----------------------------------------------------------------- */

static int64_t begin_of(const struct asking *asking, size_t task)
{
	return asking->schedule->tasks[task].begin_ns;
}

static int64_t end_of(const struct asking *asking, size_t task)
{
	return asking->schedule->tasks[task].end_ns;
}

static int64_t run_wall_ns(const struct asking *asking)
{
	return asking->schedule->end_ns - asking->schedule->begin_ns;
}

/* A task, or the time before it; the largest are given first. */
struct place {
	size_t task;
	size_t before; /* the last to end among those that began before it, or NONE */
	int64_t ns;
};

static int compare_places(const void *left, const void *right)
{
	const struct place *a = left, *b = right;

	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	return a->task < b->task ? -1 : a->task > b->task;
}

/* Returns all tasks as they began, `ns` after the last end before each: negative if another one still ran. To be freed;
 * NULL if out of memory. */
static struct place *places_by_begin(const struct asking *asking)
{
	struct place *places = calloc(asking->schedule->count + 1, sizeof(*places));
	size_t last = NONE;

	for (size_t i = 0; places && i < asking->schedule->count; i++) {
		size_t task = asking->schedule->by_begin[i];

		places[i] = (struct place){task, last, 0};
		if (last != NONE)
			places[i].ns = begin_of(asking, task) - end_of(asking, last);
		if (last == NONE || end_of(asking, task) > end_of(asking, last))
			last = task;
	}
	return places;
}

static const struct row_run *run_of(const struct asking *asking, size_t part)
{
	return &ROWS_ITEM(&asking->report->parts, part, part)->run;
}

/* ---- gaps_between_tasks ------------------------------------------------------------ */

/* Adds up the CPU time that the engine or script on one host used in these gaps. */
static int driver_add(const struct asking *asking, size_t part, const struct place *gaps, size_t count,
		      int64_t *used_ns)
{
	const struct row_run *run = run_of(asking, part);
	const struct store_parameter parameters[] = QUERY_PARAMETERS_OF("run_id", run->id, run->host_id);
	int64_t process = ROW_NULL, last_cpu_ns = 0;
	struct store_result *result;
	int more = query_ask(asking->report->store, "driver_samples", parameters, &result);

	if (more < 0)
		return more;
	while ((more = store_result_next(result)) > 0) {
		int64_t now_ns = row_add(result_integer(result, "boot_ns"), report_part_shift_ns(asking->report, part));
		int64_t cpu_ns = result_integer(result, "cpu_ns");

		if (result_integer(result, "process_id") != process) {
			process = result_integer(result, "process_id");
			last_cpu_ns = 0;
		}
		for (size_t i = 0; i < count; i++) {
			int64_t end_ns = begin_of(asking, gaps[i].task);

			if (now_ns > end_ns - gaps[i].ns && now_ns <= end_ns)
				used_ns[i] += cpu_ns - last_cpu_ns;
		}
		last_cpu_ns = cpu_ns;
	}
	store_result_free(result);
	return more;
}

static int gaps_give(struct asking *asking, const struct place *gaps, size_t count, const int64_t *used_ns)
{
	double most_share = given(asking, "most_cpu_share");
	int error = 0;

	for (size_t i = 0; i < count && error == 0; i++) {
		if ((double)used_ns[i] > most_share * (double)gaps[i].ns)
			continue;
		put_text(asking, "name", name_of(asking, gaps[i].task));
		put_integer(asking, "gap_ns", gaps[i].ns);
		put_integer(asking, "begin_boot_ns", begin_of(asking, gaps[i].task) - gaps[i].ns);
		put_text(asking, "after_name", name_of(asking, gaps[i].before));
		put_integer(asking, "saved_ns", gaps[i].ns);
		error = row_give(asking);
	}
	return error;
}

static int gaps_ask(struct asking *asking)
{
	double least_ns = given(asking, "least_ns"),
	       of_run_ns = given(asking, "least_share") * (double)run_wall_ns(asking);
	struct place *gaps = places_by_begin(asking);
	int64_t *used_ns;
	size_t count = 0;
	int error = 0;

	if (!gaps)
		return -ENOMEM;
	for (size_t i = 0; i < asking->schedule->count; i++)
		if (gaps[i].before != NONE && (double)gaps[i].ns >= least_ns && (double)gaps[i].ns >= of_run_ns)
			gaps[count++] = gaps[i];
	qsort(gaps, count, sizeof(*gaps), compare_places);
	used_ns = calloc(count + 1, sizeof(*used_ns));
	if (!used_ns)
		error = -ENOMEM;
	for (size_t i = 0; count > 0 && i < asking->report->parts.count && error == 0; i++)
		error = driver_add(asking, i, gaps, count, used_ns);
	if (error == 0)
		error = gaps_give(asking, gaps, count, used_ns);
	free(used_ns);
	free(gaps);
	return error;
}

/* ---- serial_task ------------------------------------------------------------------- */

static bool uses_one_processor(const struct asking *asking, size_t task)
{
	const struct account_times *times = &facts_of(asking, task)->times;

	return facts_of(asking, task)->cores_milli >= 2000 && known(times->wall_ns) > 0 &&
	       known(times->wall_ns) >= given(asking, "least_ns") &&
	       known(times->cpu_ns) >= given(asking, "least_share") * known(times->wall_ns) &&
	       known(times->cpu_ns) <= 1.01 * known(times->wall_ns);
}

static int serial_give(struct asking *asking, size_t task)
{
	const struct account_times *times = &facts_of(asking, task)->times;
	double cores = (double)facts_of(asking, task)->cores_milli / 1000;

	put_task(asking, task);
	put_integer(asking, "wall_ns", times->wall_ns);
	put_real(asking, "cores", known(times->cpu_ns) / known(times->wall_ns));
	put_real(asking, "cpu_count", cores);
	put_integer(asking, "saved_ns", (int64_t)(known(times->wall_ns) * (1 - 1 / cores)));
	return row_give(asking);
}

static int serial_ask(struct asking *asking)
{
	double share = given(asking, "overlap_share");
	struct place *tasks = places_by_begin(asking);
	size_t count = 0;
	int error = 0;

	for (size_t i = 0; tasks && i < asking->schedule->count; i++) {
		size_t task = tasks[i].task;
		double overlap_ns = share * (double)(end_of(asking, task) - begin_of(asking, task));

		if (!uses_one_processor(asking, task) || (tasks[i].before != NONE && (double)-tasks[i].ns > overlap_ns))
			continue;
		if (i + 1 < asking->schedule->count &&
		    (double)(end_of(asking, task) - begin_of(asking, asking->schedule->by_begin[i + 1])) > overlap_ns)
			continue;
		tasks[count++] = (struct place){task, NONE, facts_of(asking, task)->times.wall_ns};
	}
	if (!tasks)
		return -ENOMEM;
	qsort(tasks, count, sizeof(*tasks), compare_places);
	for (size_t i = 0; i < count && error == 0; i++)
		error = serial_give(asking, tasks[i].task);
	free(tasks);
	return error;
}

/* ---- idle_tail --------------------------------------------------------------------- */

/* Returns when the first task began that the last one did not wait for: any, if none had ended before the last one began;
 * else those of its own name, which do the same work. */
static int64_t tail_could_begin_ns(const struct asking *asking, size_t last)
{
	const struct schedule *schedule = asking->schedule;

	if (begin_of(asking, last) < end_of(asking, schedule->by_end[0]) - SCHEDULE_TEARDOWN_NS)
		return begin_of(asking, schedule->by_begin[0]);
	for (size_t i = 0; i < schedule->count; i++)
		if (facts_of(asking, schedule->by_begin[i])->name == facts_of(asking, last)->name)
			return begin_of(asking, schedule->by_begin[i]);
	return begin_of(asking, last);
}

static int tail_ask(struct asking *asking)
{
	const struct schedule *schedule = asking->schedule;
	int64_t alone_ns, late_ns;
	size_t last, before;

	if (schedule->count < 2)
		return 0;
	last = schedule->by_end[schedule->count - 1];
	before = schedule->by_end[schedule->count - 2];
	alone_ns = end_of(asking, last) - end_of(asking, before);
	late_ns = begin_of(asking, last) - tail_could_begin_ns(asking, last);
	/* It ran beside the one before it: else it may have waited for that. */
	if (end_of(asking, before) <= begin_of(asking, last) + SCHEDULE_TEARDOWN_NS ||
	    (double)alone_ns < given(asking, "least_share") * (double)run_wall_ns(asking) ||
	    (double)alone_ns < given(asking, "least_ns") || (double)late_ns < given(asking, "least_ns"))
		return 0;
	put_task(asking, last);
	put_integer(asking, "wall_ns", facts_of(asking, last)->times.wall_ns);
	put_integer(asking, "alone_ns", alone_ns);
	put_integer(asking, "late_ns", late_ns);
	put_integer(asking, "saved_ns", least_of(alone_ns, late_ns));
	return row_give(asking);
}

/* ---- short_tasks ------------------------------------------------------------------- */

struct short_tasks {
	double wall_ns;
	int64_t gaps_ns, longest_gap_ns;
};

static int short_give(struct asking *asking, size_t name, const struct short_tasks *sum)
{
	const struct account_task_name *tasks = &asking->account->task_names[name];
	double share = (double)sum->gaps_ns / (double)most_of(1, run_wall_ns(asking));
	double mean_ns = sum->wall_ns / (double)tasks->task_count;

	if (share < given(asking, "least_share") || (double)tasks->task_count < given(asking, "least_count") ||
	    mean_ns > given(asking, "most_wall_ns"))
		return 0;
	put_text(asking, "name", tasks->text);
	put_integer(asking, "task_count", (int64_t)tasks->task_count);
	put_integer(asking, "mean_ns", (int64_t)mean_ns);
	put_integer(asking, "wait_ns", sum->gaps_ns);
	put_real(asking, "wait_share", share);
	put_integer(asking, "saved_ns", sum->gaps_ns - sum->longest_gap_ns);
	return row_give(asking);
}

static int short_ask(struct asking *asking)
{
	struct short_tasks *sums = calloc(asking->account->task_name_count + 1, sizeof(*sums));
	struct place *tasks = places_by_begin(asking);
	double longest_ns = given(asking, "gap_ns");
	int error = sums && tasks ? 0 : -ENOMEM;

	for (size_t i = 0; error == 0 && i < asking->schedule->count; i++) {
		struct short_tasks *sum = &sums[facts_of(asking, tasks[i].task)->name];

		sum->wall_ns += known(facts_of(asking, tasks[i].task)->times.wall_ns);
		if (tasks[i].before == NONE || tasks[i].ns <= 0 || (double)tasks[i].ns >= longest_ns)
			continue;
		sum->gaps_ns += tasks[i].ns;
		sum->longest_gap_ns = most_of(sum->longest_gap_ns, tasks[i].ns);
	}
	for (size_t i = 0; error == 0 && i < asking->account->task_name_count; i++)
		error = short_give(asking, i, &sums[i]);
	free(tasks);
	free(sums);
	return error;
}

/* ---- engine_limit ------------------------------------------------------------------ */

/* Returns for how long so many tasks ran, by their number; to be freed, NULL if out of memory. */
static int64_t *concurrency_of(const struct asking *asking)
{
	const struct schedule *schedule = asking->schedule;
	int64_t *held_ns = calloc(schedule->count + 1, sizeof(*held_ns)), last_ns = schedule->begin_ns;
	size_t begun = 0, ended = 0;

	while (held_ns && ended < schedule->count) {
		int64_t end_ns = end_of(asking, schedule->by_end[ended]), now_ns = end_ns;

		if (begun < schedule->count)
			now_ns = least_of(end_ns, begin_of(asking, schedule->by_begin[begun]));
		held_ns[begun - ended] += now_ns - last_ns;
		last_ns = now_ns;
		if (now_ns == end_ns)
			ended++;
		else
			begun++;
	}
	return held_ns;
}

/* Sets how many tasks at a time the engine was told to run, 2 if its command line does not say. */
static int jobs_find(const struct asking *asking, int64_t *ret_count)
{
	const struct row_run *run = report_run(asking->report);
	const struct store_parameter parameters[] = QUERY_PARAMETERS_OF("run_id", run->id, run->host_id);
	struct store_result *result;
	int more = query_ask(asking->report->store, "engine_jobs", parameters, &result);

	*ret_count = 2;
	if (more < 0)
		return more;
	more = store_result_next(result);
	if (more > 0 && result_integer(result, "job_count") != ROW_NULL)
		*ret_count = result_integer(result, "job_count");
	store_result_free(result);
	return more < 0 ? more : 0;
}

static int limit_give(struct asking *asking, size_t peak, int64_t held_ns)
{
	const struct row_run *run = report_run(asking->report);
	double wall_ns = (double)run_wall_ns(asking), used = known(run->cpu_ns) / wall_ns;
	double cores = (double)report_cores_milli(asking->report) / 1000;
	int64_t jobs;
	int error;

	if ((double)held_ns < given(asking, "least_share") * wall_ns || (double)peak >= cores ||
	    (double)asking->schedule->count < given(asking, "least_tasks") * (double)peak ||
	    used > 1.1 * (double)peak || used > 0.8 * cores)
		return 0;
	error = jobs_find(asking, &jobs);
	if (error < 0 || (int64_t)peak < jobs)
		return error;
	put_text(asking, "name", run->engine);
	put_integer(asking, "concurrent_count", (int64_t)peak);
	put_integer(asking, "task_count", (int64_t)asking->schedule->count);
	put_integer(asking, "limit_ns", held_ns);
	put_real(asking, "used_count", used);
	put_real(asking, "cpu_count", cores);
	put_integer(asking, "saved_ns", (int64_t)((double)held_ns * (1 - used / cores)));
	return row_give(asking);
}

static int limit_ask(struct asking *asking)
{
	size_t peak = asking->schedule->count, most_of_a_name = 0;
	double wall_ns = (double)run_wall_ns(asking);
	int64_t *held_ns;
	int error = 0;

	if (!report_run(asking->report)->engine || wall_ns < given(asking, "least_ns"))
		return 0;
	held_ns = concurrency_of(asking);
	if (!held_ns)
		return -ENOMEM;
	while (peak > 0 && (double)held_ns[peak] < PEAK_LEAST_SHARE * wall_ns)
		peak--;
	for (size_t i = 0; i < asking->account->task_name_count; i++)
		if (asking->account->task_names[i].task_count > most_of_a_name)
			most_of_a_name = asking->account->task_names[i].task_count;
	if (peak > 0 && most_of_a_name > peak)
		error = limit_give(asking, peak, held_ns[peak]);
	free(held_ns);
	return error;
}

/* ---- processor_contention ---------------------------------------------------------- */

/* Tasks of a name that waited for processors that others used. */
struct contended {
	size_t count;
	int64_t wait_ns, cpu_ns, begin_ns, end_ns;
	double most_share; /* of the processors, by the run itself */
	uint32_t part;     /* of the task that waited longest */
	int64_t longest_ns;
	char *others; /* a program; NULL: not one alone */
};

struct contention {
	double *used_ns; /* by task: CPU time that the run used on its host meanwhile, if each task used it evenly */
	struct contended *names;
};

static double rate_of(const struct asking *asking, size_t task)
{
	return known(facts_of(asking, task)->times.cpu_ns) / (double)(end_of(asking, task) - begin_of(asking, task));
}

static uint32_t part_of(const struct asking *asking, size_t task)
{
	return asking->report->tasks[facts_of(asking, task)->index].part;
}

/* Adds for each task on a host what the run used there until its end, less what it had used until its begin. */
static void used_add(const struct asking *asking, int64_t host_id, double *used_ns)
{
	const struct schedule *schedule = asking->schedule;
	double until_ns = 0, rate = 0;
	int64_t last_ns = schedule->begin_ns;

	for (size_t begun = 0, ended = 0; ended < schedule->count;) {
		bool begins = begun < schedule->count &&
			      begin_of(asking, schedule->by_begin[begun]) < end_of(asking, schedule->by_end[ended]);
		size_t task = begins ? schedule->by_begin[begun++] : schedule->by_end[ended++];
		int64_t now_ns = begins ? begin_of(asking, task) : end_of(asking, task);

		if (run_of(asking, part_of(asking, task))->host_id != host_id)
			continue;
		until_ns += rate * (double)(now_ns - last_ns);
		last_ns = now_ns;
		rate += begins ? rate_of(asking, task) : -rate_of(asking, task);
		used_ns[task] += begins ? -until_ns : until_ns;
	}
}

/* Waiting for a quota is another finding. */
static int64_t wait_of(const struct asking *asking, size_t task)
{
	return (int64_t)(known(facts_of(asking, task)->times.run_delay_ns) -
			 known(facts_of(asking, task)->throttled_ns));
}

/* What the run used of the processors that the task was allowed while it waited for one; above 1 if it was none, or the task
 * wanted more by itself. */
static double share_of(const struct asking *asking, const struct contention *contention, size_t task)
{
	const struct account_task *facts = facts_of(asking, task);
	const struct account_times *times = &facts->times;
	int64_t run_milli = report_part_cores_milli(asking->report, part_of(asking, task));
	double active_ns =
		known(times->cpu_ns) + known(times->run_delay_ns) + known(times->block_io_ns) + known(times->memory_ns);
	double held_ns = known(times->wall_ns) * (double)facts->cores_milli / 1000,
	       wait_ns = (double)wait_of(asking, task);

	if (held_ns <= 0 || times->cpu_ns == ROW_NULL || active_ns > held_ns || wait_ns <= 0 ||
	    wait_ns < given(asking, "least_share") * (known(times->cpu_ns) + wait_ns))
		return 2;
	return (facts->cores_milli < run_milli ? known(times->cpu_ns) : contention->used_ns[task]) / held_ns;
}

static void contended_add(const struct asking *asking, struct contended *name, size_t task, double share)
{
	int64_t wait_ns = wait_of(asking, task);

	name->begin_ns = name->count ? least_of(name->begin_ns, begin_of(asking, task)) : begin_of(asking, task);
	name->end_ns = most_of(name->end_ns, end_of(asking, task));
	name->count++;
	name->wait_ns += wait_ns;
	name->cpu_ns += facts_of(asking, task)->times.cpu_ns;
	name->most_share = share > name->most_share ? share : name->most_share;
	if (wait_ns <= name->longest_ns)
		return;
	name->longest_ns = wait_ns;
	name->part = part_of(asking, task);
}

/* Finds the program that used the processors, if one used most of what these tasks waited for. */
static int others_find(const struct asking *asking, struct contended *name)
{
	const struct row_run *run = run_of(asking, name->part);
	int64_t shift_ns = report_part_shift_ns(asking->report, name->part);
	const struct store_parameter parameters[] = {
		STORE_INT("run_id", run->id),
		STORE_INT("host_id", run->host_id),
		STORE_INT("begin_boot_ns", row_subtract(name->begin_ns, shift_ns)),
		STORE_INT("end_boot_ns", row_subtract(name->end_ns, shift_ns)),
		{0},
	};
	struct store_result *result;
	int more = query_ask(asking->report->store, "other_programs", parameters, &result);

	if (more < 0)
		return more;
	more = store_result_next(result);
	if (more > 0 && known(result_integer(result, "used_ns")) >= OTHERS_LEAST_SHARE * (double)name->wait_ns) {
		name->others = strdup(result_text(result, "program"));
		more = name->others ? more : -ENOMEM;
	}
	store_result_free(result);
	return more < 0 ? more : 0;
}

/* Finds it for the names that waited longest. */
static int others_find_all(const struct asking *asking, const struct contention *contention)
{
	size_t count = asking->account->task_name_count;
	struct place *names = calloc(count + 1, sizeof(*names));
	int error = names ? 0 : -ENOMEM;

	for (size_t i = 0; names && i < count; i++)
		names[i] = (struct place){i, NONE, contention->names[i].wait_ns};
	if (names)
		qsort(names, count, sizeof(*names), compare_places);
	for (size_t i = 0; i < count && i < OTHERS_MAX && error == 0; i++)
		if ((double)names[i].ns >= given(asking, "least_ns"))
			error = others_find(asking, &contention->names[names[i].task]);
	free(names);
	return error;
}

static int contention_give(struct asking *asking, const struct contended *name, size_t task)
{
	const struct account_task *facts = facts_of(asking, task);
	const struct account_times *times = &facts->times;
	double wall_ns = known(times->wall_ns), wait_ns = (double)wait_of(asking, task);
	double active_ns =
		known(times->cpu_ns) + known(times->run_delay_ns) + known(times->block_io_ns) + known(times->memory_ns);
	double without_ns = wall_ns - wall_ns * wait_ns / (active_ns > wall_ns ? active_ns : wall_ns);
	double least_ns = known(times->cpu_ns) * 1000 / (double)facts->cores_milli;

	put_task(asking, task);
	put_text(asking, "others", name->others ? name->others : "other work");
	put_integer(asking, "task_count", (int64_t)name->count);
	put_integer(asking, "wait_ns", name->wait_ns);
	put_real(asking, "wait_share", (double)name->wait_ns / (double)(name->cpu_ns + name->wait_ns));
	put_real(asking, "used_share", name->most_share);
	put_integer(asking, "saved_ns", (int64_t)(wall_ns - (without_ns > least_ns ? without_ns : least_ns)));
	return row_give(asking);
}

static int contention_ask(struct asking *asking)
{
	struct contention contention = {
		.used_ns = calloc(asking->schedule->count + 1, sizeof(double)),
		.names = calloc(asking->account->task_name_count + 1, sizeof(struct contended)),
	};
	struct place *tasks = calloc(asking->schedule->count + 1, sizeof(*tasks));
	int error = contention.used_ns && contention.names && tasks ? 0 : -ENOMEM;
	size_t count = 0;

	for (size_t i = 0; error == 0 && i < asking->report->parts.count; i++)
		if (joined_is_new_host(asking->report->parts.items, i))
			used_add(asking, run_of(asking, i)->host_id, contention.used_ns);
	for (size_t i = 0; error == 0 && i < asking->schedule->count; i++) {
		double share = share_of(asking, &contention, i);

		if (share > given(asking, "most_used_share"))
			continue;
		contended_add(asking, &contention.names[facts_of(asking, i)->name], i, share);
		tasks[count++] = (struct place){i, NONE, wait_of(asking, i)};
	}
	if (error == 0)
		error = others_find_all(asking, &contention);
	if (count > 0)
		qsort(tasks, count, sizeof(*tasks), compare_places);
	for (size_t i = 0; error == 0 && i < count; i++) {
		struct contended *name = &contention.names[facts_of(asking, tasks[i].task)->name];

		if ((double)name->wait_ns >= given(asking, "least_ns"))
			error = contention_give(asking, name, tasks[i].task);
	}
	for (size_t i = 0; contention.names && i < asking->account->task_name_count; i++)
		free(contention.names[i].others);
	free(tasks);
	free(contention.names);
	free(contention.used_ns);
	return error;
}

/* ---- all --------------------------------------------------------------------------- */

int shape_ask(const struct shape *shape, const struct question *question, const struct store_parameter *parameters,
	      shape_take *take, void *context)
{
	static const struct {
		const char *name;
		int (*ask)(struct asking *asking);
	} findings[] = {
		{"engine_limit", limit_ask}, {"gaps_between_tasks", gaps_ask},
		{"idle_tail", tail_ask},     {"processor_contention", contention_ask},
		{"serial_task", serial_ask}, {"short_tasks", short_ask},
	};
	struct asking asking = {shape->report, shape->account, &shape->account->schedule, question,
				parameters,    .take = take,   .context = context};

	for (size_t i = 0; i < sizeof(findings) / sizeof(findings[0]); i++)
		if (strcmp(findings[i].name, question->name) == 0)
			return findings[i].ask(&asking);
	return -EINVAL;
}
