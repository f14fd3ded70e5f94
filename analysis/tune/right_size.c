/* The memory and the cores to request for tasks of one name. See right_size.h. */
#include "analysis/tune/right_size.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define MIB (INT64_C(1) << 20)
#define GIB (INT64_C(1) << 30)
#define SECOND_NS 1e9

#define MARGIN 1.01
#define MARGIN_BYTES (16 * MIB)
#define DEVIATIONS 4.0
#define DEVIATION_LEAST 0.1 /* of the largest need; counts as one squared deviation more */
#define OOM_MARGIN 1.25
#define BYTES_MAX ((double)(INT64_C(1) << 60)) /* more is nonsense, and would overflow */
#define ROUND_STEPS 64                         /* from a power of two to the next */
#define CORES_PERCENTILE 0.95
#define WAITED_SHARE 0.1      /* of the time in which it could have run; as the finding on CPU contention */
#define CORES_NEGLIGIBLE 0.05 /* such as a shell beside its command; slows down a task by 5 % at most */

bool right_size_is_so_far(const struct right_size *size)
{
	return size->task_count + size->oom_count == 0 && size->running_count > 0;
}

/* ---- memory ---------------------------------------------------------------------------- */

int64_t right_size_need(int64_t concurrent_bytes, int64_t unattributed_bytes, int64_t peak_rss_bytes,
			bool *ret_is_peak_rss)
{
	int64_t need;

	*ret_is_peak_rss = peak_rss_bytes > concurrent_bytes; /* ROW_NULL is less than any size */
	need = *ret_is_peak_rss ? peak_rss_bytes : concurrent_bytes;
	if (need == ROW_NULL || unattributed_bytes <= 0)
		return need;
	return need < INT64_MAX - unattributed_bytes ? need + unattributed_bytes : INT64_MAX;
}

int64_t right_size_round(double bytes)
{
	int64_t whole = bytes < BYTES_MAX ? (int64_t)ceil(bytes) : (int64_t)BYTES_MAX, step = 4 * MIB;

	while (step < GIB && step * 2 * ROUND_STEPS <= whole)
		step *= 2;
	return (whole + step - 1) / step * step;
}

/* What tasks needed, and the last limit at which one was killed. */
struct needs {
	const struct right_size_task *most; /* NULL: no need is known */
	size_t count;                       /* of tasks that succeeded */
	double mean, squares;               /* of these; the sum of squared deviations */
	int64_t oom_bytes;
};

static struct needs needs_find(const struct right_size_task *tasks, size_t count,
			       const struct right_size_task *left_out)
{
	struct needs needs = {.oom_bytes = ROW_NULL};

	for (size_t i = 0; i < count; i++) {
		const struct right_size_task *task = &tasks[i];
		double deviation;

		if (task == left_out)
			continue;
		if (task->oom_bytes != ROW_NULL)
			needs.oom_bytes = task->oom_bytes;
		if (task->memory_bytes == ROW_NULL)
			continue;
		if (!needs.most || task->memory_bytes > needs.most->memory_bytes)
			needs.most = task;
		if (!task->has_succeeded)
			continue;
		deviation = (double)task->memory_bytes - needs.mean;
		needs.mean += deviation / (double)++needs.count;
		needs.squares += deviation * ((double)task->memory_bytes - needs.mean);
	}
	return needs;
}

double right_size_request(double most_bytes, double squares, double count, double error)
{
	double deviation = sqrt((squares + pow(DEVIATION_LEAST * most_bytes, 2)) / count);

	return MARGIN * most_bytes + DEVIATIONS * deviation * error + MARGIN_BYTES;
}

/* The rule. Unknown if neither a need nor a limit is known. */
static int64_t memory_request(const struct needs *needs)
{
	double bytes = 0, count = fmax((double)needs->count, 1);

	if (!needs->most && needs->oom_bytes == ROW_NULL)
		return ROW_NULL;
	if (needs->most)
		bytes = right_size_request((double)needs->most->memory_bytes, needs->squares, count, 1 / sqrt(count));
	if (needs->oom_bytes != ROW_NULL)
		bytes = fmax(bytes, OOM_MARGIN * (double)needs->oom_bytes);
	return right_size_round(bytes);
}

/* Of the tasks that succeeded only the largest can need more than what the others' largest need requests. */
static int64_t left_out_failed(const struct right_size_task *tasks, size_t count, const struct needs *needs)
{
	struct needs others = needs_find(tasks, count, needs->most);
	int64_t request = memory_request(&others);

	if (needs->count == 0 || request == ROW_NULL)
		return ROW_NULL;
	return needs->most->has_succeeded && needs->most->memory_bytes > request;
}

static void memory_find(const struct right_size_task *tasks, size_t count, struct right_size *size)
{
	struct needs needs = needs_find(tasks, count, NULL);

	size->used_bytes = needs.most ? needs.most->memory_bytes : ROW_NULL;
	size->is_peak_rss = needs.most && needs.most->is_peak_rss;
	size->unattributed_bytes = needs.most ? needs.most->unattributed_bytes : 0;
	size->oom_bytes = needs.oom_bytes;
	size->memory_bytes = memory_request(&needs);
	size->left_out_failed_count = left_out_failed(tasks, count, &needs);
	size->fail_share = 1.0 / (double)(size->task_count + 1);
}

static int input_find(const struct right_size_task *tasks, size_t count, int64_t input_bytes, struct right_size *size)
{
	struct right_size_point *points = calloc(count + 1, sizeof(*points));
	size_t known = 0;

	size->largest_input_bytes = size->input_memory_bytes = ROW_NULL;
	if (!points)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		if (tasks[i].memory_bytes == ROW_NULL || tasks[i].input_bytes <= 0 || !tasks[i].has_succeeded)
			continue;
		if (tasks[i].input_bytes > size->largest_input_bytes)
			size->largest_input_bytes = tasks[i].input_bytes;
		points[known++] =
			(struct right_size_point){(double)tasks[i].input_bytes, (double)tasks[i].memory_bytes};
	}
	if (input_bytes != ROW_NULL)
		size->input = right_size_for_input(points, known, (double)input_bytes);
	if (input_bytes != ROW_NULL && !isnan(size->input.memory_bytes))
		size->input_memory_bytes =
			right_size_round(fmax(size->input.memory_bytes,
					      size->oom_bytes == ROW_NULL ? 0 : OOM_MARGIN * (double)size->oom_bytes));
	free(points);
	return 0;
}

/* ---- what was requested ---------------------------------------------------------------- */

static int compare_ids(const void *left, const void *right)
{
	int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

	return a < b ? -1 : a > b;
}

size_t right_size_ids_unique(int64_t *ids, size_t count)
{
	size_t unique = 0;

	qsort(ids, count, sizeof(*ids), compare_ids);
	for (size_t i = 0; i < count; i++)
		if (i == 0 || ids[i] != ids[unique - 1])
			ids[unique++] = ids[i];
	return unique;
}

static int request_find(const struct right_size_task *tasks, size_t count, struct right_size *size)
{
	int64_t *run_ids = calloc(count + 1, sizeof(*run_ids));
	double saved_byte_seconds = 0;
	size_t requested = 0;

	if (!run_ids)
		return -ENOMEM;
	size->limit_bytes = size->saved_byte_seconds = ROW_NULL;
	for (size_t i = 0; i < count; i++) {
		if (tasks[i].limit_bytes == ROW_NULL)
			continue;
		size->limit_bytes = tasks[i].limit_bytes;
		if (tasks[i].is_running)
			continue;
		run_ids[requested++] = tasks[i].run_id;
		saved_byte_seconds +=
			(double)(tasks[i].limit_bytes - size->memory_bytes) * ((double)tasks[i].wall_ns / SECOND_NS);
	}
	if (requested > 0 && size->memory_bytes != ROW_NULL)
		size->saved_byte_seconds =
			(int64_t)(saved_byte_seconds / (double)right_size_ids_unique(run_ids, requested));
	for (size_t i = 0; i < count; i++)
		run_ids[i] = tasks[i].run_id;
	size->run_count = right_size_ids_unique(run_ids, count);
	free(run_ids);
	return 0;
}

/* ---- cores ----------------------------------------------------------------------------- */

int64_t right_size_cores(double used)
{
	double cores = ceil(used - CORES_NEGLIGIBLE);

	return cores > 1 ? (int64_t)cores : 1;
}

bool right_size_has_waited(int64_t cpu_ns, int64_t run_delay_ns)
{
	return cpu_ns >= 0 && run_delay_ns > 0 &&
	       (double)run_delay_ns > WAITED_SHARE * ((double)cpu_ns + (double)run_delay_ns);
}

static void cores_find(const struct right_size_task *tasks, size_t count, struct right_size *size)
{
	size->cores_used = NAN;
	size->cores = ROW_NULL;
	for (size_t i = 0; i < count; i++) {
		if (isnan(tasks[i].cores) || tasks[i].cores <= size->cores_used ||
		    (tasks[i].is_running && !right_size_is_so_far(size)))
			continue;
		size->cores_used = tasks[i].cores;
		size->cores_are_least = !tasks[i].has_samples || tasks[i].has_waited || tasks[i].is_running;
	}
	if (!isnan(size->cores_used))
		size->cores = right_size_cores(size->cores_used);
}

int right_size_windows_init(struct right_size_windows *windows, int64_t begin_ns, int64_t end_ns)
{
	int64_t count;

	if (end_ns <= begin_ns)
		end_ns = begin_ns + 1;
	count = (end_ns - begin_ns) / RIGHT_SIZE_WINDOW_NS;
	if (count > RIGHT_SIZE_WINDOWS_MAX)
		count = RIGHT_SIZE_WINDOWS_MAX;
	*windows =
		(struct right_size_windows){.begin_ns = begin_ns, .end_ns = end_ns, .count = count ? (size_t)count : 1};
	windows->cpu_ns = calloc(windows->count, sizeof(*windows->cpu_ns));
	return windows->cpu_ns ? 0 : -ENOMEM;
}

void right_size_windows_deinit(struct right_size_windows *windows)
{
	free(windows->cpu_ns);
	windows->cpu_ns = NULL;
}

static double window_ns(const struct right_size_windows *windows)
{
	return (double)(windows->end_ns - windows->begin_ns) / (double)windows->count;
}

/* Returns the index of the window of that time, which is in the task's life. */
static size_t window_at(const struct right_size_windows *windows, int64_t at_ns)
{
	size_t index = (size_t)((double)(at_ns - windows->begin_ns) / window_ns(windows));

	return index < windows->count ? index : windows->count - 1;
}

void right_size_windows_add(struct right_size_windows *windows, int64_t begin_ns, int64_t end_ns, int64_t cpu_ns)
{
	double length = window_ns(windows), rate;
	size_t first, last;

	if (end_ns > windows->end_ns)
		end_ns = windows->end_ns;
	if (end_ns < windows->begin_ns)
		end_ns = windows->begin_ns;
	if (begin_ns < windows->begin_ns)
		begin_ns = windows->begin_ns;
	last = window_at(windows, end_ns);
	if (begin_ns >= end_ns) {
		windows->cpu_ns[last] += (double)cpu_ns;
		return;
	}
	rate = (double)cpu_ns / (double)(end_ns - begin_ns);
	first = window_at(windows, begin_ns);
	for (size_t i = first; i <= last; i++) {
		double from = (double)i * length,
		       until = i == last ? (double)(end_ns - windows->begin_ns) : from + length;

		if (i == first)
			from = (double)(begin_ns - windows->begin_ns);
		windows->cpu_ns[i] += rate * fmax(until - from, 0);
	}
}

static int compare_reals(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return a < b ? -1 : a > b;
}

double right_size_windows_cores(struct right_size_windows *windows)
{
	size_t rank = (size_t)ceil(CORES_PERCENTILE * (double)windows->count);

	qsort(windows->cpu_ns, windows->count, sizeof(*windows->cpu_ns), compare_reals);
	return windows->cpu_ns[rank - 1] / window_ns(windows);
}

/* ---- all of it ------------------------------------------------------------------------- */

int right_size_find(const struct right_size_task *tasks, size_t count, int64_t input_bytes, struct right_size *ret_size)
{
	struct right_size size = {0};
	int error;

	for (size_t i = 0; i < count; i++) {
		size.task_count += tasks[i].has_succeeded && tasks[i].memory_bytes != ROW_NULL;
		size.failed_count += !tasks[i].has_succeeded && !tasks[i].is_running;
		size.running_count += tasks[i].is_running;
		size.oom_count += tasks[i].oom_bytes != ROW_NULL;
	}
	memory_find(tasks, count, &size);
	cores_find(tasks, count, &size);
	if (size.task_count + size.oom_count + size.running_count == 0)
		size.memory_bytes = size.cores = ROW_NULL;
	error = input_find(tasks, count, input_bytes, &size);
	if (error == 0)
		error = request_find(tasks, count, &size);
	if (error == 0)
		*ret_size = size;
	return error;
}
