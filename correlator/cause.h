/* Why a process ended as it did, found from the bottom up.
 *
 * Each process remembers how its last few children failed, each with its cause. When it fails
 * itself, the cause is that of the child whose status it passed on, or the process itself. So
 * the chain is followed down through shells and launchers at one step an exit, and what was
 * tolerated is never blamed.
 */
#ifndef TRACER_CORRELATOR_CAUSE_H
#define TRACER_CORRELATOR_CAUSE_H

#include <stdbool.h>
#include <stdint.h>

struct model;
struct image;
struct process;

enum cause_kind {
	CAUSE_EXIT_CODE,
	CAUSE_SIGNAL,
	CAUSE_INTERRUPTED, /* at its terminal: ^C, ^\, the terminal closed */
	CAUSE_COMMAND,     /* a command that could not be executed */
	CAUSE_CRASH,       /* a fault of the program, or abort(3) */
	CAUSE_OOM,
};

/* Shared by all that failed of it. */
struct cause {
	unsigned references;
	bool told;             /* of a task that failed of it */
	enum cause_kind kind;
	char *what;            /* "bwa mem (pid 12) exited with code 3 after 52.3 ms" */
	char *why;             /* "" where nothing is known */
	int64_t process_id;    /* image */
	int64_t sender_process_id, sender_user_id; /* ROW_NULL: none, or the kernel */
	char sender_program[48];
	int64_t work;          /* hash of its command line, 0: it says too little */
};

struct cause *cause_ref(struct cause *cause);
/* NULL is none. */
void cause_unref(struct cause *cause);

/* What a failed child means to its parent. */
enum ending_kind {
	ENDING_FAILED,
	ENDING_EXPECTED, /* grep found nothing, the reader of a pipe left */
	ENDING_TEARDOWN, /* its parent, or something above, ended it */
};

/* What the parent has begun since. */
enum ending_followed { FOLLOWED_BY_NOTHING, FOLLOWED_BY_HELPERS, FOLLOWED_BY_TOOLS };

/* How a child failed. */
struct ending {
	uint64_t pid, start_boot_ns;
	uint64_t end_boot_ns;
	int64_t wait_status;
	enum ending_kind kind;
	enum ending_followed followed;
	bool is_task;          /* the root of one */
	struct cause *cause;
};

#define ENDINGS_MAX 8

/* The first, and of the others the latest of each status and kind. */
struct endings {
	unsigned count;
	struct ending item[ENDINGS_MAX]; /* as they came */
};

void endings_free(struct endings *endings);

/* A process has ended: finds its cause if it failed, and whether that was to be expected; tells
 * its parent. */
void cause_note(struct model *model, struct image *image);
/* A wrapper that killed itself with its command (timeout -s KILL) may be gone before it: what was
 * said of the wrapper is said anew of the command. */
void cause_correct_parent(struct model *model, const struct image *image);
/* `process` has another child. */
void cause_note_fork(struct process *parent);
/* `process` has executed a program that is more than a helper. */
void cause_note_tool(struct process *process);
/* What the program before has seen of its children means nothing to the next. */
void cause_forget(struct process *process);
/* A failed child of `parent` is done again: it explains nothing any more. */
void cause_forgive(struct process *parent, uint64_t pid, uint64_t start_boot_ns);

#endif
