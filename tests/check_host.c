/* Host facts and figures from /proc and /sys: texts of real machines, and invalid ones. */

#include "correlator/host/host.h"
#include "tests/suite.h"

#define HEX64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static struct row_host_sample figures;
static struct host_facts facts;

static void setup(void)
{
	host_figures_init(&figures);
	host_facts_init(&facts);
}

/* sysfs of a host with a multipath NVMe disk, of which the paths are devices. */
static bool disk_is_device(const char *name)
{
	return strcmp(name, "vda") == 0 || strcmp(name, "nvme0c0n1") == 0;
}

/* sysfs of a host with a bridge, a bond, and the interfaces of containers. */
static bool interface_is_device(const char *name)
{
	return strcmp(name, "eno1") == 0 || strcmp(name, "eno2") == 0 || strcmp(name, "ib0") == 0;
}

static bool interface_is_unknown(const char *name)
{
	return false;
}

#define FIGURE_FILES(F) \
	F("meminfo", host_parse_meminfo) \
	F("loadavg", host_parse_loadavg) \
	F("pressure/cpu", host_parse_pressure_cpu) \
	F("pressure/memory", host_parse_pressure_memory) \
	F("pressure/io", host_parse_pressure_io)
#define FACT_FILES(F) \
	F("meminfo", host_parse_swap) \
	F("os-release", host_parse_os_release) \
	F("cpuinfo", host_parse_cpuinfo) \
	F("delay accounting", host_parse_delay_accounting) \
	F("cluster", host_parse_cluster) \
	F("slurm.conf", host_parse_slurm) \
	F("memory limit", host_parse_memory_limit) \
	F("cpu limit", host_parse_cpu_limit)

/* Parses `text` as that file; as all of them if it is NULL. */
static void parse(const char *file, const char *text)
{
#define IS(name) (!file || strcmp(file, name) == 0)
#define F(name, parse_file) \
	if (IS(name)) \
		parse_file(text, &figures);
	FIGURE_FILES(F)
#undef F
#define F(name, parse_file) \
	if (IS(name)) \
		parse_file(text, &facts);
	FACT_FILES(F)
#undef F
	if (IS("stat"))
		host_parse_stat(text, 100, &figures);
	if (IS("diskstats"))
		host_parse_diskstats(text, disk_is_device, &figures);
	if (IS("net/dev"))
		host_parse_net_dev(text, interface_is_device, &figures);
	if (IS("net/dev without sysfs"))
		host_parse_net_dev(text, interface_is_unknown, &figures);
	if (IS("product"))
		host_set_dmi(text, facts.product, sizeof(facts.product));
	if (IS("siblings"))
		host_parse_siblings(text, 0, &facts);
}

static char known[2048];

static void add_known(const char *name, int64_t value, const char *text)
{
	size_t used = strlen(known);

	if (text && *text)
		snprintf(known + used, sizeof(known) - used, "%s%s=%s", used ? " " : "", name, text);
	else if (!text && value != ROW_NULL)
		snprintf(known + used, sizeof(known) - used, "%s%s=%lld", used ? " " : "", name, (long long)value);
}

/* All that is known, in the order of the lists. */
static const char *known_of_host(void)
{
	known[0] = '\0';
#define FIGURE(name) add_known(#name, figures.name, NULL);
#define FACT_I(name) add_known(#name, facts.name, NULL);
#define FACT_T(name, size) add_known(#name, 0, facts.name);
	ROW_HOST_FIGURES(FIGURE)
	HOST_FACTS(FACT_I, FACT_T)
	return known;
}

#define NET_HEAD \
	"Inter-|   Receive                                                |  Transmit\n" \
	" face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls " \
	"carrier compressed\n" \
	"    lo: 17823406894  832875    0    0    0     0          0         0 17823406894  832875 0 0 0 0 0 0\n"
#define NET_OF(name) name ": 100 1 0 2 0 0 0 0 7 1 0 1 0 0 0 0\n"
/* Traffic of a bridge, bond or team also passes through its ports; "uplink" may be a device. */
#define NET_BRIDGES \
	NET_HEAD NET_OF("eno1") NET_OF("eno2") NET_OF("br0") NET_OF("bridge") NET_OF("vmbr0") NET_OF("team0") \
		NET_OF("uplink") NET_OF("veth1") NET_OF("eno1.7")
#define NET_CONTAINERS \
	NET_HEAD "docker0:    77 1 0 0 0 0 0 0 77 1 0 0 0 0 0 0\n" \
		 "vethc0ffee: 77 1 0 0 0 0 0 0 77 1 0 0 0 0 0 0\n" \
		 "  eth0: 1185449947   23970    0    2    0     0          0         0   995292   13831 0 3 0 0 0 0\n" \
		 "eth0.7: 5 1 0 0 0 0 0 0 5 1 0 0 0 0 0 0\n" \
		 "  ib0:10 1 0 0 0 0 0 0 20 1 0 0 0 0 0 0\n"
#define CPUINFO(number, core) \
	"processor\t: " number "\nmodel name\t: AMD EPYC\nphysical id\t: 0\ncore id\t\t: " core "\n\n"
#define ARM_CPUINFO(implementer, part) \
	"processor\t: 0\nBogoMIPS\t: 2100.00\nFeatures\t: fp asimd\nCPU implementer\t: " implementer \
	"\nCPU architecture: 8\nCPU variant\t: 0x1\nCPU part\t: " part "\nCPU revision\t: 1\n\n"

static const struct {
	const char *file, *text, *known;
} cases[] = {
	/* a virtual machine with two processors, kernel 6.18; the intr line is shortened */
	{"stat",
	 "cpu  231755 15616 80173 209810 1474 7 952 252 11 3\n"
	 "cpu0 116419 8769 37210 107060 325 0 77 129 0 0\n"
	 "cpu1 115335 6847 42963 102750 1148 0 875 122 0 0\n"
	 "intr 3264640 0 0 0\nctxt 6077735\nbtime 1763738070\nprocesses 171341\n"
	 "procs_running 9\nprocs_blocked 1\nsoftirq 1523 0 1 2\n",
	 "cpu_user_ns=2473710000000 cpu_system_ns=811320000000 cpu_idle_ns=2098100000000 "
	 "cpu_iowait_ns=14740000000 cpu_steal_ns=2520000000 running_count=9 blocked_count=1"},
	{"meminfo",
	 "MemTotal:       24684092 kB\nMemFree:        19747640 kB\nMemAvailable:   22338072 kB\n"
	 "Buffers:           23724 kB\nCached:          2393404 kB\nSwapCached:            0 kB\n"
	 "SwapTotal:       4194300 kB\nSwapFree:        4190204 kB\n"
	 "Dirty:             28288 kB\nHugePages_Total:       0\n",
	 "memory_available_bytes=22874185728 memory_free_bytes=20221583360 memory_cache_bytes=2475139072 "
	 "memory_dirty_bytes=28966912 swap_used_bytes=4194304 swap_bytes=4294963200"},
	{"pressure/cpu",
	 "some avg10=88.75 avg60=94.85 avg300=85.11 total=1199527654\n"
	 "full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n",
	 "cpu_some_ns=1199527654000"},
	{"pressure/memory",
	 "some avg10=0.00 avg60=0.00 avg300=0.00 total=6594\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=1931\n",
	 "memory_some_ns=6594000 memory_full_ns=1931000"},
	{"pressure/io", "some avg10=0.48 avg60=0.66 avg300=0.63 total=27862301\n", "io_some_ns=27862301000"},
	{"loadavg", "8.07 7.68 5.55 9/127 13751\n", "load_milli=8070"},
	/* partitions and devices stacked on other disks or paths would count the same bytes twice */
	{"diskstats",
	 "   7       0 loop0 5 5 5 5 5 5 5 5 5 5 5 5 5 5 5 5 5\n"
	 " 254       0 vda 100 42010 2000 207342 10 140107 400 362347 0 55172 584268 62499 36 1 2 3 4\n"
	 " 254       1 vda1 90 42010 1900 207342 9 140107 390 362347 0 55172 584268\n"
	 " 259       2 nvme0c0n1 7 0 70 1 3 0 30 1 0 28 5\n"
	 " 259       0 nvme0n1 7 0 70 1 3 0 30 1 0 28 5\n"
	 " 259       1 nvme0n1p1 7 0 70 1 3 0 30 1 0 28 5\n"
	 " 253       0 dm-0 100 0 2000 1 10 0 400 1 0 55 5\n"
	 " 253       1 zram0 1 1 1 1 1 1 1 1 1 1 1\n"
	 "   9       0 md0 100 0 2000 1 10 0 400 1 0 55 5\n"
	 " 252       0 bcache0 100 0 2000 1 10 0 400 1 0 55 5\n"
	 " 230       0 zd0 100 0 2000 1 10 0 400 1 0 55 5\n",
	 "disk_read_bytes=1059840 disk_write_bytes=220160 disk_read_count=107"
	 " disk_write_count=13 disk_busy_ns=55200000000"},
	{"net/dev", NET_BRIDGES, "network_received_bytes=200 network_sent_bytes=14 network_dropped_count=6"},
	{"net/dev without sysfs", NET_BRIDGES,
	 "network_received_bytes=300 network_sent_bytes=21 network_dropped_count=9"},
	/* only the known physical device; by name only */
	{"net/dev", NET_CONTAINERS, "network_received_bytes=10 network_sent_bytes=20 network_dropped_count=0"},
	{"net/dev without sysfs", NET_CONTAINERS,
	 "network_received_bytes=1185449957 network_sent_bytes=995312 network_dropped_count=5"},
	/* a private network namespace has only the loopback, which says nothing about the host */
	{"net/dev without sysfs", NET_HEAD, ""},
	{"os-release", "PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nNAME=\"Debian\"\n",
	 "os=Debian GNU/Linux 12 (bookworm)"},
	{"cpuinfo", CPUINFO("0", "0") CPUINFO("1", "1") CPUINFO("2", "0") CPUINFO("3", "1"), "cpu_model=AMD EPYC"},
	/* arm64: Graviton 3; a machine with two kinds of cores; one that is not in the table */
	{"cpuinfo", ARM_CPUINFO("0x41", "0xd40") ARM_CPUINFO("0x41", "0xd40"), "cpu_model=Neoverse-V1"},
	{"cpuinfo", ARM_CPUINFO("0x41", "0xd03") ARM_CPUINFO("0x41", "0xd08"), "cpu_model=Cortex-A53"},
	{"cpuinfo", ARM_CPUINFO("0x61", "0x022"), "cpu_model=arm64 core 0x022 of implementer 0x61"},
	{"delay accounting", "0\n", "delay_accounting=0"},
	{"cluster", "alps\n", "cluster=alps"},
	{"cluster", "  hpc-2.example_org \nmore", "cluster=hpc-2.example_org"},
	{"cluster", "two words\n", ""},
	{"cluster", "\n", ""},
	{"cluster", "\x1b[2J\n", ""},
	{"cluster", "12345678901234567890123456789012345678901234567890123456789012345", ""},
	{"slurm.conf", "# ClusterName=no\nSlurmctldHost=x\nClusterName=alps\n", "cluster=alps"},
	{"slurm.conf", " clustername = alps  # ours\n", "cluster=alps"},
	{"slurm.conf", "ClusterNameX=alps\n", ""},
	{"memory limit", "max\n", ""},
	{"memory limit", "9223372036854771712\n", ""}, /* v1: no limit */
	{"memory limit", "536870912\n", "memory_limit_bytes=536870912"},
	{"cpu limit", "max 100000\n", ""},
	{"cpu limit", "-1 100000", ""}, /* v1: no limit */
	{"cpu limit", "150000 100000\n", "core_limit_milli=1500"},
	{"product", "m7i.4xlarge\n", "product=m7i.4xlarge"},
	{"product", "To be filled by O.E.M.\n", ""},
	{"product", "\n", ""},
	{"product", "i-0123456789abcdef0", "product=i-0123456789abcdef0"},
	/* very large numbers overflow nothing: impossible figures are unknown */
	{"stat", "cpu  9223372036854775807 9223372036854775807 1 9223372036854775807 1 1 1 1\n",
	 "cpu_system_ns=30000000 cpu_iowait_ns=10000000 cpu_steal_ns=10000000"},
	{"meminfo", "MemFree: 9223372036854775807 kB\n", ""},
	{"cpu limit", "9223372036854775807 1", ""},
};

TEST_EACH(known_of_a_file_is, cases)
{
	parse(cases[_i].file, cases[_i].text);
	ck_assert_str_eq(known_of_host(), cases[_i].known);
}

TEST(two_cores_of_two_threads_each)
{
	for (unsigned i = 0; i < 4; i++)
		host_parse_siblings(i % 2 ? "1,3\n" : "0,2\n", i, &facts);
	ck_assert_int_eq(facts.core_count, 2);
}

/* What follows the lines of the processors and the numbers of the interrupts is found, too. */
TEST(hundreds_of_processors)
{
	char *text = NULL, siblings[16];
	size_t size;
	FILE *file = open_memstream(&text, &size);

	fputs("cpu  512000 0 0 1024000 0 0 0 0 0 0\n", file);
	for (int cpu = 0; cpu < 512; cpu++)
		fprintf(file, "cpu%d 1000 0 0 2000 0 0 0 0 0 0\n", cpu);
	fputs("intr 65536", file);
	for (int interrupt = 0; interrupt < 65536; interrupt++)
		fputs(" 1", file);
	fputs("\nctxt 1\nprocs_running 700\nprocs_blocked 3\n", file);
	fclose(file);
	parse("stat", text);
	free(text);
	ck_assert_int_eq(figures.cpu_user_ns, 5120 * INT64_C(1000000000));
	ck_assert_int_eq(figures.running_count, 700);
	ck_assert_int_eq(figures.blocked_count, 3);
	for (int cpu = 0; cpu < 512; cpu++) {
		snprintf(siblings, sizeof(siblings), "%d,%d\n", cpu % 256, cpu % 256 + 256);
		host_parse_siblings(siblings, cpu, &facts);
	}
	ck_assert_int_eq(facts.core_count, 256);
}

static const char *const garbage[] = {
	/* clang-format off */
	"", "\n", "\n\n\n", "cpu", "cpu ", "cpu  1 2", "cpu  a b c d e f g h", "cpu  -1 -1 -1 -1 -1 -1 -1 -1",
	"cpu  99999999999999999999999 1 1 1 1 1 1 1", "MemFree:", "MemFree: lots kB", "some", "some total=",
	"some total=x\n", "some avg10=0\nfull total=1", "1.", ".5", "1.234", "8", "a.b", " 8 0", " 8 0 sda",
	" 8 0 sda 1 2 3", "eth0", "eth0:", "eth0: 1 2 3", ":", "PRETTY_NAME=", "PRETTY_NAME=\"", "model name",
	"CPU part\t: 0xd40", "CPU implementer\t: 0x41",
	"core id : 999999999", "physical id : 99999\ncore id : 1", "100", "100 0", "\xff\xfe\x01",
	/* clang-format on */
};

/* A text that does not contain a figure yields none. */
TEST_EACH(garbage_gives_nothing, garbage)
{
	parse(NULL, garbage[_i]);
	ck_assert_int_eq(figures.cpu_user_ns, ROW_NULL);
	ck_assert_int_eq(figures.memory_free_bytes, ROW_NULL);
	ck_assert_int_eq(figures.cpu_some_ns, ROW_NULL);
	ck_assert_int_eq(figures.disk_read_bytes, ROW_NULL);
	ck_assert_int_eq(figures.network_sent_bytes, ROW_NULL);
	ck_assert_int_eq(figures.load_milli, ROW_NULL);
	ck_assert_int_eq(facts.core_limit_milli, ROW_NULL);
	ck_assert_int_eq(facts.delay_accounting, ROW_NULL);
}

static const struct {
	const char *link, *id, *name;
} links[] = {
	{"align-x7k2p_genomics_main-" HEX64 ".log", HEX64, "genomics/align-x7k2p/main"},
	{"api.v2-0_web_istio-proxy-" HEX64 ".log", HEX64, "web/api.v2-0/istio-proxy"},
	/* cut by the kubelet, because a name has at most 255 bytes */
	{"align_genomics_main-0123456789abcdef.log", NULL, NULL},
	{"align_genomics_main-" HEX64 "0.log", NULL, NULL},
	{"align_genomics_main-" HEX64, NULL, NULL},
	{"align_genomics_-" HEX64 ".log", NULL, NULL},
	{"_genomics_main-" HEX64 ".log", NULL, NULL},
	{"align__main-" HEX64 ".log", NULL, NULL},
	{"align_genomics-" HEX64 ".log", NULL, NULL},
	{"al\x1b[2Jign_genomics_main-" HEX64 ".log", NULL, NULL},
	{"align_genomics_ma\nin-" HEX64 ".log", NULL, NULL},
	{".", NULL, NULL},
	{"", NULL, NULL},
};

TEST_EACH(links_of_pods, links)
{
	struct host_pod_container found;

	ck_assert_int_eq(host_parse_pod_link(links[_i].link, &found), links[_i].id != NULL);
	if (!links[_i].id)
		return;
	ck_assert_str_eq(found.id, links[_i].id);
	ck_assert_str_eq(found.name, links[_i].name);
}

int main(void)
{
	return suite_run("host", setup, NULL);
}
