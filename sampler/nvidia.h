/* Asks NVML once per round what each device did for each process that holds it.
 *
 * NVML keeps samples of the device, five a second, each the share of its time in which it worked: these are added up. And
 * it says how processes shared that time since a moment that the caller names, here the last sample that was counted. So
 * no sample counts twice. docs/gpu.md has what was measured. */
#pragma once

#include "sampler/link.h"

#define NVIDIA_HOLDERS_MAX 64 /* processes of a device; of further ones nothing is reported */

/* Loads the library and finds the devices. Returns NULL, logged, if there is no driver or no device. */
void *nvidia_open(void);
void nvidia_close(void *nvidia);
void nvidia_describe(const void *nvidia, struct link *link);
/* One round. The first one, and one after a pause of more than 10 s, only begins an interval. */
void nvidia_sample(void *nvidia, uint64_t now_boot_ns, struct link *link);
/* Waits at most that long for an error of a device, and adds it for the processes that the last round found on it.
 * Returns false if there was none, perhaps at once: not every driver reports errors. */
bool nvidia_wait_error(void *nvidia, unsigned most_ms, struct link *link);
