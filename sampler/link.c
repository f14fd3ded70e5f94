/* See link.h. */
#include "sampler/link.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/log.h"

struct device_name {
	char text[32];
};

static int connect_to(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd;

	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	memcpy(address.sun_path, path, strlen(path) + 1);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	int error = -errno;

	close(fd);
	return error;
}

static struct wire_bytes bytes_of(const char *text)
{
	return (struct wire_bytes){.data = text, .size = (uint32_t)strlen(text)};
}

static void add_hello(struct link *link)
{
	char devices[LINK_DEVICES_MAX * sizeof(struct device_name)] = "";
	size_t size = 0;

	for (unsigned i = 0; i < link->device_count; i++)
		size += (size_t)snprintf(devices + size, sizeof(devices) - size, "%s%s%u", i ? "," : "", link->kind,
					 link->numbers[i]);
	wire_encode(&link->output, &(struct wire_message){.type = WIRE_SAMPLER,
							  .sampler = {.version = SAMPLER_VERSION,
								      .name = bytes_of(link->kind),
								      .driver = bytes_of(link->driver),
								      .devices = bytes_of(devices)}});
}

bool link_open(struct link *link)
{
	if (link->fd >= 0)
		return true;
	int fd = connect_to(link->path);

	if (fd < 0) {
		if (!link->is_failing)
			log_warning("cannot connect to %s: %s; retrying", link->path, strerror(-fd));
		link->is_failing = true;
		return false;
	}
	link->fd = fd;
	add_hello(link);
	link_send(link);
	if (link->fd >= 0 && link->is_failing)
		log_info("connected");
	link->is_failing = link->fd < 0;
	return link->fd >= 0;
}

static void add(struct link *link, const struct wire_message *message)
{
	if (link->fd >= 0)
		wire_encode(&link->output, message);
}

static struct wire_bytes name_of(const struct link *link, unsigned number, struct device_name *name)
{
	int size = snprintf(name->text, sizeof(name->text), "%s%u", link->kind, number);

	return (struct wire_bytes){.data = name->text, .size = (uint32_t)size};
}

void link_add_use(struct link *link, uint64_t boot_ns, const struct link_use *use)
{
	struct device_name name;

	add(link, &(struct wire_message){.type = WIRE_DEVICE_USE,
					 .device_use = {
						 .boot_ns = boot_ns,
						 .interval_ns = use->interval_ns,
						 .pid = use->holder.pid,
						 .start_boot_ns = use->holder.start_boot_ns,
						 .known = (use->has_busy ? DEVICE_USE_BUSY : 0U) |
							  (use->has_memory ? DEVICE_USE_MEMORY : 0U) |
							  (use->has_energy ? DEVICE_USE_ENERGY : 0U) |
							  (use->has_throttled ? DEVICE_USE_THROTTLED : 0U) |
							  (use->has_capacity ? DEVICE_USE_CAPACITY : 0U) |
							  (use->has_clock ? DEVICE_USE_CLOCK : 0U) |
							  (use->has_memory_clock ? DEVICE_USE_MEMORY_CLOCK : 0U) |
							  (use->has_memory_busy ? DEVICE_USE_MEMORY_BUSY : 0U),
						 .busy_ns = use->busy_ns,
						 .memory_bytes = use->memory_bytes,
						 .energy_uj = use->energy_uj,
						 .throttled_ns = use->throttled_ns,
						 .capacity_bytes = use->capacity_bytes,
						 .clock_ns = use->clock_ns,
						 .memory_clock_ns = use->memory_clock_ns,
						 .memory_busy_ns = use->memory_busy_ns,
						 .device = name_of(link, use->holder.number, &name),
					 }});
}

void link_add_error(struct link *link, const struct link_holder *holder, unsigned code, unsigned holder_count)
{
	struct device_name name;

	add(link, &(struct wire_message){.type = WIRE_DEVICE_ERROR,
					 .device_error = {
						 .boot_ns = clock_boot_ns(),
						 .pid = holder->pid,
						 .start_boot_ns = holder->start_boot_ns,
						 .code = code,
						 .holder_count = holder_count,
						 .device = name_of(link, holder->number, &name),
					 }});
}

void link_send(struct link *link)
{
	ssize_t sent = link->output.size ? send(link->fd, link->output.data, link->output.size, MSG_NOSIGNAL) : 0;

	if (sent != (ssize_t)link->output.size) {
		log_warning("disconnected: %s", sent < 0 ? strerror(errno) : "the correlator does not read");
		link_close(link);
	}
	link->output.size = 0;
}

void link_close(struct link *link)
{
	if (link->fd >= 0)
		close(link->fd);
	link->fd = -1;
	wire_output_deinit(&link->output);
}
