/* Asks NVML once per round what each device did for each process that holds it.
 *
 * NVML keeps samples of the device, five a second, each the share of its time in which it worked: these are added up. And
 * it says how processes shared that time since a moment that the caller names, here the last sample that was counted. So
 * no sample counts twice. docs/gpu.md has what was measured. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define NVIDIA_HOLDERS_MAX 64 /* processes of a device; of further ones nothing is reported */

/* What a device did for a process since the round before. */
struct nvidia_use {
	uint32_t pid;
	uint64_t start_boot_ns; /* of the process */
	unsigned minor;         /* of /dev/nvidiaN */
	uint64_t interval_ns;
	bool has_busy, has_memory, has_energy, has_throttled;
	uint64_t busy_ns, memory_bytes, energy_uj, throttled_ns;
};

struct nvidia;

/* An error of a device, for one of the processes that held it. */
struct nvidia_error {
	uint32_t pid;
	uint64_t start_boot_ns;
	unsigned minor;
	unsigned xid, holder_count;
};

typedef void nvidia_take(void *context, const struct nvidia_use *use);
typedef void nvidia_take_error(void *context, const struct nvidia_error *error);

/* Loads the library and finds the devices. Returns NULL, logged, if there is no driver or no device. */
struct nvidia *nvidia_open(void);
void nvidia_close(struct nvidia *nvidia);
const char *nvidia_driver(const struct nvidia *nvidia);
/* One round. The first one, and one after a pause of more than 10 s, only begins an interval. */
void nvidia_sample(struct nvidia *nvidia, uint64_t now_boot_ns, uint64_t now_unix_ns, nvidia_take *take, void *context);
/* Waits at most that long for an error of a device, and reports it for the processes that the last round found on it.
 * Returns false if there was none, perhaps at once: not every driver reports errors. */
bool nvidia_wait_error(struct nvidia *nvidia, unsigned most_ms, nvidia_take_error *take, void *context);
