/* A probe and a correlator of our own, for `tracer run` if no daemons are running. Without the privilege to load programs
 * into the kernel there is no probe: tree.c takes its place, and the correlator is of the same user.
 *
 *     tracer run -+- CMD                          the invoking user
 *                 +- tracer-correlator --once     user `tracer`, else `daemon`; `bin` where that is the command's
 *                 +- tracer-probe --no-pin        user `tracer-probe`, else `nobody`; the same
 *                 +- tracer-sampler-nvidia        where there are GPUs; user `tracer-sampler`, else `bin`, `sys`
 *                 +- guard                        terminates them if we are killed
 *
 * They share a private directory that no other user may enter; it is removed when
 * the watch ends, however it ends.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/* A sampler is started where there are GPUs; without it, or if it ends, only what these do is unknown. */
enum watch_role {
	WATCH_CORRELATOR,
	WATCH_PROBE,
	WATCH_NEEDED_COUNT,
	WATCH_SAMPLER = WATCH_NEEDED_COUNT,
	WATCH_ROLE_COUNT,
};

struct watch_daemon {
	pid_t pid;     /* 0: not started, or ended */
	int pid_fd;    /* readable once it has ended; -1 without a daemon */
	int log_fd;    /* its standard error */
	int status;    /* wait status, once it has ended */
	bool stopping; /* we asked it to stop */
};

/* Whom a daemon runs as. */
struct watch_account {
	char name[64];
	uid_t uid;
	gid_t gid;
};

struct watch {
	char directory[64];
	char store_path[96];
	char socket_path[96];
	char sampler_path[96]; /* its socket; empty: there are no GPUs, or no program or account for them */
	struct watch_daemon daemons[WATCH_ROLE_COUNT];
	struct watch_account accounts[WATCH_ROLE_COUNT];
	pid_t guard_pid;
	int guard_fd;    /* closed when we exit for any reason: then the guard acts */
	bool is_partial; /* without a probe */
};

const char *watch_name(enum watch_role role);

/* Whether programs can be loaded into the kernel: without, a watch is partial. */
bool watch_may_probe(void);

/* Creates the directory and the guard only; if we are killed, the guard calls `abandoned` last. The daemons will not be
 * of `command_uid`, who could send signals to them, unless the watch is partial. Returns 0 or -errno after printing the error. Call watch_remove()
 * after a failure, too. */
int watch_init(struct watch *watch, uid_t command_uid, bool is_partial, void (*abandoned)(void));

/* Starts the daemons and waits until events are recorded; returns -EINTR once
 * `wake_fd` is readable. Returns 0 or -errno after printing the error. */
int watch_start(struct watch *watch, int wake_fd);

/* Records which daemons have ended. Returns true if one ended unexpectedly. */
bool watch_check(struct watch *watch);

/* Makes the probe send all remaining records (if there is none, they were sent), and waits until they are stored and
 * the daemons have ended. Returns 0; -EINTR as above; -ETIME; -EPIPE if a daemon failed. */
int watch_stop(struct watch *watch, int wake_fd);

/* Terminates what still runs, and removes the directory. */
void watch_remove(struct watch *watch);
