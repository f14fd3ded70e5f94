/* The command of `tracer run`. See child.h. */
#include "cli/process/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "common/clock.h"

/* Signals that would end us, or are meant for the command. Not SIGTSTP: ^Z stops both. */
static const int forwarded[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM};

int child_signals_init(struct child_signals *signals)
{
	const struct sigaction standard = {.sa_handler = SIG_DFL};
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(forwarded) / sizeof(forwarded[0]); i++)
		sigaddset(&set, forwarded[i]);
	/* If SIGCHLD is ignored, the status of children is lost. */
	if (sigprocmask(SIG_BLOCK, &set, &signals->mask) < 0 || sigaction(SIGCHLD, &standard, &signals->on_child) < 0)
		return -errno;
	signals->fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return signals->fd < 0 ? -errno : 0;
}

static _Noreturn void child_exec(char *const argv[], const struct user *user, const struct child_signals *signals,
				 int failure_fd)
{
	int error = user_become(user);

	sigaction(SIGCHLD, &signals->on_child, NULL);
	sigprocmask(SIG_SETMASK, &signals->mask, NULL);
	if (error == 0) {
		execvp(argv[0], argv);
		error = -errno;
	}
	if (write(failure_fd, &error, sizeof(error)) < 0)
		_exit(126);
	_exit(127);
}

int child_start(struct child *child, char *const argv[], const struct user *user, const struct child_signals *signals)
{
	int ends[2], error = 0;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	child->begin_unix_ns = (int64_t)clock_unix_ns();
	child->started_boot_ns[0] = (int64_t)clock_boot_ns();
	child->pid = fork();
	if (child->pid == 0)
		child_exec(argv, user, signals, ends[1]);
	if (child->pid < 0)
		error = -errno;
	close(ends[1]);
	/* A successful exec closes the pipe, so that nothing is read. */
	while (error == 0 && read(ends[0], &error, sizeof(error)) < 0 && errno == EINTR)
		;
	close(ends[0]);
	child->started_boot_ns[1] = (int64_t)clock_boot_ns();
	if (error < 0 && child->pid > 0)
		waitpid(child->pid, NULL, 0);
	if (error < 0)
		return error;
	child->pid_fd = (int)syscall(SYS_pidfd_open, child->pid, 0);
	return child->pid_fd < 0 ? -errno : 0;
}

int child_forward_signal(const struct child *child, const struct child_signals *signals)
{
	struct signalfd_siginfo info;

	if (read(signals->fd, &info, sizeof(info)) != sizeof(info))
		return 0;
	if (info.ssi_code != SI_KERNEL && child->pid > 0)
		kill(child->pid, (int)info.ssi_signo);
	return (int)info.ssi_signo;
}

int child_await(struct child *child, const struct child_signals *signals, int (*work)(void))
{
	struct pollfd waits[] = {
		{.fd = child->pid_fd, .events = POLLIN},
		{.fd = signals->fd, .events = POLLIN},
	};
	int wait_ms = -1;

	while (!(waits[0].revents & POLLIN)) {
		if (work)
			wait_ms = work();
		if (poll(waits, 2, wait_ms) < 0 && errno != EINTR)
			break;
		if (waits[1].revents)
			child_forward_signal(child, signals);
	}
	if (work)
		work();
	while (wait4(child->pid, &child->status, 0, &child->used) < 0 && errno == EINTR)
		;
	close(child->pid_fd);
	child->pid_fd = -1;
	return WIFSIGNALED(child->status) ? 128 + WTERMSIG(child->status) : WEXITSTATUS(child->status);
}
