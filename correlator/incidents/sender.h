/* Who sent a fatal signal.
 *
 * The kernel records delivered signals, not their effect: a process may handle one
 * and continue. So the last few are kept with their target until it ends, and its
 * wait status then tells which of them, if any, ended it.
 *
 * The daemon of a batch system ends a job in the same way whether it reached its time limit or was
 * cancelled. But the cancelling command may have been seen if it ran on this host: it names the job,
 * and its user is allowed to. If none was seen, it may have run elsewhere. Rules say which programs cancel jobs;
 * of which batch system does not matter: a host has one, and commands of one imitate those of others.
 */
#pragma once

#include "correlator/record/record.h"

struct image;
struct model;
struct process;
struct run;

/* Whether a process sent the signal rather than the kernel itself. */
bool sender_is_process(const struct record_signal *signal);
/* `sender` must be placed; NULL if it is unknown or the kernel. */
void sender_note(struct model *model, const struct record_signal *signal, struct process *target,
		 const struct process *sender);

/* Returns the signal that killed the process of `image`, or after which it exited; NULL if none is known. */
const struct sent_signal *sender_find(const struct image *image);

/* Call when a process has executed a program that cancels jobs. */
void sender_note_cancel(struct model *model, const struct process *process, uint64_t boot_ns);
/* Returns the command that can explain what happened to the run at `boot_ns`, or NULL if none was seen. */
const struct cancel *sender_find_cancel(const struct run *run, uint64_t boot_ns);
