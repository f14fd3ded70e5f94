/* The command of `tracer run`: started as if we were not there.
 *
 * It gets our terminal, process group, descriptors, directory, environment, signal
 * mask and dispositions as we got them, and the invoking user's rights.
 */
#pragma once

#include <signal.h>

#include "cli/user.h"

struct child_signals {
	sigset_t mask;             /* as we were started with */
	struct sigaction on_child; /* SIGCHLD as we were started with */
	int fd;                    /* signalfd of what we are sent */
};

struct child {
	pid_t pid;
	int pid_fd;
	int64_t begin_unix_ns;
	int64_t started_boot_ns[2]; /* before its fork, and after its exec */
};

/* From here on signals come out of `signals->fd` instead of ending us. 0 or -errno. */
int child_signals_init(struct child_signals *signals);

/* 0; -errno of the exec that failed; nothing runs then. */
int child_start(struct child *child, char *const argv[], const struct user *user, const struct child_signals *signals);

/* Passes on a signal that was sent to us alone; what the terminal sends to the
 * whole process group has reached the command already. Returns its number, 0 if
 * there was none. */
int child_forward_signal(const struct child *child, const struct child_signals *signals);

/* Until it has ended; signals are passed on meanwhile. As a shell tells it: its code, or 128 + signal. */
int child_await(struct child *child, const struct child_signals *signals);
