/* Command line of a daemon. Each option is declared once, in a table that drives both parsing
 * and --help.
 *
 * Long options only. --help and --version need no entry. (`tracer` has subcommands and its own
 * option parser: cli/options.h.)
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define OPTION_MAX 32 /* per program */
#define OPTION_EXIT_USAGE 2

struct option_rule;

/* Parses `text` into `*field`. Returns NULL, or what is wrong with the value (static text). */
typedef const char *option_take(void *field, const char *text, const struct option_rule *rule);

struct option_rule {
	const char *name;
	const char *value;   /* placeholder for its value in the help; NULL: takes no value */
	const char *meaning; /* help text; may have several lines */
	option_take *take;
	size_t at;             /* offset of the field in the program's option structure */
	uint64_t least, most;  /* bounds of numbers, sizes and times */
	const char *parameter; /* for a program-specific `take` */
	const char *initial;   /* its value if nothing sets it (config_set_initial()), named in the help; or NULL */
	bool no_setting;       /* on a command line only, see config.h */
};

struct option_program {
	const char *name;
	const char *purpose;             /* one line */
	const char *exit_text;           /* help text on the exit status */
	const struct option_rule *rules; /* terminated by an empty entry */
};

/* A user given as an option value. */
struct option_user {
	const char *name; /* as given; NULL: not given */
	uid_t uid;
	gid_t gid;
};

option_take option_take_flag;       /* bool: true */
option_take option_take_text;       /* const char *: borrowed from argv */
option_take option_take_number;     /* uint64_t */
option_take option_take_size;       /* uint64_t: bytes */
option_take option_take_seconds;    /* uint64_t: ns; bounds in ns */
option_take option_take_descriptor; /* int */
option_take option_take_user;       /* struct option_user */
option_take option_take_group;      /* gid_t */
option_take option_take_log_level;  /* enum log_level */

/* Called for each option with a value; `options` is the program's. Returns 0 or -errno. */
typedef int option_note(void *options, const struct option_rule *rule, const char *text);

/* Parses into `options`, the program's own structure, which the caller has filled with defaults. `note` may be NULL.
 * Returns 0; -ECANCELED if help or version was requested and printed; -EINVAL on wrong usage; the error of `note`;
 * -errno if printing failed. Errors are logged in one line. */
int option_parse(const struct option_program *program, void *options, int argc, char **argv, option_note *note);

/* Returns the exit status for a nonzero result of option_parse(). */
int option_exit(int error);
