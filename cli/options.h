/* Command-line options of a verb, parsed by its table.
 *
 * Options that several verbs have mean the same everywhere and are stored in
 * `struct options`; a verb's own go where its table says.
 */
#pragma once

#include "cli/output.h"
#include "cli/verb.h"

#define OPTIONS_STORE_DEFAULT TRACER_STATE_DIR "/tracer.db"
#define OPTIONS_MAX 32 /* of one verb */

enum { OPTION_HELP = 1, OPTION_STORE, OPTION_JSON, OPTION_COLOR, OPTION_RAW, OPTION_LAKE };

/* clang-format off */
/* Entries for a verb's table. */
#define OPTION_SPEC_STORE \
	{"store", 0, "FILE", "file", "read this store (else $TRACER_STORE, else " OPTIONS_STORE_DEFAULT ")", \
	 .common = OPTION_STORE}
/* For verbs that a lake can answer as well. */
#define OPTION_SPEC_SOURCE \
	OPTION_SPEC_STORE, \
	{"lake", 0, "URL", NULL, "ask the lake of all hosts there (else $TRACER_LAKE)", .common = OPTION_LAKE}
#define OPTION_SPEC_JSON {"json", 'j', NULL, NULL, "print JSON", .common = OPTION_JSON}
#define OPTION_SPEC_RAW \
	{"raw", 0, NULL, NULL, "print figures as whole nanoseconds and bytes", .common = OPTION_RAW}
#define OPTION_SPEC_COLOR \
	{"color", 0, "WHEN", "auto always never", \
	 "use colour: auto (on a terminal, unless NO_COLOR is set), always, never", .common = OPTION_COLOR}
#define OPTION_SPEC_HELP {"help", 'h', NULL, NULL, "print this help", .common = OPTION_HELP}
#define OPTION_SPEC_END {.name = NULL}
/* clang-format on */
/* How the tables of verbs that print end; and those of all that show what is stored. */
#define OPTION_SPECS_LAST OPTION_SPEC_COLOR, OPTION_SPEC_HELP, OPTION_SPEC_END
#define OPTION_SPECS_OF_VIEW OPTION_SPEC_RAW, OPTION_SPEC_JSON, OPTION_SPEC_SOURCE, OPTION_SPECS_LAST

/* Of a verb that has none of its own. */
extern const struct option_spec options_none[];

struct options {
	const struct verb *verb;
	const char *store_path; /* as given, NULL: not given */
	const char *lake_url;   /* as given, NULL: not given */
	bool json;
	bool raw;
	int color; /* enum output_color */
	char **operands;
	size_t operand_count;
};

/* Whether to go on. If not, help was asked for and printed, or usage was wrong, which is said:
 * `*ret_status` is the exit status. */
bool options_read(struct options *options, const struct verb *verb, int argc, char **argv, int *ret_status);

/* Says "tracer VERB: ..." and where help is. Returns VERB_USAGE. */
int options_misuse(const struct options *options, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* 0, or VERB_USAGE, said, where there are more operands than `most`: for what depends on the first. */
int options_check_most(const struct options *options, size_t most);

/* The option that a word of a command line names, "--name" as far as it is given or "-n"; NULL: none. */
const struct option_spec *options_find(const struct option_spec *specs, const char *word);

/* --store, else $TRACER_STORE, else the default. */
const char *options_store_path(const struct options *options);

/* Whether a lake shall answer: --lake, or $TRACER_LAKE without --store. */
bool options_use_lake(const struct options *options);

/* A whole decimal number of 0..most. 0 or -EINVAL. */
int options_parse_number(const char *text, uint64_t most, uint64_t *ret_number);

/* "90", "90s", "15m", "2h", "3d": 0 or -EINVAL. */
int options_parse_duration(const char *text, uint64_t *ret_ns);

/* The --help text of a verb. */
void options_print_help(FILE *file, const struct verb *verb);
