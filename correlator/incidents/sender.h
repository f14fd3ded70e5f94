/* Who sent a fatal signal.
 *
 * The kernel records delivered signals, not their effect: a process may handle one
 * and continue. So the last few are kept with their target until it ends, and its
 * wait status then tells which of them, if any, ended it.
 */
#pragma once

#include "correlator/record/record.h"

struct image;
struct model;
struct process;

/* Whether a process sent the signal rather than the kernel itself. */
bool sender_is_process(const struct record_signal *signal);
/* `sender` must be placed; NULL if it is unknown or the kernel. */
void sender_note(struct model *model, const struct record_signal *signal, struct process *target,
		 const struct process *sender);

/* Returns the signal that killed the process of `image`, or after which it exited; NULL if none is known. */
const struct sent_signal *sender_find(const struct image *image);
