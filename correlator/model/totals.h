/* Additive figures of an exec image, and of the tools, tasks and runs that images
 * belong to.
 *
 * The kernel's counters are cumulative over a process; an image's figures are the
 * counters now minus those when it began. What the kernel did not record counts as 0
 * in a sum and is NULL in the image's own row.
 */
#pragma once

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

/* Figures that some kernels or settings never record: unknown in sums too. */
#define TOTALS_OR_BIT(name) | COUNTER_VALID(name)
static const uint64_t totals_optional = COUNTER_VALID(block_io_delay_ns) | COUNTER_VALID(memory_delay_ns) |
					COUNTER_VALID(sent_bytes) | COUNTER_VALID(received_bytes) |
					COUNTER_VALID(uninterruptible_ns) ROW_GPU_TOTALS(TOTALS_OR_BIT);

/* Sets every ROW_TOTALS field of `row` from `figures`; an unknown field becomes
 * `unknown` (ROW_NULL for images, 0 for sums), an unknown optional one ROW_NULL. */
#define TOTALS_FILL_FIELD(name) \
	(totals_row)->name = totals_from->valid & COUNTER_VALID(name) ? totals_from->name \
			     : totals_optional & COUNTER_VALID(name)  ? ROW_NULL \
								      : totals_unknown;
#define totals_fill_row(row, figures, unknown) \
	do { \
		const struct totals *totals_from = (figures); \
		int64_t totals_unknown = (unknown); \
		typeof(row) totals_row = (row); \
		ROW_TOTALS(TOTALS_FILL_FIELD) \
	} while (0)

/* Sets a figure, unless the value is ROW_NULL. */
#define totals_set(figures, name, value) \
	do { \
		if ((value) != ROW_NULL) { \
			(figures)->name = (value); \
			(figures)->valid |= COUNTER_VALID(name); \
		} \
	} while (0)

/* The opposite of totals_fill_row(), into zeroed memory: a figure that is not NULL is known. */
#define TOTALS_OF_FIELD(name) totals_set(totals_of, name, row_of_totals->name);
#define totals_of_row(figures, row) \
	do { \
		struct totals *totals_of = (figures); \
		const typeof(*(row)) *row_of_totals = (row); \
		ROW_TOTALS(TOTALS_OF_FIELD) \
	} while (0)
