/* The command line of a daemon: every option declared once, in a table that parsing and
 * --help follow.
 *
 * Long options only. --help and --version need no entry. (`tracer` has verbs, and options
 * of its own kind: cli/options.h.)
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#define OPTION_MAX 32 /* of one program */
#define OPTION_EXIT_USAGE 2

struct option_rule;

/* Puts `text` where `field` points. NULL, or what is wrong with it: static text. */
typedef const char *option_take(void *field, const char *text, const struct option_rule *rule);

struct option_rule {
	const char *name;
	const char *value;   /* what stands for its value in the help; NULL: it takes none */
	const char *meaning; /* each line of it below the other */
	option_take *take;
	size_t at;             /* the field's offset in the program's own structure */
	uint64_t least, most;  /* of numbers, sizes and times */
	const char *parameter; /* for a `take` of the program's own */
};

struct option_program {
	const char *name;
	const char *purpose;             /* a line */
	const char *exit_text;           /* what the exit status says */
	const struct option_rule *rules; /* ends with an empty one */
};

/* One user, as an option names it. */
struct option_user {
	const char *name; /* as given; NULL: not given */
	uid_t uid;
	gid_t gid;
};

option_take option_take_flag;       /* bool: true */
option_take option_take_text;       /* const char *: lives as long as the command line */
option_take option_take_number;     /* uint64_t */
option_take option_take_size;       /* uint64_t: bytes */
option_take option_take_seconds;    /* uint64_t: ns; bounds in ns */
option_take option_take_descriptor; /* int */
option_take option_take_user;       /* struct option_user */
option_take option_take_group;      /* gid_t */
option_take option_take_log_level;  /* enum log_level */

/* Fills `options`, the program's own structure, which has the defaults. 0; -ECANCELED: help
 * or version was asked for, and printed; -EINVAL: wrong usage; -errno: it could not be printed.
 * What is wrong is logged in one line. */
int option_parse(const struct option_program *program, void *options, int argc, char **argv);

/* The exit status for what option_parse() returned, other than 0. */
int option_exit(int error);
