/* The maps that the probe knows, and how a record gets into the ring or is counted as
 * lost. */
#pragma once

#define MAP(name, map_type, entries, key_type, value_type, map_options) \
	struct { \
		__uint(type, BPF_MAP_TYPE_##map_type); \
		__uint(max_entries, entries); \
		__uint(map_flags, map_options); \
		__type(key, key_type); \
		__type(value, value_type); \
	} name SEC(".maps")

/* The spool: see probe/forward/ring.c. The probe sets its size. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 16 * 1024 * 1024);
} ring SEC(".maps");

MAP(control, ARRAY, 1, __u32, struct control, BPF_F_MMAPABLE);
MAP(losses, ARRAY, LOSS_SLOTS, __u32, struct loss_slot, BPF_F_MMAPABLE);
MAP(ignored, HASH, 256, struct ignore_key, __u32, 0);

#define TEXT_STEP 256 /* room for one more name behind a text that is just short of full */

/* Where records of variable size are put together: one entry a program and CPU.
 *
 * Why it is safe. Programs here cannot move to another CPU while they run
 * (migration is off). A program cannot be entered twice on one CPU: until 6.0
 * tracepoints run with preemption off and none of these fires in interrupts; since
 * then the kernel counts active entries for each program and CPU and refuses the
 * second, whether tracepoints can be preempted or not. The iterators can be
 * preempted, and have one reader: the probe, in one thread. */
struct scratch {
	union {
		struct record_exec exec;
		struct record_cgroup cgroup;
	};
	char text[2 * (RECORD_CWD_MAX + TEXT_STEP) + RECORD_ARGV_MAX];
	__u64 known_cgroup_id; /* found announced on this connection by this program's last event */
	__u64 known_connection;
};

enum scratch_owner { SCRATCH_FORK, SCRATCH_EXEC, SCRATCH_SAMPLE, SCRATCH_OWNERS };

MAP(scratches, PERCPU_ARRAY, SCRATCH_OWNERS, __u32, struct scratch, 0);

/* Set by the probe before it loads the programs. */
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

/* A free slot is taken by its first time, and says last what it counts: whoever reads that
 * finds the rest. Two slots may come to count the same. */
static __noinline int count_loss(__u32 type, __u64 cgroup_id, __u64 now_boot_ns)
{
	__u32 hash = (__u32)(cgroup_id ^ cgroup_id >> 32) * 31 + type;

	for (__u32 i = 0; i <= 8; i++) {
		bool last = i == 8;
		__u32 index = last ? LOSS_HASHED + type % 16 : (hash + i) % LOSS_HASHED;
		struct loss_slot *slot = bpf_map_lookup_elem(&losses, &index);

		if (!slot)
			break;
		if (!slot->type && !__sync_val_compare_and_swap(&slot->first_boot_ns, 0, now_boot_ns)) {
			slot->cgroup_id = last ? 0 : cgroup_id;
			__sync_lock_test_and_set(&slot->type, type);
		}
		if (last || (slot->type == type && slot->cgroup_id == cgroup_id)) {
			__sync_fetch_and_add(&slot->count, 1);
			slot->last_boot_ns = now_boot_ns;
			break;
		}
	}
	return 0;
}

/* NULL: programs of another build are in charge. While one replaces the other both are
 * attached, those of before run first, and they share maps. So of what is under way when
 * `build` changes both may be in charge, never none: its record is told twice, which the
 * reader sees, and what is only added up (the part of a thread, the bytes of a message)
 * counts twice, for one event a CPU at most. Telling such an event from the next one would
 * take a mark at every event. */
static __always_inline struct control *control_find(void)
{
	__u32 zero = 0;
	struct control *found = bpf_map_lookup_elem(&control, &zero);

	return found && found->build == build ? found : NULL;
}

/* NULL: nothing is written, for that reason or because the reader has been gone for
 * longer than its lease (that is a loss). */
static __always_inline struct control *control_if_collecting(__u32 type, __u64 now_boot_ns)
{
	struct control *found = control_find();

	if (!found || now_boot_ns <= found->lease_boot_ns)
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
