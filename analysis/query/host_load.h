/* What a host did lately, between two of its samples. ROW_NULL is unknown. */
#pragma once

#include "analysis/query/rows.h"

#define HOST_LOAD_NS (60 * INT64_C(1000000000)) /* an average over at least this, if there are samples */

/* Times of all processors together, and their sum; times in which something waited; bytes a second. */
struct host_load {
	const struct row_host_sample *last;
	int64_t wall_ns;
	int64_t cpu_user_ns, cpu_system_ns, cpu_iowait_ns, cpu_steal_ns, cpu_ns;
	int64_t cpu_some_ns, memory_some_ns, io_some_ns;
	int64_t disk_read_rate, disk_write_rate, network_received_rate, network_sent_rate;
};

/* `samples` are row_host_sample, the latest first. Returns false if there are not two of the latest boot. */
bool host_load_find(const struct rows *samples, struct host_load *ret_load);
