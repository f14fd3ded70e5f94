/* Findings about the shape of a run: how its tasks lie after and beside each other. See asking.h; what each means, and its
 * thresholds, is in tune/NAME.sql. */
#include <errno.h>
#include <stdlib.h>

#include "analysis/query/ask.h"
#include "analysis/tune/asking.h"

/* Of the time in which a run had most tasks at a time: what lasts less is not a limit. */
#define PEAK_LEAST_SHARE 0.01

/* Returns all tasks as they began, `ns` after the last end before each: negative if another one still ran. To be freed;
 * NULL if out of memory. */
static struct asking_place *places_by_begin(const struct asking *asking)
{
	struct asking_place *places = calloc(asking->account->schedule.count + 1, sizeof(*places));
	size_t last = SCHEDULE_NO_TASK;

	for (size_t i = 0; places && i < asking->account->schedule.count; i++) {
		size_t task = asking->account->schedule.by_begin[i];

		places[i] = (struct asking_place){task, last, 0};
		if (last != SCHEDULE_NO_TASK)
			places[i].ns = asking_begin_ns(asking, task) - asking_end_ns(asking, last);
		if (last == SCHEDULE_NO_TASK || asking_end_ns(asking, task) > asking_end_ns(asking, last))
			last = task;
	}
	return places;
}

/* ---- gaps_between_tasks ------------------------------------------------------------ */

static int64_t gap_end_ns(const struct asking *asking, const struct asking_place *gap)
{
	return gap->task == SCHEDULE_NO_TASK ? asking->account->schedule.end_ns : asking_begin_ns(asking, gap->task);
}

/* Where it is; to be freed, NULL if out of memory. */
static char *gap_place(const struct asking *asking, const struct asking_place *gap, bool is_one)
{
	const char *prefix = is_one ? "" : "in several gaps, the longest ";
	char *text;
	int size;

	if (gap->before == SCHEDULE_NO_TASK)
		size = asprintf(&text, "%suntil %s began", prefix, asking_name(asking, gap->task));
	else if (gap->task == SCHEDULE_NO_TASK)
		size = asprintf(&text, "%safter %s, until the end", prefix, asking_name(asking, gap->before));
	else
		size = asprintf(&text, "%safter %s, until %s began", prefix, asking_name(asking, gap->before),
				asking_name(asking, gap->task));
	return size < 0 ? NULL : text;
}

/* Adds up the time in which the engine or script on one host computed, or waited for a processor, in these gaps. */
static int driver_add(const struct asking *asking, size_t part, const struct asking_place *gaps, size_t count,
		      int64_t *used_ns)
{
	const struct row_run *run = asking_run(asking, part);
	const struct store_parameter parameters[] = QUERY_PARAMETERS_OF("run_id", run->id, run->host_id);
	int64_t process = ROW_NULL, last_busy_ns = 0;
	struct store_result *result;
	int more = query_ask(asking->report->store, "driver_samples", parameters, &result);

	if (more < 0)
		return more;
	while ((more = store_result_next(result)) > 0) {
		int64_t now_ns = row_add(result_integer(result, "boot_ns"), report_part_shift_ns(asking->report, part));
		int64_t busy_ns = result_integer(result, "busy_ns");

		if (result_integer(result, "process_id") != process) {
			process = result_integer(result, "process_id");
			last_busy_ns = 0;
		}
		for (size_t i = 0; i < count; i++) {
			int64_t end_ns = gap_end_ns(asking, &gaps[i]);

			if (now_ns > end_ns - gaps[i].ns && now_ns <= end_ns)
				used_ns[i] += busy_ns - last_busy_ns;
		}
		last_busy_ns = busy_ns;
	}
	store_result_free(result);
	return more;
}

static const char *name_or_none(const struct asking *asking, size_t task)
{
	return task == SCHEDULE_NO_TASK ? "" : asking_name(asking, task);
}

/* All are one finding: what makes an engine late before one task does so before others. */
static int gaps_give(struct asking *asking, const struct asking_place *gaps, size_t count)
{
	const struct row_run *run = report_run(asking->report);
	int64_t all_ns = 0;
	int error = 0;

	for (size_t i = 0; i < count; i++)
		all_ns += gaps[i].ns;
	for (size_t i = 0; i < count && error == 0; i++) {
		char *place = gap_place(asking, &gaps[i], count == 1);

		asking_put_text(asking, "driver", run->engine ? run->engine : run->name);
		asking_put_text(asking, "place", place);
		asking_put_text(asking, "name", name_or_none(asking, gaps[i].task));
		asking_put_integer(asking, "gap_count", (int64_t)count);
		asking_put_integer(asking, "all_ns", all_ns);
		asking_put_integer(asking, "gap_ns", gaps[i].ns);
		asking_put_integer(asking, "begin_boot_ns", gap_end_ns(asking, &gaps[i]) - gaps[i].ns);
		asking_put_text(asking, "after_name", name_or_none(asking, gaps[i].before));
		asking_put_integer(asking, "saved_ns", gaps[i].ns);
		error = place ? asking_give(asking) : -ENOMEM;
		free(place);
	}
	return error;
}

/* Keeps the gaps in which the driver did not compute itself. Returns their number. */
static size_t gaps_keep(const struct asking *asking, struct asking_place *gaps, size_t count, const int64_t *used_ns)
{
	double most_share = asking_given(asking, "most_busy_share");
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		if ((double)used_ns[i] <= most_share * (double)gaps[i].ns)
			gaps[kept++] = gaps[i];
	return kept;
}

/* Sets the gap before the first task, and adds that after the last. Engines that poll need some time there, and what uses
 * GPUs may wait for them. */
static void add_ends(const struct asking *asking, struct asking_place *gaps)
{
	const struct schedule *schedule = &asking->account->schedule;
	size_t count = schedule->count, last = count > 0 ? schedule->by_end[count - 1] : SCHEDULE_NO_TASK;

	gaps[count] = (struct asking_place){SCHEDULE_NO_TASK, last, 0};
	if (count == 0 || !account_is_prompt(report_run(asking->report)) || report_has_gpus(asking->report))
		return;
	gaps[0].ns = asking_begin_ns(asking, gaps[0].task) - schedule->begin_ns;
	if (report_run(asking->report)->end_boot_ns != ROW_NULL)
		gaps[count].ns = schedule->end_ns - asking_end_ns(asking, last);
}

int shape_ask_gaps(struct asking *asking)
{
	double least_ns = asking_given(asking, "least_ns"),
	       of_run_ns = asking_given(asking, "least_share") * (double)asking_wall_ns(asking);
	const struct schedule *schedule = &asking->account->schedule;
	struct asking_place *gaps = places_by_begin(asking);
	int64_t *used_ns;
	size_t count = 0;
	int error = 0;

	if (!gaps)
		return -ENOMEM;
	add_ends(asking, gaps);
	for (size_t i = 0; i <= schedule->count; i++)
		if ((double)gaps[i].ns >= least_ns && (double)gaps[i].ns >= of_run_ns)
			gaps[count++] = gaps[i];
	qsort(gaps, count, sizeof(*gaps), asking_compare_places);
	used_ns = calloc(count + 1, sizeof(*used_ns));
	if (!used_ns)
		error = -ENOMEM;
	for (size_t i = 0; count > 0 && i < asking->report->parts.count && error == 0; i++)
		error = driver_add(asking, i, gaps, count, used_ns);
	if (error == 0)
		error = gaps_give(asking, gaps, gaps_keep(asking, gaps, count, used_ns));
	free(used_ns);
	free(gaps);
	return error;
}

/* ---- serial_task ------------------------------------------------------------------- */

static bool uses_one_processor(const struct asking *asking, size_t task)
{
	const struct account_times *times = &asking_task(asking, task)->times;

	return asking_task(asking, task)->cores_milli >= 2000 && account_known(times->wall_ns) > 0 &&
	       2 * account_known(asking_task(asking, task)->gpu_ns) <
		       account_known(times->wall_ns) && /* it may poll its GPU */
	       account_known(times->cpu_ns) >= asking_given(asking, "least_share") * account_known(times->wall_ns) &&
	       account_known(times->cpu_ns) <= 1.01 * account_known(times->wall_ns);
}

/* What these tasks are called together, the longest first; to be freed, NULL if out of memory. */
static char *serial_subject(const struct asking *asking, const struct asking_place *tasks, size_t count)
{
	const char *name = asking_name(asking, tasks[0].task);
	size_t alike = 0;
	char *text;
	int size;

	for (size_t i = 0; i < count; i++)
		alike += asking_task(asking, tasks[i].task)->name == asking_task(asking, tasks[0].task)->name;
	if (count == 1)
		size = asprintf(&text, "%s", name);
	else if (alike == count)
		size = asprintf(&text, "%zu × %s", count, name);
	else
		size = asprintf(&text, "%s and %zu other task%s", name, count - 1, count == 2 ? "" : "s");
	return size < 0 ? NULL : text;
}

/* All are one finding: many short ones take as long as a long one. */
static int serial_give(struct asking *asking, const struct asking_place *tasks, size_t count)
{
	int64_t all_ns = 0;
	char *subject;
	int error;

	for (size_t i = 0; i < count; i++)
		all_ns += tasks[i].ns;
	if ((double)tasks[0].ns < asking_given(asking, "least_ns") &&
	    (double)all_ns < asking_given(asking, "least_all_ns"))
		return 0;
	subject = serial_subject(asking, tasks, count);
	error = subject ? 0 : -ENOMEM;
	for (size_t i = 0; i < count && error == 0; i++) {
		const struct account_task *task = asking_task(asking, tasks[i].task);
		double cores = (double)task->cores_milli / 1000;

		asking_put_task(asking, tasks[i].task);
		asking_put_text(asking, "tasks", subject);
		asking_put_integer(asking, "all_ns", all_ns);
		asking_put_integer(asking, "wall_ns", tasks[i].ns);
		asking_put_real(asking, "cores", account_known(task->times.cpu_ns) / (double)tasks[i].ns);
		asking_put_real(asking, "cpu_count", cores);
		asking_put_integer(asking, "saved_ns", (int64_t)((double)tasks[i].ns * (1 - 1 / cores)));
		error = asking_give(asking);
	}
	free(subject);
	return error;
}

int shape_ask_serial(struct asking *asking)
{
	double share = asking_given(asking, "overlap_share");
	struct asking_place *tasks = places_by_begin(asking);
	size_t count = 0;
	int error = 0;

	for (size_t i = 0; tasks && i < asking->account->schedule.count; i++) {
		size_t task = tasks[i].task;
		double overlap_ns = share * (double)(asking_end_ns(asking, task) - asking_begin_ns(asking, task));

		if (!uses_one_processor(asking, task) ||
		    (tasks[i].before != SCHEDULE_NO_TASK && (double)-tasks[i].ns > overlap_ns))
			continue;
		if (i + 1 < asking->account->schedule.count &&
		    (double)(asking_end_ns(asking, task) -
			     asking_begin_ns(asking, asking->account->schedule.by_begin[i + 1])) > overlap_ns)
			continue;
		tasks[count++] =
			(struct asking_place){task, SCHEDULE_NO_TASK, asking_task(asking, task)->times.wall_ns};
	}
	if (!tasks)
		return -ENOMEM;
	qsort(tasks, count, sizeof(*tasks), asking_compare_places);
	if (count > 0)
		error = serial_give(asking, tasks, count);
	free(tasks);
	return error;
}

/* ---- idle_tail --------------------------------------------------------------------- */

/* Returns when the first task began that the last one did not wait for: any, if none had ended before the last one began;
 * else those of its own name, which do the same work. */
static int64_t tail_could_begin_ns(const struct asking *asking, size_t last)
{
	const struct schedule *schedule = &asking->account->schedule;

	if (asking_begin_ns(asking, last) < asking_end_ns(asking, schedule->by_end[0]) - SCHEDULE_TEARDOWN_NS)
		return asking_begin_ns(asking, schedule->by_begin[0]);
	for (size_t i = 0; i < schedule->count; i++)
		if (asking_task(asking, schedule->by_begin[i])->name == asking_task(asking, last)->name)
			return asking_begin_ns(asking, schedule->by_begin[i]);
	return asking_begin_ns(asking, last);
}

int shape_ask_tail(struct asking *asking)
{
	const struct schedule *schedule = &asking->account->schedule;
	int64_t alone_ns, late_ns;
	size_t last, before;

	if (schedule->count < 2)
		return 0;
	last = schedule->by_end[schedule->count - 1];
	before = schedule->by_end[schedule->count - 2];
	alone_ns = asking_end_ns(asking, last) - asking_end_ns(asking, before);
	late_ns = asking_begin_ns(asking, last) - tail_could_begin_ns(asking, last);
	/* It ran beside the one before it: else it may have waited for that. */
	if (asking_end_ns(asking, before) <= asking_begin_ns(asking, last) + SCHEDULE_TEARDOWN_NS ||
	    (double)alone_ns < asking_given(asking, "least_share") * (double)asking_wall_ns(asking) ||
	    (double)alone_ns < asking_given(asking, "least_ns") || (double)late_ns < asking_given(asking, "least_ns"))
		return 0;
	asking_put_task(asking, last);
	asking_put_integer(asking, "wall_ns", asking_task(asking, last)->times.wall_ns);
	asking_put_integer(asking, "alone_ns", alone_ns);
	asking_put_integer(asking, "late_ns", late_ns);
	asking_put_integer(asking, "saved_ns", row_least(alone_ns, late_ns));
	return asking_give(asking);
}

/* ---- short_tasks ------------------------------------------------------------------- */

struct short_tasks {
	double wall_ns;
	int64_t gaps_ns, longest_gap_ns;
};

static int short_give(struct asking *asking, size_t name, const struct short_tasks *sum)
{
	const struct account_task_name *tasks = &asking->account->task_names[name];
	double share = (double)sum->gaps_ns / (double)row_most(1, asking_wall_ns(asking));
	double mean_ns = sum->wall_ns / (double)tasks->task_count;

	if (share < asking_given(asking, "least_share") ||
	    (double)tasks->task_count < asking_given(asking, "least_count") ||
	    mean_ns > asking_given(asking, "most_wall_ns"))
		return 0;
	asking_put_text(asking, "name", tasks->text);
	asking_put_integer(asking, "task_count", (int64_t)tasks->task_count);
	asking_put_integer(asking, "mean_ns", (int64_t)mean_ns);
	asking_put_integer(asking, "wait_ns", sum->gaps_ns);
	asking_put_real(asking, "wait_share", share);
	asking_put_integer(asking, "saved_ns", sum->gaps_ns - sum->longest_gap_ns);
	return asking_give(asking);
}

int shape_ask_short(struct asking *asking)
{
	struct short_tasks *sums = calloc(asking->account->task_name_count + 1, sizeof(*sums));
	struct asking_place *tasks = places_by_begin(asking);
	double longest_ns = asking_given(asking, "gap_ns");
	int error = sums && tasks ? 0 : -ENOMEM;

	for (size_t i = 0; error == 0 && i < asking->account->schedule.count; i++) {
		struct short_tasks *sum = &sums[asking_task(asking, tasks[i].task)->name];

		sum->wall_ns += account_known(asking_task(asking, tasks[i].task)->times.wall_ns);
		if (tasks[i].before == SCHEDULE_NO_TASK || tasks[i].ns <= 0 || (double)tasks[i].ns >= longest_ns)
			continue;
		sum->gaps_ns += tasks[i].ns;
		sum->longest_gap_ns = row_most(sum->longest_gap_ns, tasks[i].ns);
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
	const struct schedule *schedule = &asking->account->schedule;
	int64_t *held_ns = calloc(schedule->count + 1, sizeof(*held_ns)), last_ns = schedule->begin_ns;
	size_t begun = 0, ended = 0;

	while (held_ns && ended < schedule->count) {
		int64_t end_ns = asking_end_ns(asking, schedule->by_end[ended]), now_ns = end_ns;

		if (begun < schedule->count)
			now_ns = row_least(end_ns, asking_begin_ns(asking, schedule->by_begin[begun]));
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
	double wall_ns = (double)asking_wall_ns(asking), used = account_known(run->cpu_ns) / wall_ns;
	double cores = (double)report_cores_milli(asking->report) / 1000;
	int64_t jobs;
	int error;

	if ((double)held_ns < asking_given(asking, "least_share") * wall_ns || (double)peak >= cores ||
	    (double)asking->account->schedule.count < asking_given(asking, "least_tasks") * (double)peak ||
	    used > 1.1 * (double)peak || used > 0.8 * cores)
		return 0;
	error = jobs_find(asking, &jobs);
	if (error < 0 || (int64_t)peak < jobs)
		return error;
	asking_put_text(asking, "name", run->engine);
	asking_put_integer(asking, "concurrent_count", (int64_t)peak);
	asking_put_integer(asking, "task_count", (int64_t)asking->account->schedule.count);
	asking_put_integer(asking, "limit_ns", held_ns);
	asking_put_real(asking, "used_count", used);
	asking_put_real(asking, "cpu_count", cores);
	asking_put_integer(asking, "saved_ns", (int64_t)((double)held_ns * (1 - used / cores)));
	return asking_give(asking);
}

int shape_ask_limit(struct asking *asking)
{
	size_t peak = asking->account->schedule.count, most_of_a_name = 0;
	double wall_ns = (double)asking_wall_ns(asking);
	int64_t *held_ns;
	int error = 0;

	if (!report_run(asking->report)->engine || wall_ns < asking_given(asking, "least_ns"))
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
