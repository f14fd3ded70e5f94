/* What work cost. See bill.h. */
#include "analysis/cost/bill.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "analysis/cost/charge_gpus.h"
#include "analysis/cost/power.h"
#include "analysis/query/ask.h"
#include "analysis/query/gpus.h"
#include "analysis/query/joined.h"
#include "common/grow.h"
#include "common/text.h"

#define SECOND_NS INT64_C(1000000000)
#define DAY_NS (86400 * SECOND_NS)
#define MS INT64_C(1000000)
#define CORE INT64_C(1000000000) /* billionths */
#define CORES_MAX 1e6
#define GROUPS_AHEAD 2     /* two questions each; a lake takes eight */
#define GROUP_TASKS 100000 /* asked for at once; a lake answers with a million rows at most */

/* The work of one host in a time. */
struct host_work {
	const struct row_cloud_host *host;
	int64_t since_unix_ns, until_unix_ns;
	struct price_times prices;
	struct price_size size;
	struct price idle_price;   /* of energy: what the host takes without any work */
	struct rows watched;       /* row_cost_watched, borrowed like the next two */
	struct rows tasks;         /* row_cost_task, by run */
	struct rows tools;         /* row_cost_tool, by task; if asked for */
	struct rows gpus;          /* row_cost_gpu, by task */
	struct charge_item *items; /* one for each task, and for each run with a request */
	size_t item_count;
	struct gpu_hold *holds;
	size_t hold_count;
	struct charge_period *periods;
	size_t period_count, period_capacity;
};

/* A run, with its parts on other hosts. */
struct sampled_run {
	UT_hash_handle hh;
	int64_t id; /* of the run that represents it */
	struct run_samples samples;
};

struct maker {
	struct store *store;
	const struct bill_request *request;
	struct bill *bill;
	struct host_work *works; /* of the hosts of interest, by id */
	size_t work_count;
	struct rows watched;         /* of all of them */
	struct rows parts;           /* of the run that is asked for; else of all shared runs */
	struct sampled_run *sampled; /* if by sample */
	const char *day;             /* name of the row for what is divided now, if by day */
	struct bill_place place;     /* of what is divided now, if as charges */
	int64_t centre_run_id;
	const char *centre; /* of that run; NULL: none was looked up yet */
};

const char *bill_key_name(enum bill_key key)
{
	static const char *const names[] = {BILL_KEYS(TEXT_OF)};

	return names[key];
}

bool bill_is_system(const char *run_kind)
{
	return strcmp(run_kind, "system") == 0 || strcmp(run_kind, "session") == 0 ||
	       strcmp(run_kind, "host-service") == 0;
}

struct prices_host bill_priced_host(const struct row_cloud_host *cloud)
{
	const struct row_host *host = &cloud->host;
	bool is_ec2 = host->vendor && strcmp(host->vendor, "Amazon EC2") == 0;

	return (struct prices_host){
		.hostname = host->hostname,
		.cluster = host->cluster,
		.instance_id = cloud->cloud_instance_id ? cloud->cloud_instance_id
			       : is_ec2                 ? host->asset_tag
							: NULL,
		.instance_type = cloud->cloud_instance_type ? cloud->cloud_instance_type : host->product,
		.region = cloud->cloud_region,
		.lifecycle = cloud->cloud_lifecycle,
		.is_cloud = cloud->cloud_provider || is_ec2,
	};
}

struct price_size bill_size(const struct row_cloud_host *host)
{
	return (struct price_size){host->host.cpu_count, host->host.memory_bytes, host->gpu_count};
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

/* What is divided now. */
struct span_context {
	struct maker *maker;
	struct host_work *work;
	int64_t watched_ns;
};

/* Adds what the host cost from `begin` to `end`, in pieces of constant price. */
static int span_add(void *context, int64_t begin, int64_t end)
{
	struct span_context *span = context;
	int error = 0;

	span->watched_ns += end - begin;
	span->maker->bill->observed_ms += (end - begin) / MS;
	while (begin < end && error == 0) {
		const struct price *price = price_at(&span->work->prices, begin);
		int64_t until = row_least(end, price->until_unix_ns);

		error = period_add(span->work, begin, until, price);
		begin = until;
	}
	return error;
}

int bill_each_watched(const struct row_cost_watched *watched, size_t count, int64_t begin, int64_t end,
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

static int periods_find(struct maker *maker, struct host_work *work, int64_t begin, int64_t end)
{
	struct span_context span = {maker, work, 0};
	int error;

	work->period_count = 0;
	error = bill_each_watched(work->watched.items, work->watched.count, begin, end, span_add, &span);
	maker->bill->unobserved_ms += (end - begin - span.watched_ns) / MS;
	return error;
}

/* ---- items ------------------------------------------------------------------------ */

/* Returns the mean number of cores, in billionths. Figures are not to be trusted: no host has a million cores. */
static int64_t cores_used(int64_t cpu_ns, int64_t wall_ns)
{
	double cores = cpu_ns > 0 && wall_ns > 0 ? (double)cpu_ns / (double)wall_ns : 0;

	return (int64_t)((cores < CORES_MAX ? cores : CORES_MAX) * (double)CORE);
}

static int64_t known(int64_t figure)
{
	return figure == ROW_NULL || figure < 0 ? 0 : figure;
}

/* A limit as large as the host requests nothing: it is not known to be one. */
static int64_t requested(int64_t limit, int64_t host)
{
	return known(limit) < host ? known(limit) : 0;
}

/* Returns the index after the last task of the run that begins at `first`. */
static size_t run_end(const struct rows *tasks, size_t first)
{
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
		.used = {cores_used(task->cpu_ns, row_subtract(end, task->begin_unix_ns)), known(task->memory_bytes)},
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

static int items_make(struct host_work *work, bool is_energy)
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
	for (size_t i = 0; i < tasks->count && !is_energy; i = run_end(tasks, i))
		holder_add(work, i, run_end(tasks, i));
	return 0;
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

/* ---- rows ------------------------------------------------------------------------- */

/* What makes a row, beside its name. */
struct row_key {
	int64_t host_id, begin_unix_ns; /* as charges */
	int64_t id;
	int64_t is_rest; /* no work */
};

static struct bill_row *row_find(struct maker *maker, const struct row_key *key, const char *name)
{
	struct bill *bill = maker->bill;
	size_t name_size = strlen(name) + 1, key_size = sizeof(*key) + name_size;
	struct bill_row *made = calloc(1, sizeof(*made) + key_size), *found;

	if (!made)
		return NULL;
	memcpy(made->key, key, sizeof(*key));
	memcpy(made->key + sizeof(*key), name, name_size);
	made->id = key->id;
	made->name = made->key + sizeof(*key);
	made->place = maker->place;
	HASH_FIND(hh, bill->rows, made->key, key_size, found);
	if (found)
		free(made);
	else
		HASH_ADD_KEYPTR(hh, bill->rows, made->key, key_size, made);
	return found ? found : made;
}

static struct row_key row_key(const struct maker *maker, int64_t id)
{
	const struct bill_place *place = &maker->place;

	return (struct row_key){place->host ? place->host->id : 0, place->begin_unix_ns, id, false};
}

static struct bill_row *row_of(struct maker *maker, int64_t id, const char *name)
{
	const struct row_key key = row_key(maker, id);

	return row_find(maker, &key, name);
}

static void bill_row_add(struct bill_row *row, const struct charge_parts *parts, size_t count)
{
	row->item_count += count;
	for (size_t i = 0; i < CHARGE_RESOURCE_COUNT; i++) {
		row->used_nanos += parts->used_nanos[i];
		row->unused_nanos += parts->unused_nanos[i];
	}
	row->cpu_nanos += parts->used_nanos[CHARGE_CPU] + parts->unused_nanos[CHARGE_CPU];
	row->memory_nanos += parts->used_nanos[CHARGE_MEMORY] + parts->unused_nanos[CHARGE_MEMORY];
	row->gpu_nanos += parts->used_nanos[CHARGE_GPU] + parts->unused_nanos[CHARGE_GPU];
	row->gpu_unused_nanos += parts->unused_nanos[CHARGE_GPU];
	for (size_t i = 0; i < GPU_TIME_COUNT; i++)
		row->gpu_ms[i] += parts->gpu_ms[i];
}

static int64_t parts_sum(const struct charge_parts *parts)
{
	int64_t sum = 0;

	for (size_t i = 0; i < CHARGE_RESOURCE_COUNT; i++)
		sum += parts->used_nanos[i] + parts->unused_nanos[i];
	return sum;
}

#define NO_TOOL "(unknown)"
#define NOT_USED "(requested, not used)"

static int part_add(struct maker *maker, int64_t id, const char *name, const struct charge_parts *parts, size_t count)
{
	struct bill_row *row = row_of(maker, id, name);

	if (!row)
		return -ENOMEM;
	bill_row_add(row, parts, count);
	return 0;
}

/* What a tool's share of a task is measured by: CPU time, and memory times time. Milliseconds and KiB keep that
 * small. */
static int64_t tool_weight(const struct row_cost_tool *tool, size_t resource)
{
	int64_t product;

	if (resource == CHARGE_CPU)
		return known(tool->cpu_ns);
	if (resource == CHARGE_GPU)
		return known(tool->gpu_busy_ns);
	if (__builtin_mul_overflow(known(tool->memory_bytes) >> 10, known(tool->wall_ns) / MS + 1, &product))
		return INT64_MAX;
	return product;
}

/* Divides `total` among tools, by what each used of the resource. */
static int tools_share(const struct rows *tools, size_t first, size_t count, size_t resource, int64_t total,
		       int64_t *ret_shares)
{
	int64_t *weights = calloc(count, sizeof(*weights));
	int error;

	if (!weights)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		weights[i] = tool_weight(ROWS_ITEM(tools, cost_tool, first + i), resource);
	error = charge_share(total, weights, count, ret_shares);
	free(weights);
	return error;
}

/* Takes out what no tool is known to have used: for GPUs whose use is not known, all of it. */
static struct charge_parts parts_without_tool(const struct rows *tools, size_t first, size_t count,
					      struct charge_parts *parts)
{
	struct charge_parts none = {.gpu_ms = {[GPU_UNKNOWN] = parts->gpu_ms[GPU_UNKNOWN]}};
	int64_t busy_ns = 0;

	for (size_t i = 0; i < count; i++)
		busy_ns = row_most(busy_ns, tool_weight(ROWS_ITEM(tools, cost_tool, first + i), CHARGE_GPU));
	if (count == 0) {
		memcpy(none.used_nanos, parts->used_nanos, sizeof(none.used_nanos));
		none.gpu_ms[GPU_USED] = parts->gpu_ms[GPU_USED];
	} else if (busy_ns == 0) {
		none.used_nanos[CHARGE_GPU] = parts->used_nanos[CHARGE_GPU];
		parts->used_nanos[CHARGE_GPU] = 0;
	}
	return none;
}

/* Divides what a task used among its tools. */
static int tools_add(struct maker *maker, const struct host_work *work, int64_t task_id,
		     const struct charge_parts *parts)
{
	size_t count, first = rows_find(&work->tools, offsetof(struct row_cost_tool, task_id), task_id, &count);
	int64_t *shares = calloc((CHARGE_RESOURCE_COUNT + 1) * (count + 1), sizeof(*shares));
	struct charge_parts used = *parts, unused = {.gpu_ms = {[GPU_UNUSED] = parts->gpu_ms[GPU_UNUSED]}};
	struct charge_parts none = parts_without_tool(&work->tools, first, count, &used);
	int64_t *gpu_ms = shares + CHARGE_RESOURCE_COUNT * count;
	int error = shares ? 0 : -ENOMEM;

	memcpy(unused.unused_nanos, parts->unused_nanos, sizeof(unused.unused_nanos));
	if (error == 0 && parts_sum(&unused) > 0)
		error = part_add(maker, 0, NOT_USED, &unused, 1);
	if (error == 0 && (count == 0 || parts_sum(&none) > 0))
		error = part_add(maker, 0, NO_TOOL, &none, 1);
	for (size_t i = 0; i < CHARGE_RESOURCE_COUNT && count > 0 && error == 0; i++)
		error = tools_share(&work->tools, first, count, i, used.used_nanos[i], shares + i * count);
	if (count > 0 && error == 0)
		error = tools_share(&work->tools, first, count, CHARGE_GPU, used.gpu_ms[GPU_USED], gpu_ms);
	for (size_t j = 0; j < count && error == 0; j++) {
		struct charge_parts part = {.gpu_ms = {[GPU_USED] = gpu_ms[j]}};

		for (size_t i = 0; i < CHARGE_RESOURCE_COUNT; i++)
			part.used_nanos[i] = shares[i * count + j];
		error = part_add(maker, 0, ROWS_ITEM(&work->tools, cost_tool, first + j)->name, &part, 1);
	}
	free(shares);
	return error;
}

/* The part of a run that several hosts share, or NULL. */
static const struct row_part *part_of(const struct maker *maker, int64_t run_id)
{
	for (size_t i = 0; i < maker->parts.count; i++)
		if (ROWS_ITEM(&maker->parts, part, i)->run.id == run_id)
			return ROWS_ITEM(&maker->parts, part, i);
	return NULL;
}

/* Finds the samples of a run that no other host shares. */
static int own_samples_load(struct maker *maker, int64_t run_id, int64_t host_id, struct run_samples *ret_samples)
{
	struct row_part own = {.run = {.id = run_id, .host_id = host_id}, .joined_id = run_id};
	const struct rows parts = {.items = &own, .count = 1};

	return run_samples_load(maker->store, &parts, run_id, maker->request->sample_names, ret_samples);
}

/* Returns the samples of the run in `ret_samples`: the same for all its tasks and parts. */
static int run_samples_get(struct maker *maker, const struct row_cost_task *of, int64_t host_id,
			   const struct row_part *part, const struct run_samples **ret_samples)
{
	int64_t id = part ? part->joined_id : of->run_id;
	struct sampled_run *run;
	int error;

	HASH_FIND(hh, maker->sampled, &id, sizeof(id), run);
	if (run) {
		*ret_samples = &run->samples;
		return 0;
	}
	run = calloc(1, sizeof(*run));
	if (!run)
		return -ENOMEM;
	run->id = id;
	HASH_ADD(hh, maker->sampled, id, sizeof(run->id), run);
	if (part)
		error = run_samples_load(maker->store, &maker->parts, id, maker->request->sample_names, &run->samples);
	else
		error = own_samples_load(maker, id, host_id, &run->samples);
	(*(*run->samples.samples.misfit ? &maker->bill->unsampled_count : &maker->bill->sampled_count))++;
	strcpy(maker->bill->misfit, run->samples.samples.misfit);
	*ret_samples = &run->samples;
	return error;
}

static int sample_add(struct maker *maker, const struct row_cost_task *of, int64_t host_id, const struct row_part *part,
		      const struct charge_parts *parts, bool is_task)
{
	const struct run_samples *samples;
	int error = 0;

	if (!is_task)
		return part_add(maker, 0, NOT_USED, parts, 0);
	error = run_samples_get(maker, of, host_id, part, &samples);
	return error < 0 ? error : part_add(maker, 0, run_samples_find(samples, of->task_id), parts, 1);
}

static void sampled_runs_free(struct maker *maker)
{
	struct sampled_run *run, *next;

	HASH_ITER (hh, maker->sampled, run, next) {
		HASH_DEL(maker->sampled, run);
		run_samples_free(&run->samples);
		free(run);
	}
}

/* Tasks come run by run: the list is searched once for each. */
static const char *centre_of(struct maker *maker, const struct row_cost_task *of)
{
	const char *found;

	if (maker->centre && maker->centre_run_id == of->run_id)
		return maker->centre;
	found = centres_find(maker->request->centres, of->user_id, of->run_cgroup_path, of->run);
	maker->centre = found ? found : "(no centre)";
	maker->centre_run_id = of->run_id;
	return maker->centre;
}

static int run_add(struct maker *maker, int64_t id, const struct row_cost_task *of, const struct charge_parts *parts,
		   bool is_task)
{
	struct bill_row *row = row_of(maker, id, of->run);

	if (!row)
		return -ENOMEM;
	row->user_id = of->user_id;
	row->centre = maker->request->centres ? centre_of(maker, of) : NULL;
	bill_row_add(row, parts, is_task);
	return 0;
}

/* Whether it is no work, or not what was asked for. */
static bool is_other(const struct maker *maker, const struct row_cost_task *of, const struct row_part *part)
{
	const struct bill_request *request = maker->request;

	if (request->user_id && of->user_id != *request->user_id)
		return true;
	return request->run ? of->run_id != request->run->id && !part : bill_is_system(of->run_kind);
}

/* Adds what a task, or the request of its run, was charged for to the row that it belongs to. */
static int item_add(struct maker *maker, const struct host_work *work, const struct row_cost_task *of,
		    const struct charge_parts *parts, bool is_task)
{
	const struct row_host *host = &work->host->host;
	const struct row_part *part = part_of(maker, of->run_id);

	if (is_other(maker, of, part)) {
		*(bill_is_system(of->run_kind) ? &maker->bill->system_nanos : &maker->bill->others_nanos) +=
			parts_sum(parts);
		return 0;
	}
	maker->bill->total_nanos += parts_sum(parts);
	switch (maker->request->by) {
	case BILL_BY_RUN: return run_add(maker, part ? part->joined_id : of->run_id, of, parts, is_task);
	case BILL_BY_TASK: return part_add(maker, 0, is_task ? of->task : NOT_USED, parts, is_task);
	case BILL_BY_TOOL: return tools_add(maker, work, of->task_id, parts);
	case BILL_BY_SAMPLE: return sample_add(maker, of, host->id, part, parts, is_task);
	case BILL_BY_USER: return part_add(maker, of->user_id, "", parts, is_task);
	case BILL_BY_CENTRE: return part_add(maker, 0, centre_of(maker, of), parts, is_task);
	case BILL_BY_HOST: return part_add(maker, host->id, host->hostname, parts, is_task);
	case BILL_BY_DAY: return part_add(maker, 0, maker->day, parts, is_task);
	}
	return -EINVAL;
}

/* Only of tasks that ran from `begin` to `end`, such as on one day; the parts of others are 0. */
static int items_add(struct maker *maker, const struct host_work *work, int64_t begin, int64_t end)
{
	size_t holder = work->tasks.count;
	int error = 0;

	for (size_t i = 0; i < work->tasks.count && error == 0; i++)
		if (work->items[i].begin_unix_ns < end && work->items[i].end_unix_ns > begin)
			error = item_add(maker, work, ROWS_ITEM(&work->tasks, cost_task, i), &work->items[i].parts,
					 true);
	for (size_t i = 0; i < work->tasks.count && error == 0; i = run_end(&work->tasks, i))
		if (work->items[i].holder != CHARGE_NO_HOLDER)
			error = item_add(maker, work, ROWS_ITEM(&work->tasks, cost_task, i),
					 &work->items[holder++].parts, false);
	return error;
}

/* What is not work: part of the row of a host and of a day, a row of its own beside other charges. */
static struct bill_row *rest_row(struct maker *maker, const struct row_host *host)
{
	struct row_key key = row_key(maker, 0);

	if (maker->request->by == BILL_BY_DAY)
		return row_of(maker, 0, maker->day);
	if (maker->request->by == BILL_BY_HOST)
		return row_of(maker, host->id, host->hostname);
	key.is_rest = true;
	return row_find(maker, &key, "");
}

static bool has_rest_rows(const struct bill_request *request)
{
	return request->by == BILL_BY_HOST || request->by == BILL_BY_DAY || request->as_charges;
}

static int rest_add(struct maker *maker, const struct host_work *work, int64_t system_nanos, int64_t idle_nanos,
		    int64_t observed_ms)
{
	struct bill_row *row;

	if (!has_rest_rows(maker->request))
		return 0;
	row = rest_row(maker, &work->host->host);
	if (!row)
		return -ENOMEM;
	row->system_nanos += system_nanos;
	row->idle_nanos += idle_nanos;
	row->observed_ms += observed_ms;
	return 0;
}

/* ---- hosts ------------------------------------------------------------------------ */

/* All other amounts are parts of this one: if it is in range, they are. */
static int bill_add(struct bill *bill, const struct host_work *work)
{
	for (size_t i = 0; i < work->period_count; i++) {
		const int64_t *nanos = work->periods[i].bill_nanos;

		if (__builtin_add_overflow(bill->bill_nanos, price_sum(nanos), &bill->bill_nanos))
			return -EOVERFLOW;
	}
	return 0;
}

/* Of energy: processors that did not work took only what they always take. Puts that in the place of what they would
 * have taken at work. */
static int idle_energy_set(struct bill *bill, const struct host_work *work, int64_t idle[CHARGE_RESOURCE_COUNT])
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
	bill->bill_nanos -= idle[CHARGE_CPU];
	idle[CHARGE_CPU] = taken;
	return __builtin_add_overflow(bill->bill_nanos, taken, &bill->bill_nanos) ? -EOVERFLOW : 0;
}

/* Divides what the host cost from `begin` to `end`. */
static int span_divide(struct maker *maker, struct host_work *work, int64_t begin, int64_t end)
{
	struct bill *bill = maker->bill;
	int64_t idle[CHARGE_RESOURCE_COUNT], idle_nanos = 0, system_nanos = bill->system_nanos;
	int64_t observed_ms = bill->observed_ms;
	int error = periods_find(maker, work, begin, end);

	if (error == 0)
		error = bill_add(bill, work);
	if (error == 0)
		error = charge_divide(work->periods, work->period_count, work->items, work->item_count, idle);
	if (error == 0 && work->hold_count > 0)
		error = charge_gpus(work->periods, work->period_count, work->holds, work->hold_count,
				    (size_t)work->size.gpu_count, work->items, &idle[CHARGE_GPU]);
	if (error == 0 && maker->request->is_energy)
		error = idle_energy_set(bill, work, idle);
	if (error == 0)
		error = items_add(maker, work, begin, end);
	if (error < 0)
		return error;
	for (size_t i = 0; i < CHARGE_RESOURCE_COUNT; i++)
		idle_nanos += idle[i];
	bill->idle_nanos += idle_nanos;
	return rest_add(maker, work, bill->system_nanos - system_nanos, idle_nanos, bill->observed_ms - observed_ms);
}

/* Returns the beginning of the next local day, and the name of this one. */
static int64_t day_end(int64_t unix_ns, char *ret_name, size_t capacity)
{
	time_t seconds = unix_ns / SECOND_NS;
	struct tm local;

	localtime_r(&seconds, &local);
	strftime(ret_name, capacity, "%Y-%m-%d", &local);
	local.tm_mday++;
	local.tm_hour = local.tm_min = local.tm_sec = 0;
	local.tm_isdst = -1;
	return mktime(&local) * SECOND_NS;
}

/* Finds the time in which this host is of interest, as far as anything is known of it. */
static bool work_begin(const struct maker *maker, const struct row_cloud_host *host, struct host_work *ret_work)
{
	const struct bill_request *request = maker->request;
	struct host_work work = {
		.host = host, .since_unix_ns = request->since_unix_ns, .until_unix_ns = request->until_unix_ns};
	int64_t seen_unix_ns = host->host.last_seen_unix_ns; /* or a little later: it is written seldom */
	if (request->run) {
		work.since_unix_ns = INT64_MAX;
		work.until_unix_ns = 0;
	}
	for (size_t i = 0; request->run && i <= maker->parts.count; i++) {
		const struct row_run *run =
			i < maker->parts.count ? &ROWS_ITEM(&maker->parts, part, i)->run : request->run;
		int64_t end = row_add(run->started_unix_ns, row_subtract(run->end_boot_ns, run->begin_boot_ns));

		if (run->host_id != host->host.id)
			continue;
		work.since_unix_ns = row_least(work.since_unix_ns, run->started_unix_ns);
		work.until_unix_ns = end == ROW_NULL ? INT64_MAX : row_most(work.until_unix_ns, end);
		seen_unix_ns = end == ROW_NULL ? seen_unix_ns : row_most(seen_unix_ns, end);
	}
	work.since_unix_ns = row_most(known(work.since_unix_ns), host->host.first_seen_unix_ns);
	work.until_unix_ns = row_least(work.until_unix_ns, seen_unix_ns);
	*ret_work = work;
	return work.since_unix_ns < work.until_unix_ns;
}

/* Day by day in UTC, as FOCUS wants it: the same for every host. */
static int charges_divide(struct maker *maker, struct host_work *work)
{
	const struct bill_request *request = maker->request;
	int64_t begin = work->since_unix_ns;
	int error = 0;

	while (error == 0 && begin < work->until_unix_ns) {
		int64_t day = begin - begin % DAY_NS, end = row_least(day + DAY_NS, work->until_unix_ns);

		maker->place = (struct bill_place){&work->host->host, row_most(day, request->since_unix_ns),
						   row_least(day + DAY_NS, request->until_unix_ns)};
		error = span_divide(maker, work, begin, end);
		begin = end;
	}
	return error;
}

static int work_divide(struct maker *maker, struct host_work *work)
{
	int64_t begin = work->since_unix_ns;
	int error = 0;
	char day[16];

	if (maker->request->as_charges)
		return charges_divide(maker, work);
	if (maker->request->by != BILL_BY_DAY)
		return span_divide(maker, work, begin, work->until_unix_ns);
	maker->day = day;
	while (error == 0 && begin < work->until_unix_ns) {
		int64_t end = day_end(begin, day, sizeof(day));

		error = span_divide(maker, work, begin, row_least(end, work->until_unix_ns));
		begin = end;
	}
	return error;
}

/* Looks up the prices of the host, and leaves out the time in which it has none. */
static int prices_apply(struct maker *maker, struct host_work *work)
{
	struct prices_host priced = bill_priced_host(work->host);
	int error = price_times_make(maker->request->prices, &priced, &work->prices);

	if (error < 0)
		return error;
	work->size = bill_size(work->host);
	price_doubts_add(&maker->bill->doubts, price_at(&work->prices, work->until_unix_ns - 1));
	work->until_unix_ns = row_least(work->until_unix_ns, price_times_end(&work->prices));
	maker->bill->host_count += work->since_unix_ns < work->until_unix_ns;
	return 0;
}

/* The energy of a processor at work, and of memory, instead of prices. */
static int power_apply(struct maker *maker, struct host_work *work)
{
	const struct row_host *host = &work->host->host;
	struct power power = power_of(host->cpu_model);
	int64_t included_bytes = price_limit(host->cpu_count, PRICE_CPUS_MAX) * POWER_INCLUDED_MEMORY_BYTES;

	work->prices.items = calloc(1, sizeof(*work->prices.items));
	if (!work->prices.items)
		return -ENOMEM;
	work->prices.count = 1;
	work->prices.items[0] = (struct price){.basis = PRICES_RATES,
					       .cpu_nanos = power.busy_microwatts,
					       .memory_nanos = POWER_MEMORY_MICROWATTS,
					       .until_unix_ns = INT64_MAX};
	work->idle_price = (struct price){.basis = PRICES_RATES, .cpu_nanos = power.idle_microwatts};
	work->size = (struct price_size){host->cpu_count, known(row_subtract(host->memory_bytes, included_bytes)), 0};
	maker->bill->average_count += power.is_average;
	maker->bill->host_count++;
	return 0;
}

/* Those rows of several hosts, sorted by host, that are this one's: borrowed. */
static struct rows rows_of_host(const struct rows *all, size_t id_offset, int64_t host_id)
{
	struct rows own = *all;
	size_t first = rows_find(all, id_offset, host_id, &own.count);

	if (own.count)
		own.items = (char *)all->items + first * all->type->size;
	return own;
}

static int host_add(struct maker *maker, struct host_work *work, const struct rows *tasks, const struct rows *tools,
		    const struct rows *gpus)
{
	int64_t id = work->host->host.id;
	int error;

	work->watched = rows_of_host(&maker->watched, offsetof(struct row_cost_watched, host_id), id);
	work->tasks = rows_of_host(tasks, offsetof(struct row_cost_task, host_id), id);
	work->tools = rows_of_host(tools, offsetof(struct row_cost_tool, host_id), id);
	work->gpus = rows_of_host(gpus, offsetof(struct row_cost_gpu, host_id), id);
	error = maker->request->is_energy ? power_apply(maker, work) : prices_apply(maker, work);
	if (error == 0)
		error = items_make(work, maker->request->is_energy);
	if (error == 0 && work->gpus.count > 0 && !maker->request->is_energy)
		error = holds_make(work);
	if (error == 0 && work->since_unix_ns < work->until_unix_ns)
		error = work_divide(maker, work);
	price_times_free(&work->prices);
	free(work->items);
	free(work->holds);
	free(work->periods);
	return error;
}

/* ---- hosts ------------------------------------------------------------------------ */

/* Hosts with successive ids, about which a lake of many is asked at once. */
struct host_group {
	struct host_work *works;
	size_t count;
};

/* All from the first to the last. */
static void group_parameters(const struct host_group *group, struct store_parameter ret[5])
{
	int64_t since_unix_ns = INT64_MAX, until_unix_ns = INT64_MIN;

	for (size_t i = 0; i < group->count; i++) {
		since_unix_ns = row_least(since_unix_ns, group->works[i].since_unix_ns);
		until_unix_ns = row_most(until_unix_ns, group->works[i].until_unix_ns);
	}
	const struct store_parameter parameters[] = {
		STORE_INT("since_unix_ns", since_unix_ns),
		STORE_INT("until_unix_ns", until_unix_ns),
		STORE_INT("first_host_id", group->works[0].host->host.id),
		STORE_INT("last_host_id", group->works[group->count - 1].host->host.id),
		{0},
	};
	memcpy(ret, parameters, sizeof(parameters));
}

static bool group_has_gpus(const struct maker *maker, const struct host_group *group)
{
	bool has = false;

	for (size_t i = 0; i < group->count; i++)
		has |= group->works[i].host->gpu_count > 0;
	return has && !maker->request->is_energy;
}

static void group_ask_ahead(struct maker *maker, const struct host_group *group)
{
	struct store_parameter parameters[5];

	group_parameters(group, parameters);
	query_ask_ahead(maker->store, "cost_tasks", parameters);
	if (maker->request->by == BILL_BY_TOOL)
		query_ask_ahead(maker->store, "cost_tools", parameters);
	if (group_has_gpus(maker, group))
		query_ask_ahead(maker->store, "cost_gpus", parameters);
}

static int group_add(struct maker *maker, const struct host_group *group)
{
	struct store_parameter parameters[5];
	struct rows tasks = {0}, tools = {0}, gpus = {.type = &row_type_cost_gpu};
	int error;

	group_parameters(group, parameters);
	error = rows_load(&tasks, &row_type_cost_task, maker->store, "cost_tasks", parameters);
	if (error == 0 && maker->request->by == BILL_BY_TOOL)
		error = rows_load(&tools, &row_type_cost_tool, maker->store, "cost_tools", parameters);
	if (error == 0 && group_has_gpus(maker, group))
		error = rows_load(&gpus, &row_type_cost_gpu, maker->store, "cost_gpus", parameters);
	for (size_t i = 0; i < group->count && error == 0; i++)
		error = host_add(maker, &group->works[i], &tasks, &tools, &gpus);
	rows_free(&gpus);
	rows_free(&tasks);
	rows_free(&tools);
	return error;
}

/* Hosts that are chosen one by one, between which others are of no interest, are asked about one by one, too. */
static bool hosts_are_chosen(const struct bill_request *request)
{
	return request->run || request->host;
}

/* Returns the hosts from `first` on with few enough tasks, at least one. */
static struct host_group group_from(const struct maker *maker, const struct rows *counts, size_t first)
{
	struct host_group group = {&maker->works[first], 0};
	int64_t tasks = 0;
	size_t found;

	while (first + group.count < maker->work_count) {
		int64_t id = group.works[group.count].host->host.id;
		size_t at = rows_find(counts, offsetof(struct row_cost_count, host_id), id, &found);

		tasks += found ? ROWS_ITEM(counts, cost_count, at)->task_count : 0;
		if (group.count > 0 && (tasks > GROUP_TASKS || hosts_are_chosen(maker->request)))
			break;
		group.count++;
	}
	return group;
}

static int groups_add(struct maker *maker, const struct rows *counts)
{
	struct host_group ahead[GROUPS_AHEAD + 1];
	size_t asked = 0, asked_works = 0, done = 0, done_works = 0;
	int error = 0;

	while (done_works < maker->work_count && error == 0) {
		while (asked_works < maker->work_count && asked <= done + GROUPS_AHEAD) {
			struct host_group group = group_from(maker, counts, asked_works);

			group_ask_ahead(maker, &group);
			ahead[asked++ % (GROUPS_AHEAD + 1)] = group;
			asked_works += group.count;
		}
		const struct host_group *next = &ahead[done++ % (GROUPS_AHEAD + 1)];

		done_works += next->count;
		error = group_add(maker, next);
	}
	return error;
}

static int compare_works(const void *left, const void *right)
{
	int64_t a = ((const struct host_work *)left)->host->host.id,
		b = ((const struct host_work *)right)->host->host.id;

	return a < b ? -1 : a > b;
}

static int works_find(struct maker *maker)
{
	const struct rows *hosts = &maker->bill->hosts;

	maker->works = calloc(hosts->count + 1, sizeof(*maker->works));
	if (!maker->works)
		return -ENOMEM;
	for (size_t i = 0; i < hosts->count; i++)
		maker->work_count +=
			work_begin(maker, ROWS_ITEM(hosts, cloud_host, i), &maker->works[maker->work_count]);
	qsort(maker->works, maker->work_count, sizeof(*maker->works), compare_works);
	return 0;
}

static int hosts_add(struct maker *maker)
{
	struct rows counts = {.type = &row_type_cost_count};
	int error = works_find(maker);
	const struct host_group all = {maker->works, maker->work_count};
	struct store_parameter parameters[5];

	if (error < 0 || all.count == 0)
		return error;
	const struct store_parameter watched[] = {
		{"host_id", all.count == 1 ? STORE_INTEGER : STORE_NULL, all.works[0].host->host.id, NULL},
		{"kind", STORE_TEXT, 0, "system"},
		{0},
	};

	query_ask_ahead(maker->store, "cost_watched", watched);
	group_parameters(&all, parameters);
	if (all.count > 1 && !hosts_are_chosen(maker->request))
		error = rows_load(&counts, &row_type_cost_count, maker->store, "cost_counts", parameters);
	if (error == 0)
		error = rows_load(&maker->watched, &row_type_cost_watched, maker->store, "cost_watched", watched);
	if (error == 0)
		error = groups_add(maker, &counts);
	rows_free(&counts);
	return error;
}

static int compare_rows(struct bill_row *left, struct bill_row *right)
{
	int64_t first = left->used_nanos + left->unused_nanos, second = right->used_nanos + right->unused_nanos;

	if (first != second)
		return first > second ? -1 : 1;
	if (strcmp(left->name, right->name) != 0)
		return strcmp(left->name, right->name);
	return left->id < right->id ? -1 : left->id > right->id;
}

static int compare_days(struct bill_row *left, struct bill_row *right)
{
	return strcmp(left->name, right->name);
}

static int compare_charges(struct bill_row *left, struct bill_row *right)
{
	const struct bill_place *a = &left->place, *b = &right->place;

	if (a->begin_unix_ns != b->begin_unix_ns)
		return a->begin_unix_ns < b->begin_unix_ns ? -1 : 1;
	if (a->host->id != b->host->id)
		return a->host->id < b->host->id ? -1 : 1;
	return compare_rows(left, right);
}

int bill_make(struct store *store, const struct bill_request *request, struct bill *ret_bill)
{
	struct maker maker = {.store = store, .request = request, .bill = ret_bill};
	int error;

	*ret_bill = (struct bill){0};
	error = gpu_hosts_load(store, &ret_bill->hosts);
	rows_keep_host(&ret_bill->hosts, request->host);
	if (error == 0)
		error = joined_load(store, request->run, request->run ? 0 : request->since_unix_ns, &maker.parts);
	if (error == 0)
		error = hosts_add(&maker);
	if (request->as_charges)
		HASH_SORT(ret_bill->rows, compare_charges);
	else if (request->by == BILL_BY_DAY)
		HASH_SORT(ret_bill->rows, compare_days);
	else
		HASH_SORT(ret_bill->rows, compare_rows);
	sampled_runs_free(&maker);
	rows_free(&maker.watched);
	rows_free(&maker.parts);
	free(maker.works);
	return error;
}

void bill_free(struct bill *bill)
{
	struct bill_row *row, *next;

	HASH_ITER (hh, bill->rows, row, next) {
		HASH_DEL(bill->rows, row);
		free(row);
	}
	rows_free(&bill->hosts);
	*bill = (struct bill){0};
}

int64_t bill_row_total(const struct bill_row *row)
{
	return row->used_nanos + row->unused_nanos + row->system_nanos + row->idle_nanos;
}

bool bill_rows_are_whole(enum bill_key by)
{
	return by == BILL_BY_HOST || by == BILL_BY_DAY;
}
