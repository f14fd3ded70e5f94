/* A bill in whole units, and its CO2: in both, rows, the system's own and idle time still add up. See bill.h. */
#include "analysis/cost/bill.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/cost/charge.h"

enum amount_part { ROW_WORK, ROW_SYSTEM, ROW_IDLE, ROW_PART_COUNT };
enum rest_amount { REST_OTHERS, REST_SYSTEM, REST_IDLE, REST_PART_COUNT };

#define PARTS_MOST 3

/* Divides a whole into numbers in the proportion that they have now. */
static int parts_round(int64_t whole, size_t count, int64_t *const amounts[])
{
	int64_t weights[PARTS_MOST] = {0}, parts[PARTS_MOST] = {0};
	int error;

	for (size_t i = 0; i < count; i++)
		weights[i] = *amounts[i];
	error = charge_share(whole, weights, count, parts);
	for (size_t i = 0; i < count && error == 0; i++)
		*amounts[i] = parts[i];
	return error;
}

static int row_round(struct bill_row *row, const int64_t parts[ROW_PART_COUNT])
{
	int64_t *const uses[] = {&row->used_nanos, &row->unused_nanos};
	int64_t *const resources[] = {&row->cpu_nanos, &row->memory_nanos, &row->gpu_nanos};
	double gpu_unused = row->gpu_nanos > 0 ? (double)row->gpu_unused_nanos / (double)row->gpu_nanos : 0;
	int error = parts_round(parts[ROW_WORK], 2, uses);

	row->system_nanos = parts[ROW_SYSTEM];
	row->idle_nanos = parts[ROW_IDLE];
	if (error == 0)
		error = parts_round(parts[ROW_WORK], 3, resources);
	row->gpu_unused_nanos = row_least((int64_t)((double)row->gpu_nanos * gpu_unused + 0.5), row->unused_nanos);
	return error;
}

/* Sets what is in no row. */
static void rest_set(const struct bill *bill, int64_t rest[REST_PART_COUNT])
{
	rest[REST_OTHERS] = bill->others_nanos;
	rest[REST_SYSTEM] = bill->system_nanos;
	rest[REST_IDLE] = bill->idle_nanos;
	for (const struct bill_row *row = bill->rows; row; row = row->hh.next) {
		rest[REST_SYSTEM] -= row->system_nanos;
		rest[REST_IDLE] -= row->idle_nanos;
	}
}

int bill_round(struct bill *bill, int64_t unit_nanos)
{
	size_t count = HASH_COUNT(bill->rows) * ROW_PART_COUNT + REST_PART_COUNT, at = 0;
	int64_t *weights = calloc(2 * count, sizeof(*weights)), *parts, *rest;
	struct bill_row *row;
	int error = -ENOMEM;

	if (!weights)
		return error;
	parts = weights + count;
	for (row = bill->rows; row; row = row->hh.next) {
		weights[at++] = row->used_nanos + row->unused_nanos;
		weights[at++] = row->system_nanos;
		weights[at++] = row->idle_nanos;
	}
	rest_set(bill, weights + at);
	bill->bill_nanos = (bill->bill_nanos + unit_nanos / 2) / unit_nanos;
	error = charge_share(bill->bill_nanos, weights, count, parts);
	rest = parts + count - REST_PART_COUNT;
	bill->total_nanos = 0;
	bill->others_nanos = rest[REST_OTHERS];
	bill->system_nanos = rest[REST_SYSTEM];
	bill->idle_nanos = rest[REST_IDLE];
	for (row = bill->rows; row && error == 0; row = row->hh.next, parts += ROW_PART_COUNT) {
		error = row_round(row, parts);
		bill->total_nanos += parts[ROW_WORK];
		bill->system_nanos += row->system_nanos;
		bill->idle_nanos += row->idle_nanos;
	}
	free(weights);
	return error;
}

/* ---- CO2 --------------------------------------------------------------------------- */

int bill_add_co2(struct bill *bill, int64_t co2)
{
	size_t count = HASH_COUNT(bill->rows) + REST_PART_COUNT, at = 0;
	int64_t *weights = calloc(2 * count, sizeof(*weights)), *parts;
	struct bill_row *row;
	int error = -ENOMEM;

	if (!weights)
		return error;
	parts = weights + count;
	for (row = bill->rows; row; row = row->hh.next)
		weights[at++] = row->used_nanos + row->unused_nanos + row->system_nanos + row->idle_nanos;
	rest_set(bill, weights + at);
	error = charge_share(co2, weights, count, parts);
	at = 0;
	for (row = bill->rows; row; row = row->hh.next)
		row->co2 = parts[at++];
	bill->others_co2 = parts[at + REST_OTHERS];
	bill->system_co2 = parts[at + REST_SYSTEM];
	bill->idle_co2 = parts[at + REST_IDLE];
	bill->co2 = co2;
	free(weights);
	return error;
}
