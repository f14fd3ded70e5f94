/* Command-line options of a verb, parsed according to its table. See options.h. */
#include "cli/options.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/process/user.h"
#include "common/parse.h"

#define GETOPT_FIRST 256 /* above every option letter; the index in the table is added */
#define HELP_COLUMN 26

int options_misuse(const struct options *options, const char *format, ...)
{
	char text[512];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	say("tracer %s: %s (see tracer %s --help)", options->verb->name, text, options->verb->name);
	return options->has_command ? VERB_OURS : VERB_USAGE;
}

const struct option_spec options_none[] = {OPTION_SPEC_HELP, OPTION_SPEC_END};

/* Converts the table to getopt's form. */
static void getopt_prepare(const struct verb *verb, struct option *long_options, char *letters)
{
	size_t count = 0;

	if (verb->takes_command)
		*letters++ = '+'; /* stop at the first operand */
	*letters++ = ':';         /* tell a missing value from an unknown option */
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

const struct option_spec *options_find(const struct option_spec *specs, const char *word)
{
	size_t size = strcspn(word, "=");

	for (; specs->name && *word == '-' && word[1]; specs++)
		if (word[1] == '-' ? size > 2 && strncmp(specs->name, word + 2, size - 2) == 0
				   : specs->letter == word[1])
			return specs;
	return NULL;
}

static const struct option_spec *spec_of(const struct verb *verb, int value)
{
	return value >= GETOPT_FIRST ? &verb->options[value - GETOPT_FIRST]
				     : options_find(verb->options, (const char[]){'-', (char)value, '\0'});
}

/* Sets `*choice` to the index of `value` in the option's `values`. */
static int choice_take(const struct options *options, const struct option_spec *spec, const char *value, int *choice)
{
	char words[128];
	int index = 0, used = 0;

	for (const char *word = spec->values; *word; index++) {
		int size = (int)strcspn(word, " "), left = (int)strlen(word) - size;

		if ((int)strlen(value) == size && strncmp(value, word, (size_t)size) == 0) {
			*choice = index;
			return 0;
		}
		used += snprintf(words + used, sizeof(words) - (size_t)used, "%s%.*s",
				 index == 0 ? ""
				 : left     ? ", "
					    : " or ",
				 size, word);
		word += size + (left > 0);
	}
	return options_misuse(options, "--%s takes %s, not '%s'", spec->name, words, value);
}

static int number_take(const struct options *options, const struct option_spec *spec, const char *value)
{
	uint64_t number;

	if (parse_number(value, parse_counts, (uint64_t)spec->least, (uint64_t)spec->most, &number) < 0)
		return options_misuse(options, "--%s takes a number from %" PRId64 " to %" PRId64 ", not '%s'",
				      spec->name, spec->least, spec->most, value);
	*spec->number = (int64_t)number;
	return 0;
}

static int duration_take(const struct options *options, const struct option_spec *spec, const char *value)
{
	uint64_t duration_ns;

	if (options_parse_duration(value, &duration_ns) < 0)
		return options_misuse(options, "--%s takes 90s, 15m, 2h or 3d, not '%s'", spec->name, value);
	*spec->duration_ns = (int64_t)duration_ns;
	return 0;
}

static int bytes_take(const struct options *options, const struct option_spec *spec, const char *value)
{
	uint64_t bytes;

	if (parse_number(value, parse_sizes, 1, INT64_MAX, &bytes) < 0)
		return options_misuse(options, "--%s takes bytes, or 500M or 10G, not '%s'", spec->name, value);
	*spec->bytes = (int64_t)bytes;
	return 0;
}

/* Returns 0, or VERB_USAGE after printing an error. */
static int option_take(struct options *options, const struct option_spec *spec, const char *value)
{
	if (spec->take)
		return spec->take(options, value);
	if (spec->duration_ns)
		return duration_take(options, spec, value);
	if (spec->bytes)
		return bytes_take(options, spec, value);
	if (spec->number)
		return number_take(options, spec, value);
	if (spec->common == OPTION_COLOR)
		return choice_take(options, spec, value, &options->color);
	if (spec->common == OPTION_FORMAT)
		return choice_take(options, spec, value, &options->format);
	if (spec->choice && spec->argument)
		return choice_take(options, spec, value, spec->choice);
	if (spec->flag)
		*spec->flag = true;
	else if (spec->text)
		*spec->text = value;
	else if (spec->choice)
		*spec->choice = spec->chosen;
	else if (spec->common == OPTION_STORE)
		options->store_path = value;
	else if (spec->common == OPTION_LAKE)
		options->lake_url = value;
	else if (spec->common == OPTION_JSON)
		options->format = FORMAT_JSON;
	else if (spec->common == OPTION_RAW)
		options->raw = true;
	return 0;
}

static int refuse(const struct options *options, char **argv, int value)
{
	const struct option_spec *spec = optopt ? spec_of(options->verb, optopt) : NULL;

	if (value == ':' && spec)
		return options_misuse(options, "--%s needs a value: --%s %s", spec->name, spec->name, spec->argument);
	if (spec)
		return options_misuse(options, "--%s takes no value", spec->name);
	if (optopt && isprint(optopt))
		return options_misuse(options, "unknown option -%c", optopt);
	return options_misuse(options, "unknown option %s", argv[optind - 1]);
}

int options_check_most(const struct options *options, size_t most)
{
	return options->operand_count > most
		       ? options_misuse(options, "unexpected argument '%s'", options->operands[most])
		       : 0;
}

static int operands_check(const struct options *options)
{
	if (options->operand_count < options->verb->operands_least)
		return options_misuse(options, "missing argument: %s", options->verb->operands);
	return options_check_most(options, options->verb->operands_most);
}

/* Whether a command is given, whose own exit status may be VERB_USAGE. */
static bool command_is_given(const struct verb *verb, char **argv)
{
	while (verb->runs_command && *argv && strcmp(*argv, "--") != 0)
		argv++;
	return verb->takes_command || (verb->runs_command && *argv);
}

bool options_read(struct options *options, const struct verb *verb, int argc, char **argv, int *ret_status)
{
	struct option long_options[OPTIONS_MAX + 1];
	char letters[2 * OPTIONS_MAX + 3];
	const struct option_spec *spec;
	int value;

	*options = (struct options){.verb = verb, .has_command = command_is_given(verb, argv)};
	*ret_status = VERB_OK;
	optind = 0; /* glibc: reinitialize */
	opterr = 0; /* we print errors ourselves */
	getopt_prepare(verb, long_options, letters);
	while (*ret_status == VERB_OK && (value = getopt_long(argc, argv, letters, long_options, NULL)) != -1) {
		spec = value == '?' || value == ':' ? NULL : spec_of(verb, value);
		if (spec && spec->common == OPTION_HELP) {
			options_print_help(stdout, verb);
			return false;
		}
		*ret_status = spec ? option_take(options, spec, optarg) : refuse(options, argv, value);
	}
	options->operands = argv + optind;
	options->operand_count = (size_t)(argc - optind);
	if (*ret_status == VERB_OK)
		*ret_status = operands_check(options);
	return *ret_status == VERB_OK;
}

const char *options_named_store_path(const struct options *options)
{
	const char *from_environment = getenv("TRACER_STORE");

	if (options->store_path)
		return options->store_path;
	return from_environment && *from_environment ? from_environment : NULL;
}

const char *options_services_store_path(const struct options *options)
{
	const char *named = options_named_store_path(options);

	return named ? named : OPTIONS_STORE_DEFAULT;
}

/* Returns when a store was last written, in seconds; 0 if there is none. */
static double written_unix_s(const char *path)
{
	char wal[PATH_MAX];
	struct stat status;
	double last = 0;

	snprintf(wal, sizeof(wal), "%s-wal", path);
	for (size_t i = 0; i < 2; i++)
		if (stat(i ? wal : path, &status) == 0)
			last = fmax(last, (double)status.st_mtim.tv_sec + (double)status.st_mtim.tv_nsec / 1e9);
	return last;
}

const char *options_store_path(const struct options *options)
{
	const char *named = options_named_store_path(options), *own = named ? "" : user_store_path();

	if (named)
		return named;
	return *own && written_unix_s(own) > written_unix_s(OPTIONS_STORE_DEFAULT) ? own : OPTIONS_STORE_DEFAULT;
}

bool options_use_lake(const struct options *options)
{
	const char *from_environment = getenv("TRACER_LAKE");

	return options->lake_url || (!options->store_path && from_environment && *from_environment);
}

int options_parse_duration(const char *text, uint64_t *ret_ns)
{
	uint64_t seconds;

	if (parse_number(text, parse_durations, 0, INT64_MAX / 1000000000, &seconds))
		return -EINVAL;
	*ret_ns = seconds * 1000000000;
	return 0;
}

/* "  -n, --limit N     help", on two lines if the first part is long. */
static void option_print(FILE *file, const struct option_spec *spec)
{
	char head[64];
	int used;

	snprintf(head, sizeof(head), "%c%c%c --%s%s%s", spec->letter ? '-' : ' ', spec->letter ? spec->letter : ' ',
		 spec->letter ? ',' : ' ', spec->name, spec->argument ? " " : "", spec->argument ? spec->argument : "");
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
		verb->operands ? " " : "", verb->operands ? verb->operands : "", verb->description);
	output_flow_end(&flow, 0);
	output_flow_begin(&flow, &output);
	for (const struct option_spec *spec = verb->options; spec->name; spec++)
		option_print(flow.inner.file, spec);
	output_flow_end(&flow, HELP_COLUMN);
	output_flow_begin(&flow, &output);
	if (verb->examples)
		fprintf(flow.inner.file, "\nExamples:\n%s\n", verb->examples);
	fprintf(flow.inner.file, "\nExit status: %s.\n",
		verb->takes_command ? "that of COMMAND; 125, 126 and 127 as of env(1)"
				    : "0 answered, 1 not answered, 2 wrong usage");
	output_flow_end(&flow, 4);
}
