/* What processes hold together, which their own counters cannot tell: the memory of a cgroup, in which each page is
 * charged once, however many map it. */
#pragma once

#define NODES_MAX 64
#define LRU_ZONES_MAX 8
#define LRU_LISTS 5       /* of a zone: anonymous, inactive and active; of files, inactive and active; unevictable */
#define LRU_GENERATIONS 4 /* of each, by zone: anonymous, of files */

const volatile __u32 node_count = 1; /* set by the probe: NUMA nodes that the kernel knows */

static __always_inline bool list_is_of_files(__u32 index)
{
	return index % LRU_LISTS == 2 || index % LRU_LISTS == 3;
}

/* Copies numbers of pages into `room`. Returns how many. */
static __always_inline __u32 pages_copy(void *room, const void *from, __u64 size)
{
	size = bounded(size, LRU_ZONES_MAX * LRU_GENERATIONS * 2 * sizeof(unsigned long));
	return size && !bpf_probe_read_kernel(room, size, from) ? size / sizeof(unsigned long) : 0;
}

static __always_inline __u64 node_pages(unsigned long *room, struct mem_cgroup_per_node *node)
{
	__u32 count = pages_copy(room, (void *)node + bpf_core_field_offset(node->lru_zone_size),
				 bpf_core_field_size(node->lru_zone_size));
	__u64 sum = 0;

	for (loop_index i = 0; i < LRU_ZONES_MAX * LRU_LISTS && i < count; i++)
		sum += list_is_of_files(i) ? 0 : room[i];
	if (!bpf_core_field_exists(node->lruvec.lrugen.nr_pages))
		return sum;
	count = pages_copy(room, (void *)node + bpf_core_field_offset(node->lruvec.lrugen.nr_pages),
			   bpf_core_field_size(node->lruvec.lrugen.nr_pages));
	__u32 zones = count / (LRU_GENERATIONS * 2);

	for (loop_index i = 0; i < LRU_ZONES_MAX * LRU_GENERATIONS * 2 && i < count; i++)
		sum += zones && i / zones % 2 == 0 ? room[i] : 0;
	return sum;
}

/* `room` is for 64 numbers of pages. */
static __always_inline __u64 memory_cgroup_bytes(unsigned long *room, struct mem_cgroup *group)
{
	__u64 pages = 0;

	for (loop_index i = 0; i < NODES_MAX && i < node_count; i++) {
		struct mem_cgroup_per_node *node = NULL;

		bpf_probe_read_kernel(&node, sizeof(node),
				      (void *)group + bpf_core_field_offset(group->nodeinfo) + i * sizeof(node));
		if (node)
			pages += node_pages(room, node);
	}
	return pages * page_size;
}

#define LARGE_BYTES (8 << 20)

struct memory_place {
	__u64 cgroup_id; /* of the memory cgroup, 0: none */
	__u64 huge_bytes;
	bool is_large;
};

static __always_inline struct memory_place memory_place_of(struct task_struct *task)
{
	struct cgroup_subsys_state *state = SUBSYSTEM(task->cgroups, memory_cgrp_id);
	struct mm_struct *mm = task->mm;
	struct memory_place place = {};

	if (state)
		place.cgroup_id = state->cgroup->kn->id | (__u64)state->cgroup->root->hierarchy_id
								  << CGROUP_HIERARCHY_SHIFT;
	if (mm && bpf_core_field_exists(mm->hugetlb_usage))
		place.huge_bytes = mm->hugetlb_usage.counter * page_size;
	if (mm)
		place.is_large = RSS_BYTES(mm, MM_ANONPAGES) + RSS_BYTES(mm, MM_SHMEMPAGES) >= LARGE_BYTES;
	return place;
}

/* What the latest record of the scan in progress said; there is one scan at a time. */
static __u64 known_session, known_cgroup_id, known_huge_bytes;

static __always_inline bool memory_is_known(const struct memory_place *place, __u64 session)
{
	return known_session == session && known_cgroup_id == place->cgroup_id &&
	       known_huge_bytes == place->huge_bytes && !place->is_large;
}

static __always_inline void memory_set_known(const struct memory_place *place, __u64 session)
{
	known_session = session;
	known_cgroup_id = place->cgroup_id;
	known_huge_bytes = place->huge_bytes;
}

/* Makes the record of a task's place in scratch. Returns its size, or 0 if the record of a task before says the same. */
static __always_inline __u64 memory_record_make(struct event *event, struct scratch *scratch,
						const struct memory_place *place, __u64 session)
{
	struct record_memory *record = &scratch->memory;

	if (memory_is_known(place, session))
		return 0;
	header_fill(&record->header, event, RECORD_MEMORY, sizeof(*record));
	record->cgroup_id = place->cgroup_id;
	record->held_bytes = 0;
	if (place->cgroup_id)
		record->held_bytes = memory_cgroup_bytes((unsigned long *)scratch->text,
							 (void *)SUBSYSTEM(event->task->cgroups, memory_cgrp_id));
	record->huge_bytes = place->huge_bytes;
	return sizeof(*record);
}
