/* A group: the subtree of one process, the smallest set of tools that moves between tasks.
 *
 * A task begins as one group and grows when subtrees turn out to belong together (a pipe, or an
 * orchestrator found further out). Tool ids derive from the group, so moving it changes no id. A group
 * and its tools own the figures of a task, so moving it moves them, and nothing is recomputed. */
#pragma once

#include "correlator/model/cgroup_limits.h"
#include "correlator/model/memory.h"
#include "correlator/model/model.h"

/* Of a group on a spine, which may yet become the task furthest out. */
struct spine_memory {
	struct set_memory inner; /* of this group and those further in */
	struct set_memory outer; /* of this group and those further out */
	int64_t own_bytes;       /* of this group, at the latest scan */
};

struct group {
	int64_t id;
	struct task *task;
	int64_t root_process_id;         /* first image id of the subtree's root */
	struct process_key orchestrator; /* parent of the subtree's root; pid 0: none */
	struct tool *tools;
	struct cgroup_limits limits;
	int64_t lost_count;         /* records lost that may concern it */
	uint64_t loss_number;       /* of the loss last counted */
	struct spine_memory *spine; /* NULL: it is not on a spine */
	struct process *spine_root; /* its root, if it began on a spine; NULL: it is gone */
	unsigned members;           /* images and tasks that point here */
	struct group *prev, *next;  /* in its task */
};
