/* The command of `tracer run`, started as if tracer were not in between.
 *
 * It inherits our terminal, process group, descriptors, directory, environment, and
 * the signal mask and dispositions that we were started with; it runs as the given user.
 */
#pragma once

#include <signal.h>
#include <sys/resource.h>

#include "cli/process/user.h"

struct child_signals {
	sigset_t mask;             /* that we were started with */
	struct sigaction on_child; /* SIGCHLD action that we were started with */
	int fd;                    /* signalfd of the signals to forward */
};

struct child {
	pid_t pid;
	int pid_fd;
	int64_t begin_unix_ns;
	int64_t started_boot_ns[2]; /* before its fork, and after its exec */
	int status;                 /* once it has ended: as of wait4, with */
	struct rusage used;
};

/* From here on signals are read from `signals->fd` instead of terminating us. Returns 0 or -errno. */
int child_signals_init(struct child_signals *signals);

/* Returns 0, or -errno if the command could not be executed: then nothing runs. */
int child_start(struct child *child, char *const argv[], const struct user *user, const struct child_signals *signals);

/* Forwards a signal that was sent only to us; a signal that the terminal sends to
 * the whole process group has already reached the command. Returns the signal's
 * number, or 0 if there was none. */
int child_forward_signal(const struct child *child, const struct child_signals *signals);

/* Waits for the command, forwarding signals. Meanwhile, and once it has ended but is still a zombie, calls `work` (NULL:
 * nothing), which returns in how many ms it wants to be called again. Returns the exit status of the command as a shell
 * does: code, or 128 + signal. */
int child_await(struct child *child, const struct child_signals *signals, int (*work)(void));
