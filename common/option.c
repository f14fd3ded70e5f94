/* See option.h. */
#include "common/option.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/parse.h"
#include "common/print.h"

#define HELP_COLUMN 22 /* column of the help texts */

enum { CHOSEN = 1, HELP = 2, VERSION = 3 };

const char *option_take_flag(void *field, const char *text, const struct option_rule *rule)
{
	*(bool *)field = true;
	return NULL;
}

const char *option_take_text(void *field, const char *text, const struct option_rule *rule)
{
	*(const char **)field = text;
	return NULL;
}

const char *option_take_number(void *field, const char *text, const struct option_rule *rule)
{
	return parse_number(text, parse_counts, rule->least, rule->most, field) ? "not a number in the valid range"
										: NULL;
}

const char *option_take_size(void *field, const char *text, const struct option_rule *rule)
{
	return parse_number(text, parse_sizes, rule->least, rule->most, field)
		       ? "not a size in the valid range (bytes, or with suffix K, M or G)"
		       : NULL;
}

const char *option_take_seconds(void *field, const char *text, const struct option_rule *rule)
{
	return parse_seconds(text, rule->least, rule->most, field) ? "not a number of seconds in the valid range"
								   : NULL;
}

const char *option_take_descriptor(void *field, const char *text, const struct option_rule *rule)
{
	uint64_t number;

	if (parse_number(text, parse_counts, 0, 65535, &number))
		return "not a file descriptor";
	*(int *)field = (int)number;
	return NULL;
}

const char *option_take_user(void *field, const char *text, const struct option_rule *rule)
{
	struct option_user *user = field;

	user->name = text;
	return parse_user(text, &user->uid, &user->gid) ? "no such user" : NULL;
}

const char *option_take_group(void *field, const char *text, const struct option_rule *rule)
{
	return parse_group(text, field) ? "no such group" : NULL;
}

const char *option_take_log_level(void *field, const char *text, const struct option_rule *rule)
{
	static const struct {
		const char *name;
		enum log_level level;
		/* clang-format off */
	} levels[] = {{"error", LOG_LEVEL_ERROR}, {"warning", LOG_LEVEL_WARNING},
		      {"info", LOG_LEVEL_INFO}, {"debug", LOG_LEVEL_DEBUG}};
	/* clang-format on */

	for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++)
		if (strcmp(text, levels[i].name) == 0) {
			*(enum log_level *)field = levels[i].level;
			return NULL;
		}
	return "expected error, warning, info or debug";
}

static void print_rule(const struct option_rule *rule)
{
	int used = printf("  --%s%s%s", rule->name, rule->value ? " " : "", rule->value ? rule->value : "");

	for (const char *line = rule->meaning, *end; line; line = *end ? end + 1 : NULL) {
		end = strchrnul(line, '\n');
		if (used >= HELP_COLUMN)
			used = printf("\n") - 1;
		printf("%*s%.*s", HELP_COLUMN - used, "", (int)(end - line), line);
		if (!*end && rule->initial)
			printf("%s(default %s)", end > line ? " " : "", rule->initial);
		used = printf("\n") - 1;
	}
}

static void print_help(const struct option_program *program)
{
	printf("Usage: %s [OPTION...]\n%s\n\n", program->name, program->purpose);
	for (const struct option_rule *rule = program->rules; rule->name; rule++)
		print_rule(rule);
	printf("  --help, --version\n\n%s\n", program->exit_text);
}

static int refuse(const struct option_program *program, const char *what, const char *why)
{
	log_error("%s: %s; see %s --help", what, why, program->name);
	return -EINVAL;
}

/* Converts the table for getopt_long(). */
static void prepare(const struct option_program *program, struct option options[OPTION_MAX + 3])
{
	size_t count = 0;

	for (; program->rules[count].name; count++)
		options[count] =
			(struct option){program->rules[count].name,
					program->rules[count].value ? required_argument : no_argument, NULL, CHOSEN};
	options[count++] = (struct option){"help", no_argument, NULL, HELP};
	options[count++] = (struct option){"version", no_argument, NULL, VERSION};
	options[count] = (struct option){0};
}

static int take(const struct option_program *program, const struct option_rule *rule, void *options, option_note *note)
{
	const char *problem = rule->take((char *)options + rule->at, optarg, rule);
	char what[256];

	if (!problem)
		return note && optarg ? note(options, rule, optarg) : 0;
	snprintf(what, sizeof(what), "--%s %s", rule->name, optarg);
	return refuse(program, what, problem);
}

/* Finishes the output of --help or --version. */
static int printed(void)
{
	int error = print_finish(stdout);

	return error < 0 ? error : -ECANCELED;
}

int option_parse(const struct option_program *program, void *options, int argc, char **argv, option_note *note)
{
	struct option long_options[OPTION_MAX + 3];
	int chosen, index = 0, error;

	prepare(program, long_options);
	optind = 0; /* glibc: reset the scan */
	opterr = 0; /* refuse() logs errors */
	while ((chosen = getopt_long(argc, argv, ":", long_options, &index)) != -1) {
		switch (chosen) {
		case CHOSEN:
			error = take(program, &program->rules[index], options, note);
			if (error)
				return error;
			break;
		case HELP: print_help(program); return printed();
		case VERSION: printf("%s " TRACER_VERSION "\n", program->name); return printed();
		case ':': return refuse(program, argv[optind - 1], "a value is missing");
		default: return refuse(program, argv[optind - 1], "unknown option, or it takes no value");
		}
	}
	return optind < argc ? refuse(program, argv[optind], "unexpected argument") : 0;
}

int option_exit(int error)
{
	return error == -ECANCELED ? EXIT_SUCCESS : error == -EINVAL ? OPTION_EXIT_USAGE : EXIT_FAILURE;
}
