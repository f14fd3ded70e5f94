/* Command-line options of a verb, parsed according to its table. See options.h. */
#include "cli/options.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/query/question.h"
#include "analysis/served/served.h"
#include "cli/process/user.h"
#include "common/parse.h"

struct options options_given;

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

const char *options_parse_time(const struct option_spec *spec, const char *value)
{
	return question_parse_time(value, spec->number) < 0 ? question_type_example(QUESTION_TIME) : NULL;
}

const char *options_parse_user(const struct option_spec *spec, const char *value)
{
	uid_t uid;
	gid_t gid;

	if (parse_user(value, &uid, &gid) < 0)
		return "a user's name or number";
	*spec->number = uid;
	return NULL;
}

int options_check_most(const struct options *options, size_t most)
{
	return options->operand_count > most
		       ? options_misuse(options, "unexpected argument '%s'", options->operands[most])
		       : 0;
}

static int times_check(const struct options *options)
{
	bool has_until = options->until_unix_ns != ROW_NULL;

	return has_until && options->until_unix_ns <= options->since_unix_ns
		       ? options_misuse(options, "--until is not after --since")
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
	char problem[OPTION_PROBLEM_BYTES];

	options_given = (struct options){
		.verb = verb,
		.has_command = command_is_given(verb, argv),
		.since_unix_ns = ROW_NULL,
		.until_unix_ns = ROW_NULL,
		.user_id = ROW_NULL,
	};
	*ret_status = option_parse(verb->options, verb->takes_command, argc, argv, NULL, &options_given, problem);
	*options = options_given;
	if (*ret_status == -ECANCELED) {
		options_print_help(stdout, verb);
		*ret_status = VERB_OK;
		return false;
	}
	if (*ret_status == -EINVAL)
		*ret_status = options_misuse(options, "%s", problem);
	options->operands = argv + optind;
	options->operand_count = (size_t)(argc - optind);
	if (*ret_status == VERB_OK)
		*ret_status = times_check(options);
	if (*ret_status == VERB_OK)
		*ret_status = operands_check(options);
	return *ret_status == VERB_OK;
}

static const char services_store[] = OPTIONS_STORE_DEFAULT;

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

	return named ? named : services_store;
}

bool options_is_services_store(const char *path)
{
	return path == services_store;
}

bool options_is_served(void)
{
	return access(services_store, R_OK) < 0 && errno == EACCES && access(SERVED_SOCKET, W_OK) == 0;
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
	/* When the services' store was written is not known to those who may not read it. */
	return *own && !options_is_served() && written_unix_s(own) > written_unix_s(services_store) ? own
												    : services_store;
}

bool options_use_lake(const struct options *options)
{
	const char *from_environment = getenv("TRACER_LAKE");

	return options->lake_url || (!options->store_path && from_environment && *from_environment);
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
	option_print(file, verb->options);
	output_flow_begin(&flow, &output);
	if (verb->examples)
		fprintf(flow.inner.file, "\nExamples:\n%s\n", verb->examples);
	fprintf(flow.inner.file, "\nExit status: %s.\n",
		verb->takes_command ? "that of COMMAND; 125, 126 and 127 as of env(1)"
				    : "0 answered, 1 not answered, 2 wrong usage; see tracer(1)");
	output_flow_end(&flow, 4);
}
