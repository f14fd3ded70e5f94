/* Additive figures of an exec image, and of the tools, tasks and runs that images
 * belong to.
 *
 * The kernel's counters are cumulative over a process; an image's figures are the
 * counters now minus those when it began. What the kernel did not record counts as 0
 * in a sum and is NULL in the image's own row.
 */
#pragma once

#include <stdbool.h>

#include "bpf/record.h"
#include "common/store/rows.h"

/* Figures that no record has. Process scans add up the first, which is known if they report how many
 * threads were in that state; samplers report the others. */
enum {
	COUNTER_uninterruptible_ns = COUNTER_uninterruptible_count,
	COUNTER_gpu_busy_ns = COUNTER_COUNT,
	COUNTER_gpu_energy_uj,
	COUNTER_gpu_throttled_ns,
	COUNTER_gpu_clock_ns,
	COUNTER_gpu_memory_clock_ns,
	COUNTER_gpu_memory_busy_ns,
};

struct totals {
#define I(name) int64_t name;
	ROW_TOTALS(I)
#undef I
	uint64_t valid; /* COUNTER_VALID bits of the known figures, the others being 0; COUNTERS_PARTIAL */
};

/* Usage of the image: `now` minus `base`, with on-CPU time split into user and system as the
 * kernel's cputime_adjust does; what no record has is left 0. Never negative: a counter that went
 * back (it was read while a thread was exiting) counts as unchanged. */
void totals_of_image(struct totals *ret, const struct counters *base, const struct counters *now);

/* A counter, ROW_NULL: unknown. */
#define counter_or_null(counters, name) ((counters)->valid & COUNTER_VALID(name) ? (int64_t)(counters)->name : ROW_NULL)

/* Sum of all bytes read, written, sent and received. */
int64_t totals_io_bytes(const struct totals *totals);

/* sum += part, or -= if `sign` is negative. */
void totals_add(struct totals *sum, const struct totals *part, int sign);

/* Sets the columns ROW_TOTALS of a row. What is unknown is ROW_NULL; but 0 in the sum of several images, unless some
 * kernels or settings never record it. */
void totals_to_row(const struct totals *totals, int64_t *columns, bool of_several);
/* The opposite: a figure that is not NULL is known. */
void totals_from_row(struct totals *ret, const int64_t *columns);

/* Sets a figure, unless the value is ROW_NULL. */
#define totals_set(figures, name, value) \
	do { \
		if ((value) != ROW_NULL) { \
			(figures)->name = (value); \
			(figures)->valid |= COUNTER_VALID(name); \
		} \
	} while (0)
