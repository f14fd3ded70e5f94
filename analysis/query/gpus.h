/* The GPUs of hosts.
 *
 * A sampler reports which devices a host has. Without one, it has at least as many as the highest number of one that a process
 * held. Only NVIDIA's are counted: a render node (dri/renderD128) may be a display.
 */
#pragma once

#include "analysis/query/rows.h"

#define GPUS_MAX 64

/* The set of devices in a list such as nvidia0,nvidia2,nvidiactl: bit 0 for nvidia0. */
uint64_t gpus_of(const char *list);

/* Loads row_cloud_host, with gpu_count. Returns 0, -ENOMEM, or the store's error. */
int gpu_hosts_load(struct store *store, struct rows *ret_hosts);
