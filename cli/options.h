/* Command-line options of a verb, parsed according to its table (common/option.h).
 *
 * Options shared by several verbs mean the same everywhere and are stored in
 * `options_given`; a verb's own are stored where its table says.
 */
#pragma once

#include "cli/screen/document.h"
#include "cli/screen/output.h"
#include "cli/verb.h"

#define OPTIONS_STORE_DEFAULT TRACER_STATE_DIR "/tracer.db"

/* clang-format off */
/* Entries for a verb's table. */
#define OPTION_SPEC_STORE \
	{"store", 0, "FILE", "file", "read this store (else $TRACER_STORE, else " OPTIONS_STORE_DEFAULT ")", \
	 .text = &options_given.store_path}
/* For verbs that show runs, which a lake can answer, too. */
#define OPTION_SPEC_SOURCE \
	{"store", 0, "FILE", "file", "read this store (else $TRACER_STORE, else the services' or yours)", \
	 .text = &options_given.store_path}, \
	OPTION_SPEC_LAKE
#define OPTION_SPEC_LAKE \
	{"lake", 0, "URL", NULL, "query the lake of all hosts at URL (else $TRACER_LAKE)", .text = &options_given.lake_url}
#define OPTION_SPECS_OF_FORMAT OPTION_SPECS_OF_FORMATS(FORMAT_WORDS, "table, json, ndjson (a row a line) or csv")
/* For verbs with formats of their own. */
#define OPTION_SPECS_OF_FORMATS(words, help) \
	{"format", 'f', "FORMAT", words, help, .choice = &options_given.format}, \
	{"json", 'j', NULL, NULL, "the same as --format json", .choice = &options_given.format, .chosen = FORMAT_JSON}
/* For verbs whose rows have a time. */
#define OPTION_SPEC_SINCE(help) \
	{"since", 's', "TIME", NULL, help, .parse = options_parse_time, .number = &options_given.since_unix_ns}
#define OPTION_SPEC_UNTIL(help) \
	{"until", 0, "TIME", NULL, help, .parse = options_parse_time, .number = &options_given.until_unix_ns}
/* For verbs whose rows are of hosts and users. */
#define OPTION_SPEC_HOST(help) {"host", 0, "NAME", NULL, help, .text = &options_given.host}
#define OPTION_SPEC_USER(help) \
	{"user", 'u', "USER", "user", help, .parse = options_parse_user, .number = &options_given.user_id}
/* For verbs with the operand RUN. */
#define OPTION_SPECS_OF_RUN \
	OPTION_SPEC_HOST("RUN is one on this host of a lake"), \
	OPTION_SPEC_USER("RUN is one of USER (name or number)")
#define OPTION_SPEC_RAW \
	{"raw", 0, NULL, NULL, "print figures as whole nanoseconds and bytes", .flag = &options_given.raw}
#define OPTION_SPEC_COLOR \
	{"color", 0, "WHEN", "auto always never", \
	 "use colour: auto (on a terminal, unless NO_COLOR is set), always, never", .choice = &options_given.color}
#define OPTION_SPEC_HELP {"help", 'h', NULL, NULL, "print this help", .choice = &option_wanted, .chosen = OPTION_WANTED_HELP}
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
	int64_t since_unix_ns, until_unix_ns; /* ROW_NULL: not given */
	const char *host;                     /* as given, or NULL */
	int64_t user_id;                      /* ROW_NULL: not given */
	int color;                            /* enum output_color */
	bool has_command;
	char **operands;
	size_t operand_count;
};

/* As read last. */
extern struct options options_given;

/* Of option_spec.parse: set `number` to a time and to a user's id. */
const char *options_parse_time(const struct option_spec *spec, const char *value);
const char *options_parse_user(const struct option_spec *spec, const char *value);

/* Returns whether to continue. If not, the help or a usage error has been printed, and `*ret_status` is
 * the exit status. */
bool options_read(struct options *options, const struct verb *verb, int argc, char **argv, int *ret_status);

/* Prints "tracer VERB: ..." and how to get help. Returns VERB_USAGE or, if a command is given, VERB_OURS. */
int options_misuse(const struct options *options, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Returns options_misuse() if there are more operands than the first of them allows, else 0. */
int options_check_most(const struct options *options, size_t most);

/* --store, else $TRACER_STORE, else NULL. */
const char *options_named_store_path(const struct options *options);
/* The same, else the store of the services. */
const char *options_services_store_path(const struct options *options);
/* The same, else the store of the services or the user's own (user_store_path()), whichever was written last. */
const char *options_store_path(const struct options *options);

/* Whether it is that of the services, and not named by --store or $TRACER_STORE. */
bool options_is_services_store(const char *path);
/* Whether `tracer serve` answers for it, as this user may not read it. */
bool options_is_served(void);

/* Whether to query a lake: --lake, or $TRACER_LAKE without --store. */
bool options_use_lake(const struct options *options);

/* Prints the --help text of a verb. */
void options_print_help(FILE *file, const struct verb *verb);
