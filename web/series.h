/* What a run used over time, in equal steps: adds up its processes. */
#pragma once

#include "web/columns.h"

#define WEB_STEPS_MAX 4096

/* What a process used until a time: cumulative counters (ROW_NULL: unknown), and what it held at that time. */
struct web_point {
	int64_t us; /* since the run began */
	int64_t cpu_us, wait_us, read_bytes, write_bytes, sent_bytes, received_bytes, gpu_us;
	int64_t memory_bytes, gpu_memory_bytes;
	int64_t blocked_count; /* threads in uninterruptible sleep */
};

struct web_series;

/* Returns NULL if out of memory. */
struct web_series *web_series_new(int64_t wall_us);
void web_series_free(struct web_series *series);

/* Adds what a process used between two points; it held what `to` says. */
void web_series_add(struct web_series *series, const struct web_point *from, const struct web_point *to);
enum web_memory { WEB_MEMORY, WEB_GPU_MEMORY, WEB_MEMORY_COUNT };
/* Adds memory that was held between two times. Returns 0 or -ENOMEM. */
int web_series_hold(struct web_series *series, enum web_memory kind, int64_t from_us, int64_t to_us, int64_t bytes);

/* Fills the table, which must be empty. At one time `most_bytes` of memory were held at most. Returns 0 or -ENOMEM. */
int web_series_fill(struct web_series *series, int64_t most_bytes, struct web_table *table);
int64_t web_series_step_us(const struct web_series *series);
