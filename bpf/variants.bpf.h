/* What differs between the objects that are built from this source (meson.build). The probe chooses one by what the
 * kernel offers (probe/kernel.c):
 *   - as is
 *   - WITHOUT_CASTS: before 6.2, which brought bpf_rdonly_cast
 *   - WITHOUT_CASTS and WITHOUT_LOOPS: before 5.17, which brought bpf_loop, or with a JIT that refuses atomic
 *     exchanges, as that of arm64 before 5.18. The verifier of these kernels rejects what it does not know even where it
 *     is never reached, so all this is left out when compiling.
 */
#pragma once

/* Read a field through a computed address. Since 6.2 a program may declare the type of the
 * address and load directly; an invalid address reads as 0. Before, only a helper may read it,
 * by copying, at about 20 ns per field. That is a separate object, since naming the
 * function takes CAP_SYS_ADMIN where it does not exist (libbpf searches all modules for it). */
#ifdef WITHOUT_CASTS
#define READ(from, field) BPF_CORE_READ(from, field)
#define LOOSE(task) (task)
#else
void *bpf_rdonly_cast(const void *address, __u32 type) __ksym __weak;

#define CAST(address) ((typeof(address))bpf_rdonly_cast(address, bpf_core_type_id_kernel(typeof(*(address)))))
#define READ(from, field) (CAST(from)->field)
/* The task as an untrusted pointer. For each pointer loaded from a trusted one the verifier searches
 * the kernel's types linearly by name, up to four times (since 6.3): that took two thirds of the
 * load time. */
#define LOOSE(task) CAST(task)
#endif

/* Pointers that the kernel passes to a program, and those reached from them, are read directly. */
#define FIELD(from, field) (is_computed ? READ(from, field) : (from)->field)

#ifdef WITHOUT_CASTS
#define STATE(task) \
	(bpf_core_field_exists((task)->__state) ? FIELD(task, __state) \
						: FIELD((struct task_struct___state *)(task), state))
#else
#define STATE(task) FIELD(task, __state)
#endif

/* When a task started, and which exec it runs. RHEL 8's kernel, a 4.18 with the BPF of later ones, has both elsewhere. */
static __always_inline __u64 start_read(struct task_struct *task, const bool is_computed)
{
#ifdef WITHOUT_LOOPS
	if (!bpf_core_field_exists(task->start_boottime))
		return FIELD((struct task_struct___rhel_8 *)task, real_start_time);
#endif
	return FIELD(task, start_boottime);
}

static __always_inline __u64 exec_id_read(struct task_struct *task, const bool is_computed)
{
#ifdef WITHOUT_LOOPS
	if (!bpf_core_field_exists(task->self_exec_id)) {
		struct task_struct_rh *more = FIELD((struct task_struct___rhel_8 *)task, task_struct_rh);

		return FIELD(more, self_exec_id);
	}
#endif
	return FIELD(task, self_exec_id);
}

/* LOOP calls step(index, context) until it returns 1, at most `count` times. EXCHANGE and SET_IF_ZERO return the
 * previous value. */
#ifdef WITHOUT_LOOPS
typedef __u64 loop_index; /* before 5.16 the verifier forgets numbers of 4 bytes that are put on the stack */
#define LOOP(count, step, context) \
	for (loop_index index = 0; index < (count); index++) \
		if (step(index, context)) \
	break
#define THREADS_MAX 128
#define THREADS_MAX_EXITING 16 /* the final record follows soon */
/* No pass over a map either: instead, the entry that was not used for longest makes room. */
#define BPF_MAP_TYPE_GROUPS BPF_MAP_TYPE_LRU_HASH
#define EACH_ENTRY(map, step, context) ((void)(step))
/* As soon as a program has a subprogram, the verifier tells all numbers apart, and follows each way through a loop. */
#define SUBPROGRAM __always_inline
/* Two CPUs may both find the previous value: a slot's losses may then count for another cgroup, and an exit may be sent
 * twice, which the reader detects. */
#define PLACE(place) (*(volatile typeof(*(place)) *)(place))
#define EXCHANGE(place, value) \
	({ \
		typeof(*(place)) previous = PLACE(place); \
		PLACE(place) = (value); \
		previous; \
	})
#define SET_IF_ZERO(place, value) (PLACE(place) ?: EXCHANGE(place, value))
#define CURRENT_TASK() ((struct task_struct *)bpf_get_current_task())
#define CURRENT_IS_COMPUTED true
#else
typedef __u32 loop_index;
#define LOOP(count, step, context) bpf_loop(count, step, context, 0)
#define THREADS_MAX (1 << 16)
#define THREADS_MAX_EXITING THREADS_MAX
#define BPF_MAP_TYPE_GROUPS BPF_MAP_TYPE_HASH
#define EACH_ENTRY(map, step, context) bpf_for_each_map_elem(map, step, context, 0)
#define SUBPROGRAM __noinline
#define EXCHANGE(place, value) __sync_lock_test_and_set(place, value)
#define SET_IF_ZERO(place, value) __sync_val_compare_and_swap(place, 0, value)
#define CURRENT_TASK() LOOSE(bpf_get_current_task_btf())
#define CURRENT_IS_COMPUTED false
#endif

/* Without a result, which is all that kernels before 5.12 can do. */
#define ADD(place, value) __atomic_fetch_add(place, value, __ATOMIC_RELAXED)
