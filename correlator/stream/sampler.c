/* See sampler.h. */
#include "correlator/stream/sampler.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define SECOND_NS UINT64_C(1000000000)
#define INTERVAL_MAX_NS (60 * SECOND_NS)
#define LATE_MAX_NS (60 * SECOND_NS)
#define MEMORY_MAX_BYTES (UINT64_C(1) << 50)
#define CODE_MAX 999
#define HOLDERS_MAX 4096
#define DEVICES_MAX 64                      /* of a host and kind */
#define POWER_MAX_UW UINT64_C(100000000000) /* 100 kW */

static int reject(const char **ret_reason, const char *reason)
{
	*ret_reason = reason;
	return -EPROTO;
}

static bool is_too_often(struct sampler *sampler, uint64_t now_boot_ns)
{
	uint64_t second = now_boot_ns / SECOND_NS;

	if (second != sampler->second)
		sampler->message_count = 0;
	sampler->second = second;
	return ++sampler->message_count > SAMPLER_MESSAGES_MAX;
}

/* The sampler's name and a number of at most 4 digits. */
static bool device_is_own(const struct sampler *sampler, const struct wire_bytes *device)
{
	size_t prefix = strlen(sampler->name);

	if (device->size <= prefix || device->size > prefix + 4 || memcmp(device->data, sampler->name, prefix) != 0)
		return false;
	for (size_t i = prefix; i < device->size; i++)
		if (!isdigit((unsigned char)device->data[i]))
			return false;
	return true;
}

/* A list, separated by commas. */
static bool devices_are_own(const struct sampler *sampler, const struct wire_bytes *devices)
{
	const char *at = devices->data, *end = at + devices->size, *comma = NULL;

	for (unsigned i = 0; comma != end; i++, at = comma + 1) {
		comma = memchr(at, ',', (size_t)(end - at));
		comma = comma ? comma : end;
		if (i == DEVICES_MAX ||
		    !device_is_own(sampler, &(struct wire_bytes){.data = at, .size = (uint32_t)(comma - at)}))
			return false;
	}
	return true;
}

static int greet(struct sampler *sampler, struct model *model, const struct wire_sampler *hello,
		 const char **ret_reason)
{
	if (sampler->name[0])
		return reject(ret_reason, "a second sampler message");
	if (hello->version != SAMPLER_VERSION)
		return reject(ret_reason, "a different protocol version: upgrade sampler and correlator together");
	if (hello->name.size == 0 || hello->name.size > SAMPLER_NAME_MAX)
		return reject(ret_reason, "a name of invalid size");
	for (uint32_t i = 0; i < hello->name.size; i++)
		if (!isalpha((unsigned char)hello->name.data[i]) && (i == 0 || hello->name.data[i] != '/'))
			return reject(ret_reason, "a name that is not of letters");
	memcpy(sampler->name, hello->name.data, hello->name.size);
	sampler->name[hello->name.size] = '\0';
	snprintf(sampler->driver, sizeof(sampler->driver), "%.*s", (int)hello->driver.size, hello->driver.data);
	if (!devices_are_own(sampler, &hello->devices))
		return reject(ret_reason, "a device that is not of its kind");
	apply_devices(model, sampler->name, &hello->devices);
	return 0;
}

static bool is_now(uint64_t boot_ns, uint64_t now_boot_ns)
{
	return boot_ns <= now_boot_ns && now_boot_ns - boot_ns <= LATE_MAX_NS;
}

/* What it says to know, of which a device that is busy for `most_ns` has no more. */
static bool is_longer(const struct wire_device_use *use, uint64_t bit, uint64_t ns, uint64_t most_ns)
{
	return use->known & bit && ns > most_ns;
}

/* Within these bounds, sums of figures cannot overflow. */
static const char *problem_of(const struct sampler *sampler, const struct wire_device_use *use, uint64_t now_boot_ns)
{
	uint64_t busy_ns = use->known & DEVICE_USE_BUSY ? use->busy_ns : 0;

	if (!device_is_own(sampler, &use->device))
		return "a device that is not of its kind";
	if (!is_now(use->boot_ns, now_boot_ns))
		return "an interval that does not end now";
	if (use->interval_ns > INTERVAL_MAX_NS || use->interval_ns > use->boot_ns)
		return "an interval that is too long";
	if (is_longer(use, DEVICE_USE_BUSY, use->busy_ns, use->interval_ns) ||
	    is_longer(use, DEVICE_USE_MEMORY_BUSY, use->memory_busy_ns, use->interval_ns))
		return "a device that is busy for longer than the interval";
	if (is_longer(use, DEVICE_USE_THROTTLED, use->throttled_ns, busy_ns))
		return "a device that is throttled for longer than it is busy";
	if (is_longer(use, DEVICE_USE_CLOCK, use->clock_ns, busy_ns) ||
	    is_longer(use, DEVICE_USE_MEMORY_CLOCK, use->memory_clock_ns, busy_ns))
		return "a clock above its highest";
	if ((use->known & DEVICE_USE_MEMORY && use->memory_bytes > MEMORY_MAX_BYTES) ||
	    (use->known & DEVICE_USE_CAPACITY && use->capacity_bytes > MEMORY_MAX_BYTES))
		return "more memory than a device has";
	if (use->known & DEVICE_USE_ENERGY && use->energy_uj > POWER_MAX_UW / SECOND_NS * use->interval_ns)
		return "more power than a device draws";
	return NULL;
}

static int64_t known(const struct wire_device_use *use, uint64_t bit, uint64_t value)
{
	return use->known & bit ? (int64_t)value : ROW_NULL;
}

static int take(struct sampler *sampler, struct model *model, const struct wire_device_use *use, uint64_t now_boot_ns,
		const char **ret_reason)
{
	const char *problem = problem_of(sampler, use, now_boot_ns);
	char device[DEVICE_NAME_SIZE];

	if (problem)
		return reject(ret_reason, problem);
	snprintf(device, sizeof(device), "%.*s", (int)use->device.size, use->device.data);
	apply_device_use(model, use->pid, use->start_boot_ns, device,
			 &(struct device_report){
				 .boot_ns = use->boot_ns,
				 .gpu_busy_ns = known(use, DEVICE_USE_BUSY, use->busy_ns),
				 .gpu_energy_uj = known(use, DEVICE_USE_ENERGY, use->energy_uj),
				 .gpu_throttled_ns = known(use, DEVICE_USE_THROTTLED, use->throttled_ns),
				 .gpu_clock_ns = known(use, DEVICE_USE_CLOCK, use->clock_ns),
				 .gpu_memory_clock_ns = known(use, DEVICE_USE_MEMORY_CLOCK, use->memory_clock_ns),
				 .gpu_memory_busy_ns = known(use, DEVICE_USE_MEMORY_BUSY, use->memory_busy_ns),
				 .memory_bytes = known(use, DEVICE_USE_MEMORY, use->memory_bytes),
				 .capacity_bytes = known(use, DEVICE_USE_CAPACITY, use->capacity_bytes),
			 });
	return 0;
}

static int take_error(struct sampler *sampler, struct model *model, const struct wire_device_error *error,
		      uint64_t now_boot_ns, const char **ret_reason)
{
	struct device_error taken = {.boot_ns = error->boot_ns};

	if (!device_is_own(sampler, &error->device))
		return reject(ret_reason, "a device that is not of its kind");
	if (!is_now(error->boot_ns, now_boot_ns))
		return reject(ret_reason, "an error that was not reported now");
	if (error->code < 1 || error->code > CODE_MAX || error->holder_count < 1 || error->holder_count > HOLDERS_MAX)
		return reject(ret_reason, "an error that no driver reports");
	taken.code = (uint32_t)error->code;
	taken.holder_count = (uint32_t)error->holder_count;
	snprintf(taken.device, sizeof(taken.device), "%.*s", (int)error->device.size, error->device.data);
	apply_device_error(model, error->pid, error->start_boot_ns, &taken);
	return 0;
}

int sampler_feed(struct sampler *sampler, struct model *model, const void *data, size_t size, uint64_t now_boot_ns,
		 const char **ret_reason)
{
	struct wire_message message;

	if (wire_decode(data, size, &message, ret_reason) < 0)
		return -EPROTO;
	if (is_too_often(sampler, now_boot_ns))
		return reject(ret_reason, "too many messages a second");
	if (message.type == WIRE_SAMPLER)
		return greet(sampler, model, &message.sampler, ret_reason);
	if (message.type != WIRE_DEVICE_USE && message.type != WIRE_DEVICE_ERROR)
		return reject(ret_reason, "a message that no sampler sends");
	if (!sampler->name[0])
		return reject(ret_reason, "figures before its name");
	if (message.type == WIRE_DEVICE_ERROR)
		return take_error(sampler, model, &message.device_error, now_boot_ns, ret_reason);
	return take(sampler, model, &message.device_use, now_boot_ns, ret_reason);
}
