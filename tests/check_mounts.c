/* Mounts of /proc/self/mountinfo: those of real machines, and hostile ones. */

#include "correlator/host/mounts.h"
#include "tests/suite.h"

#include <string.h>

#define ROOT "21 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw\n"

static struct mounts mounts;

static void end(void)
{
	mounts_deinit(&mounts);
}

/* The mount points, each followed by a blank, or by ? and a blank if it is not to be asked about. */
static const char *points_of(const char *text)
{
	static char points[8192];

	ck_assert_int_eq(mounts_parse(text, &mounts), 0);
	points[0] = '\0';
	for (size_t i = 0; i < mounts.count; i++) {
		strcat(points, mounts.items[i].point);
		strcat(points, mounts.items[i].is_askable ? " " : "? ");
	}
	return points;
}

static const struct {
	const char *text, *points;
} cases[] = {
	/* clang-format off */
	{ROOT, "/ "},
	{ROOT "22 21 0:20 / /proc rw - proc proc rw\n23 21 0:21 / /sys rw - sysfs sysfs rw\n24 23 0:22 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", "/ "},
	{ROOT "25 21 0:30 / /scratch rw shared:7 master:3 - lustre 10.0.0.1@tcp:/scratch rw,flock\n", "/ /scratch "},
	{ROOT "25 21 0:30 / /home rw - nfs4 server:/home rw,vers=4.2\n26 21 0:31 / /dev/shm rw - tmpfs tmpfs rw\n", "/ /home /dev/shm "},
	/* made read-only for a service only; and a file system that is */
	{ROOT "25 21 8:1 / /data ro,relatime - xfs /dev/sda1 rw,attr2\n26 21 7:1 / /snap/core ro - squashfs /dev/loop1 ro,errors=continue\n", "/ /data /snap/core? "},
	/* what an automount point mounts is on top of it */
	{ROOT "25 21 0:30 / /a rw - autofs systemd-1 rw,fd=1\n26 21 0:31 / /b rw - autofs systemd-1 rw,fd=2\n27 26 8:1 / /b rw - ext4 /dev/sda1 rw\n", "/ /a? /b "},
	/* FUSE, and what is mounted in it */
	{ROOT "25 21 0:30 / /f rw - fuse.sshfs host: rw,user_id=1000\n26 25 8:1 / /f/in rw - ext4 /dev/sda1 rw\n27 21 0:31 / /g rw - fuseblk /dev/sdb1 rw\n28 21 0:32 / /h rw - fuse f rw\n", "/ /f? /f/in? /g? /h? "},
	/* the private /tmp of a service; whether it hides what the host mounts there, only the kernel says */
	{ROOT "25 21 8:1 / /tmp/a rw - ext4 /dev/sda1 rw\n26 21 254:0 /tmp/x/tmp /tmp rw - ext4 /dev/vda rw\n27 21 8:2 / /tmp/b rw - ext4 /dev/sdb1 rw\n28 26 8:3 / /tmp/c rw - ext4 /dev/sdc1 rw\n", "/ /tmp/a /tmp /tmp/b /tmp/c "},
	{ROOT "25 21 8:1 / /mnt rw - ext4 /dev/sda1 rw\n26 21 8:2 / /mnt2 rw - ext4 /dev/sdb1 rw\n", "/ /mnt /mnt2 "},
	/* a home that is hidden from a service */
	{ROOT "25 21 0:24 /systemd/inaccessible/dir /home ro - tmpfs tmpfs rw,size=1g\n", "/ /home? "},
	/* containers': their mounts, and their root */
	{ROOT "25 21 0:50 / /var/lib/docker/overlay2/x/merged rw - overlay overlay rw\n26 21 8:1 / /var/lib/docker rw - ext4 /dev/sda1 rw\n27 21 0:51 / /var/lib/kubelet/pods/1/volume rw - tmpfs tmpfs rw\n", "/ /var/lib/docker "},
	{"21 1 0:50 / / rw - overlay overlay rw,lowerdir=/l\n22 21 8:1 / /data rw - ext4 /dev/sda1 rw\n", ""},
	/* hostile names */
	{ROOT "25 21 8:1 / /a\\040b\\011c\\012d\\134e\\043 rw - ext4 /dev/sda1 rw\n", "/ /a b\tc\nd\\e# "},
	{ROOT "25 21 8:1 / /\xff\xfe\x1b[2J rw - ext4 /dev/sda1 rw\n", "/ /\xff\xfe\x1b[2J "},
	{ROOT "25 21 8:1 / /\\000\\8\\77\\777\\ rw - ext4 /dev/sda1 rw\n", "/ /\\000\\8\\77\\777\\ "},
	{ROOT "25 21 8:1 / /- rw - ext4 - rw\n", "/ /- "},
	/* a line that is not understood: nothing is known for sure */
	{ROOT "25 21 8:1 / /a rw ext4 /dev/sda1 rw\n", ""},
	{ROOT "25 21 8:1 / /a rw - ext4\n", ""},
	{ROOT "25 21 8:1 / a rw - ext4 /dev/sda1 rw\n", ""},
	{ROOT "25 21 8:1 /", ""},
	{ROOT "x 21 8:1 / /a rw - ext4 /dev/sda1 rw\n", ""},
	{"\n", ""},
	{"", ""},
	/* clang-format on */
};

TEST_EACH(points_are, cases)
{
	ck_assert_str_eq(points_of(cases[_i].text), cases[_i].points);
}

TEST(a_type_may_be_long)
{
	points_of("21 1 254:0 / / rw - fuse.a-very-long-name-of-a-file-system-in-user-space x rw\n");
	ck_assert_str_eq(mounts.items[0].type, "fuse.a-very-long-name-of-a-file");
}

/* Deeper than a working directory is kept. */
TEST(a_very_long_mount_point_is_left_out)
{
	char text[6000] = ROOT "25 21 8:1 / /";
	size_t size = strlen(text);

	memset(text + size, 'x', 5000);
	strcpy(text + size + 5000, " rw - ext4 /dev/sda1 rw\n");
	ck_assert_str_eq(points_of(text), "/ ");
}

/* With some of them left out a directory would be taken for one of another file system. */
TEST(too_many_are_none)
{
	static char text[(MOUNTS_MAX + 1) * 80] = ROOT;
	char *end = text + strlen(text);

	for (int i = 1; i <= MOUNTS_MAX; i++) {
		if (i == MOUNTS_MAX) {
			points_of(text);
			ck_assert_uint_eq(mounts.count, MOUNTS_MAX);
			mounts_deinit(&mounts);
		}
		end += snprintf(end, 80, "%d 21 0:%d / /home/%d rw - nfs4 server:/home rw\n", 100 + i, i, i);
	}
	ck_assert_str_eq(points_of(text), "");
}

int main(void)
{
	return suite_run("mounts", NULL, end);
}
