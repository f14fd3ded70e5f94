/* Facts and figures of the host, from world-readable files of /proc and /sys.
 *
 * Parsers only: text in, figures out, no I/O. What a text does not contain stays unknown.
 * host_read.c reads the files, but never in a replay, so that nothing of the machine that
 * the replay runs on gets into its store.
 */
#pragma once

#include <stdbool.h>

#include "common/store/rows.h"

#define HOST_CLUSTER_SIZE 65

/* Facts that do not change while the host runs; "" and ROW_NULL unknown: columns of the host. T(name, size) I(name) */
#define HOST_FACTS(I, T) \
	T(os, 128) \
	T(kernel_build, 128) \
	T(vendor, 64) \
	T(product, 64) \
	T(asset_tag, 64) \
	T(cpu_model, 96) \
	T(cluster, HOST_CLUSTER_SIZE) \
	I(core_count) \
	I(swap_bytes) \
	I(memory_limit_bytes) \
	I(core_limit_milli) \
	I(delay_accounting)

struct host_facts {
#define I(name) int64_t name;
#define T(name, size) char name[size];
	HOST_FACTS(I, T)
#undef I
#undef T
};

/* Makes all figures unknown. */
void host_figures_init(struct row_host_sample *figures);
void host_facts_init(struct host_facts *facts);

/* Each parses the text of one file, terminated by NUL. */
void host_parse_stat(const char *text, int64_t ticks_per_second, struct row_host_sample *figures);
void host_parse_meminfo(const char *text, struct row_host_sample *figures);
void host_parse_loadavg(const char *text, struct row_host_sample *figures);
void host_parse_pressure_cpu(const char *text, struct row_host_sample *figures);
void host_parse_pressure_memory(const char *text, struct row_host_sample *figures);
void host_parse_pressure_io(const char *text, struct row_host_sample *figures);
/* Whether a disk or a network interface is known to be hardware, or its equivalent in a virtual machine. The bytes of
 * others (partitions, and what is built on disks, files or memory: dm, md, bcache, zvols, loop; bridges, and interfaces
 * of containers) would count twice. */
typedef bool (*host_is_device)(const char *name);
void host_parse_diskstats(const char *text, host_is_device is_device, struct row_host_sample *figures);
/* Sums the external interfaces: the devices or, if none is known to be one, all whose names do not
 * rule it out. The figures stay unknown if there are none, as in a private network namespace. */
void host_parse_net_dev(const char *text, host_is_device is_device, struct row_host_sample *figures);

/* Whether `name` is a valid cluster name: 1 to 64 letters, digits, '.', '_' and '-'. */
bool host_cluster_is_valid(const char *name);
/* Whether `name` is a valid name of a host: 1 to 253 of the same characters. */
bool host_name_is_valid(const char *name);
/* A file with the name of the cluster in its first line. */
void host_parse_cluster(const char *text, struct host_facts *facts);
/* slurm.conf: ClusterName. */
void host_parse_slurm(const char *text, struct host_facts *facts);

void host_parse_os_release(const char *text, struct host_facts *facts);
void host_parse_cpuinfo(const char *text, struct host_facts *facts);
/* thread_siblings_list of a processor: each core is counted once, at its first processor. */
void host_parse_siblings(const char *text, int64_t cpu, struct host_facts *facts);
void host_parse_swap(const char *meminfo, struct host_facts *facts);
/* cgroup v2 memory.max or v1 memory.limit_in_bytes, of the visible root. */
void host_parse_memory_limit(const char *text, struct host_facts *facts);
/* "QUOTA PERIOD" of v2 cpu.max; the reader joins the two files of v1 to the same form. */
void host_parse_cpu_limit(const char *text, struct host_facts *facts);
void host_parse_delay_accounting(const char *text, struct host_facts *facts);
/* A container of a pod, from the name of its link in the kubelet's directory. */
struct host_pod_container {
	char id[65];
	char name[3 * 128]; /* NAMESPACE/POD/CONTAINER */
};

/* POD_NAMESPACE_CONTAINER-ID.log. Returns false for anything else, such as one that the kubelet has cut. */
bool host_parse_pod_link(const char *link, struct host_pod_container *ret);
/* Copies one DMI text, except the placeholders that firmware uses for missing values. */
void host_set_dmi(const char *text, char *ret, size_t size);
