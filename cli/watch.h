/* A probe and a correlator of our own, for `tracer run` where none is running.
 *
 *     tracer run -+- CMD                          the invoking user
 *                 +- tracer-correlator --once     user `tracer`, else `daemon`
 *                 +- tracer-probe --no-pin        user `tracer-probe`, else `nobody`
 *                 +- guard                        ends them if we are killed
 *
 * They meet in a directory of their own that no other user may enter; it goes when
 * the watch ends, by whatever end.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

enum watch_role { WATCH_CORRELATOR, WATCH_PROBE, WATCH_ROLE_COUNT };

struct watch_daemon {
	pid_t pid;     /* 0: none, or ended */
	int pid_fd;    /* readable once it has ended; -1 without a daemon */
	int log_fd;    /* what it said on standard error */
	int status;    /* wait status, once it has ended */
	bool stopping; /* we asked it to end */
};

struct watch {
	char directory[64];
	char store_path[96];
	char socket_path[96];
	struct watch_daemon daemons[WATCH_ROLE_COUNT];
	pid_t guard_pid;
	int guard_fd; /* closed by our end, however we end: then the guard acts */
};

const char *watch_name(enum watch_role role);

/* Makes the directory, the guard, nothing else. 0 or -errno, said. After failure
 * too, watch_remove() is due. */
int watch_init(struct watch *watch);

/* Starts both and waits until what happens is seen. `wake_fd` readable ends the
 * waiting with -EINTR. 0; -errno, said. */
int watch_start(struct watch *watch, int wake_fd);

/* Notes which daemon has ended; true if one ended that should not have. */
bool watch_check(struct watch *watch);

/* Has the probe send what it holds, and waits until it is stored. 0; -EINTR as
 * above; -ETIME; -EPIPE where a daemon did not end well. All have ended then. */
int watch_stop(struct watch *watch, int wake_fd);

/* Ends what still runs, and removes the directory. */
void watch_remove(struct watch *watch);
