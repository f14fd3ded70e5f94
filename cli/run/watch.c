/* A probe and a correlator of our own. See watch.h. */
#include "cli/run/watch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <linux/capability.h>
#include <linux/membarrier.h>

#include "cli/process/daemons.h"
#include "cli/process/program.h"
#include "common/clock.h"

#define START_TIMEOUT_MS 20000 /* loading takes 0.1 s; a loaded machine takes longer */
#define STOP_TIMEOUT_MS 60000  /* a full ring takes seconds to store */
#define KILL_TIMEOUT_MS 5000
#define GUARD_FD (STDERR_FILENO + 1)
#define SETTLE_NS 200000000L /* if membarrier(2) does not help: see final_records_await() */
#define GRACE_PERIODS 4
#define SYSTEM_UID_MAX 999 /* of systemd, Debian and Red Hat */

const char *watch_name(enum watch_role role)
{
	static const char *const names[WATCH_ROLE_COUNT] = {
		[WATCH_CORRELATOR] = PROGRAM_CORRELATOR,
		[WATCH_PROBE] = PROGRAM_PROBE,
		[WATCH_SAMPLER] = PROGRAM_SAMPLER,
	};

	return names[role];
}

static int64_t now_ms(void)
{
	return (int64_t)(clock_read_ns(CLOCK_MONOTONIC) / 1000000);
}

/* ---- the guard --------------------------------------------------------------- */

static int pid_fd_open(pid_t pid)
{
	return (int)syscall(SYS_pidfd_open, pid, 0);
}

static void pid_fd_signal(int pid_fd, int signal)
{
	syscall(SYS_pidfd_send_signal, pid_fd, signal, NULL, 0);
}

static bool pid_fd_wait(int pid_fd, int timeout_ms)
{
	struct pollfd ended = {.fd = pid_fd, .events = POLLIN};

	return poll(&ended, 1, timeout_ms) == 1;
}

static void directory_remove(const char *path)
{
	DIR *listing = opendir(path);
	struct dirent *entry;

	while (listing && (entry = readdir(listing)))
		unlinkat(dirfd(listing), entry->d_name, 0);
	if (listing)
		closedir(listing);
	rmdir(path);
}

/* Terminates a daemon: SIGTERM, then SIGKILL if it does not end in time. */
static void daemon_end(int pid_fd)
{
	pid_fd_signal(pid_fd, SIGTERM);
	if (!pid_fd_wait(pid_fd, KILL_TIMEOUT_MS))
		pid_fd_signal(pid_fd, SIGKILL);
}

/* Receives the pids of daemons as they start; a pid of 0 means that cleanup is done. If
 * the pipe is closed without it, the guard does the cleanup in our place. */
static _Noreturn void guard_main(int fd, const char *directory, void (*abandoned)(void))
{
	int pid_fds[WATCH_ROLE_COUNT], count = 0, null_fd = open("/dev/null", O_RDWR);
	pid_t pid;

	setsid(); /* out of reach of the terminal's signals */
	for (int standard = 0; standard <= STDERR_FILENO; standard++)
		dup2(null_fd, standard);
	dup2(fd, GUARD_FD);
	closefrom(GUARD_FD + 1); /* a shell's pipes, for example, are only for the command */
	while (read(GUARD_FD, &pid, sizeof(pid)) == (ssize_t)sizeof(pid)) {
		if (pid == 0)
			_exit(0);
		if (count < WATCH_ROLE_COUNT)
			pid_fds[count++] = pid_fd_open(pid);
	}
	for (int i = count - 1; i >= 0; i--) /* the probe first */
		daemon_end(pid_fds[i]);
	directory_remove(directory);
	abandoned();
	_exit(0);
}

static int guard_start(struct watch *watch, void (*abandoned)(void))
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	watch->guard_pid = fork();
	if (watch->guard_pid == 0) {
		close(ends[1]);
		guard_main(ends[0], watch->directory, abandoned);
	}
	close(ends[0]);
	watch->guard_fd = ends[1];
	return watch->guard_pid < 0 ? -errno : 0;
}

static void guard_send(const struct watch *watch, pid_t pid)
{
	if (watch->guard_fd >= 0 && write(watch->guard_fd, &pid, sizeof(pid)) != sizeof(pid))
		return; /* the guard is gone: only we can still clean up */
}

/* ---- the directory ----------------------------------------------------------- */

/* Finds the account that a daemon runs as: the installed one (a person may have its name), or one that every system
 * has. */
static int account_find(struct watch *watch, enum watch_role role, uid_t command_uid)
{
	const char *installed = role == WATCH_PROBE ? TRACER_PROBE_USER : TRACER_CORRELATOR_USER;
	const char *common = role == WATCH_PROBE ? "nobody" : "daemon";
	const struct passwd *entry = getpwnam(installed);
	struct watch_account *account = &watch->accounts[role];

	if (!entry || entry->pw_uid > SYSTEM_UID_MAX)
		entry = getpwnam(common);
	if (entry && entry->pw_uid == command_uid)
		entry = getpwnam("bin");
	if (!entry || entry->pw_uid == command_uid) {
		fprintf(stderr, "tracer run: neither user %s nor user %s exists to run as, beside the command's\n",
			installed, common);
		return -ENOENT;
	}
	*account = (struct watch_account){.uid = entry->pw_uid, .gid = entry->pw_gid};
	snprintf(account->name, sizeof(account->name), "%s", entry->pw_name);
	return 0;
}

static int directory_make(struct watch *watch)
{
	const char *temporary = getenv("TMPDIR");
	const char *const parents[] = {"/run", temporary && *temporary == '/' ? temporary : "/tmp", "/tmp"};

	for (size_t i = 0; i < sizeof(parents) / sizeof(parents[0]); i++) {
		int size = snprintf(watch->directory, sizeof(watch->directory), "%s/tracer-run-XXXXXX", parents[i]);

		if (size < (int)sizeof(watch->directory) && mkdtemp(watch->directory))
			return 0;
	}
	watch->directory[0] = '\0';
	return -errno;
}

/* Lets the correlator write, the probe's group reach the socket, and no other user in. */
static int directory_open_up(const struct watch *watch)
{
	return chown(watch->directory, watch->accounts[WATCH_CORRELATOR].uid, watch->accounts[WATCH_PROBE].gid) < 0 ||
			       chmod(watch->directory, 0710) < 0
		       ? -errno
		       : 0;
}

#define IDS_ALL 4294967295U

/* In a user namespace, a process has capabilities only over what belongs to that namespace. */
static bool is_initial_user_namespace(void)
{
	char text[256];
	unsigned first, above, count;

	program_read_line("/proc/self/uid_map", text);
	return sscanf(text, "%u %u %u", &first, &above, &count) != 3 || (above == 0 && count == IDS_ALL);
}

bool watch_may_probe(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {0};

	if (geteuid() != 0 || !is_initial_user_namespace() || syscall(SYS_capget, &header, data) < 0)
		return false;
	return data[0].effective & 1U << CAP_SYS_ADMIN ||
	       (data[1].effective & CAP_TO_MASK(CAP_BPF) && data[1].effective & CAP_TO_MASK(CAP_PERFMON));
}

static bool account_is_free(const struct watch *watch, const struct passwd *entry, uid_t command_uid)
{
	bool is_free = entry->pw_uid != 0 && entry->pw_uid <= SYSTEM_UID_MAX && entry->pw_uid != command_uid;

	for (int role = 0; role < WATCH_NEEDED_COUNT; role++)
		is_free &= entry->pw_uid != watch->accounts[role].uid;
	return is_free;
}

/* Finds an account for the sampler, which runs a vendor's library: none that another daemon has. Its group is that of the
 * probe, to reach its socket. Returns whether there is one. */
static bool sampler_account_find(struct watch *watch, uid_t command_uid)
{
	static const char *const names[] = {TRACER_SAMPLER_USER, "bin", "sys"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const struct passwd *entry = getpwnam(names[i]);
		struct watch_account *account = &watch->accounts[WATCH_SAMPLER];

		if (!entry || !account_is_free(watch, entry, command_uid))
			continue;
		*account = (struct watch_account){.uid = entry->pw_uid, .gid = watch->accounts[WATCH_PROBE].gid};
		snprintf(account->name, sizeof(account->name), "%s", names[i]);
		return true;
	}
	return false;
}

/* The accounts, and what they may do in the directory. */
static int accounts_init(struct watch *watch, uid_t command_uid)
{
	int error = 0;

	for (int role = 0; error == 0 && role < WATCH_NEEDED_COUNT; role++)
		error = account_find(watch, (enum watch_role)role, command_uid);
	return error < 0 ? error : directory_open_up(watch);
}

int watch_init(struct watch *watch, uid_t command_uid, bool is_partial, void (*abandoned)(void))
{
	int error;

	*watch = (struct watch){.guard_fd = -1, .guard_pid = 0, .is_partial = is_partial};
	for (int role = 0; role < WATCH_ROLE_COUNT; role++)
		watch->daemons[role].pid_fd = watch->daemons[role].log_fd = -1;
	error = directory_make(watch);
	if (error == 0 && !is_partial)
		error = accounts_init(watch, command_uid);
	if (error == 0)
		error = guard_start(watch, abandoned);
	if (error < 0) {
		fprintf(stderr, "tracer run: cannot create a directory for its daemons: %s\n", strerror(-error));
		return error;
	}
	snprintf(watch->store_path, sizeof(watch->store_path), "%s/tracer.db", watch->directory);
	snprintf(watch->socket_path, sizeof(watch->socket_path), "%s/socket", watch->directory);
	if (daemons_count_gpus() > 0 && (is_partial || sampler_account_find(watch, command_uid)))
		snprintf(watch->sampler_path, sizeof(watch->sampler_path), "%s/sampler", watch->directory);
	return 0;
}

/* ---- the daemons ------------------------------------------------------------- */

static int log_open(struct watch *watch, enum watch_role role)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/%s.log", watch->directory, watch_name(role));
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
	watch->daemons[role].log_fd = fd;
	return fd < 0 ? -errno : 0;
}

/* Clears the pid after reaping, so that we never signal a process that reuses it. */
static void daemon_reap(struct watch_daemon *daemon)
{
	while (waitpid(daemon->pid, &daemon->status, 0) < 0 && errno == EINTR)
		;
	close(daemon->pid_fd);
	daemon->pid_fd = -1;
	daemon->pid = 0;
}

/* Waits until the daemon has written its readiness byte. */
static int daemon_await_ready(struct watch *watch, enum watch_role role, int ready_fd, int wake_fd)
{
	struct pollfd waits[] = {
		{.fd = ready_fd, .events = POLLIN},
		{.fd = wake_fd, .events = POLLIN},
		{.fd = watch->daemons[role].pid_fd, .events = POLLIN},
	};
	char words[512], byte;
	int count;

	do
		count = poll(waits, 3, START_TIMEOUT_MS);
	while (count < 0 && errno == EINTR);
	if (waits[1].revents)
		return -EINTR;
	if (waits[0].revents & POLLIN && read(ready_fd, &byte, 1) == 1)
		return 0;
	if (count > 0)
		pid_fd_wait(watch->daemons[role].pid_fd, KILL_TIMEOUT_MS); /* wait for its error message */
	program_log_tail(watch->daemons[role].log_fd, words, sizeof(words));
	fprintf(stderr, "tracer run: %s did not start%s%s\n", watch_name(role),
		*words       ? ": "
		: count == 0 ? " in time"
			     : "",
		words);
	return count == 0 ? -ETIME : -ECHILD;
}

/* `*ret_ready_fd` becomes readable once the daemon is ready. Returns 0, or -errno after printing the error. */
static int daemon_launch(struct watch *watch, enum watch_role role, char *const argv[], int *ret_ready_fd)
{
	struct watch_daemon *daemon = &watch->daemons[role];
	int error = log_open(watch, role);

	if (error == 0)
		error = program_launch(argv, daemon->log_fd, ret_ready_fd);
	if (error > 0) {
		daemon->pid = error;
		guard_send(watch, daemon->pid);
		daemon->pid_fd = pid_fd_open(daemon->pid);
		error = daemon->pid_fd < 0 ? -errno : 0;
	}
	if (error < 0)
		fprintf(stderr, "tracer run: cannot start %s: %s\n", watch_name(role), strerror(-error));
	return error;
}

#define READY_FD "3" /* PROGRAM_READY_FD */

/* It accepts connections of the probe's account; without a probe, of the same user. */
static int correlator_launch(struct watch *watch, int *ret_ready_fd)
{
	const struct group *group = watch->is_partial ? NULL : getgrgid(watch->accounts[WATCH_PROBE].gid);
	char path[PATH_MAX], own_uid[16];
	size_t count = 0;
	/* clang-format off */
	char *argv[] = {path, "--once", "--socket", watch->socket_path, "--store", watch->store_path, "--retain", "0",
			"--log-level", "warning", "--ready-fd", READY_FD, "--probe-user",
			watch->is_partial ? own_uid : watch->accounts[WATCH_PROBE].name,
			NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL};
	/* clang-format on */

	snprintf(own_uid, sizeof(own_uid), "%u", geteuid());
	while (argv[count])
		count++;
	if (*watch->sampler_path) {
		argv[count++] = "--sampler-socket";
		argv[count++] = watch->sampler_path;
	}
	if (*watch->sampler_path && !watch->is_partial) {
		argv[count++] = "--sampler-user";
		argv[count++] = watch->accounts[WATCH_SAMPLER].name;
	}
	if (!watch->is_partial) {
		argv[count++] = "--user";
		argv[count++] = watch->accounts[WATCH_CORRELATOR].name;
		argv[count++] = "--socket-group";
		argv[count++] = group ? group->gr_name : NULL;
	}
	if (!group && !watch->is_partial) {
		fprintf(stderr, "tracer run: the group %u of user %s is not in /etc/group\n",
			watch->accounts[WATCH_PROBE].gid, watch->accounts[WATCH_PROBE].name);
		return -ENOENT;
	}
	return program_find(PROGRAM_CORRELATOR, path) < 0 ? -ENOENT
							  : daemon_launch(watch, WATCH_CORRELATOR, argv, ret_ready_fd);
}

static int probe_launch(struct watch *watch, int *ret_ready_fd)
{
	char path[PATH_MAX], correlator_uid[16];
	/* clang-format off */
	char *argv[] = {path, "--no-pin", "--quiet", "--socket", watch->socket_path, "--peer-uid",
			correlator_uid, "--user", watch->accounts[WATCH_PROBE].name, "--ready-fd", READY_FD, NULL};
	/* clang-format on */

	snprintf(correlator_uid, sizeof(correlator_uid), "%u", watch->accounts[WATCH_CORRELATOR].uid);
	return program_find(PROGRAM_PROBE, path) < 0 ? -ENOENT : daemon_launch(watch, WATCH_PROBE, argv, ret_ready_fd);
}

/* Whatever fails here, the run does not. */
static void sampler_launch(struct watch *watch)
{
	struct watch_daemon *daemon = &watch->daemons[WATCH_SAMPLER];
	const struct watch_account *account = &watch->accounts[WATCH_SAMPLER];
	char path[PATH_MAX];
	char *argv[] = {path, "--socket", watch->sampler_path, "--log-level", "error", NULL};
	pid_t pid;

	if (!*watch->sampler_path || program_look_up(PROGRAM_SAMPLER, path) < 0 || log_open(watch, WATCH_SAMPLER) < 0)
		return;
	pid = watch->is_partial ? program_spawn(argv, daemon->log_fd, -1)
				: program_spawn_as(argv, daemon->log_fd, account->uid, account->gid);
	if (pid < 0)
		return;
	guard_send(watch, pid);
	daemon->pid_fd = pid_fd_open(pid);
	daemon->pid = pid;
}

/* Starts both concurrently: while the correlator creates its store, the probe loads its programs. */
int watch_start(struct watch *watch, int wake_fd)
{
	int ready_fds[WATCH_NEEDED_COUNT] = {-1, -1};
	int error = correlator_launch(watch, &ready_fds[WATCH_CORRELATOR]);

	if (error == 0 && !watch->is_partial)
		error = probe_launch(watch, &ready_fds[WATCH_PROBE]);
	if (error == 0)
		error = daemon_await_ready(watch, WATCH_CORRELATOR, ready_fds[WATCH_CORRELATOR], wake_fd);
	if (error == 0 && !watch->is_partial)
		error = daemon_await_ready(watch, WATCH_PROBE, ready_fds[WATCH_PROBE], wake_fd);
	for (int role = 0; role < WATCH_NEEDED_COUNT; role++)
		if (ready_fds[role] >= 0)
			close(ready_fds[role]);
	if (error == 0)
		sampler_launch(watch);
	return error;
}

bool watch_check(struct watch *watch)
{
	bool bad = false;

	for (int role = 0; role < WATCH_NEEDED_COUNT; role++) {
		struct watch_daemon *daemon = &watch->daemons[role];

		if (daemon->pid == 0 || !pid_fd_wait(daemon->pid_fd, 0))
			continue;
		daemon_reap(daemon);
		bad = bad || !daemon->stopping || daemon->status != 0;
	}
	return bad;
}

/* ---- the end ----------------------------------------------------------------- */

static int daemon_await_end(struct watch_daemon *daemon, int wake_fd, int64_t until_ms)
{
	struct pollfd waits[] = {{.fd = daemon->pid_fd, .events = POLLIN}, {.fd = wake_fd, .events = POLLIN}};
	int64_t left = until_ms - now_ms();
	int count;

	if (daemon->pid == 0)
		return daemon->status == 0 ? 0 : -EPIPE;
	do
		count = poll(waits, 2, left > 0 ? (int)left : 0);
	while (count < 0 && errno == EINTR);
	if (waits[1].revents)
		return -EINTR;
	if (!waits[0].revents)
		return -ETIME;
	daemon_reap(daemon);
	return daemon->status == 0 ? 0 : -EPIPE;
}

/* The final accounting of a process happens when nothing can access it any more: an RCU grace period
 * after it was reaped, plus the time that the work due then takes. membarrier(2) waits for a grace
 * period, some 15 ms. One is not enough, several are; on a busy machine they take as long as is
 * needed. Where they are expedited, it waits for one of its own, which says nothing about the others. */
static void final_records_await(void)
{
	char text[256];
	bool expedited = atoi(program_read_line("/sys/kernel/rcu_expedited", text)) != 0;

	for (int i = 0; i < GRACE_PERIODS; i++)
		if (expedited || syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) < 0) {
			nanosleep(&(struct timespec){0, SETTLE_NS}, NULL);
			return;
		}
}

int watch_stop(struct watch *watch, int wake_fd)
{
	struct watch_daemon *probe = &watch->daemons[WATCH_PROBE];
	struct watch_daemon *correlator = &watch->daemons[WATCH_CORRELATOR];
	int64_t until_ms = now_ms() + STOP_TIMEOUT_MS;
	int error, other;

	if (!watch->is_partial)
		final_records_await();
	if (watch->daemons[WATCH_SAMPLER].pid)
		pid_fd_signal(watch->daemons[WATCH_SAMPLER].pid_fd, SIGTERM);
	probe->stopping = correlator->stopping = true;
	if (probe->pid)
		pid_fd_signal(probe->pid_fd, SIGTERM);
	error = daemon_await_end(probe, wake_fd, until_ms);
	if (error == -EINTR || error == -ETIME)
		return error;
	other = daemon_await_end(correlator, wake_fd, until_ms);
	return error < 0 ? error : other;
}

void watch_remove(struct watch *watch)
{
	for (int role = WATCH_ROLE_COUNT - 1; role >= 0; role--) {
		struct watch_daemon *daemon = &watch->daemons[role];

		if (daemon->pid && daemon->pid_fd >= 0) {
			daemon_end(daemon->pid_fd);
			daemon_reap(daemon);
		}
		if (daemon->log_fd >= 0)
			close(daemon->log_fd);
	}
	if (*watch->directory)
		directory_remove(watch->directory);
	guard_send(watch, 0);
	if (watch->guard_fd >= 0)
		close(watch->guard_fd);
	if (watch->guard_pid > 0)
		while (waitpid(watch->guard_pid, NULL, 0) < 0 && errno == EINTR)
			;
}
