/* The daemons running on this host. See daemons.h. */
#include "cli/daemons.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <linux/magic.h>

#include "cli/program.h"
#include "cli/units.h"
#include "common/clock.h"

#define COMM_MAX 15         /* bytes of a name that the kernel keeps */
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

/* Reads a file in /proc/PID, truncated to `capacity`; "" if it no longer exists. */
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

/* Its effective user. Not the owner of its files in /proc, which is root: a process
 * that dropped privileges is not dumpable. */
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

/* Returns 1 if the process is a daemon, 0 if it is not or no longer exists. */
static int daemon_read(int proc_fd, const char *pid, struct daemon_info *daemon)
{
	char text[1024];
	char *open = strchr(file_read(proc_fd, pid, "stat", text, sizeof(text)), '(');
	char *end = strrchr(text, ')'); /* the name itself may contain it */

	if (!open || !end || end < open || end[1] != ' ')
		return 0;
	*end = '\0';
	daemon->name = daemon_name(open + 1);
	daemon->pid = (pid_t)strtol(pid, NULL, 10);
	daemon->since_boot_ns = stat_field(end + 2, STAT_START_FIELD) * (1000000000 / sysconf(_SC_CLK_TCK));
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

/* ---- freshness of a store -------------------------------------------------------- */

#define COMMIT_DELAY_NS 4000000000LL /* maximum, from a probe's last record to its commit */

#define SOCKET_PATH TRACER_RUN_DIR "/tracer.sock"

static bool is_this_boot(const char *boot_id)
{
	char text[256];

	return strcmp(program_read_line("/proc/sys/kernel/random/boot_id", text), boot_id) == 0;
}

int64_t freshness_lag_ns(const struct store_stream *stream)
{
	int64_t lag;

	if (!is_this_boot(stream->boot_id))
		return INT64_MAX;
	lag = (int64_t)(clock_boot_ns() - stream->committed_boot_ns);
	return lag > 0 ? lag : 0;
}

/* Without a probe, the correlator still writes samples of the host and commits them. */
static const char *silent_daemon(const struct store_stream *stream, int64_t lag_ns)
{
	int64_t commit_age_ns = (int64_t)(clock_unix_ns() - stream->committed_unix_ns);

	return lag_ns - commit_age_ns > COMMIT_DELAY_NS ? PROGRAM_PROBE : PROGRAM_CORRELATOR;
}

void freshness_tell(const struct store_stream *stream, struct findings *findings)
{
	int64_t lag_ns = freshness_lag_ns(stream);

	if (lag_ns == INT64_MAX) {
		findings_add(findings, FINDING_MISSING, "stream", "nothing stored since this host booted");
	} else if (lag_ns >= FRESHNESS_LIMIT_NS) {
		const char *silent = silent_daemon(stream, lag_ns);

		findings_add(findings, FINDING_MISSING, "stream", "%s has %s nothing for %s", silent,
			     strcmp(silent, PROGRAM_PROBE) == 0 ? "sent" : "stored", units_duration(lag_ns, false));
	} else {
		return;
	}
	finding_fix(&findings->items[findings->count - 1],
		    "see the logs: journalctl -u tracer-correlator -u tracer-probe");
}

enum freshness freshness_read(const char *store_path)
{
	struct store_error ignored;
	struct store_stream stream;
	struct stat status;
	struct store *store;
	int error = store_open_reader(store_path, &store, &ignored);
	bool fresh;

	if (error == -EACCES && (stat(SOCKET_PATH, &status) == 0 || errno == EACCES))
		return FRESHNESS_UNREADABLE;
	if (error < 0)
		return FRESHNESS_STALE;
	fresh = store_read_stream(store, &stream) == 0 && freshness_lag_ns(&stream) < FRESHNESS_LIMIT_NS;
	store_close(store);
	return fresh ? FRESHNESS_FRESH : FRESHNESS_STALE;
}
