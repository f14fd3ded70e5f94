/* What tune finds about a run. See tuning.h. */
#include "analysis/tune/tuning.h"

#include <errno.h>

#include "analysis/cost/bill.h"
#include "analysis/query/gpus.h"
#include "common/text.h"

#define HOUR_NS INT64_C(3600000000000)

/* ---- money ------------------------------------------------------------------------- */

static bool ran_on(const struct tuning *tune, int64_t host_id)
{
	const struct rows *parts = &tune->report->parts;

	for (size_t i = 0; i < parts->count; i++)
		if (ROWS_ITEM(parts, part, i)->run.host_id == host_id)
			return true;
	return false;
}

/* What the host cost an hour when the run began. */
static int host_price(struct tuning *tune, const struct row_cloud_host *host, const struct price_size *size,
		      int64_t ret_nanos[CHARGE_RESOURCE_COUNT])
{
	struct prices_host priced = bill_priced_host(host);
	struct price_times times;
	int error = price_times_make(tune->prices, &priced, &times);

	if (error < 0)
		return error;
	price_doubts_add(&tune->doubts, price_at(&times, report_run(tune->report)->started_unix_ns));
	price_bill(price_at(&times, report_run(tune->report)->started_unix_ns), size, HOUR_NS, ret_nanos);
	price_times_free(&times);
	return 0;
}

/* Each host has its price; a core, a GiB and a GPU cost what they do on average on all of them. */
static int prices_find(struct tuning *tune)
{
	struct rows hosts = {0};
	double nanos[CHARGE_RESOURCE_COUNT] = {0}, units[CHARGE_RESOURCE_COUNT] = {0};
	int error = gpu_hosts_load(tune->report->store, &hosts);

	for (size_t i = 0; error == 0 && i < hosts.count; i++) {
		const struct row_cloud_host *host = ROWS_ITEM(&hosts, cloud_host, i);
		const struct price_size size = bill_size(host);
		int64_t of_host[CHARGE_RESOURCE_COUNT] = {0};

		if (!ran_on(tune, host->host.id))
			continue;
		error = host_price(tune, host, &size, of_host);
		for (size_t j = 0; j < CHARGE_RESOURCE_COUNT; j++)
			nanos[j] += (double)of_host[j];
		units[CHARGE_CPU] += (double)price_limit(size.cpu_count, PRICE_CPUS_MAX);
		units[CHARGE_MEMORY] += (double)price_limit(size.memory_bytes, PRICE_MEMORY_BYTES_MAX) / GIB;
		units[CHARGE_GPU] += (double)size.gpu_count;
	}
	tune->hosts_nanos = nanos[CHARGE_CPU] + nanos[CHARGE_MEMORY] + nanos[CHARGE_GPU];
	tune->core_nanos = units[CHARGE_CPU] > 0 ? nanos[CHARGE_CPU] / units[CHARGE_CPU] : 0;
	tune->gib_nanos = units[CHARGE_MEMORY] > 0 ? nanos[CHARGE_MEMORY] / units[CHARGE_MEMORY] : 0;
	tune->gpu_nanos = units[CHARGE_GPU] > 0 ? nanos[CHARGE_GPU] / units[CHARGE_GPU] : 0;
	rows_free(&hosts);
	return error;
}

/* What it is worth that the hosts are free so much earlier, or that others can use processors and memory.
 * ROW_NULL: no price is known, at least of one host. */
int64_t tuning_saved_micros(const struct tuning *tune, const struct finding_of_run *finding, int64_t wall_ns)
{
	double hosts = tune->hosts_nanos * (double)wall_ns;
	double parts = tune->core_nanos * (double)finding->cpu_ns +
		       tune->gib_nanos * (double)finding->memory_byte_seconds * 1e9 / GIB +
		       tune->gpu_nanos * (double)finding->gpu_ns;

	if (tune->doubts.none_count > 0)
		return ROW_NULL;
	return (int64_t)((hosts > parts ? hosts : parts) / (double)HOUR_NS / 1000);
}

/* The same for what is certain. */
int64_t tuning_least_micros(const struct tuning *tune, const struct finding_of_run *finding)
{
	return finding->question->finding.saving == QUESTION_SAVING_LEAST
		       ? tuning_saved_micros(tune, finding, finding->wall.low_ns)
		       : 0;
}

static const struct store_parameter *bind(const struct question *question, void *data)
{
	struct tuning *tune = data;

	return thresholds_bind(tune->thresholds, question, NULL);
}

static int64_t worth(const struct finding_of_run *finding, void *data)
{
	return tuning_saved_micros(data, finding, finding->wall.high_ns);
}

/* Processes whose figures are lower bounds. */
int64_t tuning_lower_bound_count(const struct tuning *tune)
{
	const struct report_doubts *doubts = &tune->report->doubts;

	return doubts->unfinished_count + doubts->found_count + doubts->partial_count;
}

int tuning_make(struct tuning *tune, finding_format *format)
{
	struct findings_request request = {
		.report = tune->report,
		.account = &tune->account,
		.catalogue = tune->catalogue,
		.kind = TUNING_KIND,
		.bind = bind,
		.format = format,
		.worth = worth,
		.data = tune,
	};
	int error = account_make(tune->report, tune->by_sample ? report_task_sample : report_task_name, &tune->account);

	if (error < 0)
		return error;
	tune->has_account = true;
	error = prices_find(tune);
	return error < 0 || !tune->catalogue ? error : findings_find(&request, &tune->findings);
}

bool tuning_driver_computes(const struct tuning *tune)
{
	const int64_t *owned_ns = tune->account.schedule.owned_ns;

	return !report_run(tune->report)->engine &&
	       row_add_known(tune->account.driver_cpu_ns, tune->account.driver_queue_ns) >
		       (owned_ns[SCHEDULE_DRIVER] + owned_ns[SCHEDULE_GAP]) / 2;
}

void tuning_free(struct tuning *tune)
{
	findings_free(&tune->findings);
	if (tune->has_account)
		account_free(&tune->account);
}

/* ---- JSON -------------------------------------------------------------------------- */

static json_t *names_to_json(const struct account *account)
{
	json_t *array = json_array();

	for (size_t i = 0; i < account->name_count; i++) {
		const struct account_name *name = &account->names[i];
		json_t *object = json_object();

		json_set_string(object, "name", name->name);
		json_set_integer(object, "task_count", (int64_t)name->task_count);
		json_set_integer(object, "path_ns", name->path_ns);
		json_set_integer(object, "wall_ns", name->times.wall_ns);
		json_set_integer(object, "cpu_ns", name->times.cpu_ns);
		json_set_integer(object, "run_delay_ns", name->times.run_delay_ns);
		json_set_integer(object, "block_io_delay_ns", name->times.block_io_ns);
		json_set_integer(object, "memory_delay_ns", name->times.memory_ns);
		json_set_integer(object, "uninterruptible_ns", name->times.uninterruptible_ns);
		json_set_string(object, "bound_by", account_bound_name(name->bound));
		json_array_append_new(array, object);
	}
	return array;
}

static json_t *imbalance_to_json(const struct account *account)
{
	int64_t median_ns;
	const struct account_name *longest = account_longest(account, &median_ns);
	json_t *object = json_object();

	if (longest) {
		json_set_string(object, "sample", longest->name);
		json_set_integer(object, "wall_ns", longest->times.wall_ns);
		json_set_integer(object, "median_wall_ns", median_ns);
	}
	return object;
}

static json_t *path_to_json(const struct tuning *tune)
{
	static const char *const owners[] = {SCHEDULE_OWNERS(TEXT_OF)};
	const struct schedule *schedule = &tune->account.schedule;
	json_t *array = json_array();

	for (size_t i = 0; i < schedule->span_count; i++) {
		const struct schedule_span *span = &schedule->spans[i];
		json_t *object = json_object();

		json_set_string(object, "owner", owners[span->owner]);
		json_set_integer(object, "task_id",
				 span->task == SCHEDULE_NO_TASK
					 ? ROW_NULL
					 : tune->report->tasks[tune->account.tasks[span->task].index].id);
		json_set_integer(object, "begin_boot_ns", span->begin_ns);
		json_set_integer(object, "end_boot_ns", span->end_ns);
		json_array_append_new(array, object);
	}
	return array;
}

static json_t *finding_to_json(const struct tuning *tune, const struct finding_of_run *finding)
{
	json_t *object = json_object();

	json_set_string(object, "finding", finding->question->name);
	json_set_string(object, "subject", finding->subject);
	json_set_string(object, "sentence", finding->sentence);
	json_set_string(object, "advice", finding->advice);
	json_set_integer(object, "row_count", (int64_t)finding->task_count);
	json_set_integer(object, "saved_wall_low_ns", finding->wall.low_ns);
	json_set_integer(object, "saved_wall_high_ns", finding->wall.high_ns);
	json_set_integer(object, "saved_cpu_ns", finding->cpu_ns);
	json_set_integer(object, "saved_byte_seconds", finding->memory_byte_seconds);
	json_set_integer(object, "saved_gpu_ns", finding->gpu_ns);
	json_set_integer(object, "saved_micros", tuning_least_micros(tune, finding));
	json_set_integer(object, "saved_micros_high", tuning_saved_micros(tune, finding, finding->wall.high_ns));
	return object;
}

json_t *tuning_finding_columns(const struct tuning *tune)
{
	const struct question none = {0};

	return finding_to_json(tune, &(const struct finding_of_run){.question = &none});
}

static json_t *findings_to_json(const struct tuning *tune)
{
	json_t *array = json_array();

	for (size_t i = 0; i < tune->findings.count; i++)
		json_array_append_new(array, finding_to_json(tune, &tune->findings.items[i]));
	return array;
}

json_t *tuning_to_json(const struct tuning *tune)
{
	const struct account *account = &tune->account;
	const struct schedule *schedule = &account->schedule;
	const struct row_run *run = report_run(tune->report);
	json_t *root = json_object(), *wall = json_object(), *processors = json_object();

	json_set_integer(root, "run_id", run->id);
	json_set_string(root, "name", run->name);
	json_set_string(root, "status", run->status);
	json_set_integer(root, "lost_count", run->lost_count);
	json_set_integer(root, "lower_bound_count", tuning_lower_bound_count(tune));
	json_set_string(root, "currency", prices_currency(tune->prices));
	price_doubts_to_json(&tune->doubts, root);
	json_set_integer(wall, "wall_ns", schedule->end_ns - schedule->begin_ns);
	json_set_integer(wall, "task_ns", schedule->owned_ns[SCHEDULE_TASK]);
	json_set_integer(wall, "gap_ns", schedule->owned_ns[SCHEDULE_GAP]);
	json_set_integer(wall, "queue_ns", schedule->owned_ns[SCHEDULE_QUEUE]);
	json_set_integer(wall, "driver_ns", schedule->owned_ns[SCHEDULE_DRIVER]);
	json_set_integer(wall, "driver_cpu_ns", account->driver_cpu_ns);
	json_object_set_new(root, "wall", wall);
	json_set_integer(processors, "held_ns", account->held_ns);
	json_set_integer(processors, "used_ns", account->used_ns);
	json_set_integer(processors, "storage_ns", account->waiting_storage_ns);
	json_set_integer(processors, "memory_ns", account->waiting_memory_ns);
	json_set_integer(processors, "processor_ns", account->waiting_processor_ns);
	json_set_integer(processors, "idle_ns", account->idle_ns);
	json_object_set_new(root, "processors", processors);
	json_set_string(root, "by", tune->by_sample ? "sample" : "task");
	json_object_set_new(root, "names", names_to_json(account));
	if (tune->by_sample) {
		const char *misfit = tune->report->samples->samples.misfit;

		json_set_string(root, "sample_misfit", *misfit ? misfit : NULL);
		json_object_set_new(root, "imbalance", imbalance_to_json(account));
	}
	json_set_integer(root, "path_task_count", (int64_t)account->path_count);
	json_set_integer(root, "path_unsure_count", (int64_t)account->unsure_count);
	json_object_set_new(root, "critical_path", path_to_json(tune));
	json_object_set_new(root, "findings", tune->catalogue ? findings_to_json(tune) : json_null());
	return root;
}
