/* See option.h. */
#include "common/option.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/parse.h"
#include "common/print.h"

#define GETOPT_FIRST 256            /* above every option letter; the index in the table is added */
#define NUMBER_MOST (INT64_MAX / 2) /* 146 years in ns */
#define TAKES_BYTES 256
#define HELP_COLUMN 26
#define HELP_WIDTH 80

int option_wanted;

/* ---- values -------------------------------------------------------------------------- */

/* Sets `*choice` to the index of `value` in `values`. Returns whether it is one of them. */
static bool choice_set(const struct option_spec *spec, const char *value)
{
	size_t size;

	*spec->choice = 0;
	for (const char *word = spec->values; *word; word += size + (word[size] == ' '), ++*spec->choice) {
		size = strcspn(word, " ");
		if (strlen(value) == size && strncmp(value, word, size) == 0)
			return true;
	}
	return false;
}

static const char *number_set(const struct option_spec *spec, const char *value, char range[TAKES_BYTES])
{
	uint64_t number, least = (uint64_t)spec->least, most = spec->most ? (uint64_t)spec->most : NUMBER_MOST;
	const char *unit = spec->duration_ns ? "s" : "";
	double factor = spec->duration_ns ? 1e-9 : 1;
	int error = spec->duration_ns
			    ? parse_duration(value, least, most, &number)
			    : parse_number(value, spec->bytes ? parse_sizes : parse_counts, least, most, &number);

	if (error == 0 && spec->descriptor)
		*spec->descriptor = (int)number;
	else if (error == 0)
		*(spec->number ? spec->number : spec->bytes ? spec->bytes : spec->duration_ns) = (int64_t)number;
	if (error == 0)
		return NULL;
	if (spec->bytes)
		return "bytes, or 500M or 10G";
	if (most >= NUMBER_MOST)
		return spec->duration_ns ? "90s, 15m, 2h or 3d" : "a number";
	snprintf(range, TAKES_BYTES, "%.10g%s to %.10g%s", factor * (double)spec->least, unit,
		 factor * (double)spec->most, unit);
	return range;
}

/* Returns NULL, or what the option takes instead. */
static const char *value_set(const struct option_spec *spec, const char *value, char text[TAKES_BYTES])
{
	if (spec->parse)
		return spec->parse(spec, value);
	if (spec->number || spec->bytes || spec->duration_ns || spec->descriptor)
		return number_set(spec, value, text);
	if (spec->group)
		return parse_group(value, spec->group) ? "a group's name or number" : NULL;
	if (spec->user) {
		spec->user->name = value;
		return parse_user(value, &spec->user->uid, &spec->user->gid) ? "a user's name or number" : NULL;
	}
	if (spec->choice && spec->argument) {
		snprintf(text, TAKES_BYTES, "one of %s", spec->values);
		return choice_set(spec, value) ? NULL : text;
	}
	if (spec->choice)
		*spec->choice = spec->chosen;
	if (spec->flag)
		*spec->flag = true;
	if (spec->text)
		*spec->text = value;
	return NULL;
}

int option_set(const struct option_spec *spec, const char *value, char *ret_problem, size_t capacity)
{
	char text[TAKES_BYTES];
	const char *takes = value_set(spec, value, text);

	if (takes)
		snprintf(ret_problem, capacity, "%s takes %s, not '%s'", spec->name, takes, value);
	return takes ? -EINVAL : 0;
}

/* ---- command lines --------------------------------------------------------------------- */

/* Converts the table to getopt's form. */
static void getopt_prepare(const struct option_spec *specs, bool has_command, struct option *long_options,
			   char *letters)
{
	size_t count = 0;

	if (has_command)
		*letters++ = '+'; /* stop at the first operand */
	*letters++ = ':';         /* tell a missing value from an unknown option */
	for (; specs[count].name; count++) {
		const struct option_spec *spec = &specs[count];

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

const struct option_spec *option_find(const struct option_spec *specs, const char *word)
{
	size_t size = strcspn(word, "=");

	for (; specs->name && *word == '-' && word[1]; specs++)
		if (word[1] == '-' ? size > 2 && strncmp(specs->name, word + 2, size - 2) == 0
				   : specs->letter == word[1])
			return specs;
	return NULL;
}

static const struct option_spec *spec_of(const struct option_spec *specs, int value)
{
	return value >= GETOPT_FIRST ? &specs[value - GETOPT_FIRST]
				     : option_find(specs, (const char[]){'-', (char)value, '\0'});
}

/* Explains what getopt_long() refused. */
static int refuse(const struct option_spec *specs, int value, const char *word, char problem[OPTION_PROBLEM_BYTES])
{
	const struct option_spec *spec = optopt ? spec_of(specs, optopt) : NULL;

	if (value == ':' && spec)
		snprintf(problem, OPTION_PROBLEM_BYTES, "--%s needs a value: --%s %s", spec->name, spec->name,
			 spec->argument);
	else if (spec)
		snprintf(problem, OPTION_PROBLEM_BYTES, "--%s takes no value", spec->name);
	else if (optopt && isprint(optopt))
		snprintf(problem, OPTION_PROBLEM_BYTES, "unknown option -%c", optopt);
	else
		snprintf(problem, OPTION_PROBLEM_BYTES, "unknown option %s", word);
	return -EINVAL;
}

int option_parse(const struct option_spec *specs, bool has_command, int argc, char **argv, option_took *took,
		 void *context, char ret_problem[OPTION_PROBLEM_BYTES])
{
	struct option long_options[OPTION_MAX + 1];
	char letters[2 * OPTION_MAX + 3];
	int chosen, error = 0;

	getopt_prepare(specs, has_command, long_options, letters);
	optind = 0; /* glibc: reinitialize */
	opterr = 0; /* the caller prints errors */
	option_wanted = 0;
	snprintf(ret_problem, OPTION_PROBLEM_BYTES, "--");
	while (error == 0 && option_wanted == 0 &&
	       (chosen = getopt_long(argc, argv, letters, long_options, NULL)) != -1) {
		const struct option_spec *spec = chosen == '?' || chosen == ':' ? NULL : spec_of(specs, chosen);

		if (!spec)
			return refuse(specs, chosen, argv[optind - 1], ret_problem);
		error = option_set(spec, optarg, ret_problem + 2, OPTION_PROBLEM_BYTES - 2);
		if (error == 0 && spec->take)
			error = spec->take(context, optarg);
		if (error == 0 && took)
			error = took(context, spec, optarg);
	}
	return error ? error : option_wanted ? -ECANCELED : 0;
}

/* "  -n, --limit N     help", on two lines if the first part is long; wraps. */
static void spec_print(FILE *file, const struct option_spec *spec)
{
	char head[64], help[1024];
	int used, size;

	snprintf(head, sizeof(head), "%c%c%c --%s%s%s", spec->letter ? '-' : ' ', spec->letter ? spec->letter : ' ',
		 spec->letter ? ',' : ' ', spec->name, spec->argument ? " " : "", spec->argument ? spec->argument : "");
	snprintf(help, sizeof(help), "%s%s%s%s", spec->help, spec->initial ? " (default " : "",
		 spec->initial ? spec->initial : "", spec->initial ? ")" : "");
	used = fprintf(file, "  %s", head);
	if (used >= HELP_COLUMN)
		used = fprintf(file, "\n") - 1;
	for (const char *word = help; *word; word += size + (word[size] == ' ')) {
		size = (int)strcspn(word, " ");
		if (used > HELP_COLUMN && used + 1 + size > HELP_WIDTH)
			used = fprintf(file, "\n") - 1;
		used += fprintf(file, "%*s%.*s", used < HELP_COLUMN ? HELP_COLUMN - used : 1, "", size, word);
	}
	fputc('\n', file);
}

void option_print(FILE *file, const struct option_spec *specs)
{
	for (; specs->name; specs++)
		spec_print(file, specs);
}

/* ---- daemons ------------------------------------------------------------------------- */

static int print_wanted(const struct option_program *program)
{
	int error;

	if (option_wanted == OPTION_WANTED_VERSION) {
		printf("%s " TRACER_VERSION "\n", program->name);
	} else {
		printf("Usage: %s [OPTION...]\n%s\n\nOptions:\n", program->name, program->purpose);
		option_print(stdout, program->specs);
		printf("\n%s\n", program->exit_text);
	}
	error = print_finish(stdout);
	return error < 0 ? error : -ECANCELED;
}

int option_parse_program(const struct option_program *program, int argc, char **argv, option_took *took, void *context)
{
	char problem[OPTION_PROBLEM_BYTES];
	int error = option_parse(program->specs, false, argc, argv, took, context, problem);

	if (error == -ECANCELED)
		return print_wanted(program);
	if (error == 0 && optind < argc) {
		snprintf(problem, sizeof(problem), "unexpected argument '%s'", argv[optind]);
		error = -EINVAL;
	}
	if (error == -EINVAL)
		log_error("%s; see %s --help", problem, program->name);
	return error;
}

int option_exit(int error)
{
	return error == -ECANCELED ? EXIT_SUCCESS : error == -EINVAL ? OPTION_EXIT_USAGE : EXIT_FAILURE;
}
