/* Open ends of pipes: which children of an orchestrator use a pipe that no other is joined to yet.
 *
 * An end is open until a sibling at the other end joins its subtree. Helpers that are attributed to the
 * orchestrator's own group keep theirs even if another helper is at the other end: they wait for a subtree.
 * The index is by orchestrator and pipe, since a shell may have started thousands of others. */
#pragma once

#include "correlator/model/process.h"

struct pipe_key {
	struct process_key orchestrator;
	uint64_t inode;
};

/* At least one end is open. */
struct pipe {
	struct pipe_key key;
	struct pipe_end *ends[PIPE_SIDES];
	UT_hash_handle hh;
};

/* Returns the open ends at the other side of the pipe that `process` has at `side`. */
struct pipe_end *pipe_across(struct model *model, const struct process *process, enum pipe_side side);
/* Opens its end at `side`, if there is a pipe. */
void pipe_open(struct model *model, struct process *process, enum pipe_side side);
/* Removes both of its open ends from the index. */
void pipes_forget(struct model *model, struct process *process);
/* The end is joined: it is open no longer. */
void pipe_close(struct model *model, struct process *process, enum pipe_side side);
