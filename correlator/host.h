/* The host itself, from texts of /proc and /sys that everybody may read.
 *
 * Parsers: bytes in, figures out, no I/O. What a text does not say stays unknown.
 * host_read.c reads the files; a replay never does, so that nothing of the machine it
 * runs on gets into its store.
 */
#ifndef TRACER_CORRELATOR_HOST_H
#define TRACER_CORRELATOR_HOST_H

#include <stddef.h>
#include <stdint.h>

#include "common/store/rows.h"

/* Counters since boot, and how things stand now; ROW_NULL unknown. */
struct host_figures {
#define I(name) int64_t name;
	ROW_HOST_FIGURES(I)
#undef I
};

/* What does not change while the host runs; "" and ROW_NULL unknown. */
struct host_facts {
	char os[128], kernel_build[128];
	char vendor[64], product[64], asset_tag[64];
	char cpu_model[96];
	int64_t core_count, swap_bytes;
	int64_t memory_limit_bytes, core_limit_milli;
	int64_t delay_accounting;
};

void host_figures_init(struct host_figures *figures);
void host_facts_init(struct host_facts *facts);

/* Each takes one file, ended by NUL. */
void host_parse_stat(const char *text, int64_t ticks_per_second, struct host_figures *figures);
void host_parse_meminfo(const char *text, struct host_figures *figures);
void host_parse_loadavg(const char *text, struct host_figures *figures);
void host_parse_pressure_cpu(const char *text, struct host_figures *figures);
void host_parse_pressure_memory(const char *text, struct host_figures *figures);
void host_parse_pressure_io(const char *text, struct host_figures *figures);
/* Whole disks: no partitions, and none that are made of others (dm, md, loop). */
void host_parse_diskstats(const char *text, struct host_figures *figures);
/* Interfaces to the outside: no loopback, none of containers and bridges, whose bytes
 * would count twice. Unknown where there is none, as in a namespace of one's own. */
void host_parse_net_dev(const char *text, struct host_figures *figures);

void host_parse_os_release(const char *text, struct host_facts *facts);
void host_parse_cpuinfo(const char *text, struct host_facts *facts);
void host_parse_swap(const char *meminfo, struct host_facts *facts);
/* cgroup v2 memory.max or v1 memory.limit_in_bytes, of the root that we see. */
void host_parse_memory_limit(const char *text, struct host_facts *facts);
/* "QUOTA PERIOD" of v2 cpu.max; v1 has two files, put together so by the reader. */
void host_parse_cpu_limit(const char *text, struct host_facts *facts);
void host_parse_delay_accounting(const char *text, struct host_facts *facts);
/* One DMI text; what firmware says where its maker said nothing is left out. */
void host_set_dmi(const char *text, char *ret, size_t size);

#endif
