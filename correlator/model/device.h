/* GPU devices that a process holds open, and what they did for it. */
#pragma once

#include "common/store/rows.h"
#include "correlator/record/event.h"

struct model;
struct image;

/* Of an image, on all devices, as samplers report it. ROW_NULL: not reported. */
struct device_use {
	int64_t busy_ns, energy_uj; /* so far */
	int64_t memory_bytes;       /* at boot_ns */
	int64_t peak_bytes;         /* largest of these, since the start of the correlator */
	uint64_t boot_ns;           /* of the latest report, 0: none */
};
#define DEVICE_USE_UNKNOWN \
	((struct device_use){ \
		.busy_ns = ROW_NULL, .energy_uj = ROW_NULL, .memory_bytes = ROW_NULL, .peak_bytes = ROW_NULL})

/* What one device did for a process in an interval that ended at `boot_ns`. ROW_NULL: unknown. */
struct device_report {
	uint64_t boot_ns;
	int64_t busy_ns, memory_bytes, energy_uj;
};

/* Adds a device that the kernel side found open; at most 256 bytes of names are kept per image. */
void device_add(struct model *model, struct image *image, uint64_t major, uint64_t minor);
/* Adds a report of the device `name`. One that cannot be true is ignored: older than the last one, or more time
 * than all devices of a host have. */
void device_add_use(struct model *model, struct image *image, const char *name, const struct device_report *report);
/* Its memory on devices at that time, ROW_NULL if nothing was reported lately. */
int64_t device_memory_at(const struct device_use *use, uint64_t boot_ns);
