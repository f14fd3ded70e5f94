/* The maps that the probe knows, and how a record is written to the ring or counted as
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

#define TEXT_STEP 256 /* room for one more name after a text that is almost full */

/* Where records of variable size are assembled: one entry per program and CPU.
 *
 * Why this is safe: these programs cannot move to another CPU while they run
 * (migration is disabled). A program cannot be entered twice on one CPU: until 6.0
 * tracepoints run with preemption disabled, and none of these fires in interrupts;
 * since then the kernel counts active entries per program and CPU and refuses the
 * second, whether or not tracepoints can be preempted. The iterators can be
 * preempted, but have a single reader: the probe, in one thread. */
struct memory_place {
	__u64 cgroup_id;  /* of the memory cgroup, 0: none */
	__u64 huge_bytes; /* reserved huge pages */
	__u64 is_large;
};

struct scratch {
	union {
		struct record_exec exec;
		struct record_cgroup cgroup;
		struct record_memory memory;
	};
	char text[2 * (RECORD_CWD_MAX + TEXT_STEP) + RECORD_ARGV_MAX];
	struct memory_place
		place;         /* of the process that is sampled; here, the verifier does not tell its values apart */
	__u64 known_cgroup_id; /* of this program's last event, if announced on known_connection */
	__u64 known_connection;
};

enum scratch_owner { SCRATCH_FORK, SCRATCH_EXEC, SCRATCH_SAMPLE, SCRATCH_OWNERS };

MAP(scratches, PERCPU_ARRAY, SCRATCH_OWNERS, __u32, struct scratch, 0);

/* Set by the probe before it loads the programs. */
const volatile __u64 build = 0;
const volatile __u32 page_size = 4096;

/* Returns `size`, or 0 if it exceeds `highest`, in a way that the verifier can follow: before
 * 6.2 it loses bounds that the compiler proves, or checks on half a register. */
static __always_inline __u64 bounded(__u64 size, __u64 highest)
{
	asm volatile("" : "+r"(size));
	return size <= highest ? size : 0;
}

static __always_inline struct scratch *scratch_of(__u32 owner)
{
	return bpf_map_lookup_elem(&scratches, &owner);
}

/* A free slot is claimed by setting first_boot_ns; its type is set last, so that a reader who
 * sees it also sees the rest. Two slots may end up counting the same. */
static SUBPROGRAM int count_loss(__u32 type, __u64 cgroup_id, __u64 now_boot_ns)
{
	__u32 hash = (__u32)(cgroup_id ^ cgroup_id >> 32) * 31 + type;

	for (loop_index i = 0; i <= 8; i++) {
		bool last = i == 8;
		__u32 index = last ? LOSS_HASHED + type % 16 : (hash + i) % LOSS_HASHED;
		struct loss_slot *slot = bpf_map_lookup_elem(&losses, &index);

		if (!slot)
			break;
		if (!slot->type && !SET_IF_ZERO(&slot->first_boot_ns, now_boot_ns)) {
			slot->cgroup_id = last ? 0 : cgroup_id;
			EXCHANGE(&slot->type, type);
		}
		if (last || (slot->type == type && slot->cgroup_id == cgroup_id)) {
			ADD(&slot->count, 1);
			slot->last_boot_ns = now_boot_ns;
			break;
		}
	}
	return 0;
}

/* Returns NULL if programs of another build are in charge. While one build replaces another,
 * both are attached, the old programs run first, and they share maps. So for an event in
 * progress when `build` changes, both may be in charge, but never neither: its record is sent
 * twice, which the reader detects, and what is only added up (the part of a thread, the bytes
 * of a message) counts twice, for at most one event per CPU. Telling such an event from the
 * next one would require a mark at every event. */
static __always_inline struct control *control_find(void)
{
	__u32 zero = 0;
	struct control *found = bpf_map_lookup_elem(&control, &zero);

	return found && found->build == build ? found : NULL;
}

/* Returns NULL if nothing is to be written: for the same reason, or because the lease of the
 * reader has expired (which counts as a loss). */
static __always_inline struct control *control_if_collecting(__u32 type, __u64 now_boot_ns)
{
	struct control *found = control_find();

	if (!found || now_boot_ns <= found->lease_boot_ns)
		return found;
	count_loss(type, 0, now_boot_ns);
	return NULL;
}

/* Send exactly `size` bytes of scratch. No wake-up: the probe polls on a timer. Returns 0, or -1 if lost. */
static __always_inline int ring_send(struct record_header *header, __u64 size, __u64 cgroup_id)
{
	header->size = size;
	if (!bpf_ringbuf_output(&ring, header, size, BPF_RB_NO_WAKEUP))
		return 0;
	count_loss(header->type, cgroup_id, header->boot_ns);
	return -1;
}
