/* GPU devices that a process holds open, and what they did for it. */
#pragma once

#include "common/store/rows.h"
#include "correlator/record/record.h"

struct model;
struct image;

/* What one device did for a process in an interval that ended at `boot_ns`. ROW_NULL: unknown. */
struct device_report {
	uint64_t boot_ns;
	int64_t busy_ns, memory_bytes, energy_uj, throttled_ns, capacity_bytes;
};

#define DEVICE_NAME_SIZE 24

/* An error that the driver reported of a device. */
struct device_error {
	uint64_t boot_ns;
	uint32_t code;         /* the driver's number */
	uint32_t holder_count; /* processes that held the device */
	char device[DEVICE_NAME_SIZE];
};

/* Within this time of an error of its device, the failure of a process counts as its consequence. */
#define DEVICE_ERROR_NS (60 * UINT64_C(1000000000))

/* Adds a device that the kernel side found open; at most 256 bytes of names are kept per image. */
void device_add(struct model *model, struct image *image, uint64_t major, uint64_t minor);
/* Adds a report of the device `name`. One that cannot be true is ignored: older than the last one, or more time
 * than all devices of a host have. */
void device_add_use(struct model *model, struct image *image, const char *name, const struct device_report *report);
/* Keeps an error. Returns false if that of the same minute is kept: what follows an error may be its consequence. */
bool device_add_error(struct model *model, struct image *image, const struct device_error *error);
