/* The figures that a line of a report shows, whatever it stands for, and the views
 * made of such lines.
 */
#ifndef TRACER_CLI_FIGURES_H
#define TRACER_CLI_FIGURES_H

#include <stdint.h>

#include "cli/report.h"
#include "cli/table.h"

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
#define FIGURES_OF(report, row)                                                              \
	((struct figures){                                                                    \
		.wall_ns = report_wall_ns(report, (row)->begin_boot_ns, (row)->end_boot_ns),  \
		.cpu_ns = (row)->cpu_ns,                                                      \
		.run_delay_ns = (row)->run_delay_ns,                                          \
		.peak_rss_bytes = (row)->peak_rss_bytes,                                      \
		.read_bytes = (row)->read_bytes,                                              \
		.write_bytes = (row)->write_bytes,                                            \
		.sent_bytes = (row)->sent_bytes,                                              \
		.received_bytes = (row)->received_bytes,                                      \
	})

/* Adds `other`: times and bytes are summed, the peak is the larger one. A sum with
 * an unknown part is unknown; a peak is not. wall_ns is left alone. */
void figures_add(struct figures *figures, const struct figures *other);

/* Cells of peak RSS, bytes read, written, sent and received, and run-queue wait, in that
 * order. */
void figures_add_usage(const struct figures *figures, struct table *table, bool raw);

/* The role of a tool that is there for another's sake: shells, wrappers, helpers. */
bool figures_role_is_glue(const char *role);

/* Whether the part matters little in the whole, so that it may be folded away with others: less than
 * 5 % of its CPU, or less than 100 ms; and less than 5 % of the bytes that it read and wrote, or less
 * than 1 MiB. What is unknown counts as little. */
bool figures_are_small(const struct figures *part, const struct figures *whole);

/* Tasks that a terminal has no place for. */
struct tree_hidden {
	size_t task_count;
	size_t failed_count; /* of these */
};

/* Tables of a report's views; the caller prints and frees them. 0 or -errno. */
int tree_fill(const struct report *report, const struct output *output,
	      const struct report_style *style, struct table **ret_table,
	      struct tree_hidden *ret_hidden);
int groups_fill_tasks(const struct report *report, const struct report_style *style,
		      struct table **ret_table);
int groups_fill_tools(const struct report *report, const struct report_style *style,
		      struct table **ret_table);

#endif
