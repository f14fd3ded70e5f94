/* What a thread group has used so far. record.h names each figure's source. */
#ifndef TRACER_BPF_COUNTERS_BPF_H
#define TRACER_BPF_COUNTERS_BPF_H

/* Threads walked; above it, sums are unknown until the final record. */
#define THREADS_MAX (1 << 16)
#define THREADS_MAX_UNROLLED 96 /* before 5.17, where the verifier follows every step */

/* The kernel keeps delays per thread and forgets them with it: what threads that
 * are gone have waited. The leader stays until the end, unless another thread
 * execs and takes its place: its own waiting is kept apart for that case. */
struct gone_threads {
	__u64 start_boot_ns; /* of the thread group: pids come again */
	__u64 run_delay_ns;
	__u64 block_io_delay_ns;
	__u64 leader_run_delay_ns;
	__u64 leader_block_io_delay_ns;
};

/* By thread group id. Entries that fall out lose waiting times, nothing else. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, __u32);
	__type(value, struct gone_threads);
} gone SEC(".maps");

#define VALID(name) COUNTER_VALID(name)
#define VALID_ALL ((1ULL << COUNTER_COUNT) - 1)
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

/* task.delays is NULL unless kernel.task_delayacct was on when the task began. A
 * delay above the task's age is a known kernel fault: unknown, too. */
static __always_inline bool block_io_delay_read(struct task_struct *task, __u64 now_boot_ns,
						__u64 *ret_delay_ns)
{
	struct task_delay_info *delays = BPF_CORE_READ(task, delays);

	if (!delays)
		return false;
	*ret_delay_ns = BPF_CORE_READ(delays, blkio_delay);
	return *ret_delay_ns <= now_boot_ns - BPF_CORE_READ(task, start_boottime);
}

static __always_inline void delays_add(struct counters *sum, struct task_struct *task,
				       __u64 now_boot_ns)
{
	__u64 delay_ns = 0;

	sum->run_delay_ns += BPF_CORE_READ(task, sched_info.run_delay);
	if (block_io_delay_read(task, now_boot_ns, &delay_ns))
		sum->block_io_delay_ns += delay_ns;
	else
		sum->valid &= ~VALID(block_io_delay_ns);
}

static __always_inline void io_add(struct counters *sum, const struct task_io_accounting *io)
{
	if (bpf_core_field_exists(io->read_bytes)) {
		sum->read_bytes += BPF_CORE_READ(io, read_bytes);
		sum->write_bytes += BPF_CORE_READ(io, write_bytes);
		sum->cancelled_write_bytes += BPF_CORE_READ(io, cancelled_write_bytes);
	} else {
		sum->valid &= ~VALID_STORAGE;
	}
	if (bpf_core_field_exists(io->rchar)) {
		sum->rchar_bytes += BPF_CORE_READ(io, rchar);
		sum->wchar_bytes += BPF_CORE_READ(io, wchar);
		sum->syscr_count += BPF_CORE_READ(io, syscr);
		sum->syscw_count += BPF_CORE_READ(io, syscw);
	} else {
		sum->valid &= ~VALID_CALLS;
	}
}

static __always_inline void thread_add(struct counters *sum, struct task_struct *task,
				       __u64 now_boot_ns)
{
	sum->cpu_ns += BPF_CORE_READ(task, se.sum_exec_runtime);
	sum->user_ns += BPF_CORE_READ(task, utime);
	sum->system_ns += BPF_CORE_READ(task, stime);
	sum->voluntary_switches += BPF_CORE_READ(task, nvcsw);
	sum->involuntary_switches += BPF_CORE_READ(task, nivcsw);
	sum->minor_faults += BPF_CORE_READ(task, min_flt);
	sum->major_faults += BPF_CORE_READ(task, maj_flt);
	io_add(sum, &task->ioac);
	/* A thread that is going has put its delays into `gone` already; the leader
	 * never does. */
	if (BPF_CORE_READ(task, pid) == BPF_CORE_READ(task, tgid) ||
	    !(BPF_CORE_READ(task, flags) & PF_EXITING))
		delays_add(sum, task, now_boot_ns);
}

static __always_inline void signal_add(struct counters *sum, struct signal_struct *signal)
{
	sum->cpu_ns += signal->sum_sched_runtime;
	sum->user_ns += signal->utime;
	sum->system_ns += signal->stime;
	sum->voluntary_switches += signal->nvcsw;
	sum->involuntary_switches += signal->nivcsw;
	sum->minor_faults += signal->min_flt;
	sum->major_faults += signal->maj_flt;
	sum->maxrss_bytes = (__u64)signal->maxrss * page_size;
	sum->thread_count = signal->nr_threads;
	io_add(sum, &signal->ioac);
}

static __always_inline void gone_add(struct counters *sum, struct task_struct *task)
{
	__u32 tgid = task->tgid;
	struct gone_threads *found = bpf_map_lookup_elem(&gone, &tgid);

	if (!found || found->start_boot_ns != task->group_leader->start_boottime)
		return;
	sum->run_delay_ns += found->run_delay_ns;
	sum->block_io_delay_ns += found->block_io_delay_ns;
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
	thread_add(walk->sum, (void *)node - bpf_core_field_offset(struct task_struct, thread_node),
		   walk->now_boot_ns);
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
			: BPF_CORE_READ(mm, rss_stat[member].count);                           \
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
	struct signal_struct *signal = task->signal;

	__builtin_memset(sum, 0, sizeof(*sum));
	sum->valid = VALID_ALL;
	signal_add(sum, signal);
	gone_add(sum, task);
	if (alone || signal->nr_threads == 1)
		thread_add(sum, task, now_boot_ns);
	else
		threads_add(sum, signal, now_boot_ns);
	if (mm)
		memory_read(sum, mm);
	else
		sum->valid &= ~VALID_MEMORY;
}

/* Of a thread group that was reaped: everything is in signal_struct, but for the
 * delays of the leader. */
static __always_inline void counters_read_final(struct counters *sum, struct task_struct *leader,
						__u64 now_boot_ns)
{
	__builtin_memset(sum, 0, sizeof(*sum));
	sum->valid = VALID_ALL & ~(VALID_MEMORY | VALID(thread_count));
	signal_add(sum, leader->signal);
	gone_add(sum, leader);
	delays_add(sum, leader, now_boot_ns);
}

/* A thread leaves a group that had several: keep what it has waited. */
static __always_inline void gone_keep(struct task_struct *task, __u64 now_boot_ns)
{
	struct gone_threads fresh = {.start_boot_ns = task->group_leader->start_boottime};
	__u64 run_delay_ns = task->sched_info.run_delay, block_io_delay_ns = 0;
	__u32 tgid = task->tgid;
	struct gone_threads *found = bpf_map_lookup_elem(&gone, &tgid);

	if (!found || found->start_boot_ns != fresh.start_boot_ns) {
		bpf_map_update_elem(&gone, &tgid, &fresh, found ? BPF_ANY : BPF_NOEXIST);
		found = bpf_map_lookup_elem(&gone, &tgid);
	}
	if (!found)
		return;
	if (!block_io_delay_read(task, now_boot_ns, &block_io_delay_ns))
		block_io_delay_ns = 0;
	if (task->pid == task->tgid) {
		found->leader_run_delay_ns = run_delay_ns;
		found->leader_block_io_delay_ns = block_io_delay_ns;
	} else {
		__sync_fetch_and_add(&found->run_delay_ns, run_delay_ns);
		__sync_fetch_and_add(&found->block_io_delay_ns, block_io_delay_ns);
	}
}

/* A thread that was not the leader has exec'ed and is the leader now. */
static __always_inline void gone_leader_replaced(struct task_struct *task)
{
	__u32 tgid = task->tgid;
	struct gone_threads *found = bpf_map_lookup_elem(&gone, &tgid);

	if (!found || found->start_boot_ns != task->group_leader->start_boottime)
		return;
	found->run_delay_ns += found->leader_run_delay_ns;
	found->block_io_delay_ns += found->leader_block_io_delay_ns;
	found->leader_run_delay_ns = 0;
	found->leader_block_io_delay_ns = 0;
}

#endif
