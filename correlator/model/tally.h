/* Figures of a set of images that add up or have a maximum. Tools and runs keep one; that of a task is
 * the sum over its tools (task_fold()), since tools move between tasks. */
#pragma once

#include "correlator/model/totals.h"

struct tally {
	struct totals totals;
	int64_t process_count; /* images */
	int64_t living_count;
	int64_t failed_count;
	int64_t partial_count;          /* images whose totals have COUNTERS_PARTIAL */
	int64_t peak_rss_bytes;         /* largest of one image, ROW_NULL unknown */
	int64_t gpu_peak_bytes;         /* largest of one image, ROW_NULL unknown */
	int64_t requested_thread_count; /* largest of one image, ROW_NULL unknown */
	int64_t core_limit_milli;       /* the same, of images in the run's own container or in none */
	int64_t inner_core_limit_milli; /* the same, of images in other containers */
	uint64_t begin_boot_ns;
	int64_t started_unix_ns; /* of the image that began at begin_boot_ns */
	uint64_t end_boot_ns;    /* latest end of an image; meaningful if none is running */
};

/* Inline, because every record of a process calls it. */
static inline void tally_init(struct tally *tally)
{
	*tally = (struct tally){
		.peak_rss_bytes = ROW_NULL,
		.gpu_peak_bytes = ROW_NULL,
		.requested_thread_count = ROW_NULL,
		.core_limit_milli = ROW_NULL,
		.inner_core_limit_milli = ROW_NULL,
	};
}

void tally_add(struct tally *sum, const struct tally *part, int sign);
/* Raises `*value` to `candidate`; ROW_NULL is less than any known value. */
static inline void tally_raise(int64_t *value, int64_t candidate)
{
	if (candidate != ROW_NULL && (*value == ROW_NULL || candidate > *value))
		*value = candidate;
}
