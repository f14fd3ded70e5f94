/* What the verbs of `tracer` have in common: the table of them, their exit codes.
 *
 * A verb is one file that declares one `struct verb`: its words for people and its
 * options. Parsing, --help, shell completion and the test of the man pages all
 * come from there.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum verb_exit {
	VERB_OK = 0,
	VERB_FAILED = 1,
	VERB_USAGE = 2,
};

struct options;
struct view;

struct option_spec {
	const char *name;     /* "limit" for --limit */
	char letter;          /* 'n' for -n, or 0 */
	const char *argument; /* what stands for its value in the help, NULL: it takes none */
	const char *values;   /* for completion: words, or "file", "directory", "user" */
	const char *help;     /* one sentence without a full stop */

	/* What it sets: one of these. */
	bool *flag; /* true, of one without a value */
	const char **text;
	int64_t *duration_ns; /* 90s, 15m, 2h, 3d */
	int *choice;          /* to `chosen`; of one with a value, which of `values` it is */
	int chosen;
	int64_t *number; /* of `least` to `most` */
	int64_t least, most;
	int (*take)(const struct options *options, const char *value); /* 0, or VERB_USAGE, said */
	int common;                                                    /* OPTION_* of options.h */
};

struct verb {
	const char *name;
	const char *operands; /* "[RUN]"; of this and what follows NULL: none */
	size_t operands_least, operands_most;
	const char *summary;               /* one line of `tracer help` */
	const char *description;           /* paragraphs of --help */
	const struct option_spec *options; /* ends with a NULL name */
	const char *examples;              /* lines of --help */
	const char *completion;            /* words that may follow, or "run", "file" */
	void (*offer)(void);               /* prints them, for `tracer completion`, each with what it is behind a tab */
	bool takes_command;                /* options end at the first operand: the rest is a command */

	/* Before options are read, where which there are depends on the operands: the verb that is
	 * meant, or NULL, said. */
	const struct verb *(*choose)(const struct verb *verb, int argc, char **argv);
	/* What it does, once options are read: one of the two. */
	int (*main)(const struct options *options); /* the exit status */
	int (*show)(struct view *view);             /* as of source_show() */
};

/* V(name) for every verb_<name>, in the order of `tracer help`. */
#define VERBS(V) \
	V(run) \
	V(runs) \
	V(show) \
	V(failed) \
	V(top) \
	V(explain) \
	V(query) \
	V(host) \
	V(status) \
	V(doctor) \
	V(rules) \
	V(lake) \
	V(record) \
	V(replay) \
	V(ship) \
	V(completion) \
	V(help)

#define V(name) extern const struct verb verb_##name;
VERBS(V)
#undef V

/* All of them, ends with NULL. */
extern const struct verb *const verbs[];

/* NULL where there is none of that name. */
const struct verb *verb_find(const char *name);

/* With its own name as the first argument. Returns the exit status. */
int verb_main(const struct verb *verb, int argc, char **argv);
