/* See nvidia.h. */
#include "sampler/nvidia.h"

#include <dlfcn.h>
#include <stdlib.h>

#include "common/clock.h"
#include "common/log.h"
#include "sampler/nvml.h"
#include "sampler/start.h"

#define LIBRARY "libnvidia-ml.so.1"
#define SAMPLES_MAX 256 /* the driver keeps 14 s */
#define USES_MAX 256    /* with room for less than 72, the driver refuses */
#define US_NS 1000
#define SLICES_MAX 16                      /* of a device in MIG mode */
#define INTERVAL_MAX_US (10 * 1000 * 1000) /* after a longer pause, samples may be missing */

#define XID_DOUBLE_BIT 48
/* Not reported: it follows another error, or a program that was ended while it computed. */
#define XID_CLEANUP 45

struct holder {
	uint32_t pid;
	uint32_t gpu_instance;
	uint64_t start_boot_ns; /* 0: it is gone */
	uint64_t bytes;
	uint64_t capacity_bytes; /* of the device or slice, 0: unknown */
};

/* Of its processors and of its memory. */
enum clock { CLOCK_PROCESSORS, CLOCK_MEMORY, CLOCK_KINDS };
static const int clock_types[CLOCK_KINDS] = {NVML_CLOCK_SM, NVML_CLOCK_MEMORY};

struct device {
	nvml_device handle;
	unsigned highest_mhz[CLOCK_KINDS]; /* 0: unknown */
	unsigned minor;
	uint64_t sampled_unix_us;                  /* time of the last sample that was counted, 0: none */
	uint32_t only_pid;                         /* that held the device in the latest round, 0: none or several */
	struct holder holders[NVIDIA_HOLDERS_MAX]; /* in that round */
	unsigned holder_count;
	uint64_t round_boot_ns;
	bool is_refused; /* the use of single processes, in the latest round */
};

struct nvidia {
	struct nvml nvml;
	char driver[64];
	nvml_event_set errors; /* NULL: none are reported */
	struct device devices[LINK_DEVICES_MAX];
	unsigned count;
};

/* What the driver's samples say of the time since the round before. */
struct interval {
	uint64_t length_ns;
	uint64_t device_busy_ns;
	bool is_shared; /* by the processes below; false: it is not known how */
	struct nvml_process_use uses[USES_MAX];
	unsigned count;
	unsigned percent, memory_percent; /* sums of the uses */
	bool has_memory_busy;             /* of the device, as far as it is known whose it is */
	uint64_t memory_busy_ns;
	unsigned mhz[CLOCK_KINDS]; /* now, 0: unknown */
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

/* Returns 0 if it is unknown. */
static unsigned clock_of(int (*ask)(nvml_device device, int type, unsigned *ret_mhz), nvml_device handle,
			 enum clock clock)
{
	unsigned mhz;

	return ask && ask(handle, clock_types[clock], &mhz) == 0 ? mhz : 0;
}

static bool find_devices(struct nvidia *nvidia)
{
	struct nvml *nvml = &nvidia->nvml;
	unsigned count = 0;

	if (nvml->device_count(&count) || nvml->driver_version(nvidia->driver, sizeof(nvidia->driver)))
		return false;
	for (unsigned i = 0; i < count && nvidia->count < LINK_DEVICES_MAX; i++) {
		struct device *device = &nvidia->devices[nvidia->count];

		if (nvml->device(i, &device->handle) || nvml->minor(device->handle, &device->minor))
			continue;
		for (enum clock clock = 0; clock < CLOCK_KINDS; clock++)
			device->highest_mhz[clock] = clock_of(nvml->highest_clock, device->handle, clock);
		nvidia->count++;
	}
	return nvidia->count > 0;
}

/* Returns whether the driver will report errors of the device. */
static bool register_errors(struct nvidia *nvidia, const struct device *device)
{
	const struct nvml *nvml = &nvidia->nvml;
	unsigned long long types;

	if (nvml->event_types(device->handle, &types))
		return false;
	types &= NVML_XID_ERROR | NVML_DOUBLE_BIT_ERROR;
	return types && nvml->event_register(device->handle, types, nvidia->errors) == 0;
}

static void await_errors(struct nvidia *nvidia)
{
	const struct nvml *nvml = &nvidia->nvml;

	if (!nvml->event_set || !nvml->event_set_free || !nvml->event_types || !nvml->event_register ||
	    !nvml->event_wait || nvml->event_set(&nvidia->errors))
		nvidia->errors = NULL;
	for (unsigned i = 0; nvidia->errors && i < nvidia->count; i++)
		if (!register_errors(nvidia, &nvidia->devices[i]))
			log_warning("nvidia%u: the driver does not report its errors", nvidia->devices[i].minor);
}

void *nvidia_open(void)
{
	struct nvidia *nvidia = calloc(1, sizeof(*nvidia));

	if (!nvidia || !load(&nvidia->nvml)) {
		free(nvidia);
		return NULL;
	}
	int error = nvidia->nvml.init();

	if (error == NVML_SUCCESS && find_devices(nvidia)) {
		await_errors(nvidia);
		return nvidia;
	}
	if (error == NVML_SUCCESS)
		nvidia->nvml.shutdown();
	log_error("NVML finds no device (error %d)", error);
	free(nvidia);
	return NULL;
}

void nvidia_close(void *devices)
{
	struct nvidia *nvidia = devices;

	if (nvidia->errors)
		nvidia->nvml.event_set_free(nvidia->errors);
	nvidia->nvml.shutdown();
	free(nvidia);
}

void nvidia_describe(const void *devices, struct link *link)
{
	const struct nvidia *nvidia = devices;

	link->driver = nvidia->driver;
	for (unsigned i = 0; i < nvidia->count; i++)
		link->numbers[link->device_count++] = nvidia->devices[i].minor;
}

static void add_holder(struct device *device, const struct nvml_process *listed)
{
	unsigned at = 0;

	while (at < device->holder_count && device->holders[at].pid != listed->pid)
		at++;
	if (at < device->holder_count || at == NVIDIA_HOLDERS_MAX)
		return;
	device->holders[device->holder_count++] = (struct holder){
		.pid = listed->pid,
		.gpu_instance = listed->gpu_instance,
		.start_boot_ns = process_start("", listed->pid),
		.bytes = listed->used_bytes,
	};
}

/* A process that computes and draws is in both lists, with the same memory. */
static void add_holders(const struct nvml *nvml, struct device *device, nvml_device handle)
{
	struct nvml_process listed[NVIDIA_HOLDERS_MAX];
	unsigned count = NVIDIA_HOLDERS_MAX, before = device->holder_count;
	struct nvml_memory memory;

	if (nvml->compute_processes(handle, &count, listed) == 0)
		for (unsigned i = 0; i < count && i < NVIDIA_HOLDERS_MAX; i++)
			add_holder(device, &listed[i]);
	count = NVIDIA_HOLDERS_MAX;
	if (nvml->graphics_processes(handle, &count, listed) == 0)
		for (unsigned i = 0; i < count && i < NVIDIA_HOLDERS_MAX; i++)
			add_holder(device, &listed[i]);
	if (device->holder_count == before || !nvml->memory || nvml->memory(handle, &memory))
		return;
	for (unsigned i = before; i < device->holder_count; i++)
		device->holders[i].capacity_bytes = memory.total_bytes;
}

static bool is_sliced(const struct nvml *nvml, const struct device *device)
{
	unsigned mode, next_mode;

	return nvml->mig_mode && nvml->mig_most && nvml->mig_device &&
	       nvml->mig_mode(device->handle, &mode, &next_mode) == 0 && mode == NVML_MIG_ON;
}

/* Of a device in MIG mode, only root sees the processes of the whole; each slice lists its own to all users. */
static void list_holders(const struct nvml *nvml, struct device *device)
{
	unsigned most = 0;
	nvml_device slice;

	device->holder_count = 0;
	if (!is_sliced(nvml, device)) {
		add_holders(nvml, device, device->handle);
		return;
	}
	if (nvml->mig_most(device->handle, &most))
		return;
	for (unsigned i = 0; i < most && i < SLICES_MAX; i++)
		if (nvml->mig_device(device->handle, i, &slice) == 0)
			add_holders(nvml, device, slice);
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
	for (unsigned i = 0; i < interval->count; i++) {
		interval->percent += interval->uses[i].percent;
		interval->memory_percent += interval->uses[i].memory_percent;
	}
}

/* The driver's latest sample counts for the whole interval: all samples would take as long again as those above. */
static void read_memory_busy(const struct nvml *nvml, const struct device *device, struct interval *interval)
{
	struct nvml_utilization now;

	interval->has_memory_busy = nvml->utilization && nvml->utilization(device->handle, &now) == 0;
	if (interval->has_memory_busy)
		interval->memory_busy_ns = busy_ns(interval->length_ns / US_NS, now.memory_percent);
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
	read_memory_busy(nvml, device, interval);
	for (enum clock clock = 0; clock < CLOCK_KINDS; clock++)
		interval->mhz[clock] = clock_of(nvml->clock, device->handle, clock);
	if (nvml->throttle_reasons)
		interval->has_reasons = nvml->throttle_reasons(device->handle, &interval->reasons) == 0;
}

/* A process that alone held the device had all of its time. Of several, the driver says how they shared it, or does not
 * (MIG, vGPU). Its shares may be of less than the interval, so only their proportion counts. */
static void set_busy(struct link_use *use, const struct interval *interval, bool is_alone)
{
	use->interval_ns = interval->length_ns;
	use->has_busy = interval->length_ns > 0 && (is_alone || interval->is_shared);
	use->has_memory_busy = use->has_busy && interval->has_memory_busy;
	if (is_alone) {
		use->busy_ns = interval->device_busy_ns;
		use->memory_busy_ns = interval->memory_busy_ns;
	}
	for (unsigned i = 0; i < interval->count; i++) {
		const struct nvml_process_use *own = &interval->uses[i];

		if (own->pid != use->holder.pid)
			continue;
		if (interval->percent)
			use->busy_ns = interval->device_busy_ns * own->percent / interval->percent;
		if (interval->memory_percent)
			use->memory_busy_ns = interval->memory_busy_ns * own->memory_percent / interval->memory_percent;
	}
}

/* What they are at the end of the interval counts for all of it. */
static void set_clocks(const struct device *device, const struct interval *interval, struct link_use *use)
{
	uint64_t *clock_ns[CLOCK_KINDS] = {&use->clock_ns, &use->memory_clock_ns};
	bool *has_clock[CLOCK_KINDS] = {&use->has_clock, &use->has_memory_clock};

	use->has_throttled = use->has_busy && interval->has_reasons;
	use->throttled_ns = interval->reasons & NVML_THROTTLED ? use->busy_ns : 0;
	for (enum clock clock = 0; clock < CLOCK_KINDS; clock++) {
		unsigned mhz = interval->mhz[clock], highest_mhz = device->highest_mhz[clock];

		*has_clock[clock] = use->has_busy && mhz && highest_mhz;
		if (*has_clock[clock])
			*clock_ns[clock] = mhz < highest_mhz ? use->busy_ns * mhz / highest_mhz : use->busy_ns;
	}
}

/* Power is the driver's mean of the last second. */
static void set_energy(const struct nvml *nvml, const struct device *device, struct link_use *use, uint64_t round_ns)
{
	unsigned milliwatt;

	use->has_energy = nvml->power(device->handle, &milliwatt) == 0;
	if (use->has_energy)
		use->energy_uj = (uint64_t)milliwatt * (round_ns / 1000) / 1000;
}

static void sample_device(const struct nvml *nvml, struct device *device, uint64_t now_boot_ns, uint64_t now_unix_ns,
			  struct link *link)
{
	uint64_t round_ns = now_boot_ns - device->round_boot_ns;
	uint32_t before_pid = device->only_pid;
	bool is_first = device->round_boot_ns == 0 || round_ns > INTERVAL_MAX_US * (uint64_t)US_NS;
	struct interval interval;

	list_holders(nvml, device);
	device->only_pid = device->holder_count == 1 ? device->holders[0].pid : 0;
	device->round_boot_ns = now_boot_ns;

	bool is_alone = device->only_pid && device->only_pid == before_pid;

	if (device->holder_count == 0 || is_first)
		return; /* an idle device costs one short call */
	read_interval(nvml, device, now_unix_ns, round_ns, is_alone, &interval);
	for (unsigned i = 0; i < device->holder_count; i++) {
		const struct holder *holder = &device->holders[i];
		struct link_use use = {.holder = {holder->pid, holder->start_boot_ns, device->minor}};

		if (holder->start_boot_ns == 0)
			continue;
		set_busy(&use, &interval, is_alone);
		set_clocks(device, &interval, &use);
		use.has_memory = holder->bytes != NVML_UNKNOWN_BYTES;
		use.memory_bytes = holder->bytes;
		use.has_capacity = holder->capacity_bytes > 0;
		use.capacity_bytes = holder->capacity_bytes;
		if (is_alone)
			set_energy(nvml, device, &use, round_ns);
		link_add_use(link, now_boot_ns, &use);
	}
}

void nvidia_sample(void *devices, uint64_t now_boot_ns, struct link *link)
{
	struct nvidia *nvidia = devices;

	for (unsigned i = 0; i < nvidia->count; i++)
		sample_device(&nvidia->nvml, &nvidia->devices[i], now_boot_ns, clock_unix_ns(), link);
}

/* ---- errors */

static bool is_affected(const struct holder *holder, const struct nvml_event *event)
{
	return event->gpu_instance == NVML_NO_INSTANCE || holder->gpu_instance == event->gpu_instance;
}

static void report_error(const struct device *device, const struct nvml_event *event, unsigned xid, struct link *link)
{
	unsigned count = 0;

	for (unsigned i = 0; i < device->holder_count; i++)
		count += is_affected(&device->holders[i], event);
	log_debug("nvidia%u: Xid %u, while %u processes hold it", device->minor, xid, count);
	for (unsigned i = 0; i < device->holder_count; i++) {
		const struct holder *holder = &device->holders[i];

		if (holder->start_boot_ns && is_affected(holder, event))
			link_add_error(link, &(struct link_holder){holder->pid, holder->start_boot_ns, device->minor},
				       xid, count);
	}
}

bool nvidia_wait_error(void *devices, unsigned most_ms, struct link *link)
{
	struct nvidia *nvidia = devices;
	struct nvml_event event;
	unsigned minor;

	if (!nvidia->errors || nvidia->nvml.event_wait(nvidia->errors, &event, most_ms))
		return false;

	unsigned xid = event.type == NVML_DOUBLE_BIT_ERROR ? XID_DOUBLE_BIT : (unsigned)event.xid;

	if (xid == 0 || xid == XID_CLEANUP || nvidia->nvml.minor(event.device, &minor))
		return true;
	for (unsigned i = 0; i < nvidia->count; i++)
		if (nvidia->devices[i].minor == minor)
			report_error(&nvidia->devices[i], &event, xid, link);
	return true;
}
