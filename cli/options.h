/* Command-line options of a verb, parsed by its table.
 *
 * Options that several verbs have mean the same everywhere and are stored in
 * `struct options`; a verb's own come out of options_next() one by one.
 */
#ifndef TRACER_CLI_OPTIONS_H
#define TRACER_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/output.h"
#include "cli/verb.h"

#define OPTIONS_STORE_DEFAULT TRACER_STATE_DIR "/tracer.db"
#define OPTIONS_MAX 32 /* of one verb */

enum {
	OPTION_HELP = -1,
	OPTION_STORE = -2,
	OPTION_JSON = -3,
	OPTION_COLOR = -4,
	OPTION_RAW = -5,
	OPTION_LAKE = -6,
};

/* Entries for a verb's table. */
#define OPTION_SPEC_STORE \
	{OPTION_STORE, "store", 0, "FILE", "file", \
	 "read this store (else $TRACER_STORE, else " OPTIONS_STORE_DEFAULT ")"}
/* For verbs that a lake can answer as well. */
#define OPTION_SPEC_SOURCE \
	OPTION_SPEC_STORE, \
	{OPTION_LAKE, "lake", 0, "URL", NULL, "ask the lake of all hosts there (else $TRACER_LAKE)"}
#define OPTION_SPEC_JSON {OPTION_JSON, "json", 'j', NULL, NULL, "print JSON"}
#define OPTION_SPEC_RAW \
	{OPTION_RAW, "raw", 0, NULL, NULL, "print figures as whole nanoseconds and bytes"}
#define OPTION_SPEC_COLOR \
	{OPTION_COLOR, "color", 0, "WHEN", "auto always never", \
	 "use colour: auto (on a terminal, unless NO_COLOR is set), always, never"}
#define OPTION_SPEC_HELP {OPTION_HELP, "help", 'h', NULL, NULL, "print this help"}
#define OPTION_SPEC_END {0, NULL, 0, NULL, NULL, NULL}
/* How every verb that shows what is stored ends its table. */
#define OPTION_SPECS_OF_VIEW \
	OPTION_SPEC_RAW, \
	OPTION_SPEC_JSON, \
	OPTION_SPEC_SOURCE, \
	OPTION_SPEC_COLOR, \
	OPTION_SPEC_HELP, \
	OPTION_SPEC_END,

struct options {
	const struct verb *verb;
	int argc;
	char **argv;
	const char *store_path; /* as given, NULL: not given */
	const char *lake_url;   /* as given, NULL: not given */
	bool json;
	bool raw;
	enum output_color color;
	char **operands; /* once options_next() has returned 0 */
	size_t operand_count;
};

void options_init(struct options *options, const struct verb *verb, int argc, char **argv);

/* Above 0: the id of an option of the verb's own, `*ret_value` its value or NULL.
 * 0: the end, operands are set. -ECANCELED: help was asked for and printed; -EIO: could
 * not be printed. -EINVAL: wrong usage, said on standard error. */
int options_next(struct options *options, const char **ret_value);

/* Exit status for a negative return of options_next(). */
int options_exit(int error);

/* Says "tracer VERB: ..." and where help is. Returns VERB_USAGE. */
int options_misuse(const struct options *options, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* 0, or VERB_USAGE, said, where there are not `least` to `most` operands. */
int options_check_operands(const struct options *options, size_t least, size_t most);

/* --store, else $TRACER_STORE, else the default. */
const char *options_store_path(const struct options *options);

/* Whether a lake shall answer: --lake, or $TRACER_LAKE without --store. */
bool options_use_lake(const struct options *options);

/* A whole decimal number of 0..most. 0 or -EINVAL. */
int options_parse_number(const char *text, uint64_t most, uint64_t *ret_number);

/* "90", "90s", "15m", "2h", "3d": 0 or -EINVAL. */
int options_parse_duration(const char *text, uint64_t *ret_ns);

/* A user's name or number. 0 or -ENOENT. */
int options_parse_user(const char *text, int64_t *ret_user_id);

/* The --help text of a verb. */
void options_print_help(FILE *file, const struct verb *verb);

#endif
