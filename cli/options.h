/* Command-line options of a verb, parsed according to its table.
 *
 * Options shared by several verbs mean the same everywhere and are stored in
 * `struct options`; a verb's own are stored where its table says.
 */
#pragma once

#include "cli/screen/document.h"
#include "cli/screen/output.h"
#include "cli/verb.h"

#define OPTIONS_STORE_DEFAULT TRACER_STATE_DIR "/tracer.db"
#define OPTIONS_MAX 32 /* of one verb */

enum { OPTION_HELP = 1, OPTION_STORE, OPTION_JSON, OPTION_FORMAT, OPTION_COLOR, OPTION_RAW, OPTION_LAKE };

/* clang-format off */
/* Entries for a verb's table. */
#define OPTION_SPEC_STORE \
	{"store", 0, "FILE", "file", "read this store (else $TRACER_STORE, else " OPTIONS_STORE_DEFAULT ")", \
	 .common = OPTION_STORE}
/* For verbs that show runs, which a lake can answer, too. */
#define OPTION_SPEC_SOURCE \
	{"store", 0, "FILE", "file", "read this store (else $TRACER_STORE, else the services' or yours)", \
	 .common = OPTION_STORE}, \
	OPTION_SPEC_LAKE
#define OPTION_SPEC_LAKE \
	{"lake", 0, "URL", NULL, "query the lake of all hosts at URL (else $TRACER_LAKE)", .common = OPTION_LAKE}
#define OPTION_SPECS_OF_FORMAT OPTION_SPECS_OF_FORMATS(FORMAT_WORDS, "table, json, ndjson (a row a line) or csv")
/* For verbs with formats of their own. */
#define OPTION_SPECS_OF_FORMATS(words, help) \
	{"format", 'f', "FORMAT", words, help, .common = OPTION_FORMAT}, \
	{"json", 'j', NULL, NULL, "the same as --format json", .common = OPTION_JSON}
#define OPTION_SPEC_RAW \
	{"raw", 0, NULL, NULL, "print figures as whole nanoseconds and bytes", .common = OPTION_RAW}
#define OPTION_SPEC_COLOR \
	{"color", 0, "WHEN", "auto always never", \
	 "use colour: auto (on a terminal, unless NO_COLOR is set), always, never", .common = OPTION_COLOR}
#define OPTION_SPEC_HELP {"help", 'h', NULL, NULL, "print this help", .common = OPTION_HELP}
#define OPTION_SPEC_END {.name = NULL}
/* clang-format on */
/* The last entries in the tables of verbs that print, and of verbs that show stored data. */
#define OPTION_SPECS_LAST OPTION_SPEC_COLOR, OPTION_SPEC_HELP, OPTION_SPEC_END
#define OPTION_SPECS_OF_VIEW OPTION_SPEC_RAW, OPTION_SPECS_OF_FORMAT, OPTION_SPEC_SOURCE, OPTION_SPECS_LAST

/* For a verb without options of its own. */
extern const struct option_spec options_none[];

struct options {
	const struct verb *verb;
	const char *store_path; /* as given, or NULL */
	const char *lake_url;   /* as given, or NULL */
	int format;             /* enum format, or the index of a word of the verb's own */
	bool raw;
	int color; /* enum output_color */
	bool has_command;
	char **operands;
	size_t operand_count;
};

/* Returns whether to continue. If not, the help or a usage error has been printed, and `*ret_status` is
 * the exit status. */
bool options_read(struct options *options, const struct verb *verb, int argc, char **argv, int *ret_status);

/* Prints "tracer VERB: ..." and how to get help. Returns VERB_USAGE or, if a command is given, VERB_OURS. */
int options_misuse(const struct options *options, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Returns options_misuse() if there are more operands than the first of them allows, else 0. */
int options_check_most(const struct options *options, size_t most);

/* Returns the option that a word of a command line names, "--name" (may be abbreviated) or "-n", or NULL. */
const struct option_spec *options_find(const struct option_spec *specs, const char *word);

/* --store, else $TRACER_STORE, else NULL. */
const char *options_named_store_path(const struct options *options);
/* The same, else the store of the services. */
const char *options_services_store_path(const struct options *options);
/* The same, else the store of the services or the user's own (user_store_path()), whichever was written last. */
const char *options_store_path(const struct options *options);

/* Whether to query a lake: --lake, or $TRACER_LAKE without --store. */
bool options_use_lake(const struct options *options);

/* Parses "90", "90s", "15m", "2h", "3d". Returns 0 or -EINVAL. */
int options_parse_duration(const char *text, uint64_t *ret_ns);

/* Prints the --help text of a verb. */
void options_print_help(FILE *file, const struct verb *verb);
