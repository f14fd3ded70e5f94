/* The records that the kernel side writes and tracer-probe reads.
 *
 * Both sides include this header, so it uses fixed-width types only, and all padding
 * is explicit. A field of `struct counters` is valid only if its bit is set in
 * `valid`: unknown is not zero.
 *
 * Times are CLOCK_BOOTTIME nanoseconds. Process ids are those of the initial
 * pid namespace. Counters are cumulative over the life of the thread group (all
 * threads, ended ones included); user space subtracts to separate exec images.
 */
#pragma once

#ifndef __bpf__
#include <stdint.h>
#else
typedef __u8 uint8_t;
typedef __u16 uint16_t;
typedef __u32 uint32_t;
typedef __u64 uint64_t;
typedef __s32 int32_t;
#endif

/* Incremented whenever the layout of a structure below changes: a pinned ring of another version is
 * replaced. Of its records only the header's type, size and boot_ns are read, to count them as lost;
 * these keep their offsets in every version. A field that is no longer collected is replaced by a
 * zero pad: removing it is not worth losing a ring. */
#define RECORD_VERSION 3

enum record_type {
	RECORD_FORK = 1,    /* a new thread group */
	RECORD_EXEC = 2,    /* a new image in a thread group */
	RECORD_EXIT = 3,    /* last thread ended; teardown still to come */
	RECORD_FINAL = 4,   /* reaped; the totals are complete */
	RECORD_CGROUP = 5,  /* the path of a cgroup id, sent before its first use */
	RECORD_SAMPLE = 6,  /* a running process (iterator, never in the ring) */
	RECORD_IGNORED = 7, /* an exec dropped by the ignore list */
	RECORD_SIGNAL = 8,  /* a signal that can end a process was sent */
	RECORD_DEVICE = 9,  /* a process holds a GPU or requested device open (iterator, never in the ring) */
	RECORD_FILE = 10,   /* how far a process has read a large file (iterator, never in the ring) */
	RECORD_MEMORY = 11, /* what the memory cgroup of the samples that follow holds (iterator, never in the ring) */
};

/* X(name, meaning and kernel source) */
#define RECORD_COUNTERS(X) \
	X(cpu_ns, "on-CPU time: signal.sum_sched_runtime + threads' se.sum_exec_runtime") \
	X(user_ns, "tick-sampled user time, unscaled: signal.utime + threads' utime") \
	X(system_ns, "tick-sampled system time, unscaled: signal.stime + threads' stime") \
	X(run_delay_ns, "runnable but waiting: sum of threads' sched_info.run_delay") \
	X(block_io_delay_ns, "waiting for block I/O: task.delays.blkio_delay") \
	X(voluntary_switches, "signal.nvcsw + threads' nvcsw") \
	X(involuntary_switches, "signal.nivcsw + threads' nivcsw") \
	X(minor_faults, "signal.min_flt + threads' min_flt") \
	X(major_faults, "signal.maj_flt + threads' maj_flt") \
	X(read_bytes, "fetched from storage: threads' ioac.read_bytes") \
	X(write_bytes, "sent to storage, at page dirtying: threads' ioac.write_bytes") \
	X(cancelled_write_bytes, "dirtied then truncated: threads' ioac.cancelled_write_bytes") \
	X(rchar_bytes, "bytes through read-like syscalls: threads' ioac.rchar") \
	X(wchar_bytes, "bytes through write-like syscalls: threads' ioac.wchar") \
	X(syscr_count, "read-like syscalls: threads' ioac.syscr") \
	X(syscw_count, "write-like syscalls: threads' ioac.syscw") \
	X(peak_rss_bytes, "of the current mm: max(mm.hiwater_rss, rss now)") \
	X(maxrss_bytes, "signal.maxrss: every mm this process had, its parent's image too") \
	X(rss_anon_bytes, "mm.rss_stat[MM_ANONPAGES] now") \
	X(rss_file_bytes, "mm.rss_stat[MM_FILEPAGES] now") \
	X(rss_shmem_bytes, "mm.rss_stat[MM_SHMEMPAGES] now") \
	X(swap_bytes, "mm.rss_stat[MM_SWAPENTS] now") \
	X(thread_count, "signal.nr_threads now") \
	X(memory_delay_ns, "waiting for memory: task.delays' swapin, freepages, thrashing_delay") \
	X(sent_bytes, "payload, TCP and UDP: sock_send_length, since the probe began") \
	X(received_bytes, "payload, TCP and UDP: sock_recv_length, since the probe began") \
	X(uninterruptible_count, "threads in uninterruptible sleep now: task.__state") \
	X(cgroup_memory_limit_bytes, "smallest mem_cgroup.memory.max from its cgroup up") \
	X(cgroup_memory_peak_bytes, "of its memory cgroup: mem_cgroup.memory.watermark") \
	X(cgroup_throttled_ns, "of its cgroup and those above: cfs_bandwidth.throttled_time")

enum counter_bit {
#define X(name, source) COUNTER_##name,
	RECORD_COUNTERS(X)
#undef X
		COUNTER_COUNT
};
#define COUNTER_VALID(name) (1ULL << COUNTER_##name)

/* Also a bit of `valid`: the usage of some ended threads could not be kept, so figures counted per
 * thread (run delay, I/O, delays) and traffic are lower bounds. */
#define COUNTERS_PARTIAL (1ULL << 63)

struct counters {
	uint64_t valid; /* bit COUNTER_x: field x is known */
#define X(name, source) uint64_t name;
	RECORD_COUNTERS(X)
#undef X
};

/* One exec image of one process of this boot. `exec_id` is task.self_exec_id:
 * inherited by fork and incremented by every exec, so every observer sees the same
 * number, whenever it started. */
struct image_key {
	uint32_t pid; /* thread group id */
	uint32_t exec_id;
	uint64_t start_boot_ns; /* group_leader.start_boottime; 0: the image is unknown */
};

/* What every record begins with. */
struct record_header {
	uint32_t type;          /* enum record_type */
	uint32_t size;          /* bytes, this header and trailing text included */
	uint64_t boot_ns;       /* when it happened */
	struct image_key image; /* the process and its program; none for a cgroup */
};

/* A new process (thread group). */
struct record_fork {
	struct record_header header; /* image: the child, still in its parent's image */
	struct image_key parent;     /* child.real_parent: CLONE_PARENT is honoured */
	uint64_t cgroup_id;          /* of the child */
	uint32_t pad;                /* older records have another number there */
	uint32_t pgid;               /* process group */
	uint32_t uid;                /* real user id */
	uint32_t flags;              /* RECORD_KERNEL_THREAD, RECORD_WITHOUT_PROBE */
	uint32_t anon_kib;           /* of the child: mm.rss_stat[MM_ANONPAGES]. Older records end before this */
	uint32_t parent_shared_kib;  /* of the parent: mm.rss_stat[MM_SHMEMPAGES] */
	uint32_t parent_faults;      /* the forking thread's min_flt, if RECORD_FORK_FAULTS */
	uint32_t pad_end;
};

#define RECORD_FORK_FAULTS (1U << 11) /* the parent never had a second thread: its faults are that thread's */
#define RECORD_KIB_UNKNOWN UINT32_MAX /* anon_kib of an older record */

/* An exec dropped by the ignore list. */
struct record_ignored {
	struct record_header header;
};

/* Identity and location of a process: part of exec records and samples. */
struct record_context {
	struct image_key parent;   /* current real_parent */
	uint64_t cgroup_id;        /* a cgroup record has its path */
	uint32_t pid_namespace;    /* inode number in nsfs */
	uint32_t mount_namespace;  /* the same */
	uint32_t uid;              /* real user id */
	uint32_t gid;              /* real group id */
	uint32_t core_limit_milli; /* 1/1000 processor: affinity and CPU quota, if RECORD_CORE_LIMIT */
	uint32_t pgid;             /* process group */
	uint32_t tty;              /* device number of the controlling terminal, or 0 */
	uint32_t stdin_pipe;       /* inode if descriptor 0 is a pipe or FIFO, else 0 */
	uint32_t stdout_pipe;      /* the same for descriptor 1 */
	uint32_t flags;            /* RECORD_* below */
};

#define RECORD_SCRIPT (1U << 0)         /* `filename` is a #! script, argv[0] its interpreter */
#define RECORD_ARGV_TRUNCATED (1U << 1) /* argv is incomplete */
#define RECORD_PATH_TRUNCATED (1U << 2) /* filename is incomplete: an exec lacks its end, a sample its beginning */
#define RECORD_ARGV_UNKNOWN (1U << 3)   /* argv exists but was not read */
#define RECORD_KERNEL_THREAD (1U << 4)
#define RECORD_EXITING (1U << 5)         /* sample of a process that is exiting or a zombie */
#define RECORD_STDIN_ELSEWHERE (1U << 6) /* descriptor 0 is not the terminal; unset: it is, or unknown */
#define RECORD_CWD_TRUNCATED (1U << 7)   /* cwd lacks its beginning */
#define RECORD_CORE_LIMIT (1U << 8)      /* core_limit_milli is known; older records have another number there */
#define RECORD_MEMORY_STALL (1U << 9) /* sample: a thread in uninterruptible sleep waits for memory: task.in_memstall */
#define RECORD_WITHOUT_PROBE (1U << 10) /* not of the kernel side: tracer run of a user read it from /proc */

#define RECORD_FILENAME_MAX 512
#define RECORD_CWD_MAX 1024
#define RECORD_ARGV_MAX 4096
#define RECORD_COMM_SIZE 16

/* Also the layout of samples, which carry text only if the scan requests it; otherwise
 * the sizes are 0. Text follows the structure, in the order of the sizes, each string
 * NUL-terminated. Paths other than those given to execve are their components from the leaf
 * to the root; the root itself is one empty component. */
struct record_exec {
	struct record_header header;
	struct record_context context;
	struct counters counters;    /* up to this exec: they complete the previous image */
	char comm[RECORD_COMM_SIZE]; /* name of the main thread */
	uint16_t filename_size;      /* exec: as given to execve; sample: the path of mm.exe_file */
	uint16_t cwd_size;           /* the working directory; 0: unknown */
	uint32_t argv_size;          /* the arguments */
};

/* The totals of a process: at its exit, to which the teardown still adds; at its final, which overrides them. */
struct record_exit {
	struct record_header header; /* RECORD_EXIT or RECORD_FINAL */
	struct counters counters;
	uint32_t wait_status; /* as wait4 returns it: signal.group_exit_code or the leader's exit_code */
	uint32_t flags;       /* RECORD_EXIT_* */
};

#define RECORD_EXIT_OOM (1U << 0)          /* signal.oom_mm: killed by the OOM killer */
#define RECORD_EXIT_MEMORY_LIMIT (1U << 1) /* signal.rlim: RLIMIT_AS or RLIMIT_DATA is set */
#define RECORD_EXIT_FILE_LIMIT (1U << 2)   /* RLIMIT_FSIZE is set */
#define RECORD_EXIT_CPU_LIMIT (1U << 3)    /* the hard RLIMIT_CPU is set */
/* Exit only: the bits from the shift on are the KiB that its parent has read so far, modulo 2^24; known
 * if the parent never had a second thread. */
#define RECORD_EXIT_PARENT_READ (1U << 4)
#define RECORD_EXIT_PARENT_READ_SHIFT 8
#define RECORD_EXIT_UNKNOWN (1U << 5) /* not of the kernel side: wait_status is not known */

/* The target is the header's image. Only delivered signals are recorded: HUP, INT, QUIT,
 * KILL, TERM, XCPU; ALRM, USR1, USR2 and XFSZ only if the target does not handle them; those of
 * faults (SEGV, ABRT, ...) only from another process. */
struct record_signal {
	struct record_header header;
	struct image_key sender; /* start_boot_ns 0: the kernel itself, including a terminal's ^C */
	uint32_t sender_uid;     /* real user id */
	uint32_t signal;         /* its number */
	int32_t code;            /* si_code: > 0 from the kernel, 0 from kill(2), < 0 see sigaction(2) */
	uint32_t flags;          /* RECORD_SIGNAL_* */
};

#define RECORD_SIGNAL_GROUP (1U << 0) /* sent to the thread group, not to one thread */

/* One record per device node that a process holds open; a node opened twice is reported twice. */
struct record_device {
	struct record_header header;
	uint32_t major; /* of the device node */
	uint32_t minor; /* the same */
};

/* A regular file of at least RECORD_FILE_LEAST bytes that a process holds open for reading only, between its beginning
 * and its end: two numbers, nothing that tells which. What is read by pread or mmap stays at the beginning. */
struct record_file {
	struct record_header header;
	uint64_t position_bytes; /* file.f_pos */
	uint64_t size_bytes;     /* inode.i_size */
};

#define RECORD_FILE_LEAST (16 << 20)

/* Before the first sample of a scan, whenever a process is in another memory cgroup than the one before it, and before each
 * large one: what a cgroup holds changes while a scan goes on. Anonymous and shared memory, files in memory included, are the
 * pages in lists that are not of files (mem_cgroup_per_node): of the cgroup alone, not of those below it, without those that
 * processors have not yet put into a list, some 128 KiB each. */
struct record_memory {
	struct record_header header;
	uint64_t cgroup_id;  /* of the memory cgroup: as in a cgroup record, but also of a root. 0: none */
	uint64_t held_bytes; /* anonymous and shared memory charged to it */
	uint64_t huge_bytes; /* reserved huge pages that this one process has mapped: mm.hugetlb_usage */
};

/* Also sent by the iterator, before the first sample that needs it. */
struct record_cgroup {
	struct record_header header;
	uint64_t cgroup_id; /* kernfs id in the low 56 bits, hierarchy id above */
	uint32_t path_size; /* components from the leaf to the root, each NUL-terminated */
	uint32_t flags;     /* RECORD_CGROUP_* */
};

#define RECORD_CGROUP_TRUNCATED (1U << 0) /* the components next to the root are missing */

#define RECORD_CGROUP_PATH_MAX 1024

/* Loss: what the kernel side had to drop, by record type and cgroup. A mapped array of slots:
 * the first LOSS_HASHED are found by hash; the rest, one per type, count what found no slot
 * there (cgroup_id 0). A slot's count only grows, and slots outlive probes and rings: a reader
 * finds out what is new from the difference between two readings. */
struct loss_slot {
	uint64_t cgroup_id;
	uint32_t type; /* enum record_type; 0: the slot is free */
	uint32_t pad;
	uint64_t count;
	uint64_t first_boot_ns;
	uint64_t last_boot_ns;
};

#define DEVICE_MAJORS_MAX 16 /* kinds of devices that are reported */

#define LOSS_HASHED 64
#define LOSS_SLOTS (LOSS_HASHED + 16)

/* What the probe tells the kernel side, in one mapped structure. The first three
 * fields keep their offsets in every version. */
struct control {
	uint32_t record_version; /* RECORD_VERSION of the records in the ring */
	uint32_t ignore_kinds;   /* bit IGNORE_x: the ignore list has values of that kind */
	uint64_t build;          /* only programs of this build write to the ring */
	uint64_t ring_epoch;     /* random, never 0: identifies the ring that offsets refer to */
	uint64_t lease_boot_ns;  /* nothing is collected after this time */
	uint64_t connection;     /* incremented for each connection: cgroup paths are sent again */
	uint32_t sample_text;    /* the iterator adds filename and cwd from this pid on; 0: never */
	uint32_t pad;
};

enum ignore_kind {
	IGNORE_UID,
	IGNORE_CGROUP, /* the cgroup and its descendants */
	IGNORE_COMM,
};

struct ignore_key {
	uint32_t kind; /* enum ignore_kind */
	uint32_t pad;
	union {
		uint64_t number; /* uid or cgroup_id */
		char comm[RECORD_COMM_SIZE];
	};
};
