/* What /proc tells an ordinary user about a process, in the terms of the kernel side's records. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "bpf/record.h"

/* /proc/PID/stat. Times of the CPU are in ticks of the clock (10 ms), rounded down. */
struct proc_stat {
	char comm[RECORD_COMM_SIZE];
	char state; /* 'Z': ended, not reaped yet */
	pid_t ppid;
	uint32_t pgid, tty;
	uint32_t thread_count;
	uint64_t minor_faults, major_faults;
	uint64_t user_ns, system_ns;
	uint64_t reaped_ns;     /* CPU time of children that it has waited for, and of theirs */
	uint64_t reaped_faults; /* minor ones of the same: 0 if there were none */
	uint64_t start_boot_ns; /* rounded down */
	uint64_t rss_bytes;
	uint64_t stack;  /* where the stack of this program began: random for each exec; 0: not shown to us */
	int wait_status; /* of a zombie, if it is shown to us */
};

#define PROC_TICK_NS 10000000ULL

/* Returns 0, or -errno if the process is gone. */
int proc_read_stat(pid_t pid, struct proc_stat *ret);

/* I/O of the process and of the children that it has waited for: the kernel adds these up. */
#define PROC_IO(X) \
	X(rchar_bytes, "rchar") \
	X(wchar_bytes, "wchar") \
	X(syscr_count, "syscr") \
	X(syscw_count, "syscw") \
	X(read_bytes, "read_bytes") \
	X(write_bytes, "write_bytes") \
	X(cancelled_write_bytes, "cancelled_write_bytes")

struct proc_io {
	bool is_known;
#define X(name, word) uint64_t name;
	PROC_IO(X)
#undef X
};

/* Returns a descriptor that stays readable when the process is a zombie, or -1. */
int proc_open_io(pid_t pid);
/* If they are not shown to us, `ret` keeps its values. */
void proc_read_io(int io_fd, struct proc_io *ret);

/* Updates memory, context switches and, of a process with one thread, the exact CPU time. */
void proc_read_details(pid_t pid, const struct proc_stat *stat, struct counters *counters);

/* A program and where it runs: a record of type RECORD_EXEC or RECORD_SAMPLE, with its texts. */
struct proc_program {
	struct record_exec record;
	char text[RECORD_FILENAME_MAX + RECORD_CWD_MAX + RECORD_ARGV_MAX];
};

/* Sets context, name and texts of what the process executes; what is not shown to us stays unknown. */
void proc_read_program(pid_t pid, const struct proc_stat *stat, enum record_type type, struct proc_program *ret);

struct proc_list {
	pid_t *items;
	size_t count, capacity;
};

/* Adds the children of a process, zombies included, as far as the kernel lists them. Returns 0 or -errno. */
int proc_add_children(pid_t pid, uint32_t thread_count, struct proc_list *list);

/* Whether the kernel lists the children of processes (CONFIG_PROC_CHILDREN). */
bool proc_has_children(void);

/* Adds all processes that are shown to us. */
void proc_add_all(struct proc_list *list);

/* Returns a descriptor that proc_read_status() takes, or -1. */
int proc_open(pid_t pid);

/* Sets how the process of the descriptor ended, of which we are not the parent: Linux 6.15 and later tell it. Returns
 * false if that is unknown. */
bool proc_read_status(int pid_fd, int *ret_status);
