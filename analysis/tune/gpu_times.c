/* See gpu_times.h. */
#include "analysis/tune/gpu_times.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/query/gpus.h"

/* A device that a task held from its first process to its last; of any run of the host. */
struct hold {
	int64_t task_id;
	unsigned device;
	int64_t begin_unix_ns, end_unix_ns;
	bool is_known; /* how long it worked for the task */
	bool is_shared;
};

struct holds {
	struct hold *items;
	size_t count;
};

/* Of the same task and device, next to each other. */
static int compare_tasks(const void *left, const void *right)
{
	const struct hold *a = left, *b = right;

	if (a->task_id != b->task_id)
		return a->task_id < b->task_id ? -1 : 1;
	return (a->device > b->device) - (a->device < b->device);
}

static int compare_devices(const void *left, const void *right)
{
	const struct hold *a = left, *b = right;

	if (a->device != b->device)
		return a->device < b->device ? -1 : 1;
	return (a->begin_unix_ns > b->begin_unix_ns) - (a->begin_unix_ns < b->begin_unix_ns);
}

static void merge(struct holds *holds)
{
	size_t kept = 0;

	qsort(holds->items, holds->count, sizeof(*holds->items), compare_tasks);
	for (size_t i = 1; i < holds->count; i++) {
		struct hold *last = &holds->items[kept], *hold = &holds->items[i];

		if (compare_tasks(last, hold) != 0) {
			holds->items[++kept] = *hold;
			continue;
		}
		last->begin_unix_ns = row_least(last->begin_unix_ns, hold->begin_unix_ns);
		last->end_unix_ns = row_most(last->end_unix_ns, hold->end_unix_ns);
		last->is_known |= hold->is_known;
	}
	holds->count = holds->count > 0 ? kept + 1 : 0;
}

/* Those that overlap with the one before that ends last, and that one, are shared. */
static void shared_find(struct holds *holds)
{
	struct hold *last = NULL;

	qsort(holds->items, holds->count, sizeof(*holds->items), compare_devices);
	for (size_t i = 0; i < holds->count; i++) {
		struct hold *hold = &holds->items[i];

		if (last && last->device == hold->device && hold->begin_unix_ns < last->end_unix_ns)
			last->is_shared = hold->is_shared = true;
		if (!last || last->device != hold->device || hold->end_unix_ns > last->end_unix_ns)
			last = hold;
	}
}

/* `end_unix_ns` is of those that have not ended. */
static int holds_make(const struct rows *rows, int64_t end_unix_ns, struct holds *ret_holds)
{
	struct holds holds = {calloc(rows->count * GPUS_MAX + 1, sizeof(*holds.items)), 0};

	if (!holds.items)
		return -ENOMEM;
	for (size_t i = 0; i < rows->count; i++) {
		const struct row_cost_gpu *row = ROWS_ITEM(rows, cost_gpu, i);

		for (uint64_t left = gpus_of(row->gpu); left; left &= left - 1)
			holds.items[holds.count++] = (struct hold){
				.task_id = row->task_id,
				.device = (unsigned)__builtin_ctzll(left),
				.begin_unix_ns = row->begin_unix_ns,
				.end_unix_ns = row->end_unix_ns == ROW_NULL ? end_unix_ns : row->end_unix_ns,
				.is_known = row->busy_ns != ROW_NULL,
			};
	}
	merge(&holds);
	shared_find(&holds);
	*ret_holds = holds;
	return 0;
}

struct part {
	const struct report *report;
	const struct schedule *schedule;
	const size_t *index_of;
	struct gpu_times *times;
	size_t index;
	bool *is_uncertain; /* by index in the schedule */
};

/* Returns the index in the schedule, SCHEDULE_NO_TASK if the task is of another run or part. */
static size_t task_of(const struct part *part, int64_t id)
{
	size_t task = report_find_task(part->report, id);

	return task == REPORT_NO_TASK || part->report->tasks[task].part != part->index ? SCHEDULE_NO_TASK
										       : part->index_of[task];
}

static void times_add(const struct part *part, const struct rows *rows, const struct holds *holds)
{
	for (size_t i = 0; i < holds->count; i++) {
		const struct hold *hold = &holds->items[i];
		size_t task = task_of(part, hold->task_id);

		if (task == SCHEDULE_NO_TASK)
			continue;
		part->times[task].held_ns += row_most(hold->end_unix_ns - hold->begin_unix_ns, 0);
		part->times[task].device_count++;
		part->is_uncertain[task] |= hold->is_shared || !hold->is_known;
	}
	for (size_t i = 0; i < rows->count; i++) {
		const struct row_cost_gpu *row = ROWS_ITEM(rows, cost_gpu, i);
		size_t task = task_of(part, row->task_id);

		uint64_t devices = gpus_of(row->gpu);
		struct gpu_times *times;

		if (task == SCHEDULE_NO_TASK || !devices)
			continue;
		times = &part->times[task];
		times->busy_ns = row_add_known(times->busy_ns, row->busy_ns);
		times->peak_bytes = row_add_known(times->peak_bytes, row->peak_bytes);
		times->device_bytes =
			row_most(times->device_bytes, row_known(row->capacity_bytes) / __builtin_popcountll(devices));
	}
}

static int part_load(const struct part *part)
{
	const struct row_run *run = &ROWS_ITEM(&part->report->parts, part, part->index)->run;
	int64_t shift_ns = report_part_shift_ns(part->report, part->index);
	int64_t end_boot_ns = row_subtract(part->schedule->end_ns, shift_ns);
	int64_t end_unix_ns = row_add(run->started_unix_ns, row_subtract(end_boot_ns, run->begin_boot_ns));
	const struct store_parameter parameters[] = {STORE_INT("since_unix_ns", run->started_unix_ns),
						     STORE_INT("until_unix_ns", end_unix_ns),
						     STORE_INT("first_host_id", run->host_id),
						     STORE_INT("last_host_id", run->host_id),
						     {0}};
	struct rows rows = {0};
	struct holds holds = {0};
	int error = rows_load(&rows, &row_type_cost_gpu, part->report->store, "cost_gpus", parameters);

	if (error == 0)
		error = holds_make(&rows, end_unix_ns, &holds);
	if (error == 0)
		times_add(part, &rows, &holds);
	free(holds.items);
	rows_free(&rows);
	return error;
}

int gpu_times_load(const struct report *report, const struct schedule *schedule, const size_t *index_of,
		   struct gpu_times *ret_times)
{
	struct part part = {report, schedule, index_of, ret_times};
	int error = 0;

	/* Whether others hold a device is not known to who sees only some users. */
	if (report_run(report)->gpu_busy_ns == ROW_NULL || store_is_restricted(report->store))
		return 0;
	part.is_uncertain = calloc(schedule->count + 1, sizeof(*part.is_uncertain));
	if (!part.is_uncertain)
		return -ENOMEM;
	for (; part.index < report->parts.count && error == 0; part.index++)
		error = part_load(&part);
	for (size_t i = 0; i < schedule->count; i++)
		if (part.is_uncertain[i])
			ret_times[i] = (struct gpu_times){0};
	free(part.is_uncertain);
	return error;
}
