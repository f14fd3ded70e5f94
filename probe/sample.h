/* One pass over the living: records read from a kernel iterator, piece by piece, so
 * that a pass may wait for a slow receiver without keeping its records in memory.
 */
#ifndef TRACER_PROBE_SAMPLE_H
#define TRACER_PROBE_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/kernel.h"

struct sampler {
	int fd; /* of the iterator; -1: no pass is under way */
	bool with_text;
	uint64_t process_count; /* counted by the caller */
	uint64_t boot_ns;       /* when it began */
	uint64_t unix_ns;
	size_t used;     /* bytes of `buffer` that hold records */
	size_t position; /* of the next one */
	_Alignas(8) char buffer[64 * 1024];
};

/* 0 or a negative errno. */
int sampler_begin(struct sampler *sampler, struct kernel *kernel, bool with_text);

/* 1 and the next record, valid until the next call; 0: the pass is over; or a negative
 * errno. */
int sampler_next(struct sampler *sampler, const void **ret_record, size_t *ret_size);

void sampler_end(struct sampler *sampler);

#endif
