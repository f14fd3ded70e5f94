/* Divides what a host costs among the work that ran on it. See charge.h.
 *
 * One pass over the beginnings and ends of all items keeps the sum of what they hold, and from it the price of a unit
 * since the beginning of time. An item that holds the same all the time costs that times the growth of the price. What
 * a holder has left changes whenever one of its members begins or ends: it is charged piece by piece.
 */
#include "analysis/cost/charge.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

struct event {
	int64_t unix_ns;
	bool is_begin;
	size_t item;
};

/* Sums of figures that are not to be trusted may exceed 64 bits. */
__extension__ typedef __int128 wide;

/* What an item holds of one resource. */
struct holding {
	int64_t held; /* now; of a holder: what its members leave of it */
	double since; /* price of a unit when it began to hold this */
	double cost;  /* of what it held before */
	wide members; /* of a holder: what its members hold */
};

struct division {
	struct charge_item *items;
	struct holding (*holdings)[CHARGE_RESOURCE_COUNT];
	bool *is_active;
	wide held[CHARGE_RESOURCE_COUNT];    /* by all */
	double price[CHARGE_RESOURCE_COUNT]; /* of a unit held since the first period */
};

static int compare_events(const void *left, const void *right)
{
	const struct event *a = left, *b = right;

	if (a->unix_ns != b->unix_ns)
		return a->unix_ns < b->unix_ns ? -1 : 1;
	if (a->is_begin != b->is_begin)
		return a->is_begin ? 1 : -1;
	return a->item < b->item ? -1 : a->item > b->item;
}

static wide larger(wide left, wide right)
{
	return left > right ? left : right;
}

static void hold(struct division *division, struct holding *holding, size_t resource, int64_t amount)
{
	holding->cost += (double)holding->held * (division->price[resource] - holding->since);
	holding->since = division->price[resource];
	division->held[resource] += (wide)amount - holding->held;
	holding->held = amount;
}

/* What an item holds; a holder holds what its members leave of its request. */
static int64_t own_amount(const struct division *division, size_t index, size_t resource)
{
	const struct charge_item *item = &division->items[index];

	if (!division->is_active[index])
		return 0;
	return (int64_t)larger(item->used[resource],
			       item->requested[resource] - division->holdings[index][resource].members);
}

static void event_apply(struct division *division, const struct event *event)
{
	size_t holder = division->items[event->item].holder;

	division->is_active[event->item] = event->is_begin;
	for (size_t i = 0; i < CHARGE_RESOURCE_COUNT; i++) {
		struct holding *holding = &division->holdings[event->item][i];
		int64_t before = holding->held;

		hold(division, holding, i, own_amount(division, event->item, i));
		if (holder == CHARGE_NO_HOLDER)
			continue;
		division->holdings[holder][i].members += holding->held - before;
		hold(division, &division->holdings[holder][i], i, own_amount(division, holder, i));
	}
}

static void prices_advance(struct division *division, const struct charge_period *period, int64_t ns)
{
	double share = (double)ns / (double)(period->end_unix_ns - period->begin_unix_ns);

	for (size_t i = 0; i < CHARGE_RESOURCE_COUNT; i++) {
		wide units = larger(period->capacity[i], division->held[i]);

		if (units > 0)
			division->price[i] += (double)period->bill_nanos[i] * share / (double)units;
	}
}

static void walk(struct division *division, const struct charge_period *periods, size_t period_count,
		 const struct event *events, size_t event_count)
{
	size_t next = 0;

	for (size_t i = 0; i < period_count; i++) {
		const struct charge_period *period = &periods[i];
		int64_t now = period->begin_unix_ns;

		for (; next < event_count && events[next].unix_ns < period->end_unix_ns; next++) {
			if (events[next].unix_ns > now) {
				prices_advance(division, period, events[next].unix_ns - now);
				now = events[next].unix_ns;
			}
			event_apply(division, &events[next]);
		}
		if (period->end_unix_ns > now)
			prices_advance(division, period, period->end_unix_ns - now);
	}
	for (; next < event_count; next++)
		event_apply(division, &events[next]);
}

/* Rounds down, and never takes more than is left: sums of floating-point numbers are not exact. */
static int64_t take(double amount, int64_t *left)
{
	int64_t taken = amount >= (double)*left ? *left : (int64_t)amount;

	*left -= taken;
	return taken;
}

static void parts_set(struct charge_item *item, const struct holding *holdings, int64_t *left)
{
	item->parts = (struct charge_parts){0};
	for (size_t i = 0; i < CHARGE_RESOURCE_COUNT; i++) {
		int64_t held = (int64_t)larger(item->requested[i], item->used[i]);
		double used = held > 0 ? holdings[i].cost * (double)item->used[i] / (double)held : 0;

		item->parts.used_nanos[i] = take(used, &left[i]);
		item->parts.unused_nanos[i] = take(holdings[i].cost - used, &left[i]);
	}
}

static struct event *events_sort(const struct charge_item *items, size_t count, size_t *ret_count)
{
	struct event *events = calloc(2 * count + 1, sizeof(*events));

	*ret_count = 0;
	for (size_t i = 0; events && i < count; i++) {
		if (items[i].begin_unix_ns >= items[i].end_unix_ns)
			continue;
		events[(*ret_count)++] = (struct event){items[i].begin_unix_ns, true, i};
		events[(*ret_count)++] = (struct event){items[i].end_unix_ns, false, i};
	}
	if (events)
		qsort(events, *ret_count, sizeof(*events), compare_events);
	return events;
}

int charge_divide(const struct charge_period *periods, size_t period_count, struct charge_item *items,
		  size_t item_count, int64_t ret_idle_nanos[CHARGE_RESOURCE_COUNT])
{
	struct division division = {.items = items};
	int64_t left[CHARGE_RESOURCE_COUNT] = {0};
	size_t event_count;
	struct event *events = events_sort(items, item_count, &event_count);
	int error = -ENOMEM;

	division.holdings = calloc(item_count + 1, sizeof(*division.holdings));
	division.is_active = calloc(item_count + 1, sizeof(*division.is_active));
	if (events && division.holdings && division.is_active) {
		walk(&division, periods, period_count, events, event_count);
		for (size_t i = 0; i < period_count; i++)
			for (size_t j = 0; j < CHARGE_RESOURCE_COUNT; j++)
				left[j] += periods[i].bill_nanos[j];
		for (size_t i = 0; i < item_count; i++)
			parts_set(&items[i], division.holdings[i], left);
		for (size_t i = 0; i < CHARGE_RESOURCE_COUNT; i++)
			ret_idle_nanos[i] = left[i];
		error = 0;
	}
	free(events);
	free(division.holdings);
	free(division.is_active);
	return error;
}

/* ---- shares ---------------------------------------------------------------------- */

struct remainder {
	double size;
	size_t index;
};

/* The largest first; among equals, the first. */
static int compare_remainders(const void *left, const void *right)
{
	const struct remainder *a = left, *b = right;

	if (a->size != b->size)
		return a->size > b->size ? -1 : 1;
	return a->index < b->index ? -1 : a->index > b->index;
}

int charge_share(int64_t total, const int64_t *weights, size_t count, int64_t *ret_parts)
{
	struct remainder *remainders = calloc(count + 1, sizeof(*remainders));
	double sum = 0;
	int64_t left = total;

	if (!remainders)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		sum += (double)weights[i];
	for (size_t i = 0; i < count; i++) {
		double exact = (double)total * (sum > 0 ? (double)weights[i] / sum : 1.0 / (double)count);

		ret_parts[i] = take(exact, &left);
		remainders[i] = (struct remainder){exact - (double)ret_parts[i], i};
	}
	qsort(remainders, count, sizeof(*remainders), compare_remainders);
	for (size_t i = 0; i < count && left > 0; i = i + 1 < count ? i + 1 : 0, left--)
		ret_parts[remainders[i].index]++;
	free(remainders);
	return 0;
}
