/* Causes of failures, and the failed children that a process remembers. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum cause_kind {
	CAUSE_EXIT_CODE,
	CAUSE_SIGNAL,
	CAUSE_INTERRUPTED, /* from its terminal: ^C, ^\, the terminal closed */
	CAUSE_COMMAND,     /* a command that could not be executed */
	CAUSE_CRASH,       /* a fault of the program, or abort(3) */
	CAUSE_OOM,
	CAUSE_GPU, /* an error of a GPU that it held */
};

/* Reference-counted: shared by everything that failed because of it. */
struct cause {
	unsigned references; /* beyond the first */
	bool reported;       /* by the incident of a task that failed because of it */
	enum cause_kind kind;
	char *what;                                /* "bwa mem (pid 12) exited with code 3 after 52.3 ms" */
	char *why;                                 /* "" unknown */
	int64_t process_id;                        /* image id */
	int64_t sender_process_id, sender_user_id; /* ROW_NULL: none, or the kernel */
	char sender_program[48];
	int64_t work; /* hash of its command line, 0: none or not distinctive */
};

struct cause *cause_ref(struct cause *cause);
/* Does nothing if `cause` is NULL. */
void cause_unref(struct cause *cause);

/* What a failed child means to its parent. */
enum ending_kind {
	ENDING_FAILED,
	ENDING_EXPECTED, /* grep found nothing, the reader of a pipe closed it */
	ENDING_TEARDOWN, /* ended by its parent, another ancestor, or kill(1) in its run */
	ENDING_RETRIED,  /* its parent did the same once more */
};

/* What the parent has started since. */
enum ending_followed { FOLLOWED_BY_NOTHING, FOLLOWED_BY_HELPERS, FOLLOWED_BY_TOOLS };

/* A failed child. */
struct ending {
	uint64_t pid, start_boot_ns;
	uint64_t end_boot_ns;
	int64_t wait_status;
	enum ending_kind kind;
	enum ending_followed followed;
	bool is_task;        /* root of a task */
	bool is_part;        /* a fork or worker of its parent's program */
	bool is_captured;    /* its output was a pipe that its parent made */
	uint32_t exit_flags; /* RECORD_EXIT_* */
	struct cause *cause;
	struct ending *prev, *next; /* of its parent's list */
};

/* A program that fails because a child failed does so within this time. */
#define CAUSE_AT_ONCE_NS (2 * UINT64_C(1000000000))

/* A list of endings, in order of arrival: the first, then the latest of each status and kind. */
#define ENDINGS_MAX 8

/* Returns the failed child that is the last thing its parent had started, if it ended just before; else NULL. */
const struct ending *ending_before(const struct ending *endings, uint64_t end_boot_ns);
void endings_free(struct ending **endings);
/* Adds a copy. Keeps the first; of the others, replaces a similar one or, if full, the oldest. Takes a reference to its
 * cause. Returns false if out of memory. */
bool endings_push(struct ending **endings, const struct ending *ending);
