/* GPU devices that a process holds open, and what they did for it. */
#pragma once

#include "correlator/model/device_use.h"
#include "correlator/record/record.h"

struct model;
struct image;

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
/* Adds a report of the device `name`, or ignores it: see device_use_add(). */
void device_add_use(struct model *model, struct image *image, const char *name, const struct device_report *report);
/* Sets which devices of a kind the host has: a list, separated by commas. Those of other kinds stay. */
void device_set_of_host(struct model *model, const char *kind, const char *names, size_t size);
/* Keeps an error. Returns false if that of the same minute is kept: what follows an error may be its consequence. */
bool device_add_error(struct model *model, struct image *image, const struct device_error *error);
