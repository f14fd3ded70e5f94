/* Parsers of host facts and figures. See host.h. */
#include "correlator/host/host.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECTOR_BYTES 512 /* unit of /proc/diskstats, whatever the disk's sector size */
#define SECOND_NS INT64_C(1000000000)
#define HOST_INTERFACE_NAME_SIZE 16 /* IFNAMSIZ */
#define HOST_NAME_SIZE_MAX 253      /* of a node of Kubernetes: a DNS name */
#define HOST_DISK_NAME_SIZE 32      /* BDEVNAME_SIZE */

/* ---- lines and numbers ---- */

static const char *next_line(const char *line)
{
	const char *end = strchr(line, '\n');

	return end && end[1] ? end + 1 : NULL;
}

/* Reads a number and moves `*position` past it. Returns false if there is none or it is too large. */
static bool take_number(const char **position, int64_t *ret)
{
	const char *start = *position + strspn(*position, " \t");
	char *end;

	if (!isdigit((unsigned char)*start))
		return false;
	errno = 0;
	unsigned long long value = strtoull(start, &end, 10);

	if (errno || value > INT64_MAX)
		return false;
	*position = end;
	*ret = (int64_t)value;
	return true;
}

static bool take_numbers(const char *position, int64_t *values, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!take_number(&position, &values[i]))
			return false;
	return true;
}

/* Returns what follows `key` in the line that begins with it, or NULL if there is none. */
static const char *find_line(const char *text, const char *key)
{
	size_t size = strlen(key);

	for (const char *line = text; line; line = next_line(line))
		if (strncmp(line, key, size) == 0)
			return line + size;
	return NULL;
}

static bool find_number(const char *text, const char *key, int64_t *ret)
{
	const char *position = find_line(text, key);

	return position && take_number(&position, ret);
}

/* value * factor, or ROW_NULL if that overflows. */
static int64_t scaled(int64_t value, int64_t factor)
{
	int64_t product;

	return __builtin_mul_overflow(value, factor, &product) ? ROW_NULL : product;
}

static int64_t sum(int64_t left, int64_t right)
{
	int64_t total;

	if (left == ROW_NULL || right == ROW_NULL || __builtin_add_overflow(left, right, &total))
		return ROW_NULL;
	return total;
}

static void add_to(int64_t *total, int64_t value)
{
	*total = *total == ROW_NULL ? value : sum(*total, value);
}

/* ---- figures ---- */

void host_figures_init(struct row_host_sample *figures)
{
#define I(name) figures->name = ROW_NULL;
	ROW_HOST_FIGURES(I)
#undef I
}

/* cpu  user nice system idle iowait irq softirq steal guest guest_nice: the last two
 * are included in the first two. */
void host_parse_stat(const char *text, int64_t ticks_per_second, struct row_host_sample *figures)
{
	enum { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL, FIELDS };
	const char *line = find_line(text, "cpu ");
	int64_t ticks[FIELDS], tick_ns;

	find_number(text, "procs_running", &figures->running_count);
	find_number(text, "procs_blocked", &figures->blocked_count);
	if (!line || ticks_per_second <= 0 || !take_numbers(line, ticks, FIELDS))
		return;
	tick_ns = SECOND_NS / ticks_per_second;
	figures->cpu_user_ns = scaled(sum(ticks[USER], ticks[NICE]), tick_ns);
	figures->cpu_system_ns = scaled(sum(sum(ticks[SYSTEM], ticks[IRQ]), ticks[SOFTIRQ]), tick_ns);
	figures->cpu_idle_ns = scaled(ticks[IDLE], tick_ns);
	figures->cpu_iowait_ns = scaled(ticks[IOWAIT], tick_ns);
	figures->cpu_steal_ns = scaled(ticks[STEAL], tick_ns);
}

static int64_t find_kib(const char *text, const char *key)
{
	int64_t kib;

	return find_number(text, key, &kib) ? scaled(kib, 1024) : ROW_NULL;
}

void host_parse_meminfo(const char *text, struct row_host_sample *figures)
{
	int64_t swap = find_kib(text, "SwapTotal:"), swap_free = find_kib(text, "SwapFree:");

	figures->memory_available_bytes = find_kib(text, "MemAvailable:");
	figures->memory_free_bytes = find_kib(text, "MemFree:");
	figures->memory_cache_bytes = sum(find_kib(text, "Cached:"), find_kib(text, "Buffers:"));
	figures->memory_dirty_bytes = find_kib(text, "Dirty:");
	if (swap != ROW_NULL && swap_free != ROW_NULL && swap >= swap_free)
		figures->swap_used_bytes = swap - swap_free;
}

/* "0.52 0.58 ...": integer part and hundredths of the first number. */
void host_parse_loadavg(const char *text, struct row_host_sample *figures)
{
	const char *position = text;
	int64_t whole, hundredths;

	if (!take_number(&position, &whole) || *position++ != '.' || !take_number(&position, &hundredths) ||
	    hundredths > 99)
		return;
	figures->load_milli = sum(scaled(whole, 1000), hundredths * 10);
}

/* "some avg10=0.00 avg60=0.00 avg300=0.00 total=<microseconds>" */
static int64_t pressure_total(const char *text, const char *key)
{
	const char *line = find_line(text, key);
	const char *end = line ? line + strcspn(line, "\n") : NULL;
	const char *total = line ? strstr(line, "total=") : NULL;
	int64_t value;

	if (!total || total >= end)
		return ROW_NULL;
	total += strlen("total=");
	return take_number(&total, &value) ? scaled(value, 1000) : ROW_NULL;
}

void host_parse_pressure_cpu(const char *text, struct row_host_sample *figures)
{
	figures->cpu_some_ns = pressure_total(text, "some ");
}

void host_parse_pressure_memory(const char *text, struct row_host_sample *figures)
{
	figures->memory_some_ns = pressure_total(text, "some ");
	figures->memory_full_ns = pressure_total(text, "full ");
}

void host_parse_pressure_io(const char *text, struct row_host_sample *figures)
{
	figures->io_some_ns = pressure_total(text, "some ");
	figures->io_full_ns = pressure_total(text, "full ");
}

void host_parse_diskstats(const char *text, host_is_device is_device, struct row_host_sample *figures)
{
	/* clang-format off */
	enum { READS, READS_MERGED, READ_SECTORS, READ_MS, WRITES, WRITES_MERGED, WRITE_SECTORS, WRITE_MS,
	       IN_FLIGHT, BUSY_MS, FIELDS };
	/* clang-format on */

	for (const char *line = text; line; line = next_line(line)) {
		const char *position = line;
		int64_t major, minor, values[FIELDS];
		char name[HOST_DISK_NAME_SIZE];

		if (!take_number(&position, &major) || !take_number(&position, &minor))
			continue;
		position += strspn(position, " ");
		size_t size = strcspn(position, " \n");

		snprintf(name, sizeof(name), "%.*s", (int)size, position);
		if (!take_numbers(position + size, values, FIELDS) || !is_device(name))
			continue;
		add_to(&figures->disk_read_count, values[READS]);
		add_to(&figures->disk_read_bytes, scaled(values[READ_SECTORS], SECTOR_BYTES));
		add_to(&figures->disk_write_count, values[WRITES]);
		add_to(&figures->disk_write_bytes, scaled(values[WRITE_SECTORS], SECTOR_BYTES));
		add_to(&figures->disk_busy_ns, scaled(values[BUSY_MS], 1000000));
	}
}

/* A line of /proc/net/dev. take_interface() returns false if it names no interface, or lo. */
/* clang-format off */
enum { RX_BYTES, RX_PACKETS, RX_ERRORS, RX_DROPPED, RX_FIFO, RX_FRAME, RX_COMPRESSED, RX_MULTICAST,
       TX_BYTES, TX_PACKETS, TX_ERRORS, TX_DROPPED, NET_FIELDS };
/* clang-format on */

static bool take_interface(const char *line, char name[HOST_INTERFACE_NAME_SIZE], int64_t values[NET_FIELDS])
{
	const char *begin = line + strspn(line, " ");
	size_t size = strcspn(begin, ":\n");

	if (begin[size] != ':' || size >= HOST_INTERFACE_NAME_SIZE || memchr(begin, '/', size))
		return false;
	memcpy(name, begin, size);
	name[size] = '\0';
	return strcmp(name, "lo") != 0 && take_numbers(begin + size + 1, values, NET_FIELDS);
}

static bool name_is_of_device(const char *name)
{
	static const char *const inner[] = {"veth",  "docker", "br",     "cni",     "cali",   "flannel", "virbr",
					    "vmbr",  "lxdbr",  "vnet",   "tun",     "tap",    "wg",      "bond",
					    "team",  "dummy",  "ifb",    "podman",  "lxc",    "kube-",   "nodelocal",
					    "vxlan", "geneve", "cilium", "macvlan", "ipvlan", "ovs"};

	for (size_t i = 0; i < sizeof(inner) / sizeof(*inner); i++)
		if (strncmp(name, inner[i], strlen(inner[i])) == 0)
			return false;
	return !strchr(name, '.'); /* a VLAN: already in its interface's bytes */
}

void host_parse_net_dev(const char *text, host_is_device is_device, struct row_host_sample *figures)
{
	char name[HOST_INTERFACE_NAME_SIZE];
	int64_t values[NET_FIELDS];
	bool any_device = false;

	for (const char *line = text; line; line = next_line(line))
		if (take_interface(line, name, values) && is_device(name))
			any_device = true;
	for (const char *line = text; line; line = next_line(line)) {
		if (!take_interface(line, name, values) || !(any_device ? is_device(name) : name_is_of_device(name)))
			continue;
		add_to(&figures->network_received_bytes, values[RX_BYTES]);
		add_to(&figures->network_sent_bytes, values[TX_BYTES]);
		add_to(&figures->network_dropped_count, sum(values[RX_DROPPED], values[TX_DROPPED]));
	}
}

/* ---- facts ---- */

void host_facts_init(struct host_facts *facts)
{
#define I(name) .name = ROW_NULL,
#define T(name, size)
	*facts = (struct host_facts){HOST_FACTS(I, T)};
#undef I
#undef T
}

/* Copies the rest of the line without surrounding blanks and quotes. */
static void copy_value(const char *value, char *ret, size_t size)
{
	size_t length;

	value += strspn(value, " \t:\"'");
	length = strcspn(value, "\n");
	while (length > 0 && strchr(" \t\"'\r", value[length - 1]))
		length--;
	snprintf(ret, size, "%.*s", (int)length, value);
}

static void find_value(const char *text, const char *key, char *ret, size_t size)
{
	const char *value = find_line(text, key);

	if (value)
		copy_value(value, ret, size);
}

void host_parse_os_release(const char *text, struct host_facts *facts)
{
	find_value(text, "PRETTY_NAME=", facts->os, sizeof(facts->os));
}

/* Names, as lscpu has them, of cores of servers that run arm64, where /proc/cpuinfo has numbers only. */
static const struct arm_core {
	const char *implementer, *part, *name;
} arm_cores[] = {
	{"0x41", "0xd03", "Cortex-A53"},   {"0x41", "0xd07", "Cortex-A57"},  {"0x41", "0xd08", "Cortex-A72"},
	{"0x41", "0xd0b", "Cortex-A76"},   {"0x41", "0xd0c", "Neoverse-N1"}, {"0x41", "0xd40", "Neoverse-V1"},
	{"0x41", "0xd49", "Neoverse-N2"},  {"0x41", "0xd4f", "Neoverse-V2"}, {"0x41", "0xd84", "Neoverse-V3"},
	{"0x41", "0xd8e", "Neoverse-N3"},  {"0x43", "0x0af", "ThunderX2"},   {"0x46", "0x001", "A64FX"},
	{"0x48", "0xd01", "TaiShan-v110"}, {"0xc0", "0xac3", "Ampere-1"},    {"0xc0", "0xac4", "Ampere-1a"},
};

static void name_arm_core(const char *text, struct host_facts *facts)
{
	char implementer[8] = "", part[8] = "";

	find_value(text, "CPU implementer", implementer, sizeof(implementer));
	find_value(text, "CPU part", part, sizeof(part));
	if (!implementer[0] || !part[0])
		return;
	for (size_t i = 0; i < sizeof(arm_cores) / sizeof(*arm_cores); i++) {
		const struct arm_core *core = &arm_cores[i];

		if (strcmp(core->implementer, implementer) == 0 && strcmp(core->part, part) == 0) {
			snprintf(facts->cpu_model, sizeof(facts->cpu_model), "%s", core->name);
			return;
		}
	}
	snprintf(facts->cpu_model, sizeof(facts->cpu_model), "arm64 core %s of implementer %s", part, implementer);
}

void host_parse_cpuinfo(const char *text, struct host_facts *facts)
{
	find_value(text, "model name", facts->cpu_model, sizeof(facts->cpu_model));
	if (!facts->cpu_model[0])
		name_arm_core(text, facts);
}

void host_parse_siblings(const char *text, int64_t cpu, struct host_facts *facts)
{
	int64_t first;

	if (take_number(&text, &first) && first == cpu)
		add_to(&facts->core_count, 1);
}

static bool name_is_valid(const char *name, size_t size_max)
{
	size_t size = strlen(name);

	return size > 0 && size <= size_max &&
	       strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-") == size;
}

bool host_cluster_is_valid(const char *name)
{
	return name_is_valid(name, HOST_CLUSTER_SIZE - 1);
}

bool host_name_is_valid(const char *name)
{
	return name_is_valid(name, HOST_NAME_SIZE_MAX);
}

void host_parse_cluster(const char *text, struct host_facts *facts)
{
	char name[HOST_CLUSTER_SIZE + 1]; /* one more, to detect a name that is too long */

	copy_value(text, name, sizeof(name));
	if (host_cluster_is_valid(name))
		memcpy(facts->cluster, name, strlen(name) + 1);
}

/* "ClusterName=linux # ours": the key in any case, with or without spaces. */
void host_parse_slurm(const char *text, struct host_facts *facts)
{
	static const char key[] = "ClusterName";

	for (const char *line = text; line; line = next_line(line)) {
		const char *value = line + strspn(line, " \t");
		char name[2 * HOST_CLUSTER_SIZE];

		if (strncasecmp(value, key, sizeof(key) - 1) != 0)
			continue;
		value += sizeof(key) - 1;
		value += strspn(value, " \t");
		if (*value != '=')
			continue;
		value++;
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(value, "#\n"), value);
		host_parse_cluster(name, facts);
		return;
	}
}

void host_parse_swap(const char *meminfo, struct host_facts *facts)
{
	facts->swap_bytes = find_kib(meminfo, "SwapTotal:");
}

/* A higher value means "no limit" in v1, which uses the largest multiple of a page in a long. */
#define NO_LIMIT_BYTES (INT64_MAX / 2)

void host_parse_memory_limit(const char *text, struct host_facts *facts)
{
	int64_t bytes;

	if (take_number(&text, &bytes) && bytes < NO_LIMIT_BYTES)
		facts->memory_limit_bytes = bytes;
}

void host_parse_cpu_limit(const char *text, struct host_facts *facts)
{
	int64_t quota_us, period_us;

	if (take_number(&text, &quota_us) && take_number(&text, &period_us) && period_us > 0)
		facts->core_limit_milli =
			scaled(quota_us, 1000) == ROW_NULL ? ROW_NULL : scaled(quota_us, 1000) / period_us;
}

void host_parse_delay_accounting(const char *text, struct host_facts *facts)
{
	if ((text[0] == '0' || text[0] == '1') && (text[1] == '\n' || text[1] == '\0'))
		facts->delay_accounting = text[0] - '0';
}

/* Returns the size of the name at `text`, of letters, digits, '-' and '.', if `end` follows it; else 0. */
static size_t pod_name_size(const char *text, char end)
{
	size_t size = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-.");

	return text[size] == end ? size : 0;
}

bool host_parse_pod_link(const char *link, struct host_pod_container *ret)
{
	static const char suffix[] = ".log";
	const char *pod = link, *namespace, *container, *id;
	size_t pod_size, namespace_size, id_size = sizeof(ret->id) - 1;

	pod_size = pod_name_size(pod, '_');
	namespace = pod + pod_size + 1;
	namespace_size = pod_size ? pod_name_size(namespace, '_') : 0;
	container = namespace + namespace_size + 1;
	id = namespace_size ? strrchr(container, '-') : NULL;
	if (!id || id == container)
		return false;
	id++;
	if (strspn(id, "0123456789abcdef") != id_size || strcmp(id + id_size, suffix) != 0)
		return false;
	if (pod_name_size(container, '\0') != strlen(container))
		return false;
	snprintf(ret->id, sizeof(ret->id), "%s", id);
	return snprintf(ret->name, sizeof(ret->name), "%.*s/%.*s/%.*s", (int)namespace_size, namespace, (int)pod_size,
			pod, (int)(id - 1 - container), container) < (int)sizeof(ret->name);
}

void host_set_dmi(const char *text, char *ret, size_t size)
{
	/* clang-format off */
	static const char *const nothing[] = {"Not Specified", "Not Available", "Not Applicable", "None",
					      "No Asset Tag", "Default string", "To Be Filled By O.E.M.",
					      "System Product Name", "System manufacturer", "Unknown",
					      "Asset Tag", "Chassis Asset Tag", "N/A", "0"};
	/* clang-format on */
	char value[128];

	copy_value(text, value, sizeof(value));
	for (size_t i = 0; i < sizeof(nothing) / sizeof(*nothing); i++)
		if (strcasecmp(value, nothing[i]) == 0)
			return;
	snprintf(ret, size, "%.*s", (int)size - 1, value);
}
