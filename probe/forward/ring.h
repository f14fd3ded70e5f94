/* The ring as the spool: read ahead of the consumer position, free on acknowledgement.
 *
 * libbpf's ring buffer reader frees a record once it has been read; here a record
 * stays in the ring until its receiver has it on disk. So the ring is mapped here.
 *
 * An offset is the position of a record's first byte since the ring was created: it
 * only grows, and is unique to the record. A position is where reading continues; no
 * record's offset equals a position.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct ring {
	uint64_t *consumer;       /* mapped read-write: the kernel may overwrite what is before it */
	const uint64_t *producer; /* mapped read-only */
	const char *data;         /* mapped twice in a row: no record wraps */
	uint64_t mask;            /* size - 1 */
	uint64_t position;        /* read up to here; never below *consumer */
};

/* The size for a host of so many processors, which may all start processes: 256 KiB each, a power of two. At most what
 * fits, with the rest of the probe, into the memory that its service may take. */
static inline uint32_t ring_size_of_host(long cpu_count)
{
	return cpu_count <= 64 ? 16 << 20 : cpu_count <= 128 ? 32 << 20 : 64 << 20;
}

/* Map the ring of `fd`, `size` bytes of data. Returns 0 or a negative errno. */
int ring_map(struct ring *ring, int fd, size_t size);
void ring_unmap(struct ring *ring);

/* Returns the number of bytes after `position`, incomplete records included. */
uint64_t ring_backlog_bytes(const struct ring *ring);

/* Returns 1 and the next record, valid until it is freed, or 0 if none is complete. */
int ring_next(struct ring *ring, const void **ret_record, size_t *ret_size, uint64_t *ret_offset);

/* Free the records before `offset` that have been read. */
void ring_free_before(struct ring *ring, uint64_t offset);

/* Free the records before `offset`, read or not, and continue with the first that is left. */
void ring_seek(struct ring *ring, uint64_t offset);
