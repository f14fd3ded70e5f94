/* Which cgroup a process is in, its path, and the ignore list. */
#ifndef TRACER_BPF_CGROUP_BPF_H
#define TRACER_BPF_CGROUP_BPF_H

#define CGROUP_DEPTH_MAX 32
#define CGROUP_HIERARCHY_SHIFT 56

struct place {
	__u64 id; /* kernfs id, hierarchy id in the top byte */
	struct kernfs_node *node;
};

static __always_inline struct kernfs_node *kernfs_parent(struct kernfs_node *node)
{
	if (bpf_core_field_exists(node->__parent))
		return BPF_CORE_READ(node, __parent);
	return BPF_CORE_READ((struct kernfs_node___parent *)node, parent);
}

static __always_inline void place_read(struct cgroup *cgroup, struct place *ret_place)
{
	__u64 hierarchy = BPF_CORE_READ(cgroup, root, hierarchy_id);
	struct kernfs_node *node = BPF_CORE_READ(cgroup, kn);

	ret_place->node = node;
	ret_place->id = BPF_CORE_READ(node, id) | hierarchy << CGROUP_HIERARCHY_SHIFT;
}

/* False for the root of its hierarchy: that says nothing about a process. */
static __always_inline bool place_read_below_root(struct cgroup *cgroup, struct place *ret_place)
{
	if (BPF_CORE_READ(cgroup, level) == 0)
		return false;
	place_read(cgroup, ret_place);
	return true;
}

#define PLACE_IN_SUBSYSTEM(set, subsystem, ret_place)                                         \
	(bpf_core_enum_value_exists(enum cgroup_subsys_id, subsystem) &&                       \
	 place_in_subsystem(set, bpf_core_enum_value(enum cgroup_subsys_id, subsystem), ret_place))

static __always_inline bool place_in_subsystem(struct css_set *set, __u32 index,
					       struct place *ret_place)
{
	struct cgroup_subsys_state *state = NULL;

	bpf_core_read(&state, sizeof(state), &set->subsys[index]);
	return place_read_below_root(BPF_CORE_READ(state, cgroup), ret_place);
}

/* The default hierarchy (v2) tells, unless the process is in its root: then the
 * first of these v1 hierarchies where it is not. Slurm keeps its steps in the v1
 * freezer alone. */
static __always_inline void place_of(struct task_struct *task, struct place *ret_place)
{
	struct css_set *set = task->cgroups;

	if (place_read_below_root(set->dfl_cgrp, ret_place) ||
	    PLACE_IN_SUBSYSTEM(set, freezer_cgrp_id, ret_place) ||
	    PLACE_IN_SUBSYSTEM(set, memory_cgrp_id, ret_place) ||
	    PLACE_IN_SUBSYSTEM(set, pids_cgrp_id, ret_place) ||
	    PLACE_IN_SUBSYSTEM(set, cpu_cgrp_id, ret_place))
		return;
	place_read(set->dfl_cgrp, ret_place);
}

/* Size of the record with the path of `place` in scratch; 0: nothing to announce. */
static __always_inline __u64 cgroup_record_make(struct scratch *scratch, struct control *control,
						struct place *place, __u64 now_boot_ns)
{
	__u64 *known = bpf_map_lookup_elem(&announced, &place->id);
	struct record_cgroup *record = &scratch->cgroup;
	struct kernfs_node *node = place->node;
	char *path = (char *)(record + 1);
	__u64 used = 0;

	if (known && *known == control->connection)
		return 0;
	__builtin_memset(record, 0, sizeof(*record));
	record->header.type = RECORD_CGROUP;
	record->header.boot_ns = now_boot_ns;
	record->cgroup_id = place->id;
	for (int i = 0; i < CGROUP_DEPTH_MAX; i++) {
		struct kernfs_node *parent = kernfs_parent(node);

		if (!parent || used > RECORD_CGROUP_PATH_MAX - TEXT_STEP)
			break;
		used = bounded(used, RECORD_CGROUP_PATH_MAX - TEXT_STEP);
		__u64 size = bounded(bpf_probe_read_kernel_str(path + used, TEXT_STEP,
							       BPF_CORE_READ(node, name)),
				     TEXT_STEP);
		used += size;
		node = parent;
	}
	record->path_size = used;
	record->header.size = sizeof(*record) + used;
	return record->header.size;
}

static __always_inline void cgroup_announced(struct control *control, struct place *place)
{
	__u64 connection = control->connection;

	bpf_map_update_elem(&announced, &place->id, &connection, BPF_ANY);
}

/* Into the ring, before the first record of that cgroup. */
static __always_inline void cgroup_announce(struct scratch *scratch, struct control *control,
					    struct place *place, __u64 now_boot_ns)
{
	__u64 size = bounded(cgroup_record_make(scratch, control, place, now_boot_ns),
			     sizeof(*scratch));

	if (size && !ring_send(&scratch->cgroup.header, size, place->id))
		cgroup_announced(control, place);
}

static __noinline bool cgroup_is_ignored(struct kernfs_node *node, __u64 hierarchy)
{
	struct ignore_key key = {.kind = IGNORE_CGROUP};

	for (int i = 0; i < ANCESTORS_MAX && node; i++) {
		key.number = BPF_CORE_READ(node, id) | hierarchy << CGROUP_HIERARCHY_SHIFT;
		if (bpf_map_lookup_elem(&ignored, &key))
			return true;
		node = kernfs_parent(node);
	}
	return false;
}

static __always_inline bool process_is_ignored(struct control *control, struct task_struct *task,
					       struct place *place)
{
	__u32 kinds = control->ignore_kinds;
	struct ignore_key key = {};

	if (!kinds)
		return false;
	if (kinds & 1U << IGNORE_UID) {
		key.kind = IGNORE_UID;
		key.number = task->cred->uid.val;
		if (bpf_map_lookup_elem(&ignored, &key))
			return true;
	}
	if (kinds & 1U << IGNORE_COMM) {
		key.kind = IGNORE_COMM;
		__builtin_memset(key.comm, 0, sizeof(key.comm));
		bpf_probe_read_kernel_str(key.comm, sizeof(key.comm), task->comm);
		if (bpf_map_lookup_elem(&ignored, &key))
			return true;
	}
	return kinds & 1U << IGNORE_CGROUP &&
	       cgroup_is_ignored(place->node, place->id >> CGROUP_HIERARCHY_SHIFT);
}

#endif
