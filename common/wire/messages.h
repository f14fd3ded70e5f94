/* Every message between tracer-probe and tracer-correlator, declared once.
 *
 * The structures below, the codec (wire.c), the tables of docs/wire.md and the
 * tests are derived from these lists: to add a field, add it here, at the end of
 * its list, and raise WIRE_VERSION.
 *
 * A message is a msgpack array [number, field, field, ...]. Field kinds:
 *   U(name)         unsigned integer
 *   T(name)         bytes (msgpack bin): text of the traced system, never trusted
 *   A(name)         array of bytes (argv)
 *   I(name)         image key: [pid, start_boot_ns, exec_id]
 *   C(name)         counters: [valid, value, ...] in the order of RECORD_COUNTERS
 */
#ifndef TRACER_COMMON_WIRE_MESSAGES_H
#define TRACER_COMMON_WIRE_MESSAGES_H

#define WIRE_VERSION 1

/* First frame of a connection: who sends, from which ring. */
#define WIRE_HELLO_FIELDS(U, T, A, I, C)                                                     \
	U(version)            /* WIRE_VERSION */                                             \
	U(ring_epoch)         /* random number of this ring; offsets belong to it */         \
	U(consumer_offset)    /* first offset that the ring still holds */                   \
	U(boot_ns)            /* CLOCK_BOOTTIME now */                                       \
	U(unix_ns)            /* CLOCK_REALTIME at the same moment */                        \
	U(cpu_count)          /* online processors */                                        \
	U(memory_bytes)       /* sysinfo.totalram */                                         \
	U(clock_ticks)        /* unused by version 1 readers: sysconf(_SC_CLK_TCK) */        \
	T(boot_id)            /* /proc/sys/kernel/random/boot_id */                          \
	T(host_id)            /* /etc/machine-id, empty where there is none */               \
	T(hostname)           /* uname.nodename */                                           \
	T(kernel)             /* uname.release */                                            \
	T(machine)            /* uname.machine */                                            \
	T(probe_version)      /* release of the probe */

/* The answer: events before `offset` are committed. */
#define WIRE_WELCOME_FIELDS(U, T, A, I, C)                                                   \
	U(version)            /* WIRE_VERSION */                                             \
	U(ring_epoch)         /* 0: this store never saw the ring */                         \
	U(offset)             /* next offset wanted; below consumer_offset: what there is */

/* Events before `offset` are on disk: the ring may free them. */
#define WIRE_ACK_FIELDS(U, T, A, I, C)                                                       \
	U(offset)             /* above the last committed event's, not above the next one's */

/* A new process (thread group). */
#define WIRE_FORK_FIELDS(U, T, A, I, C)                                                      \
	U(offset)             /* ring position of the record */                              \
	U(boot_ns)            /* when */                                                     \
	I(image)              /* the child, still in its parent's image */                   \
	I(parent)             /* real parent: CLONE_PARENT is honoured */                    \
	U(cgroup_id)          /* of the child */                                             \
	U(sid)                /* session */                                                  \
	U(pgid)               /* process group */                                            \
	U(uid)                /* real user id */                                             \
	U(flags)              /* RECORD_* of bpf/record.h */

/* Who and where a process is: part of two messages. */
#define WIRE_CONTEXT_FIELDS(U, T, A, I, C)                                                   \
	I(image)              /* the process and its program */                              \
	I(parent)             /* real parent at this moment */                               \
	U(cgroup_id)          /* its path comes in a cgroup message */                       \
	U(pid_namespace)      /* inode number */                                             \
	U(mount_namespace)    /* inode number */                                             \
	U(uid)                /* real user id */                                             \
	U(gid)                /* real group id */                                            \
	U(sid)                /* session */                                                  \
	U(pgid)               /* process group */                                            \
	U(tty)                /* device number of the controlling terminal, 0: none */       \
	U(stdin_pipe)         /* inode if descriptor 0 is a pipe or FIFO, else 0 */          \
	U(stdout_pipe)        /* the same for descriptor 1 */                                \
	U(flags)              /* RECORD_* of bpf/record.h */                                 \
	C(counters)           /* up to now, over the whole life of the process */            \
	T(comm)               /* name of the main thread, at most 15 bytes */                \
	T(filename)           /* exec: as given to execve; sample: path of the executable */ \
	T(cwd)                /* absolute path, put together by the probe */                 \
	A(argv)               /* arguments */

/* A new program in a process. */
#define WIRE_EXEC_FIELDS(U, T, A, I, C)                                                      \
	U(offset)             /* ring position of the record */                              \
	U(boot_ns)            /* when */                                                     \
	WIRE_CONTEXT_FIELDS(U, T, A, I, C)

/* A living process, from the iterator: not in the ring, so without an offset. In the
 * first pass of a connection, and for a process seen for the first time by an
 * iterator, the text fields are filled; later they are empty. */
#define WIRE_SAMPLE_FIELDS(U, T, A, I, C)                                                    \
	U(boot_ns)            /* when */                                                     \
	WIRE_CONTEXT_FIELDS(U, T, A, I, C)

/* Ends a pass over the living: whoever was not in it is gone. */
#define WIRE_PASS_FIELDS(U, T, A, I, C)                                                      \
	U(boot_ns)            /* when the pass began */                                      \
	U(unix_ns)            /* wall clock at that moment */                                \
	U(process_count)      /* samples sent in it */                                       \
	U(with_text)          /* 1: a full pass, text fields filled */                       \
	U(ring_offset)        /* ring position read up to when the pass began */

/* The last thread of a process is gone; its teardown still costs. */
#define WIRE_EXIT_FIELDS(U, T, A, I, C)                                                      \
	U(offset)             /* ring position of the record */                              \
	U(boot_ns)            /* when */                                                     \
	I(image)              /* its last image */                                           \
	C(counters)           /* totals */                                                   \
	U(wait_status)        /* as wait4 gives it */                                        \
	U(flags)              /* RECORD_EXIT_* */

/* A process was reaped: its totals are complete and override those of its exit. */
#define WIRE_FINAL_FIELDS(U, T, A, I, C) WIRE_EXIT_FIELDS(U, T, A, I, C)

/* The path of a cgroup, before the first event that names it. */
#define WIRE_CGROUP_FIELDS(U, T, A, I, C)                                                    \
	U(offset)             /* ring position of the record */                              \
	U(boot_ns)            /* when */                                                     \
	U(cgroup_id)          /* kernfs id below 2^56, hierarchy id above */                 \
	T(path)               /* absolute path in its hierarchy, put together by the probe */

/* A new program in a process, which the ignore list drops. */
#define WIRE_IGNORED_FIELDS(U, T, A, I, C)                                                   \
	U(offset)             /* ring position of the record */                              \
	U(boot_ns)            /* when */                                                     \
	I(image)              /* the process and its program */

/* What the kernel side dropped since the message before, per kind and cgroup. */
#define WIRE_LOSS_FIELDS(U, T, A, I, C)                                                      \
	U(type)               /* enum record_type */                                         \
	U(cgroup_id)          /* where */                                                    \
	U(count)              /* records */                                                  \
	U(first_boot_ns)      /* the first of them */                                        \
	U(last_boot_ns)       /* the last of them */

/* M(NAME, name, number) */
#define WIRE_MESSAGES(M)                                                                     \
	M(HELLO, hello, 1)                                                                   \
	M(WELCOME, welcome, 2)                                                               \
	M(ACK, ack, 3)                                                                       \
	M(FORK, fork, 16)                                                                    \
	M(EXEC, exec, 17)                                                                    \
	M(EXIT, exit, 18)                                                                    \
	M(FINAL, final, 19)                                                                  \
	M(CGROUP, cgroup, 20)                                                                \
	M(IGNORED, ignored, 21)                                                              \
	M(SAMPLE, sample, 32)                                                                \
	M(PASS, pass, 33)                                                                    \
	M(LOSS, loss, 34)

#endif
