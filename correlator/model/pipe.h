/* Who uses a pipe beneath an orchestrator, and how.
 *
 * A group knows the open ends of its pipeline: what the first of its row reads and the last writes.
 * Helpers that came first were taken for the orchestrator's own. Both are found by orchestrator and
 * pipe, since a shell may have started thousands of others; of several, the one that began first. */
#pragma once

#include "correlator/model/process.h"

enum pipe_use {
	PIPE_GROUP_READS, /* the open ends of a group's pipeline */
	PIPE_GROUP_WRITES,
	PIPE_HELPER_READS, /* a helper that was taken for the orchestrator's own */
	PIPE_HELPER_WRITES,
};

struct pipe_key {
	struct process_key orchestrator;
	uint32_t inode, use;
};

struct pipe_end {
	struct pipe_key key;
	struct pipe_user *users; /* in the order in which they began; never empty */
	UT_hash_handle hh;
};

struct pipe_user {
	struct pipe_end *end;
	struct group *group;    /* NULL: a helper */
	struct process *helper; /* NULL: a group */
	uint64_t start_boot_ns;
	struct pipe_user *prev, *next;
};

/* NULL: nobody. */
struct pipe_end *pipe_find(struct model *model, const struct process_key *orchestrator, uint32_t inode,
			   enum pipe_use use);
/* `process`, a child of the group's orchestrator, is in it from now on. */
void group_add_stem(struct group *group, struct process *process);
/* The open ends of its pipeline from now on; 0: none. */
void group_set_pipes(struct model *model, struct group *group, uint32_t input, uint32_t output);
/* `helper` is its parent's own, for now. */
void helper_set_pipes(struct model *model, struct process *helper);
void helper_forget_pipes(struct model *model, struct process *helper);
/* Nobody finds `process` by its pipes any more, nor its group once none of its stems is left. */
void process_leave_pipes(struct model *model, struct process *process);
/* All of them, after a restart. */
void pipes_link(struct model *model);
