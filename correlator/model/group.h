/* A group: the smallest set of tools that moves between tasks as one, the subtree of one process.
 *
 * A task begins as one group and grows when subtrees turn out to belong together (a pipe, or an
 * orchestrator found further out). Ids of tools come from the group, so moving it changes no id. */
#pragma once

#include "correlator/model/process.h"

struct group {
	int64_t id;
	struct task *task;
	int64_t root_process_id;         /* first image id of the process it is the subtree of */
	struct process_key orchestrator; /* the process it is a direct subtree of; pid 0: none */
	struct tool *tools;
	uint32_t input_pipe, output_pipe; /* the open ends of its pipeline, 0: none */
	struct pipe_user *reads, *writes; /* the same, to be found by */
	unsigned stem_count;              /* children of the orchestrator in it, in memory */
	uint64_t start_boot_ns;           /* of the earliest of them */
	unsigned members;                 /* processes and tasks that point here */
	struct group *prev, *next;        /* in its task */
};

/* A group of `process` in `task`, with the ends of its pipeline; 0: none. */
struct group *group_open(struct model *model, struct task *task, struct process *process, uint32_t input_pipe,
			 uint32_t output_pipe);
struct tool *group_tool(struct model *model, struct group *group, const char *name, enum rules_role role);
void group_move(struct model *model, struct group *group, struct task *task);
void group_free(struct model *model, struct group *group);
