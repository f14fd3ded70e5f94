/* See sample.h. An iterator's file is read once, from beginning to end; making one
 * from a link that is held needs no privilege (before 5.19: CAP_BPF, see sandbox.h). */
#include "probe/sample.h"

#include <errno.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "probe/clock.h"

#define DEVICES_PERIOD_NS 10000000000ULL

int sampler_begin(struct sampler *sampler, struct kernel *kernel, bool with_text)
{
	int fd = bpf_iter_create(kernel->iterator[KERNEL_SAMPLE]);

	if (fd < 0)
		return -errno;
	kernel->control->sample_text = with_text;
	sampler->fd = fd;
	sampler->with_text = with_text;
	sampler->boot_ns = clock_boot_ns();
	sampler->unix_ns = clock_unix_ns();
	sampler->devices_link = -1;
	if (kernel->devices.major[0] &&
	    (with_text || sampler->boot_ns - sampler->devices_boot_ns >= DEVICES_PERIOD_NS)) {
		sampler->devices_link = kernel->iterator[KERNEL_DEVICES];
		sampler->devices_boot_ns = sampler->boot_ns;
	}
	return 0;
}

/* 1: with the devices that are held. 0: the pass is over. */
static int sampler_go_on(struct sampler *sampler)
{
	int link = sampler->devices_link;

	sampler->devices_link = -1;
	if (link < 0)
		return 0;
	int fd = bpf_iter_create(link);
	if (fd < 0)
		return -errno;
	close(sampler->fd);
	sampler->fd = fd;
	return 1;
}

int sampler_next(struct sampler *sampler, struct wire_bytes *ret_piece)
{
	int more = 1;
	ssize_t size;

	do {
		size = read(sampler->fd, sampler->buffer, sizeof(sampler->buffer));
		if (size == 0)
			more = sampler_go_on(sampler);
	} while ((size == 0 && more > 0) || (size < 0 && (errno == EAGAIN || errno == EINTR)));
	if (size < 0)
		return -errno;
	*ret_piece = (struct wire_bytes){sampler->buffer, (uint32_t)size};
	return more < 0 ? more : size > 0;
}

void sampler_end(struct sampler *sampler)
{
	if (sampler->fd >= 0)
		close(sampler->fd);
	sampler->fd = -1;
}
