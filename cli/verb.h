/* What the verbs (subcommands) of `tracer` have in common: their table and exit codes.
 *
 * A verb is one file that declares one `struct verb`: its help texts and options.
 * Option parsing, --help, shell completion and man pages are all derived from it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/option.h"

enum verb_exit {
	VERB_OK = 0,     /* answered, also if the list is empty or the news is bad */
	VERB_FAILED = 1, /* not answered; of a verb that checks: something does not work */
	VERB_USAGE = 2,  /* wrong usage */
	/* Of run and record with a command, as of env(1): */
	VERB_OURS = 125,       /* we failed, not the command; also wrong usage */
	VERB_CANNOT_RUN = 126, /* the command cannot be run */
	VERB_NOT_FOUND = 127,  /* the command is not found */
};

struct options;
struct view;

struct verb {
	const char *name;
	const char *operands; /* "[RUN]"; this and the pointers below are NULL if not applicable */
	size_t operands_least, operands_most;
	const char *summary;               /* one line of `tracer help` */
	const char *description;           /* paragraphs of --help */
	const struct option_spec *options; /* ends with a NULL name */
	const char *examples;              /* lines of --help */
	const char *completion;            /* words that may follow, or "run", "file" */
	void (*offer)(void);               /* prints them for `tracer completion`: word, tab, description */
	bool takes_command;                /* options end at the first operand: the rest is a command */
	bool runs_command;                 /* a command may follow "--", as it may if takes_command */

	/* Called before options are parsed, if the options depend on the operands: returns the verb to
	 * use, or NULL after printing an error. */
	const struct verb *(*choose)(const struct verb *verb, int argc, char **argv);
	/* Called after options are parsed; exactly one is set. */
	int (*main)(const struct options *options); /* returns the exit status */
	int (*show)(struct view *view);             /* see source_show() */
};

/* V(name) for every verb_<name>, in the order of `tracer help`. */
#define VERBS(V) \
	V(run) \
	V(runs) \
	V(show) \
	V(report) \
	V(failed) \
	V(top) \
	V(explain) \
	V(tune) \
	V(compare) \
	V(cost) \
	V(prices) \
	V(sweep) \
	V(query) \
	V(serve) \
	V(export) \
	V(host) \
	V(status) \
	V(metrics) \
	V(doctor) \
	V(config) \
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

/* All verbs, NULL-terminated. */
extern const struct verb *const verbs[];

/* Returns NULL if there is no verb of that name. */
const struct verb *verb_find(const char *name);

/* argv[0] is the verb's name. Returns the exit status. */
int verb_main(const struct verb *verb, int argc, char **argv);
