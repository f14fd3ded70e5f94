/* Whether a failed task was retried, tolerated or fatal. */
#pragma once

#include "common/rules/rules.h"

struct model;
struct process;
struct task;

/* Call when a root of the task has ended. */
void retry_note_end(struct model *model, struct task *task);
/* Call when the root has executed something: notes its work and whether it was attempted before. */
void retry_note_root(struct model *model, struct task *task, const struct process *root, enum rules_role role);
/* The same for a program executed by an engine's script. */
void retry_note_exec(struct model *model, const struct process *process);
/* Call when a process has ended; `wait_status` is ROW_NULL if unknown. */
void retry_settle(struct model *model, const struct process *process, int64_t wait_status);
