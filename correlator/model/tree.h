/* Runs, tasks and groups together with everything below them: how they begin, move and end, and what they add
 * up to. What changes one of them alone is in its own file, which knows only what is above it. */
#pragma once

#include "correlator/model/run.h"
#include "correlator/model/task.h"

struct group;
struct process;

/* Begins a run with its main task. */
struct run *run_new(struct model *model, const struct process *root, enum run_kind kind, uint64_t boundary_key);
/* The system run: init, service managers and whatever else has no origin. */
struct run *run_of_system(struct model *model);
void run_set_root(struct model *model, struct run *run, const struct process *process);
void run_free(struct model *model, struct run *run);

/* Figures of a task, which its groups and tools own. */
struct task_figures {
	struct tally tally; /* sums and maxima over its tools */
	struct cgroup_limits limits;
	int64_t lost_count, core_limit_milli;
};

/* Begins a task of its run beneath `orchestrator`, which is still to be assessed. */
struct task *task_open(struct model *model, struct process *orchestrator, enum task_kind kind, enum reason reason,
		       int64_t id_part);
void task_fold(const struct task *task, struct task_figures *ret);
enum outcome_status task_status(const struct task *task);
void task_add_root(struct model *model, struct task *task, struct process *process);
void task_merge(struct model *model, struct task *from, struct task *into);
void task_free(struct model *model, struct task *task);

/* Opens a group for the subtree of `process` in `task`. */
struct group *group_open(struct model *model, struct task *task, const struct process *process);
void group_move(struct model *model, struct group *group, struct task *task);
/* Begins and ends to keep the memory of what may become a task (struct spine_memory). */
void group_join_spine(struct model *model, struct group *group);
void group_leave_spine(struct group *group);

void process_free(struct model *model, struct process *process);
/* Frees all runs, processes, cgroups and containers. */
void model_forget_all(struct model *model);
void model_free(struct model *model);
