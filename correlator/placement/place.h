/* Where a process belongs: which run, which task, which group of tools.
 *
 * Tasks that open meanwhile wait in the model to be judged. */
#pragma once

struct model;
struct process;
struct placing;

/* Gives `process` a run and a group, and an image of its own if it only forked. */
void place_full(struct model *model, struct process *process, const struct placing *placing);
/* A new image of `process`: as above where it has no place yet, else in its group. */
void place_exec(struct model *model, struct process *process, const struct placing *placing);
/* A forked part of its parent's program: an image in the parent's tool. */
void place_part(struct model *model, struct process *process);
