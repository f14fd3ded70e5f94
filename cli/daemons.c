/* The daemons that run now. See daemons.h. */
#include "cli/daemons.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <linux/magic.h>

#include "cli/program.h"
#include "query/rows.h"

#define COMM_MAX 15 /* bytes that the kernel keeps of a name */
#define STAT_START_FIELD 22 /* starttime in /proc/PID/stat, in clock ticks since boot */
#define STAT_RSS_FIELD 24   /* in pages */

/* Field `number` of /proc/PID/stat, counted from 1; `text` begins at field 3. */
static int64_t stat_field(const char *text, int number)
{
	for (int field = 3; field < number && text; field++) {
		text = strchr(text, ' ');
		text = text ? text + 1 : NULL;
	}
	return text ? strtoll(text, NULL, 10) : ROW_NULL;
}

/* A file of /proc/PID, cut at `capacity`; "" where it has gone. */
static char *file_read(int proc_fd, const char *pid, const char *name, char *text, size_t capacity)
{
	char path[64];
	ssize_t size;
	int fd;

	snprintf(path, sizeof(path), "%.20s/%s", pid, name);
	fd = openat(proc_fd, path, O_RDONLY | O_CLOEXEC);
	size = fd < 0 ? 0 : read(fd, text, capacity - 1);
	if (fd >= 0)
		close(fd);
	text[size > 0 ? size : 0] = '\0';
	return text;
}

/* Its effective user. The owner of its files in /proc would be root: what drops
 * privileges is not dumpable. */
static uid_t user_read(int proc_fd, const char *pid)
{
	char text[2048];
	const char *line = strstr(file_read(proc_fd, pid, "status", text, sizeof(text)), "\nUid:");
	unsigned user_id = 0;

	if (line)
		sscanf(line, "\nUid: %*u %u", &user_id);
	return user_id;
}

static const char *daemon_name(const char *comm)
{
	static const char *const names[] = {PROGRAM_PROBE, PROGRAM_CORRELATOR, PROGRAM_SHIPPER};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strncmp(comm, names[i], COMM_MAX) == 0)
			return names[i];
	return NULL;
}

/* 1: it is one; 0: it is not, or it has gone. */
static int daemon_read(int proc_fd, const char *pid, struct daemon_info *daemon)
{
	char text[1024];
	char *open = strchr(file_read(proc_fd, pid, "stat", text, sizeof(text)), '(');
	char *end = strrchr(text, ')'); /* a name may hold anything, this too */

	if (!open || !end || end < open || end[1] != ' ')
		return 0;
	*end = '\0';
	daemon->name = daemon_name(open + 1);
	daemon->pid = (pid_t)strtol(pid, NULL, 10);
	daemon->since_boot_ns = stat_field(end + 2, STAT_START_FIELD) *
				(1000000000 / sysconf(_SC_CLK_TCK));
	daemon->rss_bytes = stat_field(end + 2, STAT_RSS_FIELD) * sysconf(_SC_PAGESIZE);
	if (!daemon->name || end[2] == 'Z')
		return 0;
	daemon->stopped = end[2] == 'T' || end[2] == 't';
	daemon->user_id = user_read(proc_fd, pid);
	return 1;
}

bool daemons_have_bpffs(void)
{
	struct statfs status;

	return statfs("/sys/fs/bpf", &status) == 0 && status.f_type == BPF_FS_MAGIC;
}

int daemons_find(struct daemon_info daemons[DAEMONS_MAX])
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	int count = 0;

	if (!proc)
		return -errno;
	while (count < DAEMONS_MAX && (entry = readdir(proc)))
		if (isdigit((unsigned char)entry->d_name[0]))
			count += daemon_read(dirfd(proc), entry->d_name, &daemons[count]);
	closedir(proc);
	return count;
}
