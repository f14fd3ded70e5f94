/* The contents of a decoded record: every kind of event, declared once.
 *
 * The structures of event.h, the tables of docs/wire.md, the dump of a recording and
 * the tests are derived from these lists. The byte layout is in bpf/record.h; a field
 * that is added there is also added here, at the end of its list.
 *
 *   U(name)   unsigned integer
 *   S(name)   signed integer
 *   T(name)   bytes: text from the traced system, never trusted
 *   A(name)   argv
 *   I(name)   image key
 *   C(name)   counters
 */
#pragma once

/* Fields at the start of every event. */
#define EVENT_HEADER_FIELDS(U, I) \
	U(boot_ns) /* time of the event */ \
	I(image)   /* the process and its program; none for a cgroup */

/* A new process (thread group), still in its parent's image. */
#define EVENT_FORK_FIELDS(U, S, T, A, I, C) \
	I(parent)    /* real parent: CLONE_PARENT is honoured */ \
	U(cgroup_id) /* of the child */ \
	U(pgid)      /* process group */ \
	U(uid)       /* real user id */ \
	U(flags)     /* RECORD_* of bpf/record.h */

/* A new program in a process. */
#define EVENT_EXEC_FIELDS(U, S, T, A, I, C) \
	I(parent)           /* real parent at this moment */ \
	U(cgroup_id)        /* its path comes in a cgroup event */ \
	U(pid_namespace)    /* inode number */ \
	U(mount_namespace)  /* inode number */ \
	U(uid)              /* real user id */ \
	U(gid)              /* real group id */ \
	U(pgid)             /* process group */ \
	U(tty)              /* device number of the controlling terminal, 0: none */ \
	U(stdin_pipe)       /* inode if descriptor 0 is a pipe or FIFO, else 0 */ \
	U(stdout_pipe)      /* the same for descriptor 1 */ \
	U(flags)            /* RECORD_* of bpf/record.h */ \
	C(counters)         /* so far, over the whole life of the process */ \
	T(comm)             /* name of the main thread, at most 15 bytes */ \
	T(filename)         /* exec: as given to execve; sample: path of the executable */ \
	T(cwd)              /* absolute path, assembled from its names */ \
	A(argv)             /* arguments */ \
	U(core_limit_milli) /* 1/1000 processor that it may use: affinity and CPU quota, 0: unknown */

/* A running process, from the iterator: fields as in exec, but text only in a full scan. */
#define EVENT_SAMPLE_FIELDS(U, S, T, A, I, C) EVENT_EXEC_FIELDS(U, S, T, A, I, C)

/* The last thread of a process, in its last image, has exited; teardown still adds to the totals. */
#define EVENT_EXIT_FIELDS(U, S, T, A, I, C) \
	C(counters)    /* totals */ \
	U(wait_status) /* as returned by wait4 */ \
	U(flags)       /* RECORD_EXIT_* */

/* A process was reaped: its totals are complete and override those of its exit. */
#define EVENT_FINAL_FIELDS(U, S, T, A, I, C) EVENT_EXIT_FIELDS(U, S, T, A, I, C)

/* The path of a cgroup, before the first event that names it. */
#define EVENT_CGROUP_FIELDS(U, S, T, A, I, C) \
	U(cgroup_id) /* kernfs id below 2^56, hierarchy id above */ \
	T(path)      /* absolute path in its hierarchy; if too long, its end after a … */

/* A new program in a process, dropped by the ignore list. */
#define EVENT_IGNORED_FIELDS(U, S, T, A, I, C)

/* A signal that can end a process was sent to it (the target). */
#define EVENT_SIGNAL_FIELDS(U, S, T, A, I, C) \
	I(sender)     /* start time 0: the kernel itself */ \
	U(sender_uid) /* real user id */ \
	U(signal)     /* its number */ \
	S(code)       /* si_code: above 0 from the kernel, 0 from kill(2) */ \
	U(flags)      /* RECORD_SIGNAL_* */

/* A process holds a GPU's device node open: from an iterator, in full scans and from
 * time to time. */
#define EVENT_DEVICE_FIELDS(U, S, T, A, I, C) \
	U(major) /* of the device node */ \
	U(minor) /* of the device node */

/* E(NAME, name): the number is RECORD_NAME of bpf/record.h */
#define EVENTS(E) \
	E(FORK, fork) \
	E(EXEC, exec) \
	E(EXIT, exit) \
	E(FINAL, final) \
	E(CGROUP, cgroup) \
	E(SAMPLE, sample) \
	E(IGNORED, ignored) \
	E(SIGNAL, signal) \
	E(DEVICE, device)
