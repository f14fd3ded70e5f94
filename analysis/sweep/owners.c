/* Who owned each hour of a host. See owners.h. */
#include "analysis/sweep/owners.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/cost/bill.h"
#include "analysis/cost/charge.h"
#include "analysis/cost/host_work.h"
#include "common/text.h"

#define MS INT64_C(1000000)
#define HOUR_NS (INT64_C(3600000) * MS)

const char *const owner_names[OWNER_COUNT] = {OWNERS(TEXT_OF)};

struct owning {
	struct owned_host *host;
	const struct owners_facts *facts;
	int64_t before_ns;       /* watched before the host became idle (host_idle) */
	int64_t gap_ns, busy_ns; /* of that */
	int64_t ns[OWNER_COUNT];
	int64_t watched_ms;
};

/* How much of a time is before an instant. */
static int64_t before(int64_t begin, int64_t end, int64_t unix_ns)
{
	return row_most(row_least(end, unix_ns) - begin, 0);
}

/* Of `ns`, what falls to a part of the whole. */
static int64_t share_of(int64_t ns, int64_t part, int64_t whole)
{
	return whole > 0 ? (int64_t)((double)ns * (double)part / (double)whole) : 0;
}

/* The share of the host's price that goes into cores and memory which work never used. */
static double too_large_share(const struct owned_host *owned, const struct price *price)
{
	static const struct price by_weight = {
		.basis = PRICES_RATES, .cpu_nanos = PRICES_CORE_WEIGHT * 1000, .memory_nanos = 1000};
	const struct price_size size = bill_size(owned->host);
	int64_t nanos[CHARGE_RESOURCE_COUNT];
	double unused = 0;

	price_bill(price, &size, HOUR_NS, nanos);
	if (price_sum(nanos) <= 0)
		price_bill(&by_weight, &size, HOUR_NS, nanos);
	if (size.cpu_count > 0)
		unused += (double)nanos[CHARGE_CPU] * (double)owned->unused_cores / (double)size.cpu_count;
	if (size.memory_bytes > 0)
		unused += (double)nanos[CHARGE_MEMORY] * (double)owned->unused_bytes / (double)size.memory_bytes;
	return price_sum(nanos) > 0 ? unused / (double)price_sum(nanos) : 0;
}

/* Divides a time in which the host was watched among the owners. */
static void time_divide(const struct owning *owning, int64_t begin, int64_t end, const struct price *price,
			int64_t ret_ns[OWNER_COUNT])
{
	int64_t before_ns = before(begin, end, owning->host->idle_unix_ns);
	int64_t gap_ns = share_of(owning->gap_ns, before_ns, owning->before_ns);
	int64_t busy_ns = share_of(owning->busy_ns, before_ns, owning->before_ns);
	int64_t too_large_ns = (int64_t)((double)(before_ns - gap_ns) * too_large_share(owning->host, price));

	ret_ns[OWNER_IDLE] = end - begin - before_ns;
	ret_ns[OWNER_SYSTEM] = busy_ns;
	ret_ns[OWNER_GAP] = gap_ns - busy_ns;
	ret_ns[OWNER_TOO_LARGE] = too_large_ns;
	ret_ns[OWNER_WORK] = before_ns - gap_ns - too_large_ns;
}

/* A time of constant price, as in a bill. */
static int piece_add(struct owning *owning, int64_t begin, int64_t end, const struct price *price)
{
	const struct price_size size = bill_size(owning->host->host);
	int64_t ns[OWNER_COUNT], nanos[OWNER_COUNT], whole[CHARGE_RESOURCE_COUNT];
	int error;

	time_divide(owning, begin, end, price, ns);
	price_bill(price, &size, end - begin, whole);
	error = charge_share(price_sum(whole), ns, OWNER_COUNT, nanos);
	for (size_t i = 0; i < OWNER_COUNT && error == 0; i++) {
		owning->ns[i] += ns[i];
		owning->host->nanos[i] += nanos[i];
	}
	owning->host->has_price |= price->basis != PRICES_NONE;
	return error;
}

static int span_add(void *context, int64_t begin, int64_t end)
{
	struct owning *owning = context;
	int error = 0;

	owning->watched_ms += (end - begin) / MS;
	while (begin < end && error == 0) {
		const struct price *price = price_at(owning->facts->prices, begin);
		int64_t until = row_least(end, price->until_unix_ns);

		error = piece_add(owning, begin, until, price);
		begin = until;
	}
	return error;
}

/* After the host became idle, gaps are what follows the last work. */
static int span_see(void *context, int64_t begin, int64_t end)
{
	struct owning *owning = context;
	const struct owned_host *host = owning->host;

	owning->before_ns += before(begin, end, host->idle_unix_ns);
	owning->gap_ns -= end - begin - before(begin, end, row_most(host->idle_unix_ns, host->free_unix_ns));
	return 0;
}

int owners_set(struct owned_host *host, const struct owners_facts *facts)
{
	struct owning owning = {.host = host, .facts = facts, .gap_ns = host->gap_ns};
	int64_t begin = row_most(facts->since_unix_ns, host->host->host.first_seen_unix_ns);
	int64_t end = row_least(facts->until_unix_ns, host->host->host.last_seen_unix_ns);
	int error = host_each_watched(facts->watched, facts->watched_count, begin, end, span_see, &owning);

	owning.gap_ns = row_most(row_least(owning.gap_ns, owning.before_ns), 0);
	owning.busy_ns = row_least(host->busy_ns, owning.gap_ns);
	if (error == 0)
		error = host_each_watched(facts->watched, facts->watched_count, begin, end, span_add, &owning);
	return error < 0 ? error : charge_share(owning.watched_ms, owning.ns, OWNER_COUNT, host->ms);
}

int64_t owners_ms(const struct owned_host *host, enum owner first)
{
	int64_t sum = 0;

	for (size_t i = first; i < OWNER_COUNT; i++)
		sum += host->ms[i];
	return sum;
}

int64_t owners_nanos(const struct owned_host *host, enum owner first)
{
	int64_t sum = 0;

	for (size_t i = first; i < OWNER_COUNT; i++)
		sum += host->nanos[i];
	return sum;
}

/* Rounds one number of each owner of each host, `at` bytes into it. */
static int amounts_round(struct owned_host *hosts, size_t count, size_t at, int64_t unit)
{
	int64_t *weights = calloc(2 * count * OWNER_COUNT + 1, sizeof(*weights));
	int64_t *parts = weights + count * OWNER_COUNT, sum = 0;
	int error = weights ? 0 : -ENOMEM;

	for (size_t i = 0; i < count * OWNER_COUNT && error == 0; i++) {
		weights[i] = ((int64_t *)((char *)&hosts[i / OWNER_COUNT] + at))[i % OWNER_COUNT];
		if (__builtin_add_overflow(sum, weights[i], &sum))
			error = -EOVERFLOW;
	}
	if (error == 0)
		error = charge_share(sum / unit + (sum % unit >= unit - unit / 2), weights, count * OWNER_COUNT, parts);
	for (size_t i = 0; i < count * OWNER_COUNT && error == 0; i++)
		((int64_t *)((char *)&hosts[i / OWNER_COUNT] + at))[i % OWNER_COUNT] = parts[i];
	free(weights);
	return error;
}

/* The one with the largest waste first. */
static int compare_hosts(const void *left, const void *right)
{
	const struct owned_host *a = left, *b = right;
	int64_t first = owners_nanos(a, OWNER_WASTED), second = owners_nanos(b, OWNER_WASTED);

	if (first == second) {
		first = owners_ms(a, OWNER_WASTED);
		second = owners_ms(b, OWNER_WASTED);
	}
	if (first != second)
		return first > second ? -1 : 1;
	if (strcmp(a->host->host.hostname, b->host->host.hostname) != 0)
		return strcmp(a->host->host.hostname, b->host->host.hostname);
	return a->host->host.id < b->host->host.id ? -1 : a->host->host.id > b->host->host.id;
}

struct owned_host owners_sum(const struct owned_host *hosts, size_t count)
{
	struct owned_host sum = {0};

	for (size_t i = 0; i < count; i++) {
		sum.has_price |= hosts[i].has_price;
		for (size_t k = 0; k < OWNER_COUNT; k++) {
			sum.ms[k] += hosts[i].ms[k];
			sum.nanos[k] += hosts[i].nanos[k];
		}
	}
	return sum;
}

int owners_round(struct owned_host *hosts, size_t count, int64_t unit_ms, int64_t unit_nanos)
{
	int error = amounts_round(hosts, count, offsetof(struct owned_host, ms), unit_ms);

	if (error == 0)
		error = amounts_round(hosts, count, offsetof(struct owned_host, nanos), unit_nanos);
	if (error == 0 && count > 0)
		qsort(hosts, count, sizeof(*hosts), compare_hosts);
	return error;
}
