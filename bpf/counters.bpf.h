/* What a thread group has used so far. record.h names each figure's source. */
#ifndef TRACER_BPF_COUNTERS_BPF_H
#define TRACER_BPF_COUNTERS_BPF_H

/* Threads walked; above it, sums are unknown until the final record. */
#define THREADS_MAX (1 << 16)
#define THREADS_MAX_UNROLLED 96 /* before 5.17, where the verifier follows every step */

/* What the kernel keeps per thread and forgets with it, or keeps in a way that is of
 * no use: signal_struct.ioac has the I/O of threads that are gone, but wait4(2) also
 * adds there all that a reaped child had, so a shell would seem to have read and
 * written everything that its commands did. Same names as in struct counters. */
#define PART_FIELDS(X)                                                                         \
	X(run_delay_ns) X(block_io_delay_ns) X(read_bytes) X(write_bytes)                      \
	X(cancelled_write_bytes) X(rchar_bytes) X(wchar_bytes) X(syscr_count) X(syscw_count)

struct part {
#define X(name) __u64 name;
	PART_FIELDS(X)
#undef X
};

/* Of the threads that are gone. The leader stays until the end, unless another thread
 * execs and takes its place: its own part is kept apart for that case. */
struct gone_threads {
	struct part others;
	struct part leader;
};

/* A pid comes again before the kernel has said its last word on the process that had it
 * first: both have an entry then. */
struct gone_key {
	__u64 start_boot_ns; /* of the thread group */
	__u64 tgid;
};

/* An entry that falls out loses that part of a process. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct gone_key);
	__type(value, struct gone_threads);
} gone SEC(".maps");

#define VALID(name) COUNTER_VALID(name)
#define VALID_ALL ((1ULL << COUNTER_memory_delay_ns) - 1)
#define VALID_MEMORY                                                                          \
	(VALID(peak_rss_bytes) | VALID(rss_anon_bytes) | VALID(rss_file_bytes) |              \
	 VALID(rss_shmem_bytes) | VALID(swap_bytes))
#define VALID_STORAGE                                                                         \
	(VALID(read_bytes) | VALID(write_bytes) | VALID(cancelled_write_bytes))
#define VALID_CALLS                                                                           \
	(VALID(rchar_bytes) | VALID(wchar_bytes) | VALID(syscr_count) | VALID(syscw_count))
#define VALID_SUMS                                                                            \
	(VALID(cpu_ns) | VALID(user_ns) | VALID(system_ns) | VALID(run_delay_ns) |            \
	 VALID(block_io_delay_ns) | VALID(voluntary_switches) | VALID(involuntary_switches) | \
	 VALID(minor_faults) | VALID(major_faults) | VALID_STORAGE | VALID_CALLS)

/* Two ways to read a field. What the kernel hands to a program, and what is reached
 * from there, is read in place; behind an address that a program has computed, only a
 * copying helper may look, at about 20 ns a field. */
#define READ_IN_PLACE(from, field) ((from)->field)
#define READ_COPY(from, field) BPF_CORE_READ(from, field)

/* task.delays is NULL unless kernel.task_delayacct was on when the task began. A
 * delay above the task's age is a known kernel fault. Either way: unknown. */
static __always_inline bool block_io_delay_add(__u64 *sum, struct task_delay_info *delays,
					       __u64 age_ns)
{
	__u64 delay_ns = delays ? BPF_CORE_READ(delays, blkio_delay) : 0;

	if (!delays || delay_ns > age_ns)
		return false;
	*sum += delay_ns;
	return true;
}

/* `to`: struct counters or struct part. False: the delay for block I/O is unknown. */
#define PART_ADD(to, task, now_boot_ns, READ)                                                  \
	({                                                                                     \
		(to)->run_delay_ns += READ(task, sched_info.run_delay);                        \
		if (bpf_core_field_exists((task)->ioac.read_bytes)) {                          \
			(to)->read_bytes += READ(task, ioac.read_bytes);                       \
			(to)->write_bytes += READ(task, ioac.write_bytes);                     \
			(to)->cancelled_write_bytes += READ(task, ioac.cancelled_write_bytes); \
		}                                                                              \
		if (bpf_core_field_exists((task)->ioac.rchar)) {                               \
			(to)->rchar_bytes += READ(task, ioac.rchar);                           \
			(to)->wchar_bytes += READ(task, ioac.wchar);                           \
			(to)->syscr_count += READ(task, ioac.syscr);                           \
			(to)->syscw_count += READ(task, ioac.syscw);                           \
		}                                                                              \
		block_io_delay_add(&(to)->block_io_delay_ns, READ(task, delays),               \
				   (now_boot_ns) - READ(task, start_boottime));                \
	})

/* What thread and group have in the same names; a group's are those of threads that
 * are gone. */
#define USAGE_ADD(sum, from, READ)                                                             \
	do {                                                                                   \
		(sum)->user_ns += READ(from, utime);                                           \
		(sum)->system_ns += READ(from, stime);                                         \
		(sum)->voluntary_switches += READ(from, nvcsw);                                \
		(sum)->involuntary_switches += READ(from, nivcsw);                             \
		(sum)->minor_faults += READ(from, min_flt);                                    \
		(sum)->major_faults += READ(from, maj_flt);                                    \
	} while (0)

/* A thread that is going has put its part into `gone` already; the leader never does. */
#define THREAD_ADD(sum, task, now_boot_ns, READ)                                               \
	do {                                                                                   \
		(sum)->cpu_ns += READ(task, se.sum_exec_runtime);                              \
		USAGE_ADD(sum, task, READ);                                                    \
		if ((READ(task, pid) == READ(task, tgid) ||                                    \
		     !(READ(task, flags) & PF_EXITING)) &&                                     \
		    !PART_ADD(sum, task, now_boot_ns, READ))                                   \
			(sum)->valid &= ~VALID(block_io_delay_ns);                             \
	} while (0)

/* What this kernel was built to count. */
static __always_inline __u64 valid_here(void)
{
	struct task_struct *task = NULL;
	__u64 valid = VALID_ALL;

	if (!bpf_core_field_exists(task->ioac.read_bytes))
		valid &= ~VALID_STORAGE;
	if (!bpf_core_field_exists(task->ioac.rchar))
		valid &= ~VALID_CALLS;
	return valid;
}

static __always_inline struct gone_key gone_key_of(struct task_struct *task)
{
	return (struct gone_key){task->group_leader->start_boottime, task->tgid};
}

static __always_inline struct gone_threads *gone_find(struct task_struct *task)
{
	struct gone_key key = gone_key_of(task);

	return bpf_map_lookup_elem(&gone, &key);
}

static __always_inline void gone_forget(struct task_struct *leader)
{
	struct gone_key key = gone_key_of(leader);

	bpf_map_delete_elem(&gone, &key);
}

/* The threads that are gone. */
static __always_inline void counters_begin(struct counters *sum, struct task_struct *task)
{
	struct signal_struct *signal = task->signal;
	struct gone_threads *found = gone_find(task);

	__builtin_memset(sum, 0, sizeof(*sum));
	sum->valid = valid_here();
	sum->cpu_ns = signal->sum_sched_runtime;
	sum->maxrss_bytes = (__u64)signal->maxrss * page_size;
	sum->thread_count = signal->nr_threads;
	USAGE_ADD(sum, signal, READ_IN_PLACE);
	if (found) {
#define X(name) sum->name += found->others.name;
		PART_FIELDS(X)
#undef X
	}
}

struct thread_walk {
	struct counters *sum;
	struct list_head *head;
	struct list_head *node;
	__u64 now_boot_ns;
};

/* 1: that was the last one. */
static long thread_walk_step(__u32 index, struct thread_walk *walk)
{
	struct list_head *node = walk->node;

	if (!node || node == walk->head)
		return 1;
	struct task_struct *task =
		(void *)node - bpf_core_field_offset(struct task_struct, thread_node);
	THREAD_ADD(walk->sum, task, walk->now_boot_ns, READ_COPY);
	walk->node = BPF_CORE_READ(node, next);
	return 0;
}

static __always_inline void threads_add(struct counters *sum, struct signal_struct *signal,
					__u64 now_boot_ns)
{
	struct list_head *head = &signal->thread_head;
	struct thread_walk walk = {sum, head, BPF_CORE_READ(head, next), now_boot_ns};

	if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_loop)) {
		bpf_loop(THREADS_MAX, thread_walk_step, &walk, 0);
	} else {
		for (int i = 0; i < THREADS_MAX_UNROLLED && !thread_walk_step(i, &walk); i++)
			;
	}
	if (walk.node != walk.head)
		sum->valid &= ~VALID_SUMS;
}

/* The index must be a constant where CO-RE looks at it: elements are larger in the
 * kernel than what is declared of them. Per-CPU parts may leave a sum below zero. */
#define RSS_BYTES(mm, member)                                                                 \
	({                                                                                     \
		struct mm_struct___rss *variant = (void *)(mm);                                \
		__s64 pages = bpf_core_field_exists(variant->rss_stat.count)                   \
			? BPF_CORE_READ(variant, rss_stat.count[member].counter)               \
			: (mm)->rss_stat[member].count;                                        \
		pages > 0 ? (__u64)pages * page_size : 0;                                      \
	})

static __always_inline void memory_read(struct counters *sum, struct mm_struct *mm)
{
	__u64 now, peak = (__u64)mm->hiwater_rss * page_size;

	sum->rss_file_bytes = RSS_BYTES(mm, MM_FILEPAGES);
	sum->rss_anon_bytes = RSS_BYTES(mm, MM_ANONPAGES);
	sum->rss_shmem_bytes = RSS_BYTES(mm, MM_SHMEMPAGES);
	sum->swap_bytes = RSS_BYTES(mm, MM_SWAPENTS);
	now = sum->rss_file_bytes + sum->rss_anon_bytes + sum->rss_shmem_bytes;
	sum->peak_rss_bytes = peak > now ? peak : now;
}

/* Of a thread group; `task` is one of its threads, the only one if `alone`. `mm`: the
 * image that the memory figures are of, NULL: unknown. */
static __always_inline void counters_read(struct counters *sum, struct task_struct *task,
					  struct mm_struct *mm, bool alone, __u64 now_boot_ns)
{
	counters_begin(sum, task);
	if (alone || task->signal->nr_threads == 1)
		THREAD_ADD(sum, task, now_boot_ns, READ_IN_PLACE);
	else
		threads_add(sum, task->signal, now_boot_ns);
	if (mm)
		memory_read(sum, mm);
	else
		sum->valid &= ~VALID_MEMORY;
}

/* Of a thread group that was reaped: the leader is among those that are gone, but for
 * its part. */
static __always_inline void counters_read_final(struct counters *sum, struct task_struct *leader,
						__u64 now_boot_ns)
{
	counters_begin(sum, leader);
	sum->valid &= ~(VALID_MEMORY | VALID(thread_count));
	if (!PART_ADD(sum, leader, now_boot_ns, READ_IN_PLACE))
		sum->valid &= ~VALID(block_io_delay_ns);
}

/* A thread leaves a group that had several: keep its part. */
static __always_inline void gone_keep(struct task_struct *task, __u64 now_boot_ns)
{
	struct gone_threads *found = gone_find(task);
	struct part part = {};

	if (!found) {
		struct gone_key key = gone_key_of(task);
		struct gone_threads fresh = {};

		/* Another thread may be doing the same: the first one's entry stays. */
		bpf_map_update_elem(&gone, &key, &fresh, BPF_NOEXIST);
		found = gone_find(task);
	}
	if (!found)
		return;
	PART_ADD(&part, task, now_boot_ns, READ_IN_PLACE);
	if (task->pid == task->tgid) {
		found->leader = part;
	} else {
#define X(name) __sync_fetch_and_add(&found->others.name, part.name);
		PART_FIELDS(X)
#undef X
	}
}

/* A thread that was not the leader has exec'ed and is the leader now. */
static __always_inline void gone_leader_replaced(struct task_struct *task)
{
	struct gone_threads *found = gone_find(task);

	if (!found)
		return;
#define X(name) found->others.name += found->leader.name;
	PART_FIELDS(X)
#undef X
	__builtin_memset(&found->leader, 0, sizeof(found->leader));
}

#endif
