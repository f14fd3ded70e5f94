/* Which character devices are GPUs: by the names of their drivers. */
#pragma once

#include <stdbool.h>

#include "bpf/record.h"

/* Device numbers (major) that the kernel can look for: a set that ends with 0 or is full. */
struct device_majors {
	uint32_t major[DEVICE_MAJORS_MAX];
};

/* False: the set is full. */
bool device_majors_add(struct device_majors *majors, uint32_t major);

/* Add those of the GPU drivers that are loaded now: `fd` is of /proc/devices, which tells anew each
 * time that it is read from its beginning. */
void device_majors_find(struct device_majors *majors, int fd);
