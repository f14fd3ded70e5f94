/* What work cost. See bill.h. */
#include "analysis/cost/bill.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "analysis/cost/charge_gpus.h"
#include "analysis/cost/host_work.h"
#include "analysis/cost/power.h"
#include "analysis/query/gpus.h"
#include "analysis/query/joined.h"
#include "common/text.h"

#define SECOND_NS INT64_C(1000000000)
#define DAY_NS (86400 * SECOND_NS)
#define MS INT64_C(1000000)

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
	struct rows parts;           /* of the run that is asked for; else of all shared runs */
	struct sampled_run *sampled; /* if by sample */
	struct bill_row *row;        /* the one that was found last */
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

/* ---- rows ------------------------------------------------------------------------- */

/* What makes a row, beside its name. */
struct row_key {
	int64_t host_id, begin_unix_ns; /* as charges */
	int64_t id;
	int64_t is_rest; /* no work */
};

static bool row_is(const struct bill_row *row, const struct row_key *key, const char *name)
{
	return row && memcmp(row->key, key, sizeof(*key)) == 0 && strcmp(row->name, name) == 0;
}

/* Tasks come run by run: most belong to the row of the one before. */
static struct bill_row *row_find(struct maker *maker, const struct row_key *key, const char *name)
{
	struct bill *bill = maker->bill;
	size_t name_size = strlen(name) + 1, key_size = sizeof(*key) + name_size;
	struct bill_row *made, *found;

	if (row_is(maker->row, key, name))
		return maker->row;
	made = calloc(1, sizeof(*made) + key_size);
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
	maker->row = found ? found : made;
	return maker->row;
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
		return row_known(tool->cpu_ns);
	if (resource == CHARGE_GPU)
		return row_known(tool->gpu_busy_ns);
	if (__builtin_mul_overflow(row_known(tool->memory_bytes) >> 10, row_known(tool->wall_ns) / MS + 1, &product))
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
	for (size_t i = 0; i < work->tasks.count && error == 0; i = host_work_run_end(work, i))
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

static int rest_add(struct maker *maker, const struct host_work *work, int64_t system_nanos, int64_t idle_nanos)
{
	struct bill_row *row;

	if (!has_rest_rows(maker->request))
		return 0;
	row = rest_row(maker, &work->host->host);
	if (!row)
		return -ENOMEM;
	row->system_nanos += system_nanos;
	row->idle_nanos += idle_nanos;
	row->observed_ms += work->observed_ms;
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

/* Processors that did not work took only what they always take: that instead of what they would have taken at work. */
static int idle_energy_set(struct bill *bill, const struct host_work *work, int64_t idle[CHARGE_RESOURCE_COUNT])
{
	int64_t taken = 0;
	int error = host_work_idle_energy(work, &taken);

	if (error < 0)
		return error;
	bill->bill_nanos -= idle[CHARGE_CPU];
	idle[CHARGE_CPU] = taken;
	return __builtin_add_overflow(bill->bill_nanos, taken, &bill->bill_nanos) ? -EOVERFLOW : 0;
}

/* Divides what the host cost from `begin` to `end`. */
static int span_divide(struct maker *maker, struct host_work *work, int64_t begin, int64_t end)
{
	struct bill *bill = maker->bill;
	int64_t idle[CHARGE_RESOURCE_COUNT], idle_nanos = 0, system_nanos = bill->system_nanos;
	int error = host_work_periods(work, begin, end);

	bill->observed_ms += work->observed_ms;
	bill->unobserved_ms += (end - begin - work->watched_ns) / MS;
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
	return rest_add(maker, work, bill->system_nanos - system_nanos, idle_nanos);
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
	work.since_unix_ns = row_most(row_known(work.since_unix_ns), host->host.first_seen_unix_ns);
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
	work->size =
		(struct price_size){host->cpu_count, row_known(row_subtract(host->memory_bytes, included_bytes)), 0};
	maker->bill->average_count += power.is_average;
	maker->bill->host_count++;
	return 0;
}

static int host_add(void *context, struct host_work *work)
{
	struct maker *maker = context;
	int error = maker->request->is_energy ? power_apply(maker, work) : prices_apply(maker, work);

	if (error == 0)
		error = host_work_items(work, maker->request->is_energy);
	if (error == 0 && work->since_unix_ns < work->until_unix_ns)
		error = work_divide(maker, work);
	host_work_free(work);
	return error;
}

static int compare_works(const void *left, const void *right)
{
	int64_t a = ((const struct host_work *)left)->host->host.id,
		b = ((const struct host_work *)right)->host->host.id;

	return a < b ? -1 : a > b;
}

static int hosts_add(struct maker *maker)
{
	const struct bill_request *request = maker->request;
	const struct rows *hosts = &maker->bill->hosts;
	struct host_works works = {
		.store = maker->store,
		.items = calloc(hosts->count + 1, sizeof(*works.items)),
		.with_tools = request->by == BILL_BY_TOOL,
		.with_gpus = !request->is_energy,
		.are_chosen = request->run || request->host,
	};
	int error;

	if (!works.items)
		return -ENOMEM;
	for (size_t i = 0; i < hosts->count; i++)
		works.count += work_begin(maker, ROWS_ITEM(hosts, cloud_host, i), &works.items[works.count]);
	qsort(works.items, works.count, sizeof(*works.items), compare_works);
	error = host_works_each(&works, host_add, maker);
	free(works.items);
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
	rows_free(&maker.parts);
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
