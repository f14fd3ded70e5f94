/* Where spend is wasted now. See sweep.h. */
#include "analysis/sweep/sweep.h"

#include <errno.h>
#include <string.h>

#include "analysis/cost/bill.h"
#include "analysis/query/ask.h"
#include "analysis/query/gpus.h"
#include "common/grow.h"

#define SECOND_NS INT64_C(1000000000)
#define HOUR_NS (3600 * SECOND_NS)
#define FINDINGS_AHEAD 3 /* a lake answers several at once */
#define SAME_PART 1e-6
#define GAPS "host_gaps"

/* The parameters of a question, as the user wants them. But gaps are asked of all hosts, for the owners of their hours. */
struct bound {
	struct store_parameter each[QUESTION_PARAMETERS_MAX + 1]; /* ended by one without a name */
	int64_t least_gap_ns;                                     /* that the user wants to see */
};

static const struct store_parameter of_watched[] = {
	{"host_id", STORE_NULL, 0, NULL}, {"kind", STORE_TEXT, 0, "system"}, {0}};

struct sweeper {
	const struct sweep_request *request;
	struct sweep *sweep;
	struct price_times *prices; /* of each host */
	size_t ahead;               /* index of the next finding to be asked ahead */
};

/* ---- money ------------------------------------------------------------------------- */

/* The part of a resource that is held: `held` of `capacity` in a time; at most all. */
static double part_of(int64_t held, double capacity)
{
	double part = held == ROW_NULL || capacity <= 0 ? 0 : (double)held / capacity;

	return part < 0 ? 0 : part > 1 ? 1 : part;
}

/* Parts of a host. What holds the same part of the cores and of the memory, such as all, holds that part of the host,
 * its GPUs included. */
static void parts_set(const struct price_size *size, const struct sweep_held *held, double span_ns,
		      double ret_parts[CHARGE_RESOURCE_COUNT])
{
	double cpu = part_of(held->cpu_ns, span_ns * (double)size->cpu_count);
	double memory = part_of(held->memory_byte_seconds, span_ns / (double)SECOND_NS * (double)size->memory_bytes);
	double gpu = part_of(held->gpu_ns, span_ns * (double)size->gpu_count);
	bool is_host = held->gpu_ns == ROW_NULL && cpu - memory < SAME_PART && memory - cpu < SAME_PART;

	ret_parts[CHARGE_CPU] = cpu;
	ret_parts[CHARGE_MEMORY] = memory;
	ret_parts[CHARGE_GPU] = is_host ? cpu : gpu;
}

/* What a share of a host cost from `since` to `until`, each part at most all of it. ROW_NULL if the host has no price in
 * some of that time. */
static int64_t share_cost(const struct price_times *prices, const struct row_cloud_host *host, int64_t since_unix_ns,
			  int64_t until_unix_ns, const struct sweep_held *held)
{
	const struct price_size size = bill_size(host);
	double parts[CHARGE_RESOURCE_COUNT], sum = 0;

	parts_set(&size, held, (double)until_unix_ns - (double)since_unix_ns, parts);
	if (until_unix_ns > price_times_end(prices))
		return ROW_NULL;
	for (int64_t at = since_unix_ns, end; at < until_unix_ns; at = end) {
		const struct price *price = price_at(prices, at);
		int64_t nanos[CHARGE_RESOURCE_COUNT];

		end = price->until_unix_ns < until_unix_ns ? price->until_unix_ns : until_unix_ns;
		price_bill(price, &size, end - at, nanos);
		for (size_t i = 0; i < CHARGE_RESOURCE_COUNT; i++)
			sum += (double)nanos[i] * parts[i];
	}
	return (int64_t)sum;
}

static int64_t whole_cost(const struct price_times *prices, const struct row_cloud_host *host, int64_t since_unix_ns,
			  int64_t until_unix_ns)
{
	return share_cost(prices, host, since_unix_ns, until_unix_ns,
			  &(const struct sweep_held){INT64_MAX, INT64_MAX, INT64_MAX});
}

static int64_t in_hours(int64_t held, double hours)
{
	return held == ROW_NULL ? ROW_NULL : (int64_t)((double)held / hours);
}

/* Costs of an item, from what it holds. */
static void price_item(struct sweeper *sweeper, struct sweep_item *item, size_t host_index)
{
	const struct row_cloud_host *host = ROWS_ITEM(&sweeper->sweep->hosts, cloud_host, host_index);
	const struct price_times *prices = &sweeper->prices[host_index];
	double hours = (double)(item->until_unix_ns - item->since_unix_ns) / (double)HOUR_NS;
	const struct sweep_held *held = &item->held;

	item->basis = price_at(prices, item->until_unix_ns - 1)->basis;
	if (held->cpu_ns == ROW_NULL && held->memory_byte_seconds == ROW_NULL && held->gpu_ns == ROW_NULL)
		return;
	item->cost_nanos = share_cost(prices, host, item->since_unix_ns, item->until_unix_ns, held);
	if (item->is_now && hours > 0 && item->cost_nanos != ROW_NULL) {
		const struct sweep_held hour = {in_hours(held->cpu_ns, hours),
						in_hours(held->memory_byte_seconds, hours),
						in_hours(held->gpu_ns, hours)};

		item->hour_nanos = share_cost(prices, host, item->until_unix_ns, item->until_unix_ns + HOUR_NS, &hour);
	}
}

/* If the row names a smaller type, the item costs what the host cost more than one of that type, while it was
 * watched. A price of the type must be known where one of the host is: else the item stays a share of the host. */
static int price_smaller(struct sweeper *sweeper, struct sweep_item *item, size_t host_index,
			 struct store_result *result)
{
	const struct row_cloud_host *host = ROWS_ITEM(&sweeper->sweep->hosts, cloud_host, host_index);
	const struct price_times *prices = &sweeper->prices[host_index];
	struct row_cloud_host smaller = *host;
	struct prices_host priced;
	struct price_times others;
	enum prices_basis basis;
	int64_t since_unix_ns = item->until_unix_ns - result_integer(result, "observed_ns");
	int64_t hour_unix_ns = item->until_unix_ns + HOUR_NS;

	smaller.cloud_instance_type = result_text(result, "smaller_type");
	smaller.cloud_instance_id = smaller.host.asset_tag = NULL;
	smaller.host.hostname = "";
	smaller.host.cpu_count = result_integer(result, "smaller_count");
	smaller.host.memory_bytes = result_integer(result, "smaller_bytes");
	priced = bill_priced_host(&smaller);
	if (price_times_make(sweeper->request->prices, &priced, &others) < 0)
		return -ENOMEM;
	basis = price_at(&others, item->until_unix_ns - 1)->basis;
	if (basis != PRICES_NONE && (item->basis != PRICES_NODE || basis == PRICES_NODE)) {
		item->cost_nanos = row_subtract(whole_cost(prices, host, since_unix_ns, item->until_unix_ns),
						whole_cost(&others, &smaller, since_unix_ns, item->until_unix_ns));
		if (item->is_now)
			item->hour_nanos =
				row_subtract(whole_cost(prices, host, item->until_unix_ns, hour_unix_ns),
					     whole_cost(&others, &smaller, item->until_unix_ns, hour_unix_ns));
	}
	price_times_free(&others);
	return 0;
}

/* ---- rows -------------------------------------------------------------------------- */

static int64_t held(const struct question *question, enum question_impact impact, struct store_result *result)
{
	const struct question_field *column = question->finding.impacts[impact];
	int64_t number = column ? result_integer(result, column->name) : ROW_NULL;

	return number < 0 ? ROW_NULL : number;
}

/* Returns the index of a host, or the number of hosts if there is none of that id. */
static size_t host_find(const struct sweep *sweep, int64_t id)
{
	size_t index = 0;

	while (index < sweep->hosts.count && ROWS_ITEM(&sweep->hosts, cloud_host, index)->host.id != id)
		index++;
	return index;
}

static struct bound question_bind(const struct sweep_request *request, const struct question *question)
{
	const struct store_parameter *given = request->bind(question, request->data);
	struct bound bound = {0};

	for (size_t i = 0; given[i].name; i++) {
		bound.each[i] = given[i];
		if (strcmp(question->name, GAPS) == 0 && strcmp(given[i].name, "least_ns") == 0) {
			bound.least_gap_ns = given[i].integer;
			bound.each[i].integer = 0;
		}
	}
	return bound;
}

/* Gaps are also known of hosts that have hardly any, or on which no work ever ran. */
static bool is_finding(const struct question *question, const struct bound *bound, struct store_result *result)
{
	return strcmp(question->name, GAPS) != 0 ||
	       (result_text(result, "run") && result_integer(result, "gap_ns") >= bound->least_gap_ns);
}

/* What the finding says of the owners of the host's hours. */
static void owner_facts_take(struct owned_host *host, const char *name, struct store_result *result)
{
	if (strcmp(name, "host_idle") == 0)
		host->idle_unix_ns = result_integer(result, "since_unix_ns");
	if (strcmp(name, "host_cores_unused") == 0)
		host->unused_cores = result_integer(result, "unused_count");
	if (strcmp(name, "host_memory_unused") == 0)
		host->unused_bytes = result_integer(result, "unused_bytes");
	if (strcmp(name, GAPS) == 0) {
		host->busy_ns = row_most(result_integer(result, "busy_ns"), 0);
		host->gap_ns = row_most(result_integer(result, "gap_ns"), 0) + host->busy_ns;
		host->free_unix_ns = result_integer(result, "free_unix_ns");
	}
}

static char *text_copy(struct store_result *result, const char *column)
{
	const char *text = result_text(result, column);

	return text ? strdup(text) : NULL;
}

static void item_free(struct sweep_item *item)
{
	free(item->hostname);
	free(item->run);
	free(item->sentence);
	free(item->advice);
}

static int row_take(struct sweeper *sweeper, const struct question *question, const struct bound *bound,
		    struct store_result *result)
{
	const struct sweep_request *request = sweeper->request;
	struct sweep *sweep = sweeper->sweep;
	struct sweep_item *items = grow(sweep->items, &sweep->capacity, sweep->count + 1, sizeof(*items)), *item;
	const char *certainty = result_text(result, "certainty");
	struct store_value values[QUESTION_COLUMNS_MAX];
	size_t host;
	int error = 0;

	if (!items)
		return -ENOMEM;
	sweep->items = items;
	host = host_find(sweep, result_integer(result, "host_id"));
	if (host == sweep->hosts.count) /* its row was not written yet */
		return 0;
	owner_facts_take(&sweep->owned[host], question->name, result);
	if (!is_finding(question, bound, result))
		return 0;
	question_row(question, result, values);
	item = &items[sweep->count++];
	*item = (struct sweep_item){
		.question = question,
		.host_id = result_integer(result, "host_id"),
		.run_id = result_integer(result, "run_id"),
		.user_id = question_column(question, "user_id") ? result_integer(result, "user_id") : ROW_NULL,
		.hostname = text_copy(result, "hostname"),
		.run = text_copy(result, "run"),
		.since_unix_ns = result_integer(result, "since_unix_ns"),
		.until_unix_ns = result_integer(result, "until_unix_ns"),
		.is_certain = certainty && strcmp(certainty, "certain") == 0,
		.held = {held(question, QUESTION_SAVES_CPU, result), held(question, QUESTION_SAVES_MEMORY, result),
			 held(question, QUESTION_SAVES_GPU, result)},
		.cost_nanos = ROW_NULL,
		.hour_nanos = ROW_NULL,
		.sentence = finding_text(question, question->finding.sentence, values, finding_value),
		.advice = finding_text(question, question->finding.advice, values, finding_value),
	};
	item->is_now = result_integer(result, "is_now") == 1 &&
		       ROWS_ITEM(&sweep->hosts, cloud_host, host)->host.last_seen_unix_ns >=
			       request->now_unix_ns - SWEEP_PRESENT_NS;
	if (!item->hostname || !item->sentence || !item->advice)
		return -ENOMEM;
	if (item->since_unix_ns == ROW_NULL || item->until_unix_ns == ROW_NULL)
		return 0;
	price_item(sweeper, item, host);
	if (question_column(question, "smaller_type")) {
		error = price_smaller(sweeper, item, host, result);
		if (item->cost_nanos != ROW_NULL && item->cost_nanos <= 0) /* it would not be cheaper */
			item_free(&sweep->items[--sweep->count]);
	}
	return error;
}

static int question_take(struct sweeper *sweeper, const struct question *question)
{
	const struct bound bound = question_bind(sweeper->request, question);
	struct store_result *result;
	int error = question_ask(question, sweeper->request->store, bound.each, &result), more;

	if (error < 0)
		return error;
	while (error == 0 && (more = store_result_next(result)) != 0)
		error = more < 0 ? more : row_take(sweeper, question, &bound, result);
	store_result_free(result);
	return error;
}

/* ---- all --------------------------------------------------------------------------- */

/* The most expensive first; unknown costs last. */
static int compare_items(const void *left, const void *right)
{
	const struct sweep_item *a = left, *b = right;

	if (a->cost_nanos != b->cost_nanos) {
		if (a->cost_nanos == ROW_NULL || b->cost_nanos == ROW_NULL)
			return a->cost_nanos == ROW_NULL ? 1 : -1;
		return a->cost_nanos > b->cost_nanos ? -1 : 1;
	}
	if (strcmp(a->hostname, b->hostname) != 0)
		return strcmp(a->hostname, b->hostname);
	return strcmp(a->sentence, b->sentence);
}

/* Returns the next finding from an index on, or NULL. */
static const struct question *finding_next(const struct catalogue *catalogue, size_t *index)
{
	const struct question *question;

	while ((question = catalogue_get(catalogue, (*index)++)))
		if (question->finding.kind && strcmp(question->finding.kind, "sweep") == 0)
			return question;
	return NULL;
}

static void finding_ask_ahead(struct sweeper *sweeper)
{
	const struct sweep_request *request = sweeper->request;
	const struct question *question = finding_next(request->catalogue, &sweeper->ahead);

	if (question && !question->file) {
		const struct bound bound = question_bind(request, question);

		query_ask_ahead(request->store, question->name, bound.each);
	}
}

static void ask_ahead(struct sweeper *sweeper)
{
	query_ask_ahead(sweeper->request->store, "cost_watched", of_watched);
	for (size_t i = 0; i < FINDINGS_AHEAD; i++)
		finding_ask_ahead(sweeper);
}

/* Findings of others still say when their hosts were idle. */
static void items_choose(struct sweep *sweep, int64_t user_id)
{
	size_t count = 0;

	for (size_t i = 0; i < sweep->count; i++) {
		if (sweep->items[i].user_id == user_id)
			sweep->items[count++] = sweep->items[i];
		else
			item_free(&sweep->items[i]);
	}
	sweep->count = count;
}

static int findings_make(struct sweeper *sweeper)
{
	const struct sweep_request *request = sweeper->request;
	const struct question *question;
	struct sweep *sweep = sweeper->sweep;
	size_t index = 0;
	int error = 0;

	while (error == 0 && (question = finding_next(request->catalogue, &index))) {
		finding_ask_ahead(sweeper);
		error = question_take(sweeper, question);
	}
	if (request->user_id != ROW_NULL)
		items_choose(sweep, request->user_id);
	if (error == 0 && sweep->count > 0)
		qsort(sweep->items, sweep->count, sizeof(*sweep->items), compare_items);
	return error;
}

/* Hosts that were not watched in that time are left out. */
static int owners_make(struct sweeper *sweeper)
{
	const struct sweep_request *request = sweeper->request;
	struct sweep *sweep = sweeper->sweep;
	struct rows watched = {0};
	int error = rows_load(&watched, &row_type_cost_watched, request->store, "cost_watched", of_watched);

	for (size_t i = 0; i < sweep->hosts.count && error == 0; i++) {
		struct owners_facts facts = {.since_unix_ns = request->since_unix_ns,
					     .until_unix_ns = request->now_unix_ns,
					     .prices = &sweeper->prices[i]};
		int64_t id = sweep->owned[i].host->host.id;
		size_t at;

		at = rows_find(&watched, offsetof(struct row_cost_watched, host_id), id, &facts.watched_count);
		facts.watched = ROWS_ITEM(&watched, cost_watched, at);
		error = owners_set(&sweep->owned[i], &facts);
		if (error == 0 && owners_ms(&sweep->owned[i], OWNER_WORK) > 0) {
			sweep->owned[sweep->owned_count++] = sweep->owned[i];
			price_doubts_add(&sweep->doubts, price_at(&sweeper->prices[i], request->now_unix_ns));
		}
	}
	rows_free(&watched);
	return error;
}

/* Looks up the prices of each host. */
static int hosts_make(struct sweeper *sweeper)
{
	struct sweep *sweep = sweeper->sweep;
	int error = gpu_hosts_load(sweeper->request->store, &sweep->hosts);

	if (error < 0)
		return error;
	rows_keep_host(&sweep->hosts, sweeper->request->host);
	sweep->owned = calloc(sweep->hosts.count + 1, sizeof(*sweep->owned));
	sweeper->prices = calloc(sweep->hosts.count + 1, sizeof(*sweeper->prices));
	if (!sweep->owned || !sweeper->prices)
		return -ENOMEM;
	for (size_t i = 0; i < sweep->hosts.count && error == 0; i++) {
		const struct row_cloud_host *host = ROWS_ITEM(&sweep->hosts, cloud_host, i);
		struct prices_host priced = bill_priced_host(host);

		sweep->owned[i] = (struct owned_host){.host = host, .idle_unix_ns = INT64_MAX};
		error = price_times_make(sweeper->request->prices, &priced, &sweeper->prices[i]);
	}
	return error;
}

int sweep_make(const struct sweep_request *request, struct sweep *ret_sweep)
{
	struct sweeper sweeper = {.request = request, .sweep = ret_sweep};
	int error;

	*ret_sweep = (struct sweep){0};
	ask_ahead(&sweeper);
	error = hosts_make(&sweeper);
	if (error == 0)
		error = findings_make(&sweeper);
	if (error == 0)
		error = owners_make(&sweeper);
	for (size_t i = 0; sweeper.prices && i < ret_sweep->hosts.count; i++)
		price_times_free(&sweeper.prices[i]);
	free(sweeper.prices);
	return error;
}

void sweep_free(struct sweep *sweep)
{
	for (size_t i = 0; i < sweep->count; i++)
		item_free(&sweep->items[i]);
	free(sweep->items);
	free(sweep->owned);
	rows_free(&sweep->hosts);
	*sweep = (struct sweep){0};
}
