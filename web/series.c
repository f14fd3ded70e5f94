/* What a run used over time. See series.h. */
#include "web/series.h"

#include <errno.h>
#include <stdlib.h>

#include "common/grow.h"
#include "common/store/rows.h"

/* A(name): amounts that are spread evenly over the time in which they were used. */
#define AMOUNTS(A) A(cpu_us) A(wait_us) A(read_bytes) A(write_bytes) A(sent_bytes) A(received_bytes) A(gpu_us)

struct series_row {
#define A(name) int64_t name;
	AMOUNTS(A)
	A(blocked_us)
	A(memory_bytes) A(gpu_memory_bytes)
#undef A
};

static const struct web_column series_columns[] = {
#define A(name) {#name, offsetof(struct series_row, name), WEB_PLAIN},
	AMOUNTS(A) A(blocked_us) A(memory_bytes) A(gpu_memory_bytes)
#undef A
};

enum {
#define A(name) AT_##name,
	AMOUNTS(A)
#undef A
		AT_blocked_us,
	AMOUNT_COUNT,
};

/* Memory that is held from then on, or no longer if it is negative. */
struct change {
	int64_t us, bytes;
};

/* What was held of one kind of memory. */
struct holding {
	struct change *changes;
	size_t count, capacity;
	size_t next; /* while the table is filled */
	int64_t bytes;
};

struct web_series {
	int64_t step_us;
	size_t count;
	double (*amounts)[AMOUNT_COUNT]; /* in a step */
	double (*rises)[AMOUNT_COUNT];   /* difference of the amount of whole steps to that of the step before */
	struct holding memory[WEB_MEMORY_COUNT];
};

struct web_series *web_series_new(int64_t wall_us)
{
	struct web_series *series = calloc(1, sizeof(*series));

	if (!series)
		return NULL;
	wall_us = wall_us < 1 ? 1 : wall_us;
	series->step_us = wall_us / WEB_STEPS_MAX + 1;
	if (series->step_us < 1000)
		series->step_us = 1000;
	series->count = (size_t)((wall_us + series->step_us - 1) / series->step_us);
	series->amounts = calloc(series->count, sizeof(*series->amounts));
	series->rises = calloc(series->count + 1, sizeof(*series->rises));
	if (series->amounts && series->rises)
		return series;
	web_series_free(series);
	return NULL;
}

void web_series_free(struct web_series *series)
{
	if (!series)
		return;
	free(series->amounts);
	free(series->rises);
	for (size_t i = 0; i < WEB_MEMORY_COUNT; i++)
		free(series->memory[i].changes);
	free(series);
}

int64_t web_series_step_us(const struct web_series *series)
{
	return series->step_us;
}

/* ---- amounts --------------------------------------------------------------------- */

/* Spreads an amount over a time in steps; what lies outside the run's time is left out. */
static void spread(struct web_series *series, int at, double from, double to, double amount)
{
	double begin = from < 0 ? 0 : from, end = to > (double)series->count ? (double)series->count : to;
	size_t first, last;
	double rate;

	if (to < from) /* a scan that was late */
		begin = end;
	if (amount <= 0 || begin > end || end < 0)
		return;
	first = (size_t)begin;
	last = (size_t)end;
	if (first == series->count) /* at the very end */
		first = last = series->count - 1;
	if (to > from)
		amount *= (end - begin) / (to - from);
	if (first == last) {
		series->amounts[first][at] += amount;
		return;
	}
	rate = amount / (end - begin);
	series->amounts[first][at] += rate * ((double)first + 1 - begin);
	series->rises[first + 1][at] += rate;
	series->rises[last][at] -= rate;
	if (last < series->count)
		series->amounts[last][at] += rate * (end - (double)last);
}

static double used(int64_t from, int64_t to)
{
	return from == ROW_NULL || to == ROW_NULL ? 0 : (double)to - (double)from;
}

void web_series_add(struct web_series *series, const struct web_point *from, const struct web_point *to)
{
	double begin = (double)from->us / (double)series->step_us, end = (double)to->us / (double)series->step_us;

#define A(name) spread(series, AT_##name, begin, end, used(from->name, to->name));
	AMOUNTS(A)
#undef A
	if (to->blocked_count > 0)
		spread(series, AT_blocked_us, begin, end, (double)to->blocked_count * used(from->us, to->us));
}

/* ---- memory ---------------------------------------------------------------------- */

/* Sums of hostile figures do not overflow either. */
#define HELD_BYTES_MAX (INT64_C(1) << 42)

int web_series_hold(struct web_series *series, enum web_memory kind, int64_t from_us, int64_t to_us, int64_t bytes)
{
	struct holding *holding = &series->memory[kind];
	struct change *changes;

	if (bytes <= 0 || from_us >= to_us)
		return 0;
	changes = grow(holding->changes, &holding->capacity, holding->count + 2, sizeof(*changes));
	if (!changes)
		return -ENOMEM;
	holding->changes = changes;
	bytes = bytes < HELD_BYTES_MAX ? bytes : HELD_BYTES_MAX;
	changes[holding->count++] = (struct change){from_us, bytes};
	changes[holding->count++] = (struct change){to_us, -bytes};
	return 0;
}

/* What is no longer held at a time comes first. */
static int compare_changes(const void *left, const void *right)
{
	const struct change *a = left, *b = right;

	if (a->us != b->us)
		return a->us < b->us ? -1 : 1;
	return a->bytes < b->bytes ? -1 : a->bytes > b->bytes;
}

/* ---- the table ------------------------------------------------------------------- */

static int64_t whole(double amount)
{
	return amount < 9e15 ? (int64_t)(amount + 0.5) : (int64_t)9e15;
}

/* The most that was held at one time until `end_us`, since it was last asked. */
static int64_t most_held(struct holding *holding, int64_t end_us)
{
	int64_t most = holding->bytes;

	for (; holding->next < holding->count && holding->changes[holding->next].us < end_us; holding->next++) {
		holding->bytes += holding->changes[holding->next].bytes;
		most = holding->bytes > most ? holding->bytes : most;
	}
	return most;
}

int web_series_fill(struct web_series *series, int64_t most_bytes, struct web_table *table)
{
	double rates[AMOUNT_COUNT] = {0};

	*table = (struct web_table){"series", series_columns, sizeof(series_columns) / sizeof(series_columns[0]),
				    sizeof(struct series_row)};
	for (size_t i = 0; i < WEB_MEMORY_COUNT; i++)
		if (series->memory[i].count > 0)
			qsort(series->memory[i].changes, series->memory[i].count, sizeof(struct change),
			      compare_changes);
	for (size_t i = 0; i < series->count; i++) {
		int64_t end_us = i + 1 == series->count ? INT64_MAX : (int64_t)(i + 1) * series->step_us;
		struct series_row *row = web_table_add(table);

		if (!row)
			return -ENOMEM;
		for (int at = 0; at < AMOUNT_COUNT; at++)
			rates[at] += series->rises[i][at];
#define A(name) row->name = whole(series->amounts[i][AT_##name] + rates[AT_##name]);
		AMOUNTS(A)
		A(blocked_us)
#undef A
		row->memory_bytes = most_held(&series->memory[WEB_MEMORY], end_us);
		if (row->memory_bytes > most_bytes)
			row->memory_bytes = most_bytes;
		row->gpu_memory_bytes = most_held(&series->memory[WEB_GPU_MEMORY], end_us);
	}
	return 0;
}
