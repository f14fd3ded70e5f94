/* The maps, and what every program does with them: may it write, is the process
 * ignored, what was lost. */
#ifndef TRACER_BPF_MAPS_BPF_H
#define TRACER_BPF_MAPS_BPF_H

#define TEXT_STEP 256 /* room for one more name behind a text that is just short of full */
#define ANCESTORS_MAX 16 /* cgroups looked up for the ignore list */

/* The spool: see probe/ring.c. The probe sets its size. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 16 * 1024 * 1024);
} ring SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct control);
} control SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, LOSS_SLOTS);
	__type(key, __u32);
	__type(value, struct loss_slot);
} losses SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 256);
	__type(key, struct ignore_key);
	__type(value, __u32);
} ignored SEC(".maps");

/* cgroup_id -> control.connection that has its path. One that falls out is only
 * announced again. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, __u64);
	__type(value, __u64);
} announced SEC(".maps");

/* Where records of variable size are put together: one entry a program and CPU.
 *
 * Why it is safe. Programs here cannot move to another CPU while they run
 * (migration is off). A program cannot be entered twice on one CPU: until 6.0
 * tracepoints run with preemption off and none of these fires in interrupts but
 * sched_process_free (soft interrupt, which does not nest); since then the kernel
 * counts active entries for each program and CPU and refuses the second, whether
 * tracepoints can be preempted or not. The iterators can be preempted, and have
 * one reader: the probe, in one thread. */
struct scratch {
	union {
		struct record_exec exec;
		struct record_cgroup cgroup;
	};
	char text[2 * (RECORD_CWD_MAX + TEXT_STEP) + RECORD_ARGV_MAX];
};

enum scratch_owner { SCRATCH_FORK, SCRATCH_EXEC, SCRATCH_SAMPLE, SCRATCH_OWNERS };

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SCRATCH_OWNERS);
	__type(key, __u32);
	__type(value, struct scratch);
} scratches SEC(".maps");

const volatile __u64 build = 0;
const volatile __u32 page_size = 4096;

/* A size that the verifier can follow: before 6.2 it loses limits that the compiler
 * proves, or checks on half a register. */
static __always_inline __u64 bounded(__u64 size, __u64 highest)
{
	asm volatile("" : "+r"(size));
	return size <= highest ? size : 0;
}

static __always_inline struct scratch *scratch_of(__u32 owner)
{
	return bpf_map_lookup_elem(&scratches, &owner);
}

/* Two writers that take the same free slot at once mix two keys up; the sum stays
 * right. That is rarer than rare, and the price of kernels without compare-and-
 * exchange for BPF (before 5.12). */
static __noinline int count_loss(__u32 type, __u64 cgroup_id, __u64 now_boot_ns)
{
	__u32 hash = (__u32)(cgroup_id ^ cgroup_id >> 32) * 31 + type;
	struct loss_slot *slot = NULL;

	for (__u32 i = 0; i <= 8; i++) {
		__u32 index = i < 8 ? (hash + i) % LOSS_HASHED : LOSS_HASHED + type % 16;

		slot = bpf_map_lookup_elem(&losses, &index);
		if (!slot)
			return 0;
		if (!slot->type) {
			slot->type = type;
			slot->cgroup_id = i < 8 ? cgroup_id : 0;
			slot->first_boot_ns = now_boot_ns;
		}
		if (slot->type == type && (slot->cgroup_id == cgroup_id || i == 8))
			break;
	}
	if (!slot)
		return 0;
	__sync_fetch_and_add(&slot->count, 1);
	slot->last_boot_ns = now_boot_ns;
	return 0;
}

/* NULL: this program writes nothing, because the reader has been gone for longer
 * than its lease (that is a loss) or because programs of another build are in
 * charge. */
static __always_inline struct control *control_if_collecting(__u32 type, __u64 now_boot_ns)
{
	__u32 zero = 0;
	struct control *found = bpf_map_lookup_elem(&control, &zero);

	if (!found || found->build != build)
		return NULL;
	if (now_boot_ns <= found->lease_boot_ns)
		return found;
	count_loss(type, 0, now_boot_ns);
	return NULL;
}

/* Send `size` bytes of scratch, exactly. No wake-up: the probe polls on a timer. */
static __always_inline int ring_send(struct record_header *header, __u64 size, __u64 cgroup_id)
{
	header->size = size;
	if (!bpf_ringbuf_output(&ring, header, size, BPF_RB_NO_WAKEUP))
		return 0;
	count_loss(header->type, cgroup_id, header->boot_ns);
	return -1;
}

#endif
