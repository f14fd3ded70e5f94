/* What the verbs of `tracer` have in common: the table of them, their exit codes.
 *
 * A verb is one file that declares one `struct verb`: its words for people and its
 * options. Parsing, --help, shell completion and the test of the man pages all
 * come from there.
 */
#ifndef TRACER_CLI_VERB_H
#define TRACER_CLI_VERB_H

#include <stdbool.h>

enum verb_exit {
	VERB_OK = 0,
	VERB_FAILED = 1,
	VERB_USAGE = 2,
};

struct option_spec {
	int id;               /* above 0: the verb's own; below: OPTION_* of options.h */
	const char *name;     /* "limit" for --limit */
	char letter;          /* 'n' for -n, or 0 */
	const char *argument; /* what stands for its value in the help, NULL: it takes none */
	const char *values;   /* for completion: words, or "file", "directory", "user" */
	const char *help;     /* one sentence without a full stop */
};

struct verb {
	const char *name;
	const char *operands;    /* "[RUN]", "" for none */
	const char *summary;     /* one line of `tracer help` */
	const char *description; /* paragraphs of --help */
	const struct option_spec *options; /* ends with a NULL name */
	const char *examples;    /* lines of --help, "" for none */
	const char *completion;  /* words that may follow, or "run", "file", "" */
	bool takes_command;      /* options end at the first operand: the rest is a command */
	int (*main)(const struct verb *verb, int argc, char **argv);
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

#endif
