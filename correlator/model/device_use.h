/* What GPUs did for an image, as samplers report it. */
#pragma once

#include <stdbool.h>

#include "common/store/rows.h"

struct model;

#define DEVICE_NAME_SIZE 24
#define DEVICE_KINDS_MAX 4 /* of an image; of further ones nothing is kept */

/* What one device did for a process in an interval that ended at `boot_ns`. ROW_NULL: unknown. */
struct device_report {
	uint64_t boot_ns;
#define I(name) int64_t name;
	ROW_GPU_TOTALS(I)
#undef I
	int64_t memory_bytes, capacity_bytes;
};

/* Memory on the devices of one kind at `boot_ns`: that an image holds, and that these devices have. The sampler of each kind
 * has its own times. ROW_NULL: unknown. */
struct device_round {
	char kind[DEVICE_NAME_SIZE]; /* the names of its devices begin with it */
	uint64_t boot_ns;
	int64_t memory_bytes, capacity_bytes;
	struct device_round *next;
};

/* On all devices. ROW_NULL: not reported. */
struct device_use {
#define I(name) int64_t name;
	ROW_GPU_TOTALS(I) /* so far */
#undef I
	int64_t peak_bytes, capacity_bytes; /* of its memory, and of its devices', since the start of the correlator */
	int64_t sampled_bytes, sampled_busy_ns; /* as in the last sample of the image */
	struct device_round *rounds;            /* the latest of each kind of device, NULL: none */
};

extern const struct device_use device_use_none;

/* Returns NULL if out of memory. */
struct device_use *device_use_new(struct model *model);
/* Does nothing if `use` is NULL. */
void device_use_free(struct device_use *use);
/* Adds a report of the device `name`. Returns false if it is ignored, as it cannot be true: it is older than the last one of
 * that kind, or is more than all devices of a host can do since `begin_boot_ns`. */
bool device_use_add(struct model *model, struct device_use *use, const char *name, const struct device_report *report,
		    uint64_t begin_boot_ns);
/* Its memory on devices at that time, ROW_NULL if nothing was reported lately. */
int64_t device_use_memory_at(const struct device_use *use, uint64_t boot_ns);
/* Whether a device is of that kind. What follows its name in a list does not matter. */
bool device_is_of_kind(const char *name, const char *kind);
