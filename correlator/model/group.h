/* A group: the subtree of one process, the smallest set of tools that moves between tasks.
 *
 * A task begins as one group and grows when subtrees turn out to belong together (a pipe, or an
 * orchestrator found further out). Tool ids derive from the group, so moving it changes no id. A group
 * and its tools own the figures of a task, so moving it moves them, and nothing is recomputed. */
#pragma once

#include "correlator/model/cgroup_limits.h"
#include "correlator/model/model.h"

struct group {
	int64_t id;
	struct task *task;
	int64_t root_process_id;         /* first image id of the subtree's root */
	struct process_key orchestrator; /* parent of the subtree's root; pid 0: none */
	struct tool *tools;
	struct cgroup_limits limits;
	int64_t lost_count;         /* records lost that may concern it */
	uint64_t loss_number;       /* of the loss last counted */
	int64_t scan_memory_bytes;  /* sum in the latest scan */
	int64_t inner_memory_bytes; /* on a spine: largest sum at one scan of this and everything further in, */
	int64_t outer_memory_bytes; /* and of this and the groups further out; 0: none seen */
	struct process *spine_root; /* its root, if it began on a spine; NULL: it is gone */
	unsigned members;           /* images and tasks that point here */
	struct group *prev, *next;  /* in its task */
};
