/* See sample.h. An iterator's file is read once, from beginning to end; making one
 * from a link that is held needs no privilege (before 5.19: CAP_BPF, see sandbox.h). */
#include "probe/sample.h"

#include <errno.h>
#include <string.h>
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
	sampler->process_count = 0;
	sampler->boot_ns = clock_boot_ns();
	sampler->unix_ns = clock_unix_ns();
	sampler->used = 0;
	sampler->position = 0;
	return 0;
}

/* Records stand at multiples of 8 bytes, as in the ring. */
static size_t padded(size_t size)
{
	return (size + 7) & ~(size_t)7;
}

/* The size of the record at the front, 0 where it is not whole yet. */
static size_t record_size(const struct sampler *sampler)
{
	size_t held = sampler->used - sampler->position;
	struct record_header header;

	if (held < sizeof(header))
		return 0;
	memcpy(&header, sampler->buffer + sampler->position, sizeof(header));
	return padded(header.size) <= held ? header.size : 0;
}

int sampler_next(struct sampler *sampler, const void **ret_record, size_t *ret_size)
{
	size_t size;

	while ((size = record_size(sampler)) == 0) {
		size_t held = sampler->used - sampler->position;

		memmove(sampler->buffer, sampler->buffer + sampler->position, held);
		sampler->used = held;
		sampler->position = 0;
		ssize_t count = read(sampler->fd, sampler->buffer + held,
				     sizeof(sampler->buffer) - held);
		if (count < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (count < 0)
			return -errno;
		if (count == 0)
			return held ? -EBADMSG : 0;
		sampler->used += (size_t)count;
	}
	*ret_record = sampler->buffer + sampler->position;
	*ret_size = size;
	sampler->position += padded(size);
	return 1;
}

void sampler_end(struct sampler *sampler)
{
	if (sampler->fd >= 0)
		close(sampler->fd);
	sampler->fd = -1;
}
