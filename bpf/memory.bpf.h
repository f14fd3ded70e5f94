/* What processes hold together, which their own counters cannot tell: the memory of a cgroup, in which each page is
 * charged once, however many map it. */
#pragma once

#ifdef WITHOUT_LOOPS
#define NODES_MAX 8
#else
#define NODES_MAX 64
#endif
#define ZONES_MAX 8
#define LRU_LISTS 5       /* of a zone: anonymous, inactive and active; of files, inactive and active; unevictable */
#define LRU_GENERATIONS 4 /* of each: anonymous, by zone; of files, by zone */
#define ROOM (ZONES_MAX * LRU_GENERATIONS * 2)

const volatile __u32 node_count = 1; /* set by the probe: NUMA nodes that the kernel knows */

struct node_walk {
	struct mem_cgroup *group;
	unsigned long *room; /* for ROOM numbers of pages */
	__u64 pages;
};

/* Numbers of pages that this kernel does not have are 0. All places are known when the program is loaded: the verifier of
 * older kernels follows each way through a branch. */
#define PAGES_COPY(room, node, field) \
	({ \
		__builtin_memset(room, 0, ROOM * sizeof(unsigned long)); \
		bpf_probe_read_kernel(room, bpf_core_field_size((node)->field), \
				      (void *)(node) + bpf_core_field_offset((node)->field)); \
		bpf_core_field_size((node)->field) / sizeof(unsigned long); \
	})

static __always_inline long node_walk_step(__u32 index, struct node_walk *walk)
{
	struct mem_cgroup_per_node *node = NULL;
	unsigned long *room = walk->room;
	__u64 sum = 0, zones;

	bpf_probe_read_kernel(&node, sizeof(node),
			      (void *)walk->group + bpf_core_field_offset(walk->group->nodeinfo) +
				      index * sizeof(node));
	PAGES_COPY(room, node, lru_zone_size);
#pragma unroll
	for (int i = 0; i < ZONES_MAX * LRU_LISTS; i++)
		sum += i % LRU_LISTS == 2 || i % LRU_LISTS == 3 ? 0 : room[i];
	if (bpf_core_field_exists(node->lruvec.lrugen.nr_pages)) {
		zones = PAGES_COPY(room, node, lruvec.lrugen.nr_pages) / (LRU_GENERATIONS * 2);
#pragma unroll
		for (int generation = 0; generation < LRU_GENERATIONS; generation++)
#pragma unroll
			for (__u32 zone = 0; zone < ZONES_MAX; zone++)
				sum += zone < zones ? room[(generation * 2 * zones + zone) % ROOM] : 0;
	}
	walk->pages += sum;
	return 0;
}

static __always_inline __u64 memory_cgroup_bytes(unsigned long *room, struct mem_cgroup *group)
{
	struct node_walk walk = {group, room, 0};

	if (!bpf_core_type_exists(struct mem_cgroup_per_node))
		return 0;
	LOOP(node_count, node_walk_step, &walk);
	return walk.pages * page_size;
}

#define LARGE_BYTES (8 << 20)

static __always_inline void memory_place_find(struct memory_place *place, struct task_struct *task)
{
	struct cgroup_subsys_state *state = SUBSYSTEM(task->cgroups, memory_cgrp_id);
	struct mm_struct *mm = task->mm;

	place->cgroup_id = place->huge_bytes = place->is_large = 0;
	if (state && node_count <= NODES_MAX)
		place->cgroup_id = state->cgroup->kn->id | (__u64)state->cgroup->root->hierarchy_id
								   << CGROUP_HIERARCHY_SHIFT;
	if (!mm)
		return;
	if (bpf_core_field_exists(mm->hugetlb_usage))
		place->huge_bytes = mm->hugetlb_usage.counter * page_size;
	place->is_large = RSS_BYTES(mm, MM_ANONPAGES) + RSS_BYTES(mm, MM_SHMEMPAGES) >= LARGE_BYTES;
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
static __always_inline __u64 memory_record_make(struct event *event, struct scratch *scratch, __u64 session)
{
	const struct memory_place *place = &scratch->place;
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
