/* What GPUs did for each process, from files as the kernel writes them below a directory of the test. */
#include "sampler/drm.h"

#include <err.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/suite.h"

#define S UINT64_C(1000000000)
#define MS UINT64_C(1000000)

static char root[128];
static void *drm;
static char reported[1024];

/* In the place of the connection: "PID DEVICE busy ms of interval ms, MiB". */
void link_add_use(struct link *link, uint64_t boot_ns, const struct link_use *use)
{
	size_t size = strlen(reported);

	ck_assert_uint_le(use->busy_ns, use->interval_ns);
	ck_assert_uint_eq(use->holder.start_boot_ns, use->holder.pid * 10 * MS);
	size += (size_t)snprintf(reported + size, sizeof(reported) - size, "%u %u", use->holder.pid,
				 use->holder.number);
	if (use->has_busy)
		size += (size_t)snprintf(reported + size, sizeof(reported) - size, " %u of %u ms",
					 (unsigned)(use->busy_ns / MS), (unsigned)(use->interval_ns / MS));
	if (use->has_memory)
		size += (size_t)snprintf(reported + size, sizeof(reported) - size, " %u MiB",
					 (unsigned)(use->memory_bytes >> 20));
	snprintf(reported + size, sizeof(reported) - size, "\n");
}

static void make(const char *path)
{
	char whole[256];

	snprintf(whole, sizeof(whole), "%s/%s", root, path);
	if (mkdir(whole, 0700) != 0)
		err(EXIT_FAILURE, "%s", whole);
}

static void make_link(const char *target, const char *path)
{
	char whole[256];

	snprintf(whole, sizeof(whole), "%s/%s", root, path);
	if (symlink(target, whole) != 0)
		err(EXIT_FAILURE, "%s", whole);
}

static void begin(void)
{
	static const char *const directories[] = {"proc",
						  "sys",
						  "sys/class",
						  "sys/class/drm",
						  "sys/class/drm/renderD128",
						  "sys/class/drm/renderD129",
						  "sys/class/drm/renderD130",
						  "sys/devices",
						  "sys/devices/0000:04:00.0",
						  "sys/devices/0000:03:00.0",
						  "sys/devices/soc"};

	suite_directory(root, sizeof(root));
	for (size_t i = 0; i < sizeof(directories) / sizeof(directories[0]); i++)
		make(directories[i]);
	make_link("../../../devices/0000:03:00.0", "sys/class/drm/renderD128/device");
	make_link("../../bus/pci/drivers/amdgpu", "sys/devices/0000:03:00.0/driver");
	make_link("../../../devices/soc", "sys/class/drm/renderD129/device");
	make_link("../../bus/platform/drivers/panfrost", "sys/devices/soc/driver");
	/* NVIDIA's own driver has another sampler. */
	make_link("../../../devices/0000:04:00.0", "sys/class/drm/renderD130/device");
	make_link("../../bus/pci/drivers/nvidia", "sys/devices/0000:04:00.0/driver");
	drm_root = root;
	drm = drm_open();
	ck_assert(drm);
}

static void finish(void)
{
	drm_close(drm);
	suite_directory_remove(root);
}

static void start(unsigned pid)
{
	char path[64], text[256];

	snprintf(path, sizeof(path), "proc/%u", pid);
	make(path);
	snprintf(path, sizeof(path), "proc/%u/fdinfo", pid);
	make(path);
	snprintf(path, sizeof(path), "proc/%u/stat", pid);
	snprintf(text, sizeof(text), "%u (a) b) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 %u 0", pid, pid);
	suite_file(root, path, text);
}

#define AMD "drm-driver:\tamdgpu\ndrm-pdev:\t0000:03:00.0\n"
#define NVIDIA "drm-driver:\tnvidia-drm\ndrm-pdev:\t0000:04:00.0\n"
#define MALI "drm-driver:\tpanfrost\n"

static void hold(unsigned pid, unsigned fd, const char *device, unsigned client, unsigned busy_ms, unsigned mib)
{
	char path[64], text[512];

	snprintf(path, sizeof(path), "proc/%u/fdinfo/%u", pid, fd);
	snprintf(text, sizeof(text),
		 "pos:\t0\n%sdrm-client-id:\t%u\ndrm-engine-gfx:\t%u000000 ns\ndrm-engine-copy:\t%u000000 ns\n"
		 "drm-memory-vram:\t%u MiB\n",
		 device, client, busy_ms, busy_ms / 2, mib);
	suite_file(root, path, text);
}

static void sample(uint64_t boot_ns, const char *expected)
{
	reported[0] = '\0';
	drm_sample(drm, boot_ns, NULL);
	ck_assert_str_eq(reported, expected);
}

TEST(engines_work_side_by_side)
{
	start(10);
	hold(10, 5, AMD, 1, 700, 30);
	sample(100 * S, "");
	hold(10, 5, AMD, 1, 1300, 40);
	sample(101 * S, "10 128 600 of 1000 ms 40 MiB\n");
	hold(10, 5, AMD, 1, 9300, 40); /* more than there is time */
	sample(102 * S, "10 128 1000 of 1000 ms 40 MiB\n");
	hold(10, 5, AMD, 1, 200, 40); /* less than before */
	sample(103 * S, "10 128 0 of 1000 ms 40 MiB\n");
}

TEST(a_client_counts_once)
{
	start(10);
	start(11);
	hold(10, 5, AMD, 1, 0, 30);
	hold(10, 6, AMD, 1, 0, 30);
	hold(11, 5, AMD, 1, 0, 30);
	hold(11, 6, AMD, 2, 0, 5);
	hold(11, 7, MALI, 1, 0, 7);
	hold(11, 8, NVIDIA, 1, 0, 7);
	sample(100 * S, "");
	hold(10, 5, AMD, 1, 500, 30);
	hold(10, 6, AMD, 1, 500, 30);
	hold(11, 5, AMD, 1, 500, 30);
	hold(11, 6, AMD, 2, 200, 5);
	hold(11, 7, MALI, 1, 100, 7);
	hold(11, 8, NVIDIA, 1, 100, 7);
	reported[0] = '\0';
	drm_sample(drm, 101 * S, NULL);
	/* For the first process that its directory lists: in /proc, the one with the lowest pid. */
	const char *once = strstr(reported, "10 128 500 of 1000 ms 30 MiB\n");
	const char *rest = strstr(reported, once ? "11 128 200 of 1000 ms 5 MiB\n" : "11 128 700 of 1000 ms 35 MiB\n");

	ck_assert(rest && strstr(reported, "11 129 100 of 1000 ms 7 MiB\n"));
	ck_assert_uint_eq(strlen(reported), once ? 29 + 28 + 28 : 29 + 28);
}

/* Its counters began at 0 after the last search through all processes. */
TEST(a_client_that_came_later)
{
	start(10);
	sample(100 * S, "");
	hold(10, 5, AMD, 1, 3000, 30);
	sample(101 * S, ""); /* it held nothing when it was looked for */
	sample(110 * S, "10 128 3000 of 10000 ms 30 MiB\n");
	hold(10, 5, AMD, 1, 3500, 30);
	hold(10, 6, AMD, 2, 100, 1);
	sample(111 * S, "10 128 600 of 1000 ms 31 MiB\n");
}

/* In the place of /proc/PID/fd, whose size is the number of descriptors. */
static void has_descriptors(unsigned pid, unsigned count)
{
	char path[64], text[64];

	snprintf(path, sizeof(path), "proc/%u/fd", pid);
	snprintf(text, sizeof(text), "%0*d", (int)count, 0);
	suite_file(root, path, text);
}

TEST(a_process_with_as_many_descriptors_is_read_less_often)
{
	start(10);
	has_descriptors(10, 3);
	sample(100 * S, "");
	hold(10, 5, AMD, 1, 3000, 30); /* in the place of another one */
	sample(110 * S, "");
	sample(130 * S, "");
	/* Its counters began at 0 after the process was last read. */
	sample(140 * S, "10 128 3000 of 40000 ms 30 MiB\n");
	hold(10, 5, AMD, 1, 3500, 30);
	sample(150 * S, "10 128 500 of 10000 ms 30 MiB\n"); /* who holds one is always read */
}

TEST(a_process_with_more_descriptors)
{
	start(10);
	has_descriptors(10, 3);
	sample(100 * S, "");
	hold(10, 5, AMD, 1, 3000, 30);
	has_descriptors(10, 4);
	sample(110 * S, "10 128 3000 of 10000 ms 30 MiB\n");
}

TEST(a_process_that_is_gone)
{
	start(10);
	hold(10, 5, AMD, 1, 0, 30);
	sample(100 * S, "");
	suite_file(root, "proc/10/stat", "");
	sample(101 * S, "");
	sample(120 * S, "");
}

int main(void)
{
	return suite_run("drm", begin, finish);
}
