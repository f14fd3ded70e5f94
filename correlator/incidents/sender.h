/* Who sent a fatal signal.
 *
 * The kernel records delivered signals, not their effect: a process may handle one
 * and continue. So the last few are kept with their target until it ends, and its
 * wait status then tells which of them, if any, ended it.
 */
#pragma once

#include "correlator/record/record.h"

struct model;
struct process;
struct run;

/* Whether a process sent the signal rather than the kernel itself. */
bool sender_is_process(const struct record_signal *signal);
/* `sender` must be placed; NULL if it is unknown or the kernel. */
void sender_note(struct model *model, const struct record_signal *signal, struct process *target,
		 const struct process *sender);

/* Returns the signal that killed `process`, or after which it exited; NULL if none is known. */
const struct sent_signal *sender_find(const struct process *process, int64_t wait_status, uint64_t end_boot_ns);

/* Writes the sender to follow "SIGTERM from": "slurmstepd (pid 7, user root)", "the terminal (^C)". */
void sender_describe(const struct sent_signal *sent, char *text, size_t size);

/* Writes why it was sent to a process of `run`, as far as that is known. Returns false if it is not. */
bool sender_explain(const struct sent_signal *sent, const struct run *run, char *text, size_t size);

/* Writes "SIGTERM", or "signal 70" if it has no name. */
void signal_name(int64_t signal, char *text, size_t size);
