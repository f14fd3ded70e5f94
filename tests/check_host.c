/* Host facts and figures from /proc and /sys: texts of real machines, and invalid ones. */

#include "correlator/host/host.h"
#include "tests/suite.h"

static struct host_figures figures;
static struct host_facts facts;

static void setup(void)
{
	host_figures_init(&figures);
	host_facts_init(&facts);
}

/* A virtual machine with two processors, kernel 6.18; the intr line is shortened. */
static const char stat_text[] = "cpu  231755 15616 80173 209810 1474 7 952 252 11 3\n"
				"cpu0 116419 8769 37210 107060 325 0 77 129 0 0\n"
				"cpu1 115335 6847 42963 102750 1148 0 875 122 0 0\n"
				"intr 3264640 0 0 0\nctxt 6077735\nbtime 1763738070\nprocesses 171341\n"
				"procs_running 9\nprocs_blocked 1\nsoftirq 1523 0 1 2\n";

TEST(processors)
{
	host_parse_stat(stat_text, 100, &figures);
	ck_assert_int_eq(figures.cpu_user_ns, (231755 + 15616) * INT64_C(10000000));
	ck_assert_int_eq(figures.cpu_system_ns, (80173 + 7 + 952) * INT64_C(10000000));
	ck_assert_int_eq(figures.cpu_idle_ns, 209810 * INT64_C(10000000));
	ck_assert_int_eq(figures.cpu_iowait_ns, 1474 * INT64_C(10000000));
	ck_assert_int_eq(figures.cpu_steal_ns, 252 * INT64_C(10000000));
	ck_assert_int_eq(figures.running_count, 9);
	ck_assert_int_eq(figures.blocked_count, 1);
}

TEST(memory)
{
	static const char text[] = "MemTotal:       24684092 kB\nMemFree:        19747640 kB\n"
				   "MemAvailable:   22338072 kB\nBuffers:           23724 kB\n"
				   "Cached:          2393404 kB\nSwapCached:            0 kB\n"
				   "SwapTotal:       4194300 kB\nSwapFree:        4190204 kB\n"
				   "Dirty:             28288 kB\nHugePages_Total:       0\n";

	host_parse_meminfo(text, &figures);
	ck_assert_int_eq(figures.memory_available_bytes, INT64_C(22338072) * 1024);
	ck_assert_int_eq(figures.memory_free_bytes, INT64_C(19747640) * 1024);
	ck_assert_int_eq(figures.memory_cache_bytes, (INT64_C(2393404) + 23724) * 1024);
	ck_assert_int_eq(figures.memory_dirty_bytes, 28288 * 1024);
	ck_assert_int_eq(figures.swap_used_bytes, 4096 * 1024);
	host_parse_swap(text, &facts);
	ck_assert_int_eq(facts.swap_bytes, INT64_C(4194300) * 1024);
}

TEST(pressure_and_load)
{
	host_parse_pressure_cpu("some avg10=88.75 avg60=94.85 avg300=85.11 total=1199527654\n"
				"full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n",
				&figures);
	host_parse_pressure_memory("some avg10=0.00 avg60=0.00 avg300=0.00 total=6594\n"
				   "full avg10=0.00 avg60=0.00 avg300=0.00 total=1931\n",
				   &figures);
	host_parse_pressure_io("some avg10=0.48 avg60=0.66 avg300=0.63 total=27862301\n", &figures);
	host_parse_loadavg("8.07 7.68 5.55 9/127 13751\n", &figures);
	ck_assert_int_eq(figures.cpu_some_ns, INT64_C(1199527654000));
	ck_assert_int_eq(figures.memory_some_ns, 6594000);
	ck_assert_int_eq(figures.memory_full_ns, 1931000);
	ck_assert_int_eq(figures.io_some_ns, INT64_C(27862301000));
	ck_assert_int_eq(figures.io_full_ns, ROW_NULL); /* the line is missing */
	ck_assert_int_eq(figures.load_milli, 8070);
}

/* sysfs of a host with a multipath NVMe disk, of which the paths are devices. */
static bool disk_is_device(const char *name)
{
	return strcmp(name, "vda") == 0 || strcmp(name, "nvme0c0n1") == 0;
}

/* Partitions and devices stacked on other disks or paths would count the same bytes twice. */
TEST(disks)
{
	host_parse_diskstats(
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
		disk_is_device, &figures);
	ck_assert_int_eq(figures.disk_read_count, 107);
	ck_assert_int_eq(figures.disk_read_bytes, (2000 + 70) * 512);
	ck_assert_int_eq(figures.disk_write_count, 13);
	ck_assert_int_eq(figures.disk_write_bytes, (400 + 30) * 512);
	ck_assert_int_eq(figures.disk_busy_ns, (INT64_C(55172) + 28) * 1000000);
}

/* sysfs of a host with a bridge, a bond, and the interfaces of containers. */
static enum host_interface interface_of(const char *name)
{
	static const char *const devices[] = {"eno1", "eno2", "ib0"};
	static const char *const others[] = {"br0", "bridge", "vmbr0", "team0", "uplink", "veth1", "eno1.7"};

	for (size_t i = 0; i < sizeof(devices) / sizeof(*devices); i++)
		if (strcmp(name, devices[i]) == 0)
			return HOST_INTERFACE_DEVICE;
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (strcmp(name, others[i]) == 0)
			return HOST_INTERFACE_OTHER;
	return HOST_INTERFACE_UNKNOWN;
}

static const char net_head[] =
	"Inter-|   Receive                                                |  Transmit\n"
	" face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls "
	"carrier compressed\n"
	"    lo: 17823406894  832875    0    0    0     0          0         0 17823406894  832875 0 0 0 0 0 0\n";

static enum host_interface unknown_interface(const char *name)
{
	return HOST_INTERFACE_UNKNOWN;
}

/* Traffic of a bridge, bond or team also passes through its ports. */
TEST(network_of_bridges_and_bonds)
{
	static const char *const names[] = {"eno1",  "eno2",   "br0",   "bridge", "vmbr0",
					    "team0", "uplink", "veth1", "eno1.7"};
	char text[2048];
	size_t size = (size_t)snprintf(text, sizeof(text), "%s", net_head);

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		size += (size_t)snprintf(text + size, sizeof(text) - size, "%s: 100 1 0 2 0 0 0 0 7 1 0 1 0 0 0 0\n",
					 names[i]);
	host_parse_net_dev(text, interface_of, &figures);
	ck_assert_int_eq(figures.network_received_bytes, 200);
	ck_assert_int_eq(figures.network_sent_bytes, 14);
	ck_assert_int_eq(figures.network_dropped_count, 6);
	host_figures_init(&figures);
	host_parse_net_dev(text, unknown_interface, &figures); /* counts "uplink" too, which may be a device */
	ck_assert_int_eq(figures.network_received_bytes, 300);
}

TEST(network)
{
	char text[2048];

	snprintf(text, sizeof(text), "%s%s", net_head,
		 "docker0:    77 1 0 0 0 0 0 0 77 1 0 0 0 0 0 0\n"
		 "vethc0ffee: 77 1 0 0 0 0 0 0 77 1 0 0 0 0 0 0\n"
		 "  eth0: 1185449947   23970    0    2    0     0          0         0   995292   13831 0 3 0 0 0 0\n"
		 "eth0.7: 5 1 0 0 0 0 0 0 5 1 0 0 0 0 0 0\n"
		 "  ib0:10 1 0 0 0 0 0 0 20 1 0 0 0 0 0 0\n");
	host_parse_net_dev(text, interface_of, &figures);
	ck_assert_int_eq(figures.network_received_bytes, 10); /* only the known physical device */
	host_figures_init(&figures);
	host_parse_net_dev(text, unknown_interface, &figures); /* by name only */
	ck_assert_int_eq(figures.network_received_bytes, INT64_C(1185449947) + 10);
	ck_assert_int_eq(figures.network_sent_bytes, 995292 + 20);
	ck_assert_int_eq(figures.network_dropped_count, 5);
}

/* A private network namespace has only the loopback, which says nothing about the host. */
TEST(a_hidden_network_is_unknown)
{
	host_parse_net_dev(net_head, unknown_interface, &figures);
	ck_assert_int_eq(figures.network_received_bytes, ROW_NULL);
	ck_assert_int_eq(figures.network_dropped_count, ROW_NULL);
}

TEST(what_the_host_is)
{
	host_parse_os_release("PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nNAME=\"Debian\"\n", &facts);
	ck_assert_str_eq(facts.os, "Debian GNU/Linux 12 (bookworm)");
	host_parse_cpuinfo("processor\t: 0\nmodel name\t: AMD EPYC\nphysical id\t: 0\ncore id\t\t: 0\n\n"
			   "processor\t: 1\nmodel name\t: AMD EPYC\nphysical id\t: 0\ncore id\t\t: 1\n\n"
			   "processor\t: 2\nmodel name\t: AMD EPYC\nphysical id\t: 0\ncore id\t\t: 0\n\n"
			   "processor\t: 3\nmodel name\t: AMD EPYC\nphysical id\t: 0\ncore id\t\t: 1\n\n",
			   &facts);
	ck_assert_str_eq(facts.cpu_model, "AMD EPYC");
	for (unsigned i = 0; i < 4; i++) /* two cores, two threads each */
		host_parse_siblings(i % 2 ? "1,3\n" : "0,2\n", i, &facts);
	ck_assert_int_eq(facts.core_count, 2);
	host_parse_delay_accounting("0\n", &facts);
	ck_assert_int_eq(facts.delay_accounting, 0);
}

static const char *cluster_of(void (*parse)(const char *text, struct host_facts *facts), const char *text)
{
	facts.cluster[0] = '\0';
	parse(text, &facts);
	return facts.cluster;
}

TEST(which_cluster_it_is_in)
{
	ck_assert_str_eq(cluster_of(host_parse_cluster, "alps\n"), "alps");
	ck_assert_str_eq(cluster_of(host_parse_cluster, "  hpc-2.example_org \nmore"), "hpc-2.example_org");
	ck_assert_str_eq(cluster_of(host_parse_cluster, "two words\n"), "");
	ck_assert_str_eq(cluster_of(host_parse_cluster, "\n"), "");
	ck_assert_str_eq(cluster_of(host_parse_cluster, "\x1b[2J\n"), "");
	ck_assert_str_eq(
		cluster_of(host_parse_cluster, "12345678901234567890123456789012345678901234567890123456789012345"),
		"");
	ck_assert_str_eq(cluster_of(host_parse_slurm, "# ClusterName=no\nSlurmctldHost=x\nClusterName=alps\n"), "alps");
	ck_assert_str_eq(cluster_of(host_parse_slurm, " clustername = alps  # ours\n"), "alps");
	ck_assert_str_eq(cluster_of(host_parse_slurm, "ClusterNameX=alps\n"), "");
}

TEST(limits_of_a_container)
{
	host_parse_memory_limit("max\n", &facts);
	ck_assert_int_eq(facts.memory_limit_bytes, ROW_NULL);
	host_parse_memory_limit("9223372036854771712\n", &facts); /* v1: no limit */
	ck_assert_int_eq(facts.memory_limit_bytes, ROW_NULL);
	host_parse_memory_limit("536870912\n", &facts);
	ck_assert_int_eq(facts.memory_limit_bytes, 536870912);
	host_parse_cpu_limit("max 100000\n", &facts);
	ck_assert_int_eq(facts.core_limit_milli, ROW_NULL);
	host_parse_cpu_limit("-1 100000", &facts); /* v1: no limit */
	ck_assert_int_eq(facts.core_limit_milli, ROW_NULL);
	host_parse_cpu_limit("150000 100000\n", &facts);
	ck_assert_int_eq(facts.core_limit_milli, 1500);
}

TEST(what_firmware_does_not_state)
{
	host_set_dmi("m7i.4xlarge\n", facts.product, sizeof(facts.product));
	host_set_dmi("To be filled by O.E.M.\n", facts.vendor, sizeof(facts.vendor));
	host_set_dmi("\n", facts.asset_tag, sizeof(facts.asset_tag));
	ck_assert_str_eq(facts.product, "m7i.4xlarge");
	ck_assert_str_eq(facts.vendor, "");
	ck_assert_str_eq(facts.asset_tag, "");
	host_set_dmi("i-0123456789abcdef0", facts.asset_tag, sizeof(facts.asset_tag));
	ck_assert_str_eq(facts.asset_tag, "i-0123456789abcdef0");
}

static void parse_everything(const char *text)
{
	setup();
	host_parse_stat(text, 100, &figures);
	host_parse_meminfo(text, &figures);
	host_parse_loadavg(text, &figures);
	host_parse_pressure_cpu(text, &figures);
	host_parse_pressure_memory(text, &figures);
	host_parse_pressure_io(text, &figures);
	host_parse_diskstats(text, disk_is_device, &figures);
	host_parse_net_dev(text, unknown_interface, &figures);
	host_parse_cluster(text, &facts);
	host_parse_slurm(text, &facts);
	host_parse_siblings(text, 0, &facts);
	host_parse_os_release(text, &facts);
	host_parse_cpuinfo(text, &facts);
	host_parse_swap(text, &facts);
	host_parse_memory_limit(text, &facts);
	host_parse_cpu_limit(text, &facts);
	host_parse_delay_accounting(text, &facts);
	host_set_dmi(text, facts.product, sizeof(facts.product));
}

static const char *const garbage[] = {
	/* clang-format off */
	"", "\n", "\n\n\n", "cpu", "cpu ", "cpu  1 2", "cpu  a b c d e f g h", "cpu  -1 -1 -1 -1 -1 -1 -1 -1",
	"cpu  99999999999999999999999 1 1 1 1 1 1 1", "MemFree:", "MemFree: lots kB", "some", "some total=",
	"some total=x\n", "some avg10=0\nfull total=1", "1.", ".5", "1.234", "8", "a.b", " 8 0", " 8 0 sda",
	" 8 0 sda 1 2 3", "eth0", "eth0:", "eth0: 1 2 3", ":", "PRETTY_NAME=", "PRETTY_NAME=\"", "model name",
	"core id : 999999999", "physical id : 99999\ncore id : 1", "100", "100 0", "\xff\xfe\x01",
	/* clang-format on */
};

/* A text that does not contain a figure yields none. */
TEST_EACH(garbage_gives_nothing, garbage)
{
	parse_everything(garbage[_i]);
	ck_assert_int_eq(figures.cpu_user_ns, ROW_NULL);
	ck_assert_int_eq(figures.memory_free_bytes, ROW_NULL);
	ck_assert_int_eq(figures.cpu_some_ns, ROW_NULL);
	ck_assert_int_eq(figures.disk_read_bytes, ROW_NULL);
	ck_assert_int_eq(figures.network_sent_bytes, ROW_NULL);
	ck_assert_int_eq(figures.load_milli, ROW_NULL);
	ck_assert_int_eq(facts.core_limit_milli, ROW_NULL);
	ck_assert_int_eq(facts.delay_accounting, ROW_NULL);
}

/* Very large numbers overflow nothing: impossible figures are unknown. */
TEST(too_large_is_unknown)
{
	host_parse_stat("cpu  9223372036854775807 9223372036854775807 1 9223372036854775807 1 1 1 1\n", 100, &figures);
	ck_assert_int_eq(figures.cpu_user_ns, ROW_NULL);
	ck_assert_int_eq(figures.cpu_idle_ns, ROW_NULL);
	host_parse_meminfo("MemFree: 9223372036854775807 kB\n", &figures);
	ck_assert_int_eq(figures.memory_free_bytes, ROW_NULL);
	host_parse_cpu_limit("9223372036854775807 1", &facts);
	ck_assert_int_eq(facts.core_limit_milli, ROW_NULL);
}

int main(void)
{
	return suite_run("host", setup, NULL);
}
