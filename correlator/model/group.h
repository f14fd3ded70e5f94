/* A group: the subtree of one process, the smallest set of tools that moves between tasks.
 *
 * A task begins as one group and grows when subtrees turn out to belong together (a pipe, or an
 * orchestrator found further out). Tool ids derive from the group, so moving it changes no id. */
#pragma once

#include "correlator/model/process.h"

struct group {
	int64_t id;
	struct task *task;
	int64_t root_process_id;         /* first image id of the subtree's root */
	struct process_key orchestrator; /* parent of the subtree's root; pid 0: none */
	struct tool *tools;
	uint32_t input_pipe, output_pipe; /* the open ends of its pipeline, 0: none */
	struct pipe_user *reads, *writes; /* their entries in the index of pipes */
	unsigned stem_count;              /* its children of the orchestrator that are in memory */
	uint64_t start_boot_ns;           /* earliest start of these children */
	unsigned members;                 /* processes and tasks that point here */
	struct group *prev, *next;        /* in its task */
};

/* Opens a group for `process` in `task`, with the open ends of its pipeline (0: none). */
struct group *group_open(struct model *model, struct task *task, struct process *process, uint32_t input_pipe,
			 uint32_t output_pipe);
struct tool *group_tool(struct model *model, struct group *group, const char *name, enum rules_role role);
void group_move(struct model *model, struct group *group, struct task *task);
void group_free(struct model *model, struct group *group);
