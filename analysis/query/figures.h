/* The figures in one line of a report (of a run, task, tool or process), and the totals and durations of
 * all tasks or tools that share a name. */
#pragma once

#include <uthash.h>

#include "analysis/query/report.h"

/* ROW_NULL means unknown. */
struct figures {
	int64_t wall_ns;
	int64_t cpu_ns;
	int64_t run_delay_ns;
	int64_t peak_rss_bytes;
	int64_t gpu_busy_ns, gpu_peak_bytes;
	int64_t read_bytes;
	int64_t write_bytes;
	int64_t sent_bytes;
	int64_t received_bytes;
	int64_t memory_limit_bytes; /* of a task; 0 or ROW_NULL: no limit */
	int64_t cgroup_peak_bytes;
};

/* The figures of a run, task, tool or process row. */
#define FIGURES_OF(report, row) \
	((struct figures){ \
		.wall_ns = report_wall_ns(report, (row)->begin_boot_ns, (row)->end_boot_ns), \
		.cpu_ns = (row)->cpu_ns, \
		.run_delay_ns = (row)->run_delay_ns, \
		.peak_rss_bytes = (row)->peak_rss_bytes, \
		.gpu_busy_ns = (row)->gpu_busy_ns, \
		.gpu_peak_bytes = (row)->gpu_peak_bytes, \
		.read_bytes = (row)->read_bytes, \
		.write_bytes = (row)->write_bytes, \
		.sent_bytes = (row)->sent_bytes, \
		.received_bytes = (row)->received_bytes, \
	})

#define FIGURES_NONE \
	((struct figures){ \
		.wall_ns = ROW_NULL, .peak_rss_bytes = ROW_NULL, .gpu_busy_ns = ROW_NULL, .gpu_peak_bytes = ROW_NULL})

/* Adds `other`: sums times and bytes, keeps the larger peak. A sum with an unknown
 * part is unknown; a peak, and what few processes use (GPUs), is not. Leaves wall_ns unchanged. */
void figures_add(struct figures *figures, const struct figures *other);

/* Whether tools of that role only serve others: shells, wrappers, helpers. */
bool figures_role_is_glue(const char *role);

/* Whether the part is small enough to be folded away with others: it used less than 100 ms or less than
 * 5 % of the CPU time of the whole, likewise of GPU time, and both read and wrote less than 1 MiB or less than 5 % of its bytes.
 * Unknown values count as small. */
bool figures_are_small(const struct figures *part, const struct figures *whole);

struct report_group {
	UT_hash_handle hh; /* by name; hh.next is the next group */
	size_t member_count;
	size_t task_count;                   /* distinct tasks: a tool and its script are two members */
	struct figures figures;              /* wall_ns only of tasks: from the first begin to the last end */
	int64_t process_count, failed_count; /* of tools: processes; of tasks: only failed tasks */
	int64_t median_wall_ns, longest_wall_ns;
	bool is_glue;      /* of tools: only shells and wrappers */
	int64_t *walls_ns; /* one per member, for the median */
	size_t wall_capacity;
	int64_t begin_boot_ns, end_boot_ns; /* of tasks */
	int64_t last_task_id;
	char name[];
};

/* Groups by CPU time, highest first; NULL if there are none. Return 0 or -errno; free the groups either way. */
int report_group_tasks(const struct report *report, struct report_group **ret_groups);
/* The tasks of each sample, last those on several and on none. */
int report_group_samples(const struct report *report, struct report_group **ret_groups);
int report_group_tools(const struct report *report, struct report_group **ret_groups);
void report_groups_free(struct report_group *groups);
