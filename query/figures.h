/* The figures that a line of a report shows, whatever it stands for; and those of all tasks or tools of
 * a name: what each name used in all, and how long it takes. */
#pragma once

#include <uthash.h>

#include "query/report.h"

/* ROW_NULL is unknown. */
struct figures {
	int64_t wall_ns;
	int64_t cpu_ns;
	int64_t run_delay_ns;
	int64_t peak_rss_bytes;
	int64_t read_bytes;
	int64_t write_bytes;
	int64_t sent_bytes;
	int64_t received_bytes;
	int64_t memory_limit_bytes; /* of a task; 0 as well as ROW_NULL: none */
	int64_t cgroup_peak_bytes;
};

/* Of a run, task, tool or process row. */
#define FIGURES_OF(report, row) \
	((struct figures){ \
		.wall_ns = report_wall_ns(report, (row)->begin_boot_ns, (row)->end_boot_ns), \
		.cpu_ns = (row)->cpu_ns, \
		.run_delay_ns = (row)->run_delay_ns, \
		.peak_rss_bytes = (row)->peak_rss_bytes, \
		.read_bytes = (row)->read_bytes, \
		.write_bytes = (row)->write_bytes, \
		.sent_bytes = (row)->sent_bytes, \
		.received_bytes = (row)->received_bytes, \
	})

/* Adds `other`: times and bytes are summed, the peak is the larger one. A sum with
 * an unknown part is unknown; a peak is not. wall_ns is left alone. */
void figures_add(struct figures *figures, const struct figures *other);

/* The role of a tool that is there for another's sake: shells, wrappers, helpers. */
bool figures_role_is_glue(const char *role);

/* Whether the part matters little in the whole, so that it may be folded away with others: less than
 * 5 % of its CPU, or less than 100 ms; and less than 5 % of the bytes that it read and wrote, or less
 * than 1 MiB. What is unknown counts as little. */
bool figures_are_small(const struct figures *part, const struct figures *whole);

struct report_group {
	UT_hash_handle hh; /* by name; its `next` is the group that comes next */
	size_t member_count;
	size_t task_count;                   /* of tools: one and the script that starts it are two of a task */
	struct figures figures;              /* without wall_ns */
	int64_t process_count, failed_count; /* of tasks: how many failed */
	int64_t median_wall_ns, longest_wall_ns;
	bool is_glue;      /* shells and wrappers alone */
	int64_t *walls_ns; /* of each member, for the median */
	size_t wall_capacity;
	int64_t last_task_id;
	char name[];
};

/* What used the most first; NULL where there are none. 0, or -errno: what is there then is to be freed too. */
int report_group_tasks(const struct report *report, struct report_group **ret_groups);
int report_group_tools(const struct report *report, struct report_group **ret_groups);
void report_groups_free(struct report_group *groups);
