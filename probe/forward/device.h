/* Finds out which character devices are GPUs, by the names of their drivers. */
#pragma once

#include <stdbool.h>

#include "bpf/record.h"

/* The major device numbers that the kernel side looks for: a set that ends with 0 unless full. */
struct device_majors {
	uint32_t major[DEVICE_MAJORS_MAX];
};

/* Returns false if the set is full. */
bool device_majors_add(struct device_majors *majors, uint32_t major);

/* Add those of the GPU drivers that are loaded now. `fd` is an open /proc/devices, which is current
 * each time it is read from the beginning. */
void device_majors_find(struct device_majors *majors, int fd);
