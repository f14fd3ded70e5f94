/* Command lines: a daemon's, and those of tracer's verbs (cli/options.h). Each option is declared once, in a table that
 * drives parsing, --help, shell completion, man pages (docs/generate-man), and the settings of daemons (common/config.h).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#define OPTION_MAX 48 /* of one table */
#define OPTION_PROBLEM_BYTES 512
#define OPTION_EXIT_USAGE 2

struct options; /* of tracer's verbs: the context of option_parse() */

/* A user given as an option value. */
struct option_user {
	const char *name; /* as given; NULL: not given */
	uid_t uid;
	gid_t gid;
};

struct option_spec {
	const char *name;     /* "limit" for --limit */
	char letter;          /* 'n' for -n, or 0 */
	const char *argument; /* placeholder of its value in the help, NULL if it takes none */
	const char *values;   /* for completion: words, or "file", "directory", "user" */
	const char *help;     /* one sentence without a full stop */

	/* What it sets, exactly one of these: */
	bool *flag; /* set to true; takes no value */
	const char **text;
	int64_t *number;
	int64_t *bytes;       /* 4096, 500M, 10G */
	int64_t *duration_ns; /* 0.5, 90s, 15m, 2h, 3d */
	int *descriptor;
	int64_t least, most; /* of these four; `most` 0: no limit */
	int *choice;         /* set to `chosen` or, if it takes a value, to its index in `values` */
	int chosen;
	struct option_user *user;
	gid_t *group;
	/* Returns NULL, or what it takes instead: "a device number". */
	const char *(*parse)(const struct option_spec *spec, const char *value);
	/* Called with the context of option_parse(). Returns 0 or what ends the parsing, after a message. */
	int (*take)(const struct options *options, const char *value);

	const char *parameter; /* for `parse` */
	const char *initial;   /* of a daemon's setting, named in the help; NULL: none. See common/config.h */
	bool no_setting;       /* on a command line only */
};

/* Set by an option that ends the parsing: its text is wanted. */
enum { OPTION_WANTED_HELP = 1, OPTION_WANTED_VERSION };
extern int option_wanted;

/* Called for each option that was set. Returns 0, or what ends the parsing. */
typedef int option_took(void *context, const struct option_spec *spec, const char *value);

/* Parses the options in `specs`, which ends with a NULL name; those after the first operand, too, unless `has_command`.
 * `took` may be NULL. Returns 0, with the operands from argv[optind] on; -ECANCELED if `option_wanted` is set; -EINVAL with
 * the problem; or the result of `take` or `took`. */
int option_parse(const struct option_spec *specs, bool has_command, int argc, char **argv, option_took *took,
		 void *context, char ret_problem[OPTION_PROBLEM_BYTES]);

/* Stores a value. Returns 0, or -EINVAL with the problem: "limit takes 1 to 9, not 'x'". */
int option_set(const struct option_spec *spec, const char *value, char *ret_problem, size_t capacity);

/* Returns the option that a word of a command line names, "--name" (may be abbreviated) or "-n", or NULL. */
const struct option_spec *option_find(const struct option_spec *specs, const char *word);

/* Prints the table for --help. */
void option_print(FILE *file, const struct option_spec *specs);

/* ---- daemons ------------------------------------------------------------------------- */

struct option_program {
	const char *name;
	const char *purpose;             /* one line */
	const char *exit_text;           /* help text on the exit status */
	const struct option_spec *specs; /* ends with OPTION_SPECS_OF_DAEMON */
};

/* clang-format off */
#define OPTION_SPECS_OF_DAEMON \
	{"help", 0, NULL, NULL, "print this help", .choice = &option_wanted, .chosen = OPTION_WANTED_HELP}, \
	{"version", 0, NULL, NULL, "print the version", .choice = &option_wanted, .chosen = OPTION_WANTED_VERSION}, \
	{.name = NULL}
/* clang-format on */

/* Parses a command line without operands. Returns 0; -ECANCELED if help or version was requested and printed; -EINVAL on
 * wrong usage; the error of `took`; -errno if printing failed. Errors are logged in one line. */
int option_parse_program(const struct option_program *program, int argc, char **argv, option_took *took, void *context);

/* Returns the exit status for a nonzero result of option_parse_program(). */
int option_exit(int error);
