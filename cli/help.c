/* tracer help [COMMAND]: lists the commands, or describes one, or a question such as a finding. */
#include <string.h>

#include "analysis/query/ask.h"
#include "cli/options.h"

static void print_verbs(void)
{
	printf("Usage: tracer COMMAND [OPTION...] [ARGUMENT...]\n"
	       "       tracer --lake URL COMMAND ...     use the lake of all hosts instead\n\n"
	       "Shows what really ran on this host: runs, their tasks and tools, and what each used,\n"
	       "as seen by tracer-probe in the kernel and stored by tracer-correlator.\n\nCommands:\n");
	for (size_t i = 0; verbs[i]; i++)
		printf("  %-12s%s\n", verbs[i]->name, verbs[i]->summary);
	printf("\nFor details, see tracer COMMAND --help or man tracer-COMMAND.\n"
	       "tracer --version prints the version.\n\nBegin with:\n"
	       "  sudo tracer run -- make -j4     like time, for everything a command starts\n"
	       "  tracer show                     the latest run again\n"
	       "  tracer doctor                   what works here, and how to fix the rest\n");
}

/* Whether this is a shipped question, such as a finding. */
static bool is_question(const char *name)
{
	for (size_t i = 0; query_is_question(i); i++)
		if (strcmp(query_name(i), name) == 0)
			return true;
	return false;
}

static int help_main(const struct options *options)
{
	const struct verb *about = options->operand_count ? verb_find(options->operands[0]) : NULL;

	if (options->operand_count > 1 && about == &verb_query)
		return verb_main(about, 3, (char *[]){"query", options->operands[1], "--help", NULL});
	if (options_check_most(options, 1))
		return VERB_USAGE;
	if (options->operand_count && !about && is_question(options->operands[0]))
		return verb_main(&verb_query, 3, (char *[]){"query", options->operands[0], "--help", NULL});
	if (options->operand_count && !about)
		return options_misuse(options, "unknown command '%s'", options->operands[0]);
	if (about)
		options_print_help(stdout, about);
	else
		print_verbs();
	return VERB_OK;
}

const struct verb verb_help = {
	.name = "help",
	.operands = "[COMMAND|FINDING]",
	.operands_most = SIZE_MAX,
	.summary = "list the commands, or describe one",
	.description = "Lists the commands, or prints the help of one, of a finding\n"
		       "(tracer tune --list) or of another question (tracer query --list).",
	.options = options_none,
	.completion = "verb",
	.main = help_main,
};
