/* Finds and runs the other programs of tracer. See program.h. */
#include "cli/process/program.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "common/text.h"

/* Looks for a program in directories relative to our own; in the build tree each
 * program has its own directory. */
static int find_beside(const char *name, char ret_path[PATH_MAX])
{
	static const char *const folders[] = {
		"",
		"../probe/",
		"../correlator/",
		"../shipper/",
		"../sampler/",
		"../libexec/tracer/",
		"../lib/tracer/",
		"../sbin/",
	};
	char own[PATH_MAX];
	ssize_t size = readlink("/proc/self/exe", own, sizeof(own) - 1);

	if (size < 0)
		return -ENOENT;
	own[size] = '\0';
	*(strrchr(own, '/') + 1) = '\0';
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		if (snprintf(ret_path, PATH_MAX, "%s%s%s", own, folders[i], name) < PATH_MAX &&
		    access(ret_path, X_OK) == 0)
			return 0;
	}
	return -ENOENT;
}

static int find_in_path(const char *name, char ret_path[PATH_MAX])
{
	const char *path = getenv("PATH");

	while (path && *path) {
		int size = (int)strcspn(path, ":");

		if (size > 0 && *path == '/' && snprintf(ret_path, PATH_MAX, "%.*s/%s", size, path, name) < PATH_MAX &&
		    access(ret_path, X_OK) == 0)
			return 0;
		path += size + (path[size] == ':');
	}
	return -ENOENT;
}

int program_look_up(const char *name, char ret_path[PATH_MAX])
{
	return find_beside(name, ret_path) == 0 || find_in_path(name, ret_path) == 0 ? 0 : -ENOENT;
}

int program_find(const char *name, char ret_path[PATH_MAX])
{
	if (program_look_up(name, ret_path) == 0)
		return 0;
	fprintf(stderr,
		"tracer: %s is neither next to this program nor in PATH: install it, or build "
		"it\n",
		name);
	return -ENOENT;
}

static void signals_reset(void)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
}

static _Noreturn void child_exec(char *const argv[])
{
	unsetenv("NOTIFY_SOCKET"); /* the manager of whatever started us waits for that, not for our daemons */
	execv(argv[0], argv);
	fprintf(stderr, "tracer: cannot run %s: %s\n", argv[0], strerror(errno));
	_exit(127);
}

/* Whom a program runs as, instead of us. */
struct account {
	uid_t uid;
	gid_t gid;
};

static pid_t spawn(char *const argv[], int log_fd, int ready_fd, const struct account *account)
{
	pid_t pid = fork();
	int null_fd;

	if (pid != 0)
		return pid < 0 ? -errno : pid;
	signals_reset();
	setsid();
	null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (null_fd < 0 || dup2(null_fd, STDIN_FILENO) < 0 || dup2(log_fd, STDOUT_FILENO) < 0 ||
	    dup2(log_fd, STDERR_FILENO) < 0)
		_exit(127);
	/* Other descriptors that we inherited, such as a shell's pipes, are only for the command. */
	if (ready_fd == PROGRAM_READY_FD)
		fcntl(ready_fd, F_SETFD, 0);
	else if (ready_fd >= 0 && dup2(ready_fd, PROGRAM_READY_FD) < 0)
		_exit(127);
	closefrom(ready_fd < 0 ? PROGRAM_READY_FD : PROGRAM_READY_FD + 1);
	if (account && (setgroups(0, NULL) < 0 || setgid(account->gid) < 0 || setuid(account->uid) < 0))
		_exit(127);
	child_exec(argv);
}

pid_t program_spawn(char *const argv[], int log_fd, int ready_fd)
{
	return spawn(argv, log_fd, ready_fd, NULL);
}

pid_t program_spawn_as(char *const argv[], int log_fd, uid_t uid, gid_t gid)
{
	return spawn(argv, log_fd, -1, &(const struct account){uid, gid});
}

pid_t program_launch(char *const argv[], int log_fd, int *ret_ready_fd)
{
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	pid = program_spawn(argv, log_fd, ends[1]);
	close(ends[1]);
	if (pid < 0)
		close(ends[0]);
	else
		*ret_ready_fd = ends[0];
	return pid;
}

int program_run(char *const argv[])
{
	int status = 0, null_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	pid_t pid = null_fd < 0 ? -1 : fork();

	if (pid == 0) {
		signals_reset();
		dup2(null_fd, STDOUT_FILENO);
		child_exec(argv);
	}
	if (null_fd >= 0)
		close(null_fd);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return pid > 0 ? status : -EAGAIN;
}

const char *program_read_line(const char *path, char text[256])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t size = fd < 0 ? -1 : read(fd, text, 255);

	if (fd >= 0)
		close(fd);
	text[size > 0 ? size : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return text;
}

void program_log_tail(int log_fd, char *text, size_t capacity)
{
	char tail[1024], *line;
	off_t size = log_fd < 0 ? 0 : lseek(log_fd, 0, SEEK_END);
	off_t from = size > (off_t)sizeof(tail) - 1 ? size - (off_t)sizeof(tail) + 1 : 0;
	ssize_t got = size > 0 ? pread(log_fd, tail, sizeof(tail) - 1, from) : 0;

	text[0] = '\0';
	while (got > 0 && tail[got - 1] == '\n')
		got--;
	if (got <= 0)
		return;
	tail[got] = '\0';
	line = memrchr(tail, '\n', (size_t)got);
	line = line ? line + 1 : tail;
	text_escape(line, strlen(line), text, capacity);
}
