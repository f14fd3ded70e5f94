/* The ring as the spool: read ahead of the consumer position, free on acknowledgement.
 *
 * libbpf's ring buffer reader frees a record when it has been seen; here a record
 * stays in the ring until its receiver has it on disk. So the mapping is ours.
 *
 * An offset is the position of a record's first byte in the ring's life: it only
 * grows, and every record has its own. A position is where reading goes on; no
 * record's offset equals a position.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct ring {
	uint64_t *consumer;       /* mapped read-write: what the kernel may overwrite ends here */
	const uint64_t *producer; /* mapped read-only */
	const char *data;         /* mapped twice in a row: no record wraps */
	uint64_t mask;            /* size - 1 */
	uint64_t position;        /* read up to here; never below *consumer */
};

/* Map the ring of `fd`, `size` bytes of data. 0 or a negative errno. */
int ring_map(struct ring *ring, int fd, size_t size);
void ring_unmap(struct ring *ring);

/* What is behind `position`, records that are not complete included. */
uint64_t ring_backlog_bytes(const struct ring *ring);

/* 1 and the next record, valid until it is freed; 0: none is complete. */
int ring_next(struct ring *ring, const void **ret_record, size_t *ret_size, uint64_t *ret_offset);

/* Free the records before `offset`, of those that were read. */
void ring_free_before(struct ring *ring, uint64_t offset);

/* Free the records before `offset`, read or not, and go on with the first that is left. */
void ring_seek(struct ring *ring, uint64_t offset);
