/* Which groups and helpers use a pipe beneath an orchestrator, and how.
 *
 * A group knows the open ends of its pipeline: what its first process reads and its last one writes.
 * Helpers that came first were attributed to the orchestrator. Both are indexed by orchestrator and
 * pipe, since a shell may have started thousands of others; of several, the earliest is used. */
#pragma once

#include <uthash.h>

#include "correlator/model/process_key.h"

struct group;
struct model;
struct process;

enum pipe_use {
	PIPE_GROUP_READS, /* the open ends of a group's pipeline */
	PIPE_GROUP_WRITES,
	PIPE_HELPER_READS, /* a helper attributed to the orchestrator */
	PIPE_HELPER_WRITES,
};

struct pipe_key {
	struct process_key orchestrator;
	uint32_t inode, use;
};

struct pipe_end {
	struct pipe_key key;
	struct pipe_user *users; /* in order of start; never empty */
	UT_hash_handle hh;
};

struct pipe_user {
	struct pipe_end *end;
	struct group *group;    /* NULL: a helper */
	struct process *helper; /* NULL: a group */
	uint64_t start_boot_ns;
	struct pipe_user *prev, *next;
};

/* Returns NULL if no process uses it. */
struct pipe_end *pipe_find(struct model *model, const struct process_key *orchestrator, uint32_t inode,
			   enum pipe_use use);
/* Counts `process`, a child of the group's orchestrator, as a stem of the group. */
void group_add_stem(struct group *group, struct process *process);
/* Sets the open ends of its pipeline; 0: none. */
void group_set_pipes(struct model *model, struct group *group, uint32_t input, uint32_t output);
/* Adds the pipes of `helper`, which is attributed to its parent for now. */
void helper_set_pipes(struct model *model, struct process *helper);
void helper_forget_pipes(struct model *model, struct process *helper);
/* Removes `process` from the index of pipes, and its group once it has no stems left. */
void process_leave_pipes(struct model *model, struct process *process);
/* Rebuilds the index of pipes after a restart. */
void pipes_link(struct model *model);
