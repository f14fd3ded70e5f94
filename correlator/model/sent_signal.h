/* A fatal signal that was sent to a process, and its sender.
 *
 * The kernel side records which signals are delivered, not their effect: a process may handle one
 * and continue. So the last few are kept with their target until it ends. */
#pragma once

#include <stdint.h>

/* What the sender is to its target. */
enum sender_kind {
	SENDER_KERNEL, /* the kernel: a terminal's ^C, a limit, a timer */
	SENDER_SELF,
	SENDER_PARENT,
	SENDER_ANCESTOR, /* above the parent */
	SENDER_BATCH,    /* a batch system's daemon */
	SENDER_ORIGIN,   /* another origin of runs: a service manager, a container shim */
	SENDER_SAME_RUN,
	SENDER_OTHER,      /* of another run */
	SENDER_UNKNOWN,    /* a process that the model does not know */
	SENDER_FOR_OTHERS, /* of the same run, on behalf of its caller: kill(1) */
	SENDER_KINDS
};

struct sent_signal {
	uint64_t boot_ns;
	int64_t sender_id; /* image, ROW_NULL: the kernel or unknown */
	uint32_t sender_pid, sender_uid;
	uint32_t signal;
	enum sender_kind kind;
	char program[48];                /* tool name of the sender, "" unknown */
	struct sent_signal *prev, *next; /* of its target's list, oldest first */
};

#define SENT_SIGNALS_MAX 4 /* of different numbers; beyond that the oldest is dropped */
