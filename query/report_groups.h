/* The tasks or the tools of a run by their names: what each name used in all, and how long it takes. */
#ifndef TRACER_QUERY_REPORT_GROUPS_H
#define TRACER_QUERY_REPORT_GROUPS_H

#include "query/figures.h"

struct report_group {
	const char *name;
	size_t member_count;
	size_t task_count; /* of tools: one and the script that starts it are two of a task */
	struct figures figures; /* without wall_ns */
	int64_t process_count, failed_count; /* of tasks: how many failed */
	int64_t median_wall_ns, longest_wall_ns;
	bool is_glue; /* shells and wrappers alone */
};

/* What used the most first. Zero it before use. */
struct report_groups {
	struct report_group *items;
	size_t count;
	struct group_entry *entries; /* while they are made, and their names */
};

/* 0 or -errno. */
int report_group_tasks(const struct report *report, struct report_groups *ret_groups);
int report_group_tools(const struct report *report, struct report_groups *ret_groups);
void report_groups_free(struct report_groups *groups);

#endif
