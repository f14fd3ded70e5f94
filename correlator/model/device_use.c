/* See device_use.h. */
#include "correlator/model/device_use.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "correlator/model/model.h"
#include "correlator/model/tally.h"

#define DEVICES_OF_HOST_MAX 64
#define DEVICE_UJ_MAX 100 /* in a nanosecond: 100 kW */

#define I(name) .name = ROW_NULL,
const struct device_use device_use_none = {
	ROW_GPU_TOTALS(I).peak_bytes = ROW_NULL,
	.capacity_bytes = ROW_NULL,
	.sampled_bytes = ROW_NULL,
	.sampled_busy_ns = ROW_NULL,
};
#undef I

struct device_use *device_use_new(struct model *model)
{
	struct device_use *use = model_alloc(model, sizeof(*use));

	if (use)
		*use = device_use_none;
	return use;
}

void device_use_free(struct device_use *use)
{
	struct device_round *round, *next;

	for (round = use ? use->rounds : NULL; round; round = next) {
		next = round->next;
		free(round);
	}
	free(use);
}

/* The name of a device is that of its kind and a number. */
bool device_is_of_kind(const char *name, const char *kind)
{
	size_t size = strcspn(name, "0123456789");

	return strlen(kind) == size && strncmp(kind, name, size) == 0;
}

static void add(int64_t *sum, int64_t part)
{
	if (part != ROW_NULL)
		*sum = (*sum == ROW_NULL ? 0 : *sum) + part;
}

/* Returns NULL if there are too many, or out of memory. */
static struct device_round *round_of(struct model *model, struct device_use *use, const char *name)
{
	struct device_round *round;
	unsigned count = 0;

	for (round = use->rounds; round; round = round->next) {
		if (device_is_of_kind(name, round->kind))
			return round;
		count++;
	}
	round = count < DEVICE_KINDS_MAX ? model_alloc(model, sizeof(*round)) : NULL;
	if (!round)
		return NULL;
	snprintf(round->kind, sizeof(round->kind), "%.*s", (int)strcspn(name, "0123456789"), name);
	round->memory_bytes = round->capacity_bytes = ROW_NULL;
	round->next = use->rounds;
	use->rounds = round;
	return round;
}

/* Samplers report once a second. */
#define REPORT_LASTS_NS (5 * UINT64_C(1000000000))

/* Of all kinds of devices. */
static void sum_at(const struct device_use *use, uint64_t boot_ns, int64_t *ret_memory_bytes,
		   int64_t *ret_capacity_bytes)
{
	const struct device_round *round;

	*ret_memory_bytes = *ret_capacity_bytes = ROW_NULL;
	for (round = use->rounds; round; round = round->next) {
		if (boot_ns >= round->boot_ns + REPORT_LASTS_NS)
			continue;
		add(ret_memory_bytes, round->memory_bytes);
		add(ret_capacity_bytes, round->capacity_bytes);
	}
}

int64_t device_use_memory_at(const struct device_use *use, uint64_t boot_ns)
{
	int64_t memory_bytes, capacity_bytes;

	sum_at(use, boot_ns, &memory_bytes, &capacity_bytes);
	return memory_bytes;
}

/* Whether that much is possible in its life. */
static bool is_within(int64_t sum, int64_t part, uint64_t most)
{
	add(&sum, part);
	return sum == ROW_NULL || (uint64_t)sum / DEVICES_OF_HOST_MAX <= most;
}

static bool is_possible(const struct device_use *use, const struct device_round *round,
			const struct device_report *report, uint64_t begin_boot_ns)
{
	uint64_t life_ns = report->boot_ns - begin_boot_ns;

	return report->boot_ns >= round->boot_ns && report->boot_ns >= begin_boot_ns &&
	       is_within(use->gpu_busy_ns, report->gpu_busy_ns, life_ns) &&
	       is_within(use->gpu_memory_busy_ns, report->gpu_memory_busy_ns, life_ns) &&
	       is_within(use->gpu_energy_uj, report->gpu_energy_uj, life_ns * DEVICE_UJ_MAX);
}

bool device_use_add(struct model *model, struct device_use *use, const char *name, const struct device_report *report,
		    uint64_t begin_boot_ns)
{
	struct device_round *round = round_of(model, use, name);
	int64_t memory_bytes, capacity_bytes;

	if (!round || !is_possible(use, round, report, begin_boot_ns))
		return false;
	if (report->boot_ns != round->boot_ns)
		round->memory_bytes = round->capacity_bytes = ROW_NULL;
	round->boot_ns = report->boot_ns;
	add(&round->memory_bytes, report->memory_bytes);
	add(&round->capacity_bytes, report->capacity_bytes);
	sum_at(use, report->boot_ns, &memory_bytes, &capacity_bytes);
	tally_raise(&use->peak_bytes, memory_bytes);
	tally_raise(&use->capacity_bytes, capacity_bytes);
#define I(name) add(&use->name, report->name);
	ROW_GPU_TOTALS(I)
#undef I
	return true;
}
