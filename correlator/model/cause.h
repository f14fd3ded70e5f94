/* Why something failed, and what a process remembers of how its children failed. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

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
	bool reported; /* of a task that failed of it */
	enum cause_kind kind;
	char *what;                                /* "bwa mem (pid 12) exited with code 3 after 52.3 ms" */
	char *why;                                 /* "" where nothing is known */
	int64_t process_id;                        /* image */
	int64_t sender_process_id, sender_user_id; /* ROW_NULL: none, or the kernel */
	char sender_program[48];
	int64_t work; /* hash of its command line, 0: it says too little */
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
	bool is_task; /* the root of one */
	struct cause *cause;
};

#define ENDINGS_MAX 8

/* The first, and of the others the latest of each status and kind. */
struct endings {
	unsigned count;
	struct ending item[ENDINGS_MAX]; /* as they came */
};

void endings_free(struct endings *endings);
/* The first stays; of the others one like it goes, or the oldest. Takes a reference of its cause. */
void endings_push(struct endings *endings, const struct ending *ending);
void endings_remove(struct endings *endings, unsigned index);
