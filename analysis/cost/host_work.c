/* The work of one host in a time. See host_work.h. */
#include "analysis/cost/host_work.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/query/gpus.h"
#include "common/grow.h"

#define MS INT64_C(1000000)
#define CORE INT64_C(1000000000) /* billionths */
#define CORES_MAX 1e6

void host_work_free(struct host_work *work)
{
	price_times_free(&work->prices);
	free(work->items);
	free(work->holds);
	free(work->periods);
}

/* ---- when a host was watched, and at what price ----------------------------------- */

/* What the host costs from the time on in which it is of interest, if that were its price. The difference between two
 * times does not depend on how the time between them is divided: days add up exactly. */
static void cost_until(const struct host_work *work, const struct price *price, int64_t unix_ns,
		       int64_t ret_nanos[CHARGE_RESOURCE_COUNT])
{
	price_bill(price, &work->size, unix_ns - work->since_unix_ns, ret_nanos);
}

static int period_add(struct host_work *work, int64_t begin, int64_t end, const struct price *price)
{
	struct charge_period *grown =
		grow(work->periods, &work->period_capacity, work->period_count + 1, sizeof(*work->periods));
	const struct row_host *host = &work->host->host;
	int64_t before[CHARGE_RESOURCE_COUNT], after[CHARGE_RESOURCE_COUNT];
	struct charge_period *period;

	if (!grown)
		return -ENOMEM;
	work->periods = grown;
	period = &grown[work->period_count++];
	*period = (struct charge_period){
		.begin_unix_ns = begin,
		.end_unix_ns = end,
		.capacity = {price_limit(host->cpu_count, PRICE_CPUS_MAX) * CORE,
			     price_limit(host->memory_bytes, PRICE_MEMORY_BYTES_MAX)},
	};
	cost_until(work, price, begin, before);
	cost_until(work, price, end, after);
	if (price_sum(after) == INT64_MAX)
		return -EOVERFLOW;
	for (size_t i = 0; i < CHARGE_RESOURCE_COUNT; i++)
		period->bill_nanos[i] = after[i] - before[i];
	return 0;
}

/* Adds what the host cost from `begin` to `end`, in pieces of constant price. */
static int span_add(void *context, int64_t begin, int64_t end)
{
	struct host_work *work = context;
	int error = 0;

	work->watched_ns += end - begin;
	work->observed_ms += (end - begin) / MS;
	while (begin < end && error == 0) {
		const struct price *price = price_at(&work->prices, begin);
		int64_t until = row_least(end, price->until_unix_ns);

		error = period_add(work, begin, until, price);
		begin = until;
	}
	return error;
}

int host_each_watched(const struct row_cost_watched *watched, size_t count, int64_t begin, int64_t end,
		      int (*take)(void *context, int64_t begin, int64_t end), void *context)
{
	int error = 0;

	if (count == 0 && begin < end)
		return take(context, begin, end);
	for (size_t i = 0; i < count && error == 0; i++) {
		int64_t from = row_most(begin, watched[i].begin_unix_ns);
		int64_t to = watched[i].end_unix_ns == ROW_NULL ? end : row_least(end, watched[i].end_unix_ns);

		if (from >= to)
			continue;
		error = take(context, from, to);
		begin = to;
	}
	return error;
}

int host_work_periods(struct host_work *work, int64_t begin, int64_t end)
{
	work->period_count = 0;
	work->watched_ns = work->observed_ms = 0;
	return host_each_watched(work->watched.items, work->watched.count, begin, end, span_add, work);
}

/* ---- items ------------------------------------------------------------------------ */

/* Returns the mean number of cores, in billionths. Figures are not to be trusted: no host has a million cores. */
static int64_t cores_used(int64_t cpu_ns, int64_t wall_ns)
{
	double cores = cpu_ns > 0 && wall_ns > 0 ? (double)cpu_ns / (double)wall_ns : 0;

	return (int64_t)((cores < CORES_MAX ? cores : CORES_MAX) * (double)CORE);
}

/* A limit as large as the host requests nothing: it is not known to be one. */
static int64_t requested(int64_t limit, int64_t host)
{
	return row_known(limit) < host ? row_known(limit) : 0;
}

size_t host_work_run_end(const struct host_work *work, size_t first)
{
	const struct rows *tasks = &work->tasks;
	size_t end = first + 1;

	while (end < tasks->count &&
	       ROWS_ITEM(tasks, cost_task, end)->run_id == ROWS_ITEM(tasks, cost_task, first)->run_id)
		end++;
	return end;
}

static struct charge_item task_item(const struct host_work *work, const struct row_cost_task *task)
{
	int64_t end = task->end_unix_ns != ROW_NULL ? task->end_unix_ns : work->host->host.last_seen_unix_ns;

	if (task->begin_unix_ns < 0) /* unknown: it held nothing at any time */
		end = task->begin_unix_ns;
	return (struct charge_item){
		.begin_unix_ns = task->begin_unix_ns,
		.end_unix_ns = end,
		.requested = {0, requested(task->memory_limit_bytes, work->host->host.memory_bytes)},
		.used = {cores_used(task->cpu_ns, row_subtract(end, task->begin_unix_ns)),
			 row_known(task->memory_bytes)},
		.holder = CHARGE_NO_HOLDER,
	};
}

/* Thousandths of a core; a host that is a container itself has a limit of its own. */
static int64_t host_cores_milli(const struct row_host *host)
{
	int64_t milli = price_limit(host->cpu_count, PRICE_CPUS_MAX) * 1000;

	return host->core_limit_milli == ROW_NULL ? milli : row_least(milli, host->core_limit_milli);
}

/* Appends an item for a run that requested cores or memory as a whole, and lets its tasks take from that. */
static void holder_add(struct host_work *work, size_t first, size_t end)
{
	const struct row_cost_task *task = ROWS_ITEM(&work->tasks, cost_task, first);
	const struct row_host *host = &work->host->host;
	int64_t milli = requested(task->run_core_limit_milli, host_cores_milli(host));
	int64_t bytes = requested(task->run_memory_limit_bytes, host->memory_bytes);
	struct charge_item *holder = &work->items[work->item_count];

	if (milli == 0 && bytes == 0)
		return;
	*holder = (struct charge_item){
		.begin_unix_ns = INT64_MAX,
		.requested = {milli * (CORE / 1000), bytes},
		.holder = CHARGE_NO_HOLDER,
	};
	for (size_t i = first; i < end; i++) {
		work->items[i].holder = work->item_count;
		holder->begin_unix_ns = row_least(holder->begin_unix_ns, work->items[i].begin_unix_ns);
		holder->end_unix_ns = row_most(holder->end_unix_ns, work->items[i].end_unix_ns);
	}
	work->item_count++;
}

/* Energy is that of what was used. */
static void requests_drop(struct host_work *work)
{
	for (size_t i = 0; i < work->item_count; i++)
		memset(work->items[i].requested, 0, sizeof(work->items[i].requested));
}

/* What a task held is an item of its own, for each device: see charge_gpus.h. */
static int holds_make(struct host_work *work)
{
	work->holds = calloc(work->gpus.count, sizeof(*work->holds));
	if (!work->holds)
		return -ENOMEM;
	for (size_t i = 0; i < work->tasks.count; i++) {
		size_t count, first = rows_find(&work->gpus, offsetof(struct row_cost_gpu, task_id),
						ROWS_ITEM(&work->tasks, cost_task, i)->task_id, &count);

		for (size_t j = first; j < first + count; j++) {
			const struct row_cost_gpu *held = ROWS_ITEM(&work->gpus, cost_gpu, j);
			uint64_t devices = gpus_of(held->gpu);
			int64_t end = held->end_unix_ns;

			if (!devices)
				continue;
			work->holds[work->hold_count++] = (struct gpu_hold){
				.item = i,
				.devices = devices,
				.begin_unix_ns = held->begin_unix_ns,
				.end_unix_ns = end != ROW_NULL ? end : work->host->host.last_seen_unix_ns,
				.busy_ns = held->busy_ns,
			};
		}
	}
	return 0;
}

int host_work_items(struct host_work *work, bool is_energy)
{
	const struct rows *tasks = &work->tasks;

	work->items = calloc(2 * tasks->count + 1, sizeof(*work->items));
	if (!work->items)
		return -ENOMEM;
	work->item_count = tasks->count;
	for (size_t i = 0; i < tasks->count; i++)
		work->items[i] = task_item(work, ROWS_ITEM(tasks, cost_task, i));
	if (is_energy)
		requests_drop(work);
	for (size_t i = 0; i < tasks->count && !is_energy; i = host_work_run_end(work, i))
		holder_add(work, i, host_work_run_end(work, i));
	return work->gpus.count > 0 ? holds_make(work) : 0;
}

int host_work_idle_energy(const struct host_work *work, int64_t *ret_nanos)
{
	int64_t taken = 0;

	for (size_t i = 0; i < work->period_count; i++) {
		int64_t before[CHARGE_RESOURCE_COUNT], after[CHARGE_RESOURCE_COUNT];

		cost_until(work, &work->idle_price, work->periods[i].begin_unix_ns, before);
		cost_until(work, &work->idle_price, work->periods[i].end_unix_ns, after);
		if (after[CHARGE_CPU] == INT64_MAX)
			return -EOVERFLOW;
		taken += after[CHARGE_CPU] - before[CHARGE_CPU];
	}
	*ret_nanos = taken;
	return 0;
}
