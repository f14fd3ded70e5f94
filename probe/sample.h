/* One pass over the living: what a kernel iterator writes, piece by piece, so that a
 * pass may wait for a slow receiver without being kept in memory. Now and then the GPU
 * devices that they hold open follow.
 */
#ifndef TRACER_PROBE_SAMPLE_H
#define TRACER_PROBE_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/wire/wire.h"
#include "probe/kernel.h"

struct sampler {
	int fd; /* of the iterator; -1: no pass is under way */
	int devices_link;         /* of the iterator that comes next, or -1 */
	uint64_t devices_boot_ns; /* when it came last */
	bool with_text;
	uint64_t boot_ns; /* when it began */
	uint64_t unix_ns;
	char buffer[32 * 1024]; /* as much as the kernel writes at once */
};

/* 0 or a negative errno. */
int sampler_begin(struct sampler *sampler, struct kernel *kernel, bool with_text);

/* 1 and the next piece, valid until the next call; 0: the pass is over; or a negative
 * errno. */
int sampler_next(struct sampler *sampler, struct wire_bytes *ret_piece);

void sampler_end(struct sampler *sampler);

#endif
