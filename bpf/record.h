/* The records that the kernel side writes and tracer-probe reads.
 *
 * One header for both sides, so it holds nothing but fixed-width types. Every
 * pad is named. A field of `struct counters` is valid only where its bit is set
 * in `valid`: unknown is not zero.
 *
 * Times are CLOCK_BOOTTIME nanoseconds. Process ids are those of the initial
 * pid namespace. Counters are cumulative over the life of the thread group (all
 * threads, dead ones included); user space subtracts to tell exec images apart.
 */
#ifndef TRACER_BPF_RECORD_H
#define TRACER_BPF_RECORD_H

#ifndef __bpf__
#include <stdint.h>
typedef uint8_t __u8;
typedef uint16_t __u16;
typedef uint32_t __u32;
typedef uint64_t __u64;
typedef int32_t __s32;
#endif

/* Raised whenever a structure below changes: pinned maps of another version are
 * drained and replaced, never read. */
#define RECORD_VERSION 1

enum record_type {
	RECORD_FORK = 1,    /* a new thread group */
	RECORD_EXEC = 2,    /* a new image in a thread group */
	RECORD_EXIT = 3,    /* last thread gone; teardown still to come */
	RECORD_FINAL = 4,   /* reaped; the totals are complete */
	RECORD_CGROUP = 5,  /* the path of a cgroup id, sent before its first use */
	RECORD_SAMPLE = 6,  /* a living process (iterator, never in the ring) */
	RECORD_IGNORED = 7, /* an exec that the ignore list drops */
};

/* X(name, meaning and kernel source) */
#define RECORD_COUNTERS(X)                                                                  \
	X(cpu_ns, "on-CPU time: signal.sum_sched_runtime + threads' se.sum_exec_runtime")    \
	X(user_ns, "tick-sampled user time, unscaled: signal.utime + threads' utime")        \
	X(system_ns, "tick-sampled system time, unscaled: signal.stime + threads' stime")    \
	X(run_delay_ns, "runnable but waiting: sum of threads' sched_info.run_delay")        \
	X(block_io_delay_ns, "waiting for block I/O: task.delays.blkio_delay")               \
	X(voluntary_switches, "signal.nvcsw + threads' nvcsw")                               \
	X(involuntary_switches, "signal.nivcsw + threads' nivcsw")                           \
	X(minor_faults, "signal.min_flt + threads' min_flt")                                 \
	X(major_faults, "signal.maj_flt + threads' maj_flt")                                 \
	X(read_bytes, "fetched from storage: ioac.read_bytes")                               \
	X(write_bytes, "sent to storage, at page dirtying: ioac.write_bytes")                \
	X(cancelled_write_bytes, "dirtied then truncated: ioac.cancelled_write_bytes")       \
	X(rchar_bytes, "bytes through read-like syscalls: ioac.rchar")                       \
	X(wchar_bytes, "bytes through write-like syscalls: ioac.wchar")                      \
	X(syscr_count, "read-like syscalls: ioac.syscr")                                     \
	X(syscw_count, "write-like syscalls: ioac.syscw")                                    \
	X(peak_rss_bytes, "of the current mm: max(mm.hiwater_rss, rss now)")                 \
	X(maxrss_bytes, "signal.maxrss: every mm this process had, its parent's image too")  \
	X(rss_anon_bytes, "mm.rss_stat[MM_ANONPAGES] now")                                   \
	X(rss_file_bytes, "mm.rss_stat[MM_FILEPAGES] now")                                   \
	X(rss_shmem_bytes, "mm.rss_stat[MM_SHMEMPAGES] now")                                 \
	X(swap_bytes, "mm.rss_stat[MM_SWAPENTS] now")                                        \
	X(thread_count, "signal.nr_threads now")

enum counter_bit {
#define X(name, source) COUNTER_##name,
	RECORD_COUNTERS(X)
#undef X
	COUNTER_COUNT
};
#define COUNTER_VALID(name) (1ULL << COUNTER_##name)

struct counters {
	__u64 valid; /* bit COUNTER_x: field x is known */
#define X(name, source) __u64 name;
	RECORD_COUNTERS(X)
#undef X
};

/* One exec image of one process of this boot. `exec_id` is task.self_exec_id:
 * inherited by fork, one more at every exec, so it is the same number whoever
 * looks and whenever the looking began. */
struct image_key {
	__u32 pid; /* thread group id */
	__u32 exec_id;
	__u64 start_boot_ns; /* group_leader.start_boottime; 0: the image is unknown */
};

struct record_header {
	__u32 type; /* enum record_type */
	__u32 size; /* bytes, this header and trailing text included */
	__u64 boot_ns;
	struct image_key image;
};

struct record_fork {
	struct record_header header; /* image: the child, still in its parent's image */
	struct image_key parent;     /* child.real_parent: CLONE_PARENT is honoured */
	__u64 cgroup_id;
	__u32 sid;
	__u32 pgid;
	__u32 uid;
	__u32 flags; /* RECORD_KERNEL_THREAD */
};

/* Who and where a process is: part of exec records and samples. */
struct record_context {
	struct image_key parent; /* real_parent now */
	__u64 cgroup_id;
	__u32 pid_namespace; /* inode numbers of nsfs */
	__u32 mount_namespace;
	__u32 uid;
	__u32 gid;
	__u32 sid;
	__u32 pgid;
	__u32 tty;         /* device number of the controlling terminal, 0: none */
	__u32 stdin_pipe;  /* inode if descriptor 0 is a pipe or FIFO, else 0 */
	__u32 stdout_pipe; /* the same for descriptor 1 */
	__u32 flags;       /* RECORD_* below */
};

#define RECORD_SCRIPT (1U << 0)         /* `filename` is a #! script, argv[0] its interpreter */
#define RECORD_ARGV_TRUNCATED (1U << 1) /* argv was longer than what is here */
#define RECORD_PATH_TRUNCATED (1U << 2) /* filename or cwd is not whole */
#define RECORD_ARGV_UNKNOWN (1U << 3)   /* argv could not be read (user page not resident) */
#define RECORD_KERNEL_THREAD (1U << 4)
#define RECORD_EXITING (1U << 5)        /* sample of a process that is going or a zombie */

#define RECORD_FILENAME_MAX 512
#define RECORD_CWD_MAX 512
#define RECORD_ARGV_MAX 4096
#define RECORD_COMM_SIZE 16

/* Text behind the structure, in this order and with these sizes:
 *   filename  as given to execve (exec) or the path of mm.exe_file (sample)
 *   cwd       path components from the leaf to the root, each ended by NUL
 *   argv      the arguments, each ended by NUL */
struct record_exec {
	struct record_header header;
	struct record_context context;
	struct counters counters; /* up to this exec: they close the image before */
	char comm[RECORD_COMM_SIZE];
	__u16 filename_size;
	__u16 cwd_size;
	__u32 argv_size;
};

struct record_exit {
	struct record_header header; /* RECORD_EXIT or RECORD_FINAL */
	struct counters counters;
	__u32 wait_status; /* as wait4 gives it: signal.group_exit_code or the last code */
	__u32 flags;       /* RECORD_EXIT_* */
};

#define RECORD_EXIT_OOM (1U << 0) /* signal.oom_mm: killed by the OOM killer */

/* Samples share the layout of exec records; the text is there only where a full
 * pass was asked for (`struct control.sample_text`), else its sizes are 0. */
struct record_cgroup {
	struct record_header header;
	__u64 cgroup_id; /* kernfs id in the low 56 bits, hierarchy id above */
	__u32 path_size; /* components from the leaf to the root, each ended by NUL */
	__u32 pad;
};

#define RECORD_CGROUP_PATH_MAX 1024

/* Loss: what the kernel side had to drop, by kind and cgroup. */
struct loss_key {
	__u64 cgroup_id;
	__u32 type; /* enum record_type */
	__u32 pad;
};

struct loss_value {
	__u64 count;
	__u64 first_boot_ns;
	__u64 last_boot_ns;
};

#endif
