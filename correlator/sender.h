/* Who sent a fatal signal.
 *
 * The kernel tells of signals that are delivered, not of what they do: a process may
 * handle one and go on. So the last few are kept with their target until it ends, and
 * its wait status says which of them, if any, is to blame.
 */
#ifndef TRACER_CORRELATOR_SENDER_H
#define TRACER_CORRELATOR_SENDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/record/event.h"

struct model;
struct process;
struct run;

/* What the sender is to its target. */
enum sender_kind {
	SENDER_KERNEL,   /* the kernel: a terminal's ^C, a limit, a timer */
	SENDER_SELF,
	SENDER_PARENT,
	SENDER_ANCESTOR, /* above the parent */
	SENDER_BATCH,    /* a batch system's daemon */
	SENDER_ORIGIN,   /* another origin of runs: a service manager, a container shim */
	SENDER_SAME_RUN,
	SENDER_OTHER,    /* of another run */
	SENDER_UNKNOWN,  /* a process that the model does not know */
};

/* Plain, so that a checkpoint holds it as it is. */
struct sent_signal {
	uint64_t boot_ns;
	int64_t sender_id; /* image, ROW_NULL: the kernel or unknown */
	uint32_t sender_pid, sender_uid;
	uint32_t signal;
	enum sender_kind kind;
	char program[48];  /* tool name of the sender, "" unknown */
};

#define SENT_SIGNALS_MAX 4 /* of different numbers; then the oldest goes */

struct sent_signals {
	unsigned count;
	struct sent_signal item[SENT_SIGNALS_MAX]; /* oldest first */
};

void sender_note(struct model *model, const struct event_signal *event);

/* The signal that ended `process`, or that it ended itself after; NULL: none is known. */
const struct sent_signal *sender_find(const struct process *process, int64_t wait_status,
				      uint64_t end_boot_ns);

/* "slurmstepd (pid 7, user root)", "the terminal (^C)": fits after "SIGTERM from". */
void sender_describe(const struct sent_signal *sent, char *text, size_t size);

/* Why it was sent to a process of `run`, as far as that is a fact; false: nothing to say. */
bool sender_explain(const struct sent_signal *sent, const struct run *run, char *text, size_t size);

/* "SIGTERM", "signal 70" */
void signal_name(int64_t signal, char *text, size_t size);

#endif
