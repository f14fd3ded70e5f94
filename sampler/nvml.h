/* The part of NVIDIA's NVML that the sampler calls, declared after its public documentation ("NVML API Reference Guide").
 *
 * The library belongs to the driver, so it is loaded at run time and nothing of it is needed to build. */
#pragma once

#include <stdint.h>

enum nvml_result {
	NVML_SUCCESS = 0,
	NVML_NOT_SUPPORTED = 3,
	NVML_NOT_FOUND = 6, /* no samples since that time */
	NVML_INSUFFICIENT_SIZE = 7,
	NVML_TIMEOUT = 10,
};

#define NVML_UNKNOWN_BYTES UINT64_MAX
#define NVML_SAMPLES_OF_DEVICE_USE 1 /* NVML_GPU_UTILIZATION_SAMPLES */

/* nvmlClockType_t */
#define NVML_CLOCK_SM 1
#define NVML_CLOCK_MEMORY 2

#define NVML_NO_INSTANCE UINT32_MAX
#define NVML_MIG_ON 1

/* Types of events */
#define NVML_DOUBLE_BIT_ERROR 0x02 /* nvmlEventTypeDoubleBitEccError */
#define NVML_XID_ERROR 0x08        /* nvmlEventTypeXidCriticalError */

/* Why clocks are lower than asked for, of a device that works: heat or power (nvmlClocksEventReasons). */
#define NVML_THROTTLED \
	(0x04 /* power limit */ | 0x08 /* slowdown by hardware */ | 0x20 /* heat */ | 0x40 /* heat, by hardware */ | \
	 0x80 /* power brake */)

struct nvml_process {
	unsigned pid;
	unsigned long long used_bytes;
	unsigned gpu_instance, compute_instance; /* of MIG; NVML_NO_INSTANCE */
};

struct nvml_memory {
	unsigned long long total_bytes, free_bytes, used_bytes;
};

struct nvml_process_use {
	unsigned pid;
	unsigned long long unix_us; /* of its latest sample */
	unsigned percent, memory_percent, encoder_percent, decoder_percent;
};

struct nvml_utilization {
	unsigned percent, memory_percent; /* of the time of its latest sample, in which memory was read or written */
};

struct nvml_sample {
	unsigned long long unix_us;
	union {
		unsigned percent;
		unsigned long long widest;
	};
};

typedef struct nvml_device *nvml_device;
typedef struct nvml_event_set *nvml_event_set;

struct nvml_event {
	nvml_device device;
	unsigned long long type;
	unsigned long long xid; /* 999: unknown; 0: of another type */
	unsigned gpu_instance, compute_instance;
};

/* F(name, symbol, parameters); the optional ones are NULL with a driver that lacks them. */
#define NVML_FUNCTIONS(F) \
	F(init, "nvmlInit_v2", (void)) \
	F(shutdown, "nvmlShutdown", (void)) \
	F(driver_version, "nvmlSystemGetDriverVersion", (char *text, unsigned size)) \
	F(device_count, "nvmlDeviceGetCount_v2", (unsigned *ret_count)) \
	F(device, "nvmlDeviceGetHandleByIndex_v2", (unsigned index, nvml_device *ret_device)) \
	F(minor, "nvmlDeviceGetMinorNumber", (nvml_device device, unsigned *ret_minor)) \
	F(compute_processes, "nvmlDeviceGetComputeRunningProcesses_v3", \
	  (nvml_device device, unsigned *count, struct nvml_process *ret_processes)) \
	F(graphics_processes, "nvmlDeviceGetGraphicsRunningProcesses_v3", \
	  (nvml_device device, unsigned *count, struct nvml_process *ret_processes)) \
	F(process_use, "nvmlDeviceGetProcessUtilization", \
	  (nvml_device device, struct nvml_process_use * ret_uses, unsigned *count, unsigned long long since_unix_us)) \
	F(samples, "nvmlDeviceGetSamples", \
	  (nvml_device device, int type, unsigned long long since_unix_us, int *ret_value_type, unsigned *count, \
	   struct nvml_sample *ret_samples)) \
	F(power, "nvmlDeviceGetPowerUsage", (nvml_device device, unsigned *ret_milliwatt))
#define NVML_OPTIONAL(F) \
	F(memory, "nvmlDeviceGetMemoryInfo", (nvml_device device, struct nvml_memory * ret_memory)) \
	F(utilization, "nvmlDeviceGetUtilizationRates", \
	  (nvml_device device, struct nvml_utilization * ret_utilization)) \
	F(clock, "nvmlDeviceGetClockInfo", (nvml_device device, int type, unsigned *ret_mhz)) \
	F(highest_clock, "nvmlDeviceGetMaxClockInfo", (nvml_device device, int type, unsigned *ret_mhz)) \
	F(throttle_reasons, "nvmlDeviceGetCurrentClocksThrottleReasons", \
	  (nvml_device device, unsigned long long *ret_reasons)) \
	F(mig_mode, "nvmlDeviceGetMigMode", (nvml_device device, unsigned *ret_mode, unsigned *ret_next_mode)) \
	F(mig_most, "nvmlDeviceGetMaxMigDeviceCount", (nvml_device device, unsigned *ret_most)) \
	F(mig_device, "nvmlDeviceGetMigDeviceHandleByIndex", \
	  (nvml_device device, unsigned index, nvml_device *ret_slice)) \
	F(event_set, "nvmlEventSetCreate", (nvml_event_set * ret_set)) \
	F(event_set_free, "nvmlEventSetFree", (nvml_event_set set)) \
	F(event_types, "nvmlDeviceGetSupportedEventTypes", (nvml_device device, unsigned long long *ret_types)) \
	F(event_register, "nvmlDeviceRegisterEvents", \
	  (nvml_device device, unsigned long long types, nvml_event_set set)) \
	F(event_wait, "nvmlEventSetWait_v2", (nvml_event_set set, struct nvml_event * ret_event, unsigned timeout_ms))

struct nvml {
	void *library;
#define F(name, symbol, parameters) int(*name) parameters;
	NVML_FUNCTIONS(F)
	NVML_OPTIONAL(F)
#undef F
};
