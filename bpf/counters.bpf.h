/* Resource usage of a thread group. record.h names the source of each figure. */
#pragma once

/* X(counter, field): a field of task_struct, and of signal_struct under the same name, where
 * the kernel adds up ended threads. */
/* clang-format off */
#define GROUP_FIELDS(X)                                                                        \
	X(user_ns, utime) X(system_ns, stime)                                                  \
	X(voluntary_switches, nvcsw) X(involuntary_switches, nivcsw)                           \
	X(minor_faults, min_flt) X(major_faults, maj_flt)

/* What the kernel keeps per thread and drops with it, or adds up in an unusable way:
 * signal_struct.ioac has the I/O of ended threads, but wait4(2) also adds the total of
 * each reaped child to it, so a shell would appear to have read and written everything
 * that its commands did. */
#define THREAD_FIELDS(X)                                                                       \
	X(run_delay_ns, sched_info.run_delay)                                                  \
	X(read_bytes, ioac.read_bytes) X(write_bytes, ioac.write_bytes)                        \
	X(cancelled_write_bytes, ioac.cancelled_write_bytes)                                   \
	X(rchar_bytes, ioac.rchar) X(wchar_bytes, ioac.wchar)                                  \
	X(syscr_count, ioac.syscr) X(syscw_count, ioac.syscw)
/* clang-format on */

#define DELAYS(X) X(block_io_delay_ns, 0) X(memory_delay_ns, 0)
#define PART_FIELDS(X) THREAD_FIELDS(X) DELAYS(X)

struct part {
	__u64 unknown; /* bit COUNTER_x */
#define X(name, field) __u64 name;
	PART_FIELDS(X)
#undef X
};

struct traffic {
	__u64 sent_bytes;
	__u64 received_bytes;
};

/* Figures of a thread group that these programs keep. The leader stays until the end,
 * unless another thread execs and replaces it: its part is kept separately for that case. */
struct group {
	struct part gone; /* of other threads that have ended */
	struct part leader;
	struct traffic traffic;
	__u64 exited;       /* 1: its exit was reported */
	__u64 partial;      /* 1: figures are missing */
	__u64 seen_boot_ns; /* when its process was last seen: at creation and at each scan */
};

/* The exec id in the key is 0. If the map is full, a process gets no entry, and its records are
 * marked partial if anything is missing; no other entry is evicted. */
#define GROUPS_MAX 16384
MAP(groups, GROUPS, GROUPS_MAX, struct image_key, struct group, 0);

static const struct group no_group;

#define TRAFFIC_SLOTS 16384

/* Traffic of most groups, indexed by pid without a search, since messages are frequent. The first
 * group that uses a slot has it until it ends; meanwhile, other groups with the same index count
 * their bytes in `groups`. A slot fills a cache line, to avoid false sharing. */
struct traffic_slot {
	__u64 start_boot_ns; /* of its group's leader; 0: free */
	struct traffic traffic;
	__u64 missed_from_boot_ns; /* starts of the first and */
	__u64 missed_to_boot_ns;   /* last group whose bytes could not be counted; 0: none */
	__u64 pad[3];
};

MAP(traffic, ARRAY, TRAFFIC_SLOTS, __u32, struct traffic_slot, 0);

const volatile bool network = false; /* set by the probe: count bytes sent and received */

#define VALID(name) COUNTER_VALID(name)
#define VALID_DELAYS (VALID(block_io_delay_ns) | VALID(memory_delay_ns))
#define VALID_MEMORY \
	(VALID(peak_rss_bytes) | VALID(rss_anon_bytes) | VALID(rss_file_bytes) | VALID(rss_shmem_bytes) | \
	 VALID(swap_bytes))
#define MEMORY_STALL (1ULL << 32) /* added to uninterruptible_count: it becomes RECORD_MEMORY_STALL of a sample */

/* clang-format off */
#define GROUP_KEY(task) {(task)->tgid, 0, start_read((task)->group_leader, false)}
/* clang-format on */

static __always_inline struct group *group_find(struct task_struct *task)
{
	struct image_key key = GROUP_KEY(task);

	return bpf_map_lookup_elem(&groups, &key);
}

/* Find or create an entry to update. Returns NULL if another build is in charge or the map is full. An entry
 * created after threads have ended (before these programs ran, or while it was full) lacks their usage. */
static __always_inline struct group *group_get(struct task_struct *task)
{
	struct image_key key = GROUP_KEY(task);
	struct group *found;

	if (!control_find())
		return NULL;
	found = bpf_map_lookup_elem(&groups, &key);
	if (found)
		return found;
	/* Another thread may do the same concurrently: the first entry stays. */
	bpf_map_update_elem(&groups, &key, &no_group, BPF_NOEXIST);
	found = bpf_map_lookup_elem(&groups, &key);
	if (found && !found->seen_boot_ns) {
		found->partial = task->signal->sum_sched_runtime != 0;
		found->seen_boot_ns = bpf_ktime_get_boot_ns();
	}
	return found;
}

static __always_inline struct traffic_slot *traffic_slot_of(struct task_struct *task)
{
	__u32 index = (__u32)task->tgid % TRAFFIC_SLOTS;

	return bpf_map_lookup_elem(&traffic, &index);
}

static __always_inline void traffic_add(struct traffic *traffic, __u64 sent, __u64 received)
{
	if (sent)
		ADD(&traffic->sent_bytes, sent);
	if (received)
		ADD(&traffic->received_bytes, received);
}

static __always_inline void traffic_miss(struct traffic_slot *slot, __u64 start_boot_ns)
{
	if (!slot->missed_to_boot_ns || start_boot_ns < slot->missed_from_boot_ns)
		slot->missed_from_boot_ns = start_boot_ns;
	if (start_boot_ns > slot->missed_to_boot_ns)
		slot->missed_to_boot_ns = start_boot_ns;
}

static __always_inline void group_add_traffic(struct task_struct *task, __u64 sent, __u64 received)
{
	__u64 start_boot_ns = start_read(task->group_leader, false), owner;
	struct traffic_slot *slot = traffic_slot_of(task);
	struct group *group;

	if (!slot || !control_find())
		return;
	owner = slot->start_boot_ns;
	if (!owner) /* take it, unless another group is faster */
		owner = SET_IF_ZERO(&slot->start_boot_ns, start_boot_ns);
	if (!owner || owner == start_boot_ns)
		traffic_add(&slot->traffic, sent, received);
	else if ((group = group_get(task)))
		traffic_add(&group->traffic, sent, received);
	else
		traffic_miss(slot, start_boot_ns);
}

/* Add up both places: the slot may have been freed in between. If its bytes found no entry then, the final record
 * lacks them, and those of the exit record stand. */
static __always_inline void traffic_read(struct counters *sum, struct task_struct *task, const struct group *group,
					 const __u32 type)
{
	struct traffic_slot *slot = traffic_slot_of(task);
	__u64 start_boot_ns = start_read(task->group_leader, false);

	if (group) {
		sum->sent_bytes = group->traffic.sent_bytes;
		sum->received_bytes = group->traffic.received_bytes;
	}
	if (slot && slot->start_boot_ns == start_boot_ns) {
		sum->sent_bytes += slot->traffic.sent_bytes;
		sum->received_bytes += slot->traffic.received_bytes;
	}
	if (!slot || start_boot_ns < slot->missed_from_boot_ns || start_boot_ns > slot->missed_to_boot_ns)
		return;
	sum->valid |= COUNTERS_PARTIAL;
	if (type == RECORD_FINAL && !group)
		sum->valid &= ~(VALID(sent_bytes) | VALID(received_bytes));
}

/* task.delays is NULL unless kernel.task_delayacct was on when the thread started. A
 * delay greater than the thread's age is a known kernel bug. Both are unknown. */
static __always_inline void delays_read(struct part *part, struct task_delay_info *delays, __u64 age_ns)
{
	part->unknown = VALID_DELAYS;
	if (!delays)
		return;
	part->block_io_delay_ns = READ(delays, blkio_delay);
	part->memory_delay_ns =
		READ(delays, swapin_delay) + READ(delays, freepages_delay) + READ(delays, thrashing_delay);
	if (part->block_io_delay_ns <= age_ns)
		part->unknown &= ~VALID(block_io_delay_ns);
	if (part->memory_delay_ns <= age_ns)
		part->unknown &= ~VALID(memory_delay_ns);
}

static __always_inline void part_read(struct part *part, struct task_struct *task, __u64 now_boot_ns,
				      const bool is_computed)
{
	struct task_delay_info *delays = NULL;

#define X(name, field) part->name = bpf_core_field_exists(task->field) ? FIELD(task, field) : 0;
	THREAD_FIELDS(X)
#undef X
	part->block_io_delay_ns = 0;
	part->memory_delay_ns = 0;
	if (bpf_core_field_exists(task->delays))
		delays = FIELD(task, delays);
	delays_read(part, delays, now_boot_ns - start_read(task, is_computed));
}

static __always_inline void part_add(struct counters *sum, const struct part *part)
{
	sum->valid &= ~part->unknown;
#define X(name, field) sum->name += part->name;
	PART_FIELDS(X)
#undef X
}

/* An exiting thread has already added its part to its group; the leader never does. */
static __always_inline void thread_add(struct counters *sum, struct task_struct *task, __u64 now_boot_ns,
				       const bool is_computed)
{
	__u32 state = STATE(task);
	struct part part;

	sum->cpu_ns += FIELD(task, se.sum_exec_runtime);
#define X(name, field) sum->name += FIELD(task, field);
	GROUP_FIELDS(X)
#undef X
	if ((state & (TASK_UNINTERRUPTIBLE | TASK_NOLOAD)) == TASK_UNINTERRUPTIBLE) {
		sum->uninterruptible_count++;
		if (bpf_core_field_exists(task->in_memstall) && BPF_CORE_READ_BITFIELD_PROBED(task, in_memstall))
			sum->uninterruptible_count += MEMORY_STALL;
	}
	if (FIELD(task, pid) != FIELD(task, tgid) && FIELD(task, flags) & PF_EXITING)
		return;
	part_read(&part, task, now_boot_ns, is_computed);
	part_add(sum, &part);
}

struct thread_walk {
	struct counters *sum;
	struct list_head *head;
	struct list_head *node;
	__u64 now_boot_ns;
};

/* Returns 1 after the last thread. */
static __always_inline long thread_walk_step(__u32 index, struct thread_walk *walk)
{
	struct list_head *node = walk->node;

	if (!node || node == walk->head)
		return 1;
	thread_add(walk->sum, (void *)node - bpf_core_field_offset(struct task_struct, thread_node), walk->now_boot_ns,
		   true);
	walk->node = READ(node, next);
	return 0;
}

static __always_inline void threads_add(struct counters *sum, struct signal_struct *signal, const __u32 type,
					const __u64 now_boot_ns)
{
	struct list_head *head = &signal->thread_head;
	struct thread_walk walk = {sum, head, READ(head, next), now_boot_ns};

	LOOP(type == RECORD_EXIT ? THREADS_MAX_EXITING : THREADS_MAX, thread_walk_step, &walk);
	if (walk.node == walk.head)
		return;
	sum->valid &= ~(VALID(cpu_ns) | VALID_DELAYS | VALID(uninterruptible_count));
#define X(name, field) sum->valid &= ~VALID(name);
	/* clang-format off */
	GROUP_FIELDS(X) THREAD_FIELDS(X)
	/* clang-format on */
#undef X
}

/* CO-RE needs the index to be a constant: elements are larger in the kernel than they
 * are declared here. Per-CPU parts may leave a sum below zero. */
#define RSS_BYTES(mm, member) \
	({ \
		struct mm_struct___rss *variant = (void *)(mm); \
		__s64 pages = bpf_core_field_exists(variant->rss_stat.count) \
				      ? BPF_CORE_READ(variant, rss_stat.count[member].counter) \
				      : (mm)->rss_stat[member].count; \
		pages > 0 ? (__u64)pages *page_size : 0; \
	})

static __always_inline void memory_read(struct counters *sum, struct mm_struct *mm)
{
	__u64 now, peak = (__u64)mm->hiwater_rss * page_size;

	sum->valid |= VALID_MEMORY;
	sum->rss_file_bytes = RSS_BYTES(mm, MM_FILEPAGES);
	sum->rss_anon_bytes = RSS_BYTES(mm, MM_ANONPAGES);
	sum->rss_shmem_bytes = RSS_BYTES(mm, MM_SHMEMPAGES);
	sum->swap_bytes = RSS_BYTES(mm, MM_SWAPENTS);
	now = sum->rss_file_bytes + sum->rss_anon_bytes + sum->rss_shmem_bytes;
	sum->peak_rss_bytes = peak > now ? peak : now;
}

/* The root has neither a peak nor a limit. */
static __always_inline void cgroup_memory_read(struct counters *sum, struct css_set *set)
{
	struct mem_cgroup *group = (void *)SUBSYSTEM(set, memory_cgrp_id);
	struct page_counter *counter = &group->memory, *parent;
	__u64 limit = PAGE_COUNTER_MAX, max;

	if (!group)
		return;
	for (loop_index i = 0; i < CGROUP_DEPTH_MAX; i++) {
		parent = READ(counter, parent);
		if (!parent)
			break;
		max = READ(counter, max);
		limit = max < limit ? max : limit;
		if (i == 0) {
			sum->cgroup_memory_peak_bytes = READ(counter, watermark) * page_size;
			sum->valid |= VALID(cgroup_memory_peak_bytes);
		}
		counter = parent;
	}
	sum->cgroup_memory_limit_bytes = limit * page_size;
	if (limit < PAGE_COUNTER_MAX)
		sum->valid |= VALID(cgroup_memory_limit_bytes);
}

static __always_inline void cgroup_throttled_read(struct counters *sum, struct css_set *set)
{
	struct task_group *group = (void *)SUBSYSTEM(set, cpu_cgrp_id), *parent;

	if (!group || !bpf_core_field_exists(group->cfs_bandwidth.throttled_time))
		return;
	for (loop_index i = 0; i < CGROUP_DEPTH_MAX; i++) {
		parent = READ(group, parent);
		if (!parent)
			break;
		sum->cgroup_throttled_ns += READ(group, cfs_bandwidth.throttled_time);
		sum->valid |= VALID(cgroup_throttled_ns);
		group = parent;
	}
}

/* The figures that every record has, as far as this kernel counts them. */
static __always_inline __u64 valid_always(void)
{
	struct task_struct *task = NULL;
	__u64 valid = VALID(cpu_ns) | VALID(maxrss_bytes) | VALID(thread_count) | VALID_DELAYS;

#define X(name, field) valid |= VALID(name);
	GROUP_FIELDS(X)
#undef X
#define X(name, field) valid |= bpf_core_field_exists(task->field) ? VALID(name) : 0;
	THREAD_FIELDS(X)
#undef X
	return network ? valid | VALID(sent_bytes) | VALID(received_bytes) : valid;
}

/* Returns true if threads have ended, as the sum of their time shows, whose usage was not kept.
 * Once the process has been reaped, that sum includes the leader's time. */
static __always_inline bool group_is_missing(struct task_struct *task, const __u32 type)
{
	struct signal_struct *signal = task->signal;

	if (type == RECORD_EXIT && signal->nr_threads > 1)
		return true;
	return signal->sum_sched_runtime > (type == RECORD_FINAL ? task->se.sum_exec_runtime : 0);
}

/* Read the figures of a thread group; `task` is one of its threads. Memory and the cgroup's are read in
 * samples and at exit, and for how long the cgroup was throttled at an exec, too: what follows counts. At an
 * exec, `task` is the only thread. In the final record, the sums of ended threads include the leader, except
 * for its part. */
static __always_inline void counters_read(struct counters *sum, struct task_struct *task, const __u32 type,
					  __u64 now_boot_ns)
{
	struct signal_struct *signal = task->signal;
	struct group *group = group_find(task);
	struct part part;

	__builtin_memset(sum, 0, sizeof(*sum));
	sum->valid = valid_always();
	sum->cpu_ns = signal->sum_sched_runtime;
	sum->maxrss_bytes = (__u64)signal->maxrss * page_size;
	sum->thread_count = signal->nr_threads;
#define X(name, field) sum->name = signal->field;
	GROUP_FIELDS(X)
#undef X
	if (group)
		part_add(sum, &group->gone);
	if (group ? group->partial : group_is_missing(task, type))
		sum->valid |= COUNTERS_PARTIAL;
	if (group && type == RECORD_SAMPLE)
		group->seen_boot_ns = now_boot_ns;
	traffic_read(sum, task, group, type);
	if (type == RECORD_SAMPLE)
		sum->valid |= VALID(uninterruptible_count);
	if (type == RECORD_FINAL) {
		sum->valid &= ~VALID(thread_count);
		part_read(&part, task, now_boot_ns, false);
		part_add(sum, &part);
	} else if (type == RECORD_EXEC || signal->nr_threads == 1) {
		thread_add(sum, task, now_boot_ns, false);
	} else {
		threads_add(sum, signal, type, now_boot_ns);
	}
	if (type == RECORD_EXIT || type == RECORD_SAMPLE) {
		if (task->mm)
			memory_read(sum, task->mm);
		cgroup_memory_read(sum, task->cgroups);
	}
	if (type != RECORD_FINAL)
		cgroup_throttled_read(sum, task->cgroups);
}

/* A thread of a group that had several ends: keep its part. */
static __always_inline void group_keep_thread(struct task_struct *task, __u64 now_boot_ns)
{
	struct group *group = group_get(task);
	struct part part;

	if (!group)
		return;
	part_read(&part, task, now_boot_ns, false);
	if (task->pid == task->tgid) {
		group->leader = part;
		return;
	}
	group->gone.unknown |= part.unknown;
#define X(name, field) ADD(&group->gone.name, part.name);
	PART_FIELDS(X)
#undef X
}

/* The group ends: free its slot, and move its bytes to `groups` for the final record.
 * (Not at the final record: the kernel does not deliver all of those events.) */
static __always_inline void traffic_settle(struct task_struct *task)
{
	struct traffic_slot *slot = traffic_slot_of(task);
	__u64 start_boot_ns = start_read(task->group_leader, false);
	struct group *group;

	if (!slot || slot->start_boot_ns != start_boot_ns || !control_find())
		return;
	group = group_get(task);
	if (group)
		traffic_add(&group->traffic, slot->traffic.sent_bytes, slot->traffic.received_bytes);
	else
		traffic_miss(slot, start_boot_ns);
	slot->traffic = no_group.traffic;
	EXCHANGE(&slot->start_boot_ns, 0); /* last, and visible to all CPUs */
}

/* A new image begins: figures missing from previous images do not affect it. */
static __always_inline void group_forget_missing(struct task_struct *task)
{
	struct group *group = group_get(task);

	if (group)
		group->partial = 0;
}

#define GROUP_GONE_NS 60000000000ULL /* an entry not seen for this long is removed */
#define SWEEP_PERIOD_NS 10000000000ULL
#define SWEEP_MAX 8

struct sweep {
	__u64 gone_boot_ns;
	__u32 count;
	struct image_key keys[SWEEP_MAX];
};

static long sweep_step(struct bpf_map *map, const struct image_key *key, struct group *group, struct sweep *sweep)
{
	if (!group->seen_boot_ns || group->seen_boot_ns > sweep->gone_boot_ns)
		return 0;
	if (sweep->count >= SWEEP_MAX)
		return 1;
	sweep->keys[sweep->count++] = *key;
	return 0;
}

static __u64 next_sweep_boot_ns;

/* Runs at the end of a scan: the kernel does not deliver all events of freed processes, and nothing
 * else would remove their entries. */
static SUBPROGRAM int groups_sweep(void)
{
	__u64 now_boot_ns = bpf_ktime_get_boot_ns();
	struct sweep sweep = {.gone_boot_ns = now_boot_ns - GROUP_GONE_NS};

	if (now_boot_ns < next_sweep_boot_ns || !control_find())
		return 0;
	EACH_ENTRY(&groups, sweep_step, &sweep);
	for (__u32 i = 0; i < SWEEP_MAX && i < sweep.count; i++)
		bpf_map_delete_elem(&groups, &sweep.keys[i]);
	if (sweep.count < SWEEP_MAX) /* else there may be more */
		next_sweep_boot_ns = now_boot_ns + SWEEP_PERIOD_NS;
	return 0;
}

/* A thread other than the leader has called exec and become the leader. */
static __always_inline void group_leader_replaced(struct task_struct *task)
{
	struct group *group = group_find(task);

	if (!group || !control_find())
		return;
	group->gone.unknown |= group->leader.unknown;
#define X(name, field) group->gone.name += group->leader.name;
	PART_FIELDS(X)
#undef X
	group->leader = no_group.leader;
}
