/* A stand-in for NVIDIA's library, for tests: one device, whose truth is the file named by TRACER_TEST_NVML.
 *
 * Each line: PID FROM_MS UNTIL_MS PERCENT MIB [MEMORY_PERCENT], wall clock: from then until then the device works PERCENT of
 * the time for the process, and reads or writes its memory for MEMORY_PERCENT (0), which holds that much memory as long as it
 * lives. With a line `devices COUNT`, there are more, which no process holds. A line `clocks MHZ MEMORY_MHZ` sets the clocks,
 * of which 2000 and 3000 are the highest. Samples and their times, and what is forgotten, are
 * as docs/gpu.md measured them. With a line `devices-only`, it does not tell processes apart; with a line
 * `throttled REASONS`, its clocks are lowered for these (nvmlClocksEventReasons). A line `error XID INSTANCE` is an
 * event, once, in that instance of MIG (-1: of the device). With a line `slices`, the device is in MIG mode: two
 * slices, instances 1 and 2, list the processes in turn, and there are no samples. The device has 16 GiB, a slice 8. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "sampler/nvml.h"

#define SAMPLE_US 200000
#define KEPT 71
#define USES_MIN 72
#define TRUTHS_MAX 64
#define DEVICE_BYTES (UINT64_C(16) << 30)
#define SLICE_BYTES (UINT64_C(8) << 30)

struct truth {
	unsigned pid;
	uint64_t from_us, until_us;
	unsigned percent, memory_percent;
	uint64_t bytes;
};

static struct truth truths[TRUTHS_MAX];
static unsigned truth_count;
static bool is_devices_only;
static unsigned long long reasons;
static bool is_sliced;
static unsigned device_count;
static int others[8]; /* their handles */
static unsigned clocks[3];
static int slices[2]; /* handles; that of the device is &truths */
static struct nvml_event errors[TRUTHS_MAX];
static unsigned error_count, reported_count;

static void read_truth(void)
{
	const char *path = getenv("TRACER_TEST_NVML");
	FILE *file = path ? fopen(path, "re") : NULL;
	unsigned long long from_ms, until_ms, mib, xid;
	char line[256];
	int instance;

	truth_count = 0;
	is_devices_only = false;
	reasons = 0;
	is_sliced = false;
	error_count = 0;
	device_count = 1;
	clocks[NVML_CLOCK_SM] = 2000;
	clocks[NVML_CLOCK_MEMORY] = 3000;
	while (file && fgets(line, sizeof(line), file) && truth_count < TRUTHS_MAX) {
		struct truth *truth = &truths[truth_count];

		is_devices_only |= strcmp(line, "devices-only\n") == 0;
		is_sliced |= strcmp(line, "slices\n") == 0;
		sscanf(line, "throttled %llx", &reasons);
		sscanf(line, "devices %u", &device_count);
		sscanf(line, "clocks %u %u", &clocks[NVML_CLOCK_SM], &clocks[NVML_CLOCK_MEMORY]);
		truth->memory_percent = 0;
		if (sscanf(line, "error %llu %d", &xid, &instance) == 2)
			errors[error_count++] = (struct nvml_event){.device = (nvml_device)&truths,
								    .type = NVML_XID_ERROR,
								    .xid = xid,
								    .gpu_instance = (unsigned)instance};
		if (sscanf(line, "%u %llu %llu %u %llu %u", &truth->pid, &from_ms, &until_ms, &truth->percent, &mib,
			   &truth->memory_percent) < 5)
			continue;
		truth->from_us = from_ms * 1000;
		truth->until_us = until_ms * 1000;
		truth->bytes = mib << 20;
		truth_count++;
	}
	if (file)
		fclose(file);
}

static bool is_alive(unsigned pid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%u", pid);
	return access(path, F_OK) == 0;
}

static bool works_at(const struct truth *truth, uint64_t unix_us)
{
	return truth->from_us <= unix_us && unix_us < truth->until_us;
}

static unsigned percent_at(const struct truth *truth, uint64_t unix_us)
{
	return works_at(truth, unix_us) ? truth->percent : 0;
}

/* The samples after `since_us`, at most those that are kept. */
static unsigned sample_times(uint64_t since_us, uint64_t *ret_first_us)
{
	uint64_t last = clock_unix_ns() / 1000 / SAMPLE_US, first = since_us / SAMPLE_US + 1;

	if (last >= KEPT && first < last - KEPT + 1)
		first = last - KEPT + 1;
	*ret_first_us = first * SAMPLE_US;
	return last < first ? 0 : (unsigned)(last - first + 1);
}

int nvmlInit_v2(void);
int nvmlShutdown(void);
int nvmlSystemGetDriverVersion(char *text, unsigned size);
int nvmlDeviceGetCount_v2(unsigned *ret_count);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, nvml_device *ret_device);
int nvmlDeviceGetMinorNumber(nvml_device device, unsigned *ret_minor);
int nvmlDeviceGetComputeRunningProcesses_v3(nvml_device device, unsigned *count, struct nvml_process *ret_processes);
int nvmlDeviceGetGraphicsRunningProcesses_v3(nvml_device device, unsigned *count, struct nvml_process *ret_processes);
int nvmlDeviceGetProcessUtilization(nvml_device device, struct nvml_process_use *ret_uses, unsigned *count,
				    unsigned long long since_us);
int nvmlDeviceGetSamples(nvml_device device, int type, unsigned long long since_us, int *ret_value_type,
			 unsigned *count, struct nvml_sample *ret_samples);
int nvmlDeviceGetPowerUsage(nvml_device device, unsigned *ret_milliwatt);
int nvmlDeviceGetUtilizationRates(nvml_device device, struct nvml_utilization *ret_utilization);
int nvmlDeviceGetClockInfo(nvml_device device, int type, unsigned *ret_mhz);
int nvmlDeviceGetMaxClockInfo(nvml_device device, int type, unsigned *ret_mhz);
int nvmlDeviceGetCurrentClocksThrottleReasons(nvml_device device, unsigned long long *ret_reasons);
int nvmlDeviceGetMemoryInfo(nvml_device device, struct nvml_memory *ret_memory);
int nvmlDeviceGetMigMode(nvml_device device, unsigned *ret_mode, unsigned *ret_next_mode);
int nvmlDeviceGetMaxMigDeviceCount(nvml_device device, unsigned *ret_most);
int nvmlDeviceGetMigDeviceHandleByIndex(nvml_device device, unsigned index, nvml_device *ret_slice);
int nvmlEventSetCreate(nvml_event_set *ret_set);
int nvmlEventSetFree(nvml_event_set set);
int nvmlDeviceGetSupportedEventTypes(nvml_device device, unsigned long long *ret_types);
int nvmlDeviceRegisterEvents(nvml_device device, unsigned long long types, nvml_event_set set);
int nvmlEventSetWait_v2(nvml_event_set set, struct nvml_event *ret_event, unsigned timeout_ms);

int nvmlInit_v2(void)
{
	return NVML_SUCCESS;
}

int nvmlShutdown(void)
{
	return NVML_SUCCESS;
}

int nvmlSystemGetDriverVersion(char *text, unsigned size)
{
	snprintf(text, size, "stand-in");
	return NVML_SUCCESS;
}

int nvmlDeviceGetCount_v2(unsigned *ret_count)
{
	read_truth();
	*ret_count = device_count;
	return NVML_SUCCESS;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, nvml_device *ret_device)
{
	*ret_device = index ? (nvml_device)&others[index - 1] : (nvml_device)&truths;
	return NVML_SUCCESS;
}

int nvmlDeviceGetMinorNumber(nvml_device device, unsigned *ret_minor)
{
	const void *given = device;

	*ret_minor = given == &truths ? 0 : (unsigned)((const int *)given - others) + 1;
	return NVML_SUCCESS;
}

int nvmlDeviceGetComputeRunningProcesses_v3(nvml_device device, unsigned *count, struct nvml_process *ret_processes)
{
	unsigned room = *count;

	read_truth();
	*count = 0;
	for (unsigned i = 0; i < truth_count && *count < room; i++) {
		const void *in = is_sliced ? (const void *)&slices[i % 2] : &truths;

		if (in == (const void *)device && is_alive(truths[i].pid))
			ret_processes[(*count)++] =
				(struct nvml_process){.pid = truths[i].pid,
						      .used_bytes = truths[i].bytes,
						      .gpu_instance = is_sliced ? i % 2 + 1 : NVML_NO_INSTANCE};
	}
	return NVML_SUCCESS;
}

int nvmlDeviceGetGraphicsRunningProcesses_v3(nvml_device device, unsigned *count, struct nvml_process *ret_processes)
{
	*count = 0;
	return NVML_SUCCESS;
}

int nvmlDeviceGetProcessUtilization(nvml_device device, struct nvml_process_use *ret_uses, unsigned *count,
				    unsigned long long since_us)
{
	uint64_t first_us;
	unsigned room = *count, samples = sample_times(since_us, &first_us);

	if (room < USES_MIN) {
		*count = USES_MIN;
		return NVML_INSUFFICIENT_SIZE;
	}
	*count = 0;
	if (is_devices_only)
		return NVML_NOT_SUPPORTED;
	for (unsigned i = 0; i < truth_count && *count < room; i++) {
		struct nvml_process_use use = {.pid = truths[i].pid};

		unsigned own = 0;

		for (unsigned at = 0; at < samples && is_alive(use.pid); at++) {
			uint64_t unix_us = first_us + (uint64_t)at * SAMPLE_US;
			unsigned percent = percent_at(&truths[i], unix_us);

			own += unix_us >= truths[i].from_us;
			use.percent += percent;
			use.memory_percent += works_at(&truths[i], unix_us) ? truths[i].memory_percent : 0;
			if (percent)
				use.unix_us = unix_us;
		}
		if (use.percent == 0)
			continue;
		use.percent /= own;
		use.memory_percent /= own;
		ret_uses[(*count)++] = use;
	}
	return *count ? NVML_SUCCESS : NVML_NOT_FOUND;
}

int nvmlDeviceGetSamples(nvml_device device, int type, unsigned long long since_us, int *ret_value_type,
			 unsigned *count, struct nvml_sample *ret_samples)
{
	uint64_t first_us;
	unsigned samples = sample_times(since_us, &first_us);

	if (is_sliced)
		return NVML_NOT_SUPPORTED;
	if (samples == 0)
		return NVML_NOT_FOUND;
	for (unsigned at = 0; at < samples && at < *count; at++) {
		ret_samples[at] = (struct nvml_sample){.unix_us = first_us + (uint64_t)at * SAMPLE_US};
		for (unsigned i = 0; i < truth_count; i++)
			ret_samples[at].percent += percent_at(&truths[i], ret_samples[at].unix_us);
	}
	*count = samples < *count ? samples : *count;
	return NVML_SUCCESS;
}

int nvmlDeviceGetPowerUsage(nvml_device device, unsigned *ret_milliwatt)
{
	*ret_milliwatt = 125000;
	return NVML_SUCCESS;
}

int nvmlDeviceGetUtilizationRates(nvml_device device, struct nvml_utilization *ret_utilization)
{
	uint64_t latest_us = clock_unix_ns() / 1000 / SAMPLE_US * SAMPLE_US;

	if (is_sliced)
		return NVML_NOT_SUPPORTED;
	*ret_utilization = (struct nvml_utilization){0};
	for (unsigned i = 0; i < truth_count; i++) {
		ret_utilization->percent += percent_at(&truths[i], latest_us);
		ret_utilization->memory_percent += works_at(&truths[i], latest_us) ? truths[i].memory_percent : 0;
	}
	return NVML_SUCCESS;
}

int nvmlDeviceGetClockInfo(nvml_device device, int type, unsigned *ret_mhz)
{
	*ret_mhz = clocks[type];
	return NVML_SUCCESS;
}

int nvmlDeviceGetMaxClockInfo(nvml_device device, int type, unsigned *ret_mhz)
{
	*ret_mhz = type == NVML_CLOCK_SM ? 2000 : 3000;
	return NVML_SUCCESS;
}

int nvmlDeviceGetCurrentClocksThrottleReasons(nvml_device device, unsigned long long *ret_reasons)
{
	*ret_reasons = reasons;
	return NVML_SUCCESS;
}

int nvmlDeviceGetMemoryInfo(nvml_device device, struct nvml_memory *ret_memory)
{
	const void *given = device;

	*ret_memory = (struct nvml_memory){.total_bytes = given == &truths ? DEVICE_BYTES : SLICE_BYTES};
	return NVML_SUCCESS;
}

int nvmlDeviceGetMigMode(nvml_device device, unsigned *ret_mode, unsigned *ret_next_mode)
{
	*ret_mode = *ret_next_mode = is_sliced;
	return NVML_SUCCESS;
}

int nvmlDeviceGetMaxMigDeviceCount(nvml_device device, unsigned *ret_most)
{
	*ret_most = 7;
	return NVML_SUCCESS;
}

int nvmlDeviceGetMigDeviceHandleByIndex(nvml_device device, unsigned index, nvml_device *ret_slice)
{
	if (index >= sizeof(slices) / sizeof(slices[0]))
		return NVML_NOT_FOUND;
	*ret_slice = (nvml_device)&slices[index];
	return NVML_SUCCESS;
}

int nvmlEventSetCreate(nvml_event_set *ret_set)
{
	*ret_set = (nvml_event_set)&errors;
	return NVML_SUCCESS;
}

int nvmlEventSetFree(nvml_event_set set)
{
	return NVML_SUCCESS;
}

int nvmlDeviceGetSupportedEventTypes(nvml_device device, unsigned long long *ret_types)
{
	*ret_types = ~0ULL;
	return NVML_SUCCESS;
}

int nvmlDeviceRegisterEvents(nvml_device device, unsigned long long types, nvml_event_set set)
{
	return types == (NVML_XID_ERROR | NVML_DOUBLE_BIT_ERROR) ? NVML_SUCCESS : NVML_NOT_SUPPORTED;
}

int nvmlEventSetWait_v2(nvml_event_set set, struct nvml_event *ret_event, unsigned timeout_ms)
{
	for (unsigned waited_ms = 0; waited_ms <= timeout_ms; waited_ms += 10) {
		read_truth();
		if (reported_count < error_count) {
			*ret_event = errors[reported_count++];
			return NVML_SUCCESS;
		}
		usleep(10000);
	}
	return NVML_TIMEOUT;
}
