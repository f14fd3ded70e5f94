/* See ring.h. The layout is the kernel's (kernel/bpf/ringbuf.c): a page with the
 * consumer position, a page with the producer position, the data twice. Each record
 * follows 8 bytes, of which the first four are its size and two flags. */
#include "probe/forward/ring.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/bpf.h>

int ring_map(struct ring *ring, int fd, size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	void *consumer = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (consumer == MAP_FAILED)
		return -errno;
	void *producer = mmap(NULL, page + 2 * size, PROT_READ, MAP_SHARED, fd, (off_t)page);
	if (producer == MAP_FAILED) {
		int error = errno;

		munmap(consumer, page);
		return -error;
	}
	*ring = (struct ring){
		.consumer = consumer,
		.producer = producer,
		.data = (const char *)producer + page,
		.mask = size - 1,
	};
	ring->position = *ring->consumer;
	return 0;
}

void ring_unmap(struct ring *ring)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	if (!ring->consumer)
		return;
	munmap(ring->consumer, page);
	munmap((void *)ring->producer, page + 2 * (ring->mask + 1));
	*ring = (struct ring){0};
}

/* Returns the position after the record at `position`, or `position` if there is no complete one. */
static uint64_t ring_step(const struct ring *ring, uint64_t position, uint32_t *ret_length)
{
	if (position >= __atomic_load_n(ring->producer, __ATOMIC_ACQUIRE))
		return position;
	const uint32_t *header = (const uint32_t *)(ring->data + (position & ring->mask));
	uint32_t length = __atomic_load_n(header, __ATOMIC_ACQUIRE);
	if (length & BPF_RINGBUF_BUSY_BIT)
		return position;
	*ret_length = length;
	uint64_t size = (length & ~(uint32_t)BPF_RINGBUF_DISCARD_BIT) + BPF_RINGBUF_HDR_SZ;
	return position + ((size + 7) & ~7ULL);
}

int ring_next(struct ring *ring, const void **ret_record, size_t *ret_size, uint64_t *ret_offset)
{
	for (;;) {
		uint32_t length;
		uint64_t position = ring->position, next = ring_step(ring, position, &length);

		if (next == position)
			return 0;
		ring->position = next;
		if (length & BPF_RINGBUF_DISCARD_BIT)
			continue;
		*ret_offset = position + BPF_RINGBUF_HDR_SZ;
		*ret_record = ring->data + (position & ring->mask) + BPF_RINGBUF_HDR_SZ;
		*ret_size = length;
		return 1;
	}
}

/* The peer may send any offset: stepping from record to record always ends on a boundary. */
static void ring_free_to(struct ring *ring, uint64_t offset, uint64_t limit)
{
	uint64_t position = *ring->consumer, next;
	uint32_t length;

	for (; position < limit && position + BPF_RINGBUF_HDR_SZ < offset; position = next) {
		next = ring_step(ring, position, &length);
		if (next == position)
			break;
	}
	__atomic_store_n(ring->consumer, position, __ATOMIC_RELEASE);
}

void ring_free_before(struct ring *ring, uint64_t offset)
{
	ring_free_to(ring, offset, ring->position);
}

void ring_seek(struct ring *ring, uint64_t offset)
{
	ring_free_to(ring, offset, UINT64_MAX);
	ring->position = *ring->consumer;
}

uint64_t ring_backlog_bytes(const struct ring *ring)
{
	return __atomic_load_n(ring->producer, __ATOMIC_ACQUIRE) - ring->position;
}
