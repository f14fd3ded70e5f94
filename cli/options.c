/* Command-line options of a verb, parsed by its table. See options.h. */
#include "cli/options.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/output.h"
#include "common/parse.h"
#include "common/print.h"
#include "common/text.h"

#define GETOPT_FIRST 256 /* above every option letter: the table's index is added */
#define HELP_COLUMN 26

void options_init(struct options *options, const struct verb *verb, int argc, char **argv)
{
	*options = (struct options){.verb = verb, .argc = argc, .argv = argv};
	optind = 0; /* glibc: start afresh */
	opterr = 0; /* we say it */
}

int options_misuse(const struct options *options, const char *format, ...)
{
	char raw[512], safe[sizeof(raw) * 4 + 1];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(raw, sizeof(raw), format, arguments);
	va_end(arguments);
	text_escape(raw, strlen(raw), safe, sizeof(safe));
	fprintf(stderr, "tracer %s: %s (see tracer %s --help)\n", options->verb->name, safe,
		options->verb->name);
	return VERB_USAGE;
}

int options_exit(int error)
{
	return error == -ECANCELED ? VERB_OK : error == -EIO ? VERB_FAILED : VERB_USAGE;
}

/* The table in getopt's own form. */
static void getopt_prepare(const struct verb *verb, struct option *long_options, char *letters)
{
	size_t count = 0;

	if (verb->takes_command)
		*letters++ = '+'; /* stop at the first operand */
	*letters++ = ':'; /* tell a missing value from an unknown option */
	for (const struct option_spec *spec = verb->options; spec->name; spec++, count++) {
		long_options[count] = (struct option){
			.name = spec->name,
			.has_arg = spec->argument ? required_argument : no_argument,
			.val = GETOPT_FIRST + (int)count,
		};
		if (spec->letter) {
			*letters++ = spec->letter;
			if (spec->argument)
				*letters++ = ':';
		}
	}
	long_options[count] = (struct option){0};
	*letters = '\0';
}

static const struct option_spec *spec_of(const struct verb *verb, int value)
{
	if (value >= GETOPT_FIRST)
		return &verb->options[value - GETOPT_FIRST];
	for (const struct option_spec *spec = verb->options; spec->name; spec++)
		if (spec->letter == value)
			return spec;
	return NULL;
}

static int color_parse(struct options *options, const char *value)
{
	if (strcmp(value, "auto") == 0)
		options->color = OUTPUT_COLOR_AUTO;
	else if (strcmp(value, "always") == 0)
		options->color = OUTPUT_COLOR_ALWAYS;
	else if (strcmp(value, "never") == 0)
		options->color = OUTPUT_COLOR_NEVER;
	else
		return -EINVAL;
	return 0;
}

/* An option that all verbs share: 0, or what options_next() shall return. */
static int common_take(struct options *options, int id, const char *value)
{
	switch (id) {
	case OPTION_HELP:
		options_print_help(stdout, options->verb);
		return print_finish(stdout) == 0 ? -ECANCELED : -EIO;
	case OPTION_STORE:
		options->store_path = value;
		return 0;
	case OPTION_LAKE:
		options->lake_url = value;
		return 0;
	case OPTION_JSON:
		options->json = true;
		return 0;
	case OPTION_RAW:
		options->raw = true;
		return 0;
	default:
		if (color_parse(options, value) == 0)
			return 0;
		options_misuse(options, "--color is auto, always or never, not '%s'", value);
		return -EINVAL;
	}
}

static int refuse(const struct options *options, int value)
{
	const struct option_spec *spec = optopt ? spec_of(options->verb, optopt) : NULL;

	if (value == ':' && spec)
		options_misuse(options, "--%s needs a value: --%s %s", spec->name, spec->name,
			       spec->argument);
	else if (spec)
		options_misuse(options, "--%s takes no value", spec->name);
	else if (optopt && isprint(optopt))
		options_misuse(options, "there is no option -%c", optopt);
	else
		options_misuse(options, "there is no option %s", options->argv[optind - 1]);
	return -EINVAL;
}

int options_next(struct options *options, const char **ret_value)
{
	struct option long_options[OPTIONS_MAX + 1];
	char letters[2 * OPTIONS_MAX + 3];
	const struct option_spec *spec;
	int value, error;

	getopt_prepare(options->verb, long_options, letters);
	for (;;) {
		value = getopt_long(options->argc, options->argv, letters, long_options, NULL);
		if (value == -1)
			break;
		if (value == '?' || value == ':')
			return refuse(options, value);
		spec = spec_of(options->verb, value);
		if (spec->id > 0) {
			*ret_value = optarg;
			return spec->id;
		}
		error = common_take(options, spec->id, optarg);
		if (error < 0)
			return error;
	}
	options->operands = options->argv + optind;
	options->operand_count = (size_t)(options->argc - optind);
	return 0;
}

int options_check_operands(const struct options *options, size_t least, size_t most)
{
	if (options->operand_count < least)
		return options_misuse(options, "%s is missing", options->verb->operands);
	if (options->operand_count > most)
		return options_misuse(options, "'%s' is one operand too many",
				      options->operands[most]);
	return 0;
}

const char *options_store_path(const struct options *options)
{
	const char *from_environment = getenv("TRACER_STORE");

	if (options->store_path)
		return options->store_path;
	return from_environment && *from_environment ? from_environment : OPTIONS_STORE_DEFAULT;
}

bool options_use_lake(const struct options *options)
{
	const char *from_environment = getenv("TRACER_LAKE");

	return options->lake_url || (!options->store_path && from_environment && *from_environment);
}

int options_parse_number(const char *text, uint64_t most, uint64_t *ret_number)
{
	return parse_number(text, parse_counts, 0, most, ret_number) ? -EINVAL : 0;
}

int options_parse_duration(const char *text, uint64_t *ret_ns)
{
	uint64_t seconds;

	if (parse_number(text, parse_durations, 0, INT64_MAX / 1000000000, &seconds))
		return -EINVAL;
	*ret_ns = seconds * 1000000000;
	return 0;
}

int options_parse_user(const char *text, int64_t *ret_user_id)
{
	uid_t uid;
	gid_t gid;

	if (parse_user(text, &uid, &gid))
		return -ENOENT;
	*ret_user_id = uid;
	return 0;
}

/* "  -n, --limit N     help", on two lines where the first part is long. */
static void option_print(FILE *file, const struct option_spec *spec)
{
	char head[64];
	int used;

	snprintf(head, sizeof(head), "%c%c%c --%s%s%s", spec->letter ? '-' : ' ',
		 spec->letter ? spec->letter : ' ', spec->letter ? ',' : ' ', spec->name,
		 spec->argument ? " " : "", spec->argument ? spec->argument : "");
	used = fprintf(file, "  %s", head);
	if (used >= HELP_COLUMN)
		used = fprintf(file, "\n") - 1;
	fprintf(file, "%*s%s\n", HELP_COLUMN - used, "", spec->help);
}

void options_print_help(FILE *file, const struct verb *verb)
{
	struct output output;
	struct output_flow flow;

	output_init(&output, file, OUTPUT_COLOR_NEVER);
	output_flow_begin(&flow, &output);
	fprintf(flow.inner.file, "Usage: tracer %s [OPTION...]%s%s\n\n%s\n\nOptions:\n", verb->name,
		*verb->operands ? " " : "", verb->operands, verb->description);
	output_flow_end(&flow, 0);
	output_flow_begin(&flow, &output);
	for (const struct option_spec *spec = verb->options; spec->name; spec++)
		option_print(flow.inner.file, spec);
	output_flow_end(&flow, HELP_COLUMN);
	output_flow_begin(&flow, &output);
	if (*verb->examples)
		fprintf(flow.inner.file, "\nExamples:\n%s\n", verb->examples);
	fprintf(flow.inner.file, "\nExit status: 0 success, 1 failure, 2 wrong usage.%s\n",
		verb->takes_command ? " See tracer-run(1) for commands." : "");
	output_flow_end(&flow, 4);
}
