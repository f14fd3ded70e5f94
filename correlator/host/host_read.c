/* Reads what host.h parses. See host_read.h. */
#include "correlator/host/host_read.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* Returns the file's text, owned by the caller, or NULL if it cannot be read: /proc/pressure with PSI off can only be
 * opened. None of these files has a NUL. */
static char *read_file(const char *path)
{
	FILE *file = fopen(path, "re");
	char *text = NULL;
	size_t capacity = 0;

	if (!file)
		return NULL;
	if (getdelim(&text, &capacity, '\0', file) < 0) {
		free(text);
		text = NULL;
	}
	fclose(file);
	return text;
}

static void parse_stat(const char *text, struct row_host_sample *figures)
{
	host_parse_stat(text, sysconf(_SC_CLK_TCK), figures);
}

static bool has_file(const char *folder, const char *name, const char *file)
{
	char path[96];

	snprintf(path, sizeof(path), "%s/%s/%s", folder, name, file);
	return access(path, F_OK) == 0;
}

/* Partitions are not in this directory. Of a multipath NVMe disk only the paths count: before 6.4 the disk itself has
 * no statistics. It is known by its policy for the paths. */
static bool disk_is_device(const char *name)
{
	return has_file("/sys/block", name, "device") && !has_file("/sys/block", name, "device/iopolicy");
}

static void parse_diskstats(const char *text, struct row_host_sample *figures)
{
	host_parse_diskstats(text, disk_is_device, figures);
}

/* Two devices may be one: a virtual function beneath a hypervisor's device has that as its master, and
 * is included in its bytes. If sysfs shows our own network namespace, it has none of the interfaces. */
static bool interface_is_device(const char *name)
{
	return has_file("/sys/class/net", name, "device") && !has_file("/sys/class/net", name, "master/device");
}

static void parse_net_dev(const char *text, struct row_host_sample *figures)
{
	host_parse_net_dev(text, interface_is_device, figures);
}

/* Init's network namespace is the host's, and its counters are world-readable; our own
 * namespace may be empty (PrivateNetwork=). */
static const struct {
	const char *path;
	void (*parse)(const char *text, struct row_host_sample *figures);
} figure_files[] = {
	{"/proc/stat", parse_stat},
	{"/proc/meminfo", host_parse_meminfo},
	{"/proc/loadavg", host_parse_loadavg},
	{"/proc/pressure/cpu", host_parse_pressure_cpu},
	{"/proc/pressure/memory", host_parse_pressure_memory},
	{"/proc/pressure/io", host_parse_pressure_io},
	{"/proc/diskstats", parse_diskstats},
	{"/proc/1/net/dev", parse_net_dev},
};

void host_read_figures(struct row_host_sample *ret_figures)
{
	host_figures_init(ret_figures);
	for (size_t i = 0; i < sizeof(figure_files) / sizeof(*figure_files); i++) {
		char *text = read_file(figure_files[i].path);

		if (text)
			figure_files[i].parse(text, ret_figures);
		free(text);
	}
}

static const struct fact_file {
	const char *path;
	void (*parse)(const char *text, struct host_facts *facts);
} fact_files[] = {
	{"/etc/os-release", host_parse_os_release},
	{"/proc/cpuinfo", host_parse_cpuinfo},
	{"/proc/meminfo", host_parse_swap},
	/* those of the visible root: in a container, the container's own */
	{"/sys/fs/cgroup/memory.max", host_parse_memory_limit},
	{"/sys/fs/cgroup/memory/memory.limit_in_bytes", host_parse_memory_limit},
	{"/sys/fs/cgroup/cpu.max", host_parse_cpu_limit},
	{"/proc/sys/kernel/task_delayacct", host_parse_delay_accounting},
};

/* The first that names a cluster is used. */
static const struct fact_file cluster_files[] = {
	{TRACER_CONFIG_DIR "/cluster", host_parse_cluster},
	{"/etc/slurm/slurm.conf", host_parse_slurm},
	{"/etc/slurm-llnl/slurm.conf", host_parse_slurm},
	{"/run/slurm/conf/slurm.conf", host_parse_slurm},
};

static void read_fact(const struct fact_file *file, struct host_facts *facts)
{
	char *text = read_file(file->path);

	if (text)
		file->parse(text, facts);
	free(text);
}

static void read_dmi(const char *path, char *ret, size_t size)
{
	char *text = ret[0] ? NULL : read_file(path);

	if (text)
		host_set_dmi(text, ret, size);
	free(text);
}

static void read_cpu_limit_v1(struct host_facts *facts)
{
	char *quota = read_file("/sys/fs/cgroup/cpu/cpu.cfs_quota_us");
	char *period = read_file("/sys/fs/cgroup/cpu/cpu.cfs_period_us");
	char both[64];

	if (quota && period) {
		snprintf(both, sizeof(both), "%.20s", quota);
		both[strcspn(both, "\n")] = '\0';
		snprintf(both + strlen(both), sizeof(both) - strlen(both), " %.20s", period);
		host_parse_cpu_limit(both, facts);
	}
	free(quota);
	free(period);
}

/* Offline processors have no topology. */
static void read_cores(struct host_facts *facts)
{
	long count = sysconf(_SC_NPROCESSORS_CONF);
	char path[96], *text;

	for (long cpu = 0; cpu < count; cpu++) {
		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%ld/topology/thread_siblings_list", cpu);
		text = read_file(path);
		if (text)
			host_parse_siblings(text, cpu, facts);
		free(text);
	}
}

void host_read_cluster(struct host_facts *facts)
{
	for (size_t i = 0; i < sizeof(cluster_files) / sizeof(*cluster_files) && !facts->cluster[0]; i++)
		read_fact(&cluster_files[i], facts);
}

void host_read_facts(struct host_facts *ret_facts)
{
	struct utsname name;

	host_facts_init(ret_facts);
	for (size_t i = 0; i < sizeof(fact_files) / sizeof(*fact_files); i++)
		read_fact(&fact_files[i], ret_facts);
	read_cores(ret_facts);
	if (ret_facts->core_limit_milli == ROW_NULL)
		read_cpu_limit_v1(ret_facts);
	if (uname(&name) == 0)
		snprintf(ret_facts->kernel_build, sizeof(ret_facts->kernel_build), "%s", name.version);
	read_dmi("/sys/class/dmi/id/sys_vendor", ret_facts->vendor, sizeof(ret_facts->vendor));
	read_dmi("/sys/class/dmi/id/product_name", ret_facts->product, sizeof(ret_facts->product));
	read_dmi("/sys/class/dmi/id/board_asset_tag", ret_facts->asset_tag, sizeof(ret_facts->asset_tag));
	read_dmi("/sys/class/dmi/id/chassis_asset_tag", ret_facts->asset_tag, sizeof(ret_facts->asset_tag));
}

int host_read_mounts(struct mounts *ret_mounts)
{
	char *text = read_file("/proc/self/mountinfo");
	int error = mounts_parse(text ? text : "", ret_mounts);

	free(text);
	return error;
}

/* Only names are read: the logs that the links point to need not be visible. */
void host_read_pods(void (*visit)(void *context, const struct host_pod_container *found), void *context)
{
	DIR *directory = opendir("/var/log/containers");
	struct host_pod_container found;

	for (struct dirent *entry; directory && (entry = readdir(directory));)
		if (host_parse_pod_link(entry->d_name, &found))
			visit(context, &found);
	if (directory)
		closedir(directory);
}
