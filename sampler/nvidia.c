/* See nvidia.h. */
#include "sampler/nvidia.h"

#include <dlfcn.h>
#include <stdlib.h>

#include "common/log.h"
#include "sampler/nvml.h"

#define LIBRARY "libnvidia-ml.so.1"
#define DEVICES_MAX 64
#define SAMPLES_MAX 256 /* the driver keeps 14 s */
#define USES_MAX 256    /* with room for less than 72, the driver refuses */
#define US_NS 1000
#define INTERVAL_MAX_US (10 * 1000 * 1000) /* after a longer pause, samples may be missing */

struct holder {
	uint32_t pid;
	uint64_t bytes;
};

struct device {
	nvml_device handle;
	unsigned minor;
	uint64_t sampled_unix_us; /* time of the last sample that was counted, 0: none */
	uint32_t only_pid;        /* that held the device in the round before, 0: none or several */
	uint64_t round_boot_ns;
	bool is_refused; /* the use of single processes, in the latest round */
};

struct nvidia {
	struct nvml nvml;
	char driver[64];
	struct device devices[DEVICES_MAX];
	unsigned count;
};

/* What the driver's samples say of the time since the round before. */
struct interval {
	uint64_t length_ns;
	uint64_t device_busy_ns;
	bool is_shared; /* by the processes below; false: it is not known how */
	struct nvml_process_use uses[USES_MAX];
	unsigned count;
	unsigned percent; /* sum of the uses */
	bool has_reasons;
	unsigned long long reasons; /* why its clocks are lowered now */
};

static bool load(struct nvml *nvml)
{
	nvml->library = dlopen(LIBRARY, RTLD_NOW);
	if (!nvml->library) {
		log_error("no NVIDIA driver: %s", dlerror());
		return false;
	}
#define F(name, symbol, parameters) \
	*(void **)&nvml->name = dlsym(nvml->library, symbol); \
	if (!nvml->name) { \
		log_error("the NVIDIA driver is too old: %s has no %s", LIBRARY, symbol); \
		return false; \
	}
	NVML_FUNCTIONS(F)
#undef F
#define F(name, symbol, parameters) *(void **)&nvml->name = dlsym(nvml->library, symbol);
	NVML_OPTIONAL(F)
#undef F
	return true;
}

static bool find_devices(struct nvidia *nvidia)
{
	struct nvml *nvml = &nvidia->nvml;
	unsigned count = 0;

	if (nvml->device_count(&count) || nvml->driver_version(nvidia->driver, sizeof(nvidia->driver)))
		return false;
	for (unsigned i = 0; i < count && nvidia->count < DEVICES_MAX; i++) {
		struct device *device = &nvidia->devices[nvidia->count];

		if (nvml->device(i, &device->handle) == 0 && nvml->minor(device->handle, &device->minor) == 0)
			nvidia->count++;
	}
	return nvidia->count > 0;
}

struct nvidia *nvidia_open(void)
{
	struct nvidia *nvidia = calloc(1, sizeof(*nvidia));

	if (!nvidia || !load(&nvidia->nvml)) {
		free(nvidia);
		return NULL;
	}
	int error = nvidia->nvml.init();

	if (error == NVML_SUCCESS && find_devices(nvidia))
		return nvidia;
	if (error == NVML_SUCCESS)
		nvidia->nvml.shutdown();
	log_error("NVML finds no device (error %d)", error);
	free(nvidia);
	return NULL;
}

void nvidia_close(struct nvidia *nvidia)
{
	nvidia->nvml.shutdown();
	free(nvidia);
}

const char *nvidia_driver(const struct nvidia *nvidia)
{
	return nvidia->driver;
}

/* A process that computes and draws is in both lists, with the same memory. */
static unsigned merge(struct holder *holders, unsigned count, const struct nvml_process *listed, unsigned listed_count)
{
	for (unsigned i = 0; i < listed_count && i < NVIDIA_HOLDERS_MAX; i++) {
		unsigned at = 0;

		while (at < count && holders[at].pid != listed[i].pid)
			at++;
		if (at == count && count < NVIDIA_HOLDERS_MAX)
			holders[count++] = (struct holder){.pid = listed[i].pid, .bytes = listed[i].used_bytes};
	}
	return count;
}

static unsigned list_holders(const struct nvml *nvml, const struct device *device, struct holder *holders)
{
	struct nvml_process listed[NVIDIA_HOLDERS_MAX];
	unsigned listed_count = NVIDIA_HOLDERS_MAX, count = 0;

	if (nvml->compute_processes(device->handle, &listed_count, listed) == 0)
		count = merge(holders, count, listed, listed_count);
	listed_count = NVIDIA_HOLDERS_MAX;
	if (nvml->graphics_processes(device->handle, &listed_count, listed) == 0)
		count = merge(holders, count, listed, listed_count);
	return count;
}

/* The driver cuts to whole percents. So half a percent is added to what is neither 0 nor all. */
static uint64_t busy_ns(uint64_t length_us, unsigned percent)
{
	unsigned half_percents = 2 * percent + (percent > 0 && percent < 100);

	return length_us * US_NS * half_percents / 200;
}

/* Adds up the device's samples since the last one. */
static void sum_samples(const struct nvml *nvml, struct device *device, struct interval *interval)
{
	uint64_t since_us = device->sampled_unix_us;
	struct nvml_sample samples[SAMPLES_MAX];
	unsigned count = SAMPLES_MAX;
	int type;

	if (nvml->samples(device->handle, NVML_SAMPLES_OF_DEVICE_USE, since_us, &type, &count, samples))
		return;
	for (unsigned i = 0; i < count; i++) {
		if (samples[i].unix_us <= device->sampled_unix_us)
			continue;
		interval->device_busy_ns += busy_ns(samples[i].unix_us - device->sampled_unix_us, samples[i].percent);
		device->sampled_unix_us = samples[i].unix_us;
	}
	interval->length_ns = (device->sampled_unix_us - since_us) * US_NS;
}

/* How much of that time each process had. */
static void read_uses(const struct nvml *nvml, struct device *device, uint64_t since_us, struct interval *interval)
{
	interval->count = USES_MAX;

	int error = nvml->process_use(device->handle, interval->uses, &interval->count, since_us);

	interval->is_shared = error == NVML_SUCCESS || error == NVML_NOT_FOUND;
	if (!interval->is_shared && !device->is_refused)
		log_warning("nvidia%u: no utilisation of single processes (NVML error %d)", device->minor, error);
	device->is_refused = !interval->is_shared;
	if (error != NVML_SUCCESS)
		interval->count = 0;
	for (unsigned i = 0; i < interval->count; i++)
		interval->percent += interval->uses[i].percent;
}

static void read_interval(const struct nvml *nvml, struct device *device, uint64_t now_unix_ns, uint64_t round_ns,
			  bool is_alone, struct interval *interval)
{
	uint64_t now_us = now_unix_ns / US_NS;

	*interval = (struct interval){0};
	/* Nothing was counted lately, or the clock was set. */
	if (device->sampled_unix_us > now_us || now_us - device->sampled_unix_us > INTERVAL_MAX_US)
		device->sampled_unix_us = now_us - round_ns / US_NS;

	uint64_t since_us = device->sampled_unix_us;

	sum_samples(nvml, device, interval);
	if (!is_alone)
		read_uses(nvml, device, since_us, interval);
	if (interval->device_busy_ns && nvml->throttle_reasons)
		interval->has_reasons = nvml->throttle_reasons(device->handle, &interval->reasons) == 0;
}

/* A process that alone held the device had all of its time. Of several, the driver says how they shared it, or does not
 * (MIG, vGPU). Its shares may be of less than the interval, so only their proportion counts. Clocks that are lowered at
 * its end count as lowered throughout. */
static void set_busy(struct nvidia_use *use, const struct interval *interval, bool is_alone)
{
	use->interval_ns = interval->length_ns;
	use->has_busy = interval->length_ns > 0 && (is_alone || interval->is_shared);
	if (is_alone)
		use->busy_ns = interval->device_busy_ns;
	for (unsigned i = 0; i < interval->count; i++)
		if (interval->uses[i].pid == use->pid && interval->percent)
			use->busy_ns = interval->device_busy_ns * interval->uses[i].percent / interval->percent;
	use->has_throttled = use->has_busy && (interval->has_reasons || use->busy_ns == 0);
	use->throttled_ns = interval->reasons & NVML_THROTTLED ? use->busy_ns : 0;
}

/* Power is the driver's mean of the last second. */
static void set_energy(const struct nvml *nvml, const struct device *device, struct nvidia_use *use, uint64_t round_ns)
{
	unsigned milliwatt;

	use->has_energy = nvml->power(device->handle, &milliwatt) == 0;
	if (use->has_energy)
		use->energy_uj = (uint64_t)milliwatt * (round_ns / 1000) / 1000;
}

static void sample_device(const struct nvml *nvml, struct device *device, uint64_t now_boot_ns, uint64_t now_unix_ns,
			  nvidia_take *take, void *context)
{
	uint64_t round_ns = now_boot_ns - device->round_boot_ns;
	struct holder holders[NVIDIA_HOLDERS_MAX];
	unsigned count = list_holders(nvml, device, holders);
	uint32_t only_pid = count == 1 ? holders[0].pid : 0;
	bool is_alone = only_pid && only_pid == device->only_pid;
	bool is_first = device->round_boot_ns == 0 || round_ns > INTERVAL_MAX_US * (uint64_t)US_NS;
	struct interval interval;

	device->only_pid = only_pid;
	device->round_boot_ns = now_boot_ns;
	if (count == 0 || is_first)
		return; /* an idle device costs one short call */
	read_interval(nvml, device, now_unix_ns, round_ns, is_alone, &interval);
	for (unsigned i = 0; i < count; i++) {
		struct nvidia_use use = {.pid = holders[i].pid, .minor = device->minor};

		set_busy(&use, &interval, is_alone);
		use.has_memory = holders[i].bytes != NVML_UNKNOWN_BYTES;
		use.memory_bytes = holders[i].bytes;
		if (is_alone)
			set_energy(nvml, device, &use, round_ns);
		take(context, &use);
	}
}

void nvidia_sample(struct nvidia *nvidia, uint64_t now_boot_ns, uint64_t now_unix_ns, nvidia_take *take, void *context)
{
	for (unsigned i = 0; i < nvidia->count; i++)
		sample_device(&nvidia->nvml, &nvidia->devices[i], now_boot_ns, now_unix_ns, take, context);
}
