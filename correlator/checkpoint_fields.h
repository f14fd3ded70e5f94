/* What a checkpoint holds: the lists that saving and loading share.
 *
 * Rows hold what readers want; going on after a restart also needs the counters an
 * image began with, the spine of a run, the unsaid rest. It is kept as one msgpack
 * sequence per entity in a private table, in the same transaction as the rows.
 *
 * Where one is not understood (another release wrote it, or it is broken) none is used. What
 * was alive is closed in the store, as lost, so that its sums stay; what the next pass finds
 * alive has other ids, of the next generation, as after a boot. With the same ids its new sums
 * would take the place of the old ones.
 */
#ifndef TRACER_CORRELATOR_CHECKPOINT_FIELDS_H
#define TRACER_CORRELATOR_CHECKPOINT_FIELDS_H

#include <stdint.h>

/* Raised whenever what is packed below changes. */
#define CHECKPOINT_VERSION 8

/* The same for losses, apart: to forget what was told of them would count them twice. */
#define CHECKPOINT_LOSSES_VERSION 1
#define CHECKPOINT_GENERATION_VERSION 1

enum checkpoint_kind {
	CHECKPOINT_CONTAINER = 1, CHECKPOINT_RUN, CHECKPOINT_TASK, CHECKPOINT_PROCESS, CHECKPOINT_LOSSES,
	CHECKPOINT_TOOL, CHECKPOINT_GENERATION,
};

/* Ids of those that no entity has. */
enum { CHECKPOINT_LOSSES_ID = 0, CHECKPOINT_GENERATION_ID = -1 };

static inline int64_t checkpoint_version(int64_t kind)
{
	switch (kind) {
	case CHECKPOINT_LOSSES:
		return CHECKPOINT_LOSSES_VERSION;
	case CHECKPOINT_GENERATION:
		return CHECKPOINT_GENERATION_VERSION;
	default:
		return CHECKPOINT_VERSION;
	}
}

/* Integer fields of each entity, packed and unpacked in this order. */
#define CONTAINER_INTS(V)                                                                    \
	V(id) V(run_id) V(task_id) V(pid_namespace) V(mount_namespace) V(labelled)            \
	V(living_count) V(begin_boot_ns) V(end_boot_ns) V(started_unix_ns)
#define RUN_INTS(V)                                                                          \
	V(id) V(boundary_key) V(name_priority) V(engine_rank) V(root_process_id)              \
	V(origin_process_id) V(user_id) V(task_count) V(orchestrator) V(frozen) V(spine_length)
#define TASK_INTS(V)                                                                         \
	V(id) V(name_by) V(label_fixed) V(words_kind) V(root_process_id) V(orchestrator_process_id)                     \
	V(merged_into_id) V(failed_commands_told) V(crashes_told)                             \
	V(incident_told) V(moved_boot_ns) V(idle_count) V(orchestrator.pid)                   \
	V(orchestrator.start_boot_ns) V(incident_boot_ns) V(incident_unix_ns) V(fatal)         \
	V(root.pid) V(root.start_boot_ns) V(work) V(wraps) V(retried_by_id) V(awaited)
#define GROUP_INTS(V)                                                                        \
	V(id) V(root_process_id) V(orchestrator.pid) V(orchestrator.start_boot_ns)            \
	V(input_pipe) V(output_pipe)
#define SIBLINGS_INTS(V) V(kind) V(stem_hash) V(stem_words_hash) V(whole_words) V(several)
#define TOOL_INTS(V) V(id) V(role) V(start_boot_ns)
#define PROCESS_INTS(V)                                                                      \
	V(exec_id) V(place) V(parent_image_id) V(parent_exec_id) V(first_exec_id)             \
	V(path_rank) V(spine_index) V(subtree_count) V(fork_boot_ns) V(cgroup_id) V(uid)      \
	V(sid) V(pgid) V(tty) V(flags) V(pid_namespace) V(mount_namespace) V(stdin_pipe)        \
	V(stdout_pipe) V(found) V(is_task_root)                                               \
	V(is_run_root) V(has_container) V(ignored) V(ended) V(has_final) V(end_boot_ns) V(stall)      \
	V(stall_since_boot_ns) V(stall_since_unix_ns)
#define IMAGE_INTS(V)                                                                        \
	V(id) V(parent_id) V(pid) V(exec_id) V(uid) V(own_command) V(began) V(ended)          \
	V(totals_kind) V(begin_boot_ns) V(end_boot_ns) V(started_unix_ns) V(spawn_cpu_ns)     \
	V(peak_rss_bytes) V(uninterruptible_ns) V(wait_status) V(oom_killed) V(role) V(rank) V(boundary) V(nested) V(interactive)     \
	V(expected_codes) V(failed) V(sampled_memory_bytes)             \
	V(sampled_cpu_ns) V(sampled_io_bytes)

#define CAUSE_INTS(V)                                                                         \
	V(told) V(kind) V(process_id) V(sender_process_id) V(sender_user_id) V(work)
#define ENDING_INTS(V)                                                                       \
	V(pid) V(start_boot_ns) V(end_boot_ns) V(wait_status) V(kind) V(followed) V(is_task)

#endif
