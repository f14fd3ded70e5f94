/* The cgroup of a process, its path, and the ignore list: the first steps of every event. */
#pragma once

#define CGROUP_DEPTH_MAX 32
#define CGROUP_HIERARCHY_SHIFT 56

/* cgroup_id -> control.connection on which its path was sent. An evicted cgroup is
 * announced again. */
MAP(announced, LRU_HASH, 8192, __u64, __u64, 0);

struct cgroup_ref {
	__u64 id; /* kernfs id, hierarchy id in the top byte */
	struct kernfs_node *node;
};

/* One event of one process. `cgroup` is filled in only when it is needed. */
struct event {
	__u64 now_boot_ns;
	struct control *control;
	struct task_struct *task;
	struct cgroup_ref cgroup;
	bool ignored;
};

/* Not inline: in a loop, the compiler would move the offset of `__parent` in front of the check, and where there is
 * no such field that instruction is invalid. */
static SUBPROGRAM struct kernfs_node *kernfs_parent(struct kernfs_node *node)
{
	if (bpf_core_field_exists(node->__parent))
		return READ(node, __parent);
	return READ((struct kernfs_node___parent *)node, parent);
}

/* The state of a controller for these processes, or NULL if this kernel does not have it. */
#define SUBSYSTEM(set, name) \
	(bpf_core_enum_value_exists(enum cgroup_subsys_id, name) \
		 ? subsystem(set, bpf_core_enum_value(enum cgroup_subsys_id, name)) \
		 : NULL)

static __always_inline struct cgroup_subsys_state *subsystem(struct css_set *set, __u32 index)
{
	return *(void **)((void *)set + bpf_core_field_offset(set->subsys) + index * sizeof(void *));
}

/* Returns false without a state, and for a cgroup above that level. */
static __always_inline bool cgroup_ref_read(struct cgroup_ref *ref, struct cgroup_subsys_state *state, int level)
{
	struct cgroup *cgroup = state ? state->cgroup : NULL;

	if (!cgroup || cgroup->level < level)
		return false;
	ref->node = cgroup->kn;
	ref->id = cgroup->kn->id | (__u64)cgroup->root->hierarchy_id << CGROUP_HIERARCHY_SHIFT;
	return true;
}

/* Uses the default hierarchy (v2), unless the process is in its root: then the first
 * of these v1 hierarchies where it is not in the root. Beside v1, systemd keeps a v2 hierarchy of its own, where all
 * jobs of Slurm are in slurmd.service and all containers of Docker in docker.service. These have cgroups of the v1 freezer,
 * which systemd never uses: so that is preferred unless v2 is deeper. With v2 alone, it is always the root. */
static SUBPROGRAM int cgroup_ref_find(struct cgroup_ref *ref, struct task_struct *task)
{
	struct css_set *set = task->cgroups;
	int level = set->dfl_cgrp->level;

	ref->node = set->dfl_cgrp->kn;
	ref->id = set->dfl_cgrp->kn->id;
	if (!cgroup_ref_read(ref, SUBSYSTEM(set, freezer_cgrp_id), level ? level : 1) && level == 0)
		(void)(cgroup_ref_read(ref, SUBSYSTEM(set, memory_cgrp_id), 1) ||
		       cgroup_ref_read(ref, SUBSYSTEM(set, pids_cgrp_id), 1) ||
		       cgroup_ref_read(ref, SUBSYSTEM(set, cpu_cgrp_id), 1));
	return 0;
}

static __always_inline bool cgroup_is_ignored(struct event *event)
{
	struct ignore_key key = {.kind = IGNORE_CGROUP};
	struct kernfs_node *node;
	__u64 hierarchy;

	cgroup_ref_find(&event->cgroup, event->task);
	node = event->cgroup.node;
	hierarchy = event->cgroup.id >> CGROUP_HIERARCHY_SHIFT;
	for (loop_index i = 0; i < CGROUP_DEPTH_MAX && node; i++) {
		key.number = READ(node, id) | hierarchy << CGROUP_HIERARCHY_SHIFT;
		if (bpf_map_lookup_elem(&ignored, &key))
			return true;
		node = kernfs_parent(node);
	}
	return false;
}

static __always_inline bool process_is_ignored(struct event *event)
{
	struct ignore_key user = {.kind = IGNORE_UID}, comm = {.kind = IGNORE_COMM};
	__u32 kinds = event->control->ignore_kinds;

	if (!kinds)
		return false;
	user.number = event->task->cred->uid.val;
	/* Only of root's processes: any user may give a process that name. */
	if (user.number == 0)
		bpf_probe_read_kernel_str(comm.comm, sizeof(comm.comm), event->task->comm);
	return (kinds & 1U << IGNORE_UID && bpf_map_lookup_elem(&ignored, &user)) ||
	       (kinds & 1U << IGNORE_COMM && bpf_map_lookup_elem(&ignored, &comm)) ||
	       (kinds & 1U << IGNORE_CGROUP && cgroup_is_ignored(event));
}

/* Returns false if nothing is to be collected. The caller checks event->ignored. */
static __always_inline bool event_begin(struct event *event, __u32 type, struct task_struct *task)
{
	event->now_boot_ns = bpf_ktime_get_boot_ns();
	event->task = task;
	event->control = control_if_collecting(type, event->now_boot_ns);
	if (!event->control)
		return false;
	event->cgroup = (struct cgroup_ref){};
	event->ignored = process_is_ignored(event);
	return true;
}

/* Find the event's cgroup. Returns the size of its record in scratch, or 0 if its path was already sent. */
static __always_inline __u64 cgroup_record_make(struct event *event, struct scratch *scratch)
{
	struct record_cgroup *record = &scratch->cgroup;
	struct kernfs_node *node, *parent;
	char *path = (char *)(record + 1);
	__u64 *known, used = 0, connection = event->control->connection;

	cgroup_ref_find(&event->cgroup, event->task);
	if (scratch->known_cgroup_id == event->cgroup.id && scratch->known_connection == connection)
		return 0;
	known = bpf_map_lookup_elem(&announced, &event->cgroup.id);
	if (known && *known == connection) {
		scratch->known_cgroup_id = event->cgroup.id;
		scratch->known_connection = connection;
		return 0;
	}
	node = event->cgroup.node;
	__builtin_memset(record, 0, sizeof(*record));
	for (loop_index i = 0; i < CGROUP_DEPTH_MAX; i++) {
		parent = kernfs_parent(node);
		if (!parent || used > RECORD_CGROUP_PATH_MAX - TEXT_STEP)
			break;
		used = bounded(used, RECORD_CGROUP_PATH_MAX - TEXT_STEP);
		used += bounded(bpf_probe_read_kernel_str(path + used, TEXT_STEP, READ(node, name)), TEXT_STEP);
		node = parent;
	}
	record->flags = kernfs_parent(node) ? RECORD_CGROUP_TRUNCATED : 0;
	used = bounded(used, RECORD_CGROUP_PATH_MAX);
	record->header.type = RECORD_CGROUP;
	record->header.size = sizeof(*record) + used;
	record->header.boot_ns = event->now_boot_ns;
	record->cgroup_id = event->cgroup.id;
	record->path_size = used;
	return sizeof(*record) + used;
}

static __always_inline void cgroup_announced(struct event *event)
{
	__u64 connection = event->control->connection;

	bpf_map_update_elem(&announced, &event->cgroup.id, &connection, BPF_ANY);
}

/* Send the path to the ring, before the first record of that cgroup. */
static __always_inline void cgroup_announce(struct event *event, struct scratch *scratch)
{
	__u64 size = bounded(cgroup_record_make(event, scratch), sizeof(*scratch));

	if (size && !ring_send(&scratch->cgroup.header, size, event->cgroup.id))
		cgroup_announced(event);
}
