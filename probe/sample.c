/* See sample.h. An iterator's file is read once, from beginning to end; making one
 * from a link that is held needs no privilege (before 5.19: CAP_BPF, see sandbox.h). */
#include "probe/sample.h"

#include <errno.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "probe/clock.h"

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
	return 0;
}

int sampler_next(struct sampler *sampler, struct wire_bytes *ret_piece)
{
	ssize_t size;

	do {
		size = read(sampler->fd, sampler->buffer, sizeof(sampler->buffer));
	} while (size < 0 && (errno == EAGAIN || errno == EINTR));
	if (size < 0)
		return -errno;
	*ret_piece = (struct wire_bytes){sampler->buffer, (uint32_t)size};
	return size > 0;
}

void sampler_end(struct sampler *sampler)
{
	if (sampler->fd >= 0)
		close(sampler->fd);
	sampler->fd = -1;
}
