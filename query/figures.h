/* The figures that a line of a report shows, whatever it stands for. */
#ifndef TRACER_QUERY_FIGURES_H
#define TRACER_QUERY_FIGURES_H

#include <stdbool.h>
#include <stdint.h>

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

/* The role of a tool that is there for another's sake: shells, wrappers, helpers. */
bool figures_role_is_glue(const char *role);

/* Whether the part matters little in the whole, so that it may be folded away with others: less than
 * 5 % of its CPU, or less than 100 ms; and less than 5 % of the bytes that it read and wrote, or less
 * than 1 MiB. What is unknown counts as little. */
bool figures_are_small(const struct figures *part, const struct figures *whole);

#endif
