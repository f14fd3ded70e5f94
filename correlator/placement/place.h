/* Where a process belongs: which run, which task, which group of tools.
 *
 * Tasks that this opens are queued in the model to be assessed. */
#pragma once

struct image;
struct model;
struct process;
struct placing;

/* Gives `process` a run, a group and an image of its own, even if it only forked. */
void place_full(struct model *model, struct process *process, const struct placing *placing);
/* Adds a new image of `process`: like place_full() if it has no place yet, otherwise in its group. */
void place_exec(struct model *model, struct process *process, const struct placing *placing);
/* Returns the image of a process. One that has none only forked: it is placed as part of its parent's program, with an
 * image in the parent's tool. NULL: it is ignored, or out of memory. */
struct image *place_part(struct model *model, struct process *process);
