/* Who sent a fatal signal.
 *
 * The kernel records signals that are delivered, not what they do: a process may
 * handle one and go on. So the last few are kept with their target until it ends, and
 * its wait status says which of them, if any, is to blame.
 */
#pragma once

#include "correlator/record/event.h"

struct model;
struct process;
struct run;

/* Else the kernel itself sent it. */
bool sender_is_process(const struct event_signal *event);
/* `sender` has its place; NULL: it is unknown, or the kernel. */
void sender_note(struct model *model, const struct event_signal *event, struct process *target,
		 const struct process *sender);

/* The signal that ended `process`, or that it ended itself after; NULL: none is known. */
const struct sent_signal *sender_find(const struct process *process, int64_t wait_status, uint64_t end_boot_ns);

/* "slurmstepd (pid 7, user root)", "the terminal (^C)": fits after "SIGTERM from". */
void sender_describe(const struct sent_signal *sent, char *text, size_t size);

/* Why it was sent to a process of `run`, as far as that is a fact; false: nothing to say. */
bool sender_explain(const struct sent_signal *sent, const struct run *run, char *text, size_t size);

/* "SIGTERM", "signal 70" */
void signal_name(int64_t signal, char *text, size_t size);
