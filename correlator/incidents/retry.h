/* What becomes of a task that failed: done again, tolerated, or fatal. */
#pragma once

#include "common/rules/rules.h"

struct model;
struct process;
struct task;

/* A root of the task has ended. */
void retry_note_end(struct model *model, struct task *task);
/* The root has executed something: what work that is, and whether it was tried before. */
void retry_note_root(struct model *model, struct task *task, const struct process *root, enum rules_role role);
/* The same for what an engine's script executes. */
void retry_note_exec(struct model *model, const struct process *process);
/* An orchestrator has ended: `wait_status` ROW_NULL, how is unknown. */
void retry_settle(struct model *model, const struct process *orchestrator, int64_t wait_status);
