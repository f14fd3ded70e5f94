/* The daemons running on this host. See daemons.h. */
#include "cli/process/daemons.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <pwd.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <linux/magic.h>

#include "analysis/query/units.h"
#include "cli/process/program.h"
#include "common/clock.h"
#include "common/pid_namespace.h"
#include "common/shipper_status.h"

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

/* Daemons, and the users that they become: as installed, and without that. */
static const struct {
	const char *name, *users[2];
} programs[] = {{PROGRAM_PROBE, {TRACER_PROBE_USER, "nobody"}},
		{PROGRAM_CORRELATOR, {TRACER_CORRELATOR_USER, "daemon"}},
		{PROGRAM_SHIPPER, {TRACER_SHIPPER_USER}}};

static bool user_is(uid_t user_id, const char *name)
{
	const struct passwd *account = name ? getpwnam(name) : NULL;

	return account && account->pw_uid == user_id;
}

/* Anyone may name a process like a daemon, so its user counts too: root, one of the table, or ours. */
static bool daemon_identify(int proc_fd, const char *pid, const char *comm, struct daemon_info *daemon)
{
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		if (strncmp(comm, programs[i].name, COMM_MAX) != 0)
			continue;
		daemon->name = programs[i].name;
		daemon->user_id = user_read(proc_fd, pid);
		return daemon->user_id == 0 || daemon->user_id == geteuid() ||
		       user_is(daemon->user_id, programs[i].users[0]) || user_is(daemon->user_id, programs[i].users[1]);
	}
	return false;
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
	daemon->pid = (pid_t)strtol(pid, NULL, 10);
	daemon->since_boot_ns = stat_field(end + 2, STAT_START_FIELD) * (1000000000 / sysconf(_SC_CLK_TCK));
	daemon->rss_bytes = stat_field(end + 2, STAT_RSS_FIELD) * sysconf(_SC_PAGESIZE);
	daemon->stopped = end[2] == 'T' || end[2] == 't';
	return end[2] != 'Z' && daemon_identify(proc_fd, pid, open + 1, daemon);
}

size_t daemons_count_gpus(void)
{
	glob_t found = {0};
	size_t count = glob("/dev/nvidia[0-9]*", GLOB_NOSORT, NULL, &found) == 0 ? found.gl_pathc : 0;

	globfree(&found);
	return count;
}

bool daemons_have_sampler(void)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	bool found = false;
	char comm[64];

	while (proc && !found && (entry = readdir(proc)))
		found = isdigit((unsigned char)entry->d_name[0]) &&
			strncmp(file_read(dirfd(proc), entry->d_name, "comm", comm, sizeof(comm)), PROGRAM_SAMPLER,
				COMM_MAX) == 0;
	if (proc)
		closedir(proc);
	return found;
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

/* One on the host counts, whatever containers have. */
static bool probe_sees_the_host(void)
{
	struct daemon_info daemons[DAEMONS_MAX];
	int count = daemons_find(daemons);
	bool is_initial = pid_namespace_is_initial("/proc/self/ns/pid"), any_initial = false, any_inner = false;
	char path[64];

	for (int i = 0; i < count; i++) {
		if (strcmp(daemons[i].name, PROGRAM_PROBE) != 0)
			continue;
		snprintf(path, sizeof(path), "/proc/%d/ns/pid", daemons[i].pid);
		*(is_initial && pid_namespace_is_initial(path) ? &any_initial : &any_inner) = true;
	}
	return any_initial || (is_initial && !any_inner);
}

void daemons_check_namespace(struct checks *checks, bool with_ok)
{
	bool is_whole = probe_sees_the_host();

	if (is_whole && with_ok)
		checks_add(checks, CHECK_OK, "PID namespace", "the host's: process scans see all processes");
	else if (!is_whole)
		check_fix(
			checks_add(checks, CHECK_LIMITED, "PID namespace",
				   "not the host's: of processes outside it, figures come only when they end, and what "
				   "ran before the probe is unknown"),
			"run the probe in the host's: pid: host (Compose), hostPID: true (Kubernetes)");
}

/* ---- freshness of a store -------------------------------------------------------- */

#define COMMIT_DELAY_NS 4000000000LL /* maximum, from a probe's last record to its commit */

#define SOCKET_PATH TRACER_RUN_DIR "/tracer.sock"

int64_t freshness_lag_ns(const struct store_stream *stream)
{
	char boot_id[sizeof(stream->boot_id)];
	int64_t lag;

	store_read_boot_id(boot_id);
	if (strcmp(boot_id, stream->boot_id) != 0)
		return INT64_MAX;
	lag = (int64_t)(clock_boot_ns() - stream->committed_boot_ns);
	return lag > 0 ? lag : 0;
}

/* Without a probe, the correlator still writes samples of the host and commits them. */
static const char *silent_daemon(const struct store_stream *stream, int64_t lag_ns)
{
	int64_t commit_age_ns = (int64_t)(clock_unix_ns() - stream->committed_unix_ns);

	/* If the wall clock was set back since then, no commit followed. */
	return commit_age_ns >= 0 && lag_ns - commit_age_ns > COMMIT_DELAY_NS ? PROGRAM_PROBE : PROGRAM_CORRELATOR;
}

void freshness_report(const struct store_stream *stream, struct checks *checks)
{
	int64_t lag_ns = freshness_lag_ns(stream);

	if (lag_ns == INT64_MAX) {
		checks_add(checks, CHECK_MISSING, "stream", "nothing stored since this host booted");
	} else if (lag_ns >= FRESHNESS_LIMIT_NS) {
		const char *silent = silent_daemon(stream, lag_ns);

		checks_add(checks, CHECK_MISSING, "stream", "%s has %s nothing for %s", silent,
			   strcmp(silent, PROGRAM_PROBE) == 0 ? "sent" : "stored", units_duration(lag_ns, false));
	} else {
		return;
	}
	check_fix(&checks->items[checks->count - 1], "see the logs: journalctl -u tracer-correlator -u tracer-probe");
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
	/* A store without a ring is written by tracer run, which records only its own command. */
	fresh = store_read_stream(store, &stream) == 0 && stream.ring_epoch != 0 &&
		freshness_lag_ns(&stream) < FRESHNESS_LIMIT_NS;
	store_close(store);
	return fresh ? FRESHNESS_FRESH : FRESHNESS_STALE;
}

/* ---- the shipper ------------------------------------------------------------- */

static int64_t lag_revs(const struct shipper_status *status)
{
	return status->store_rev > status->shipped_rev ? status->store_rev - status->shipped_rev : 0;
}

/* How long the oldest row that has not arrived has been waiting; -1 if none has ever arrived. */
static int64_t lag_ns(const struct shipper_status *status)
{
	if (lag_revs(status) == 0)
		return 0;
	return status->shipped_unix_ns ? (int64_t)clock_unix_ns() - status->shipped_unix_ns : -1;
}

static void report_lag(const struct shipper_status *status, bool is_running, struct checks *checks)
{
	bool failing = status->failing_since_unix_ns != 0;
	struct check *check;

	if (lag_revs(status) == 0)
		check = checks_add(checks, CHECK_OK, "shipper", "%s: up to date; last success %s", status->target,
				   units_time(status->last_success_unix_ns));
	else
		check = checks_add(checks, failing || !is_running ? CHECK_MISSING : CHECK_OK, "shipper",
				   "%s: %s changes waiting, %s%s; last success %s", status->target,
				   units_count(lag_revs(status), false),
				   lag_ns(status) < 0 ? "none ever delivered" : "for ",
				   lag_ns(status) < 0 ? "" : units_duration(lag_ns(status), false),
				   status->last_success_unix_ns ? units_time(status->last_success_unix_ns) : "never");
	if (!is_running)
		check_fix(check, "tracer-shipper is not running: systemctl start tracer-shipper%s%s",
			  failing ? "; its last error: " : "", failing ? status->last_error : "");
	else if (failing)
		check_fix(check, "%s", status->last_error);
}

static void report_quarantined(const struct shipper_status *status, const char *directory, struct checks *checks)
{
	if (status->quarantined_row_count == 0)
		return;
	check_fix(checks_add(checks, CHECK_LIMITED, "shipper",
			     "%s rows quarantined because the lake refused them; %s of them dropped (size limit)",
			     units_count(status->quarantined_row_count, false),
			     units_count(status->quarantine_dropped_row_count, false)),
		  "see %s/quarantine for the reasons; tracer ship --from sends them again", directory);
}

static json_t *status_json(const struct shipper_status *status)
{
	json_t *json = json_object();

#define I(name) json_object_set_new(json, #name, json_integer(status->name));
#define T(name) json_object_set_new(json, #name, json_string(status->name));
	SHIPPER_STATUS(I, T)
#undef I
#undef T
	json_object_set_new(json, "lag_revs", json_integer(lag_revs(status)));
	json_object_set_new(json, "lag_ns", lag_ns(status) < 0 ? json_null() : json_integer(lag_ns(status)));
	return json;
}

void daemons_check_shipper(const char *directory, bool is_running, struct checks *checks, json_t *json)
{
	int64_t rev = json_integer_value(json_object_get(json_object_get(json, "stream"), "rev"));
	struct shipper_status status;
	int error = shipper_status_read(directory, &status);

	if (error == 0 && rev > status.store_rev)
		status.store_rev = rev;
	json_object_set_new(json, "shipper", error == 0 ? status_json(&status) : json_null());
	if (error == -ENOENT) {
		checks_add(checks, CHECK_OK, "shipper", "not in use: stored data stays on this host");
		return;
	}
	if (error < 0) {
		check_fix(checks_add(checks, CHECK_LIMITED, "shipper", "%s/%s: %s", directory, SHIPPER_STATUS_FILE,
				     error == -EBADMSG ? "damaged" : strerror(-error)),
			  "see the log: journalctl -u tracer-shipper");
		return;
	}
	report_lag(&status, is_running, checks);
	report_quarantined(&status, directory, checks);
	if (status.cloud[0])
		checks_add(checks, CHECK_OK, "cloud", "%s", status.cloud);
}
