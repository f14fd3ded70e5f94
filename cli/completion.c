/* tracer completion SHELL: completions from the verbs' own tables.
 *
 * The scripts (completion/) are short: at each tab they run `tracer completion offer -- WORD...`, which knows the
 * tables, the questions and the runs. It prints a line for each candidate, followed by a tab and its
 * description; or, for files and the like, a keyword that leaves completion to the shell.
 */
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "analysis/query/units.h"
#include "cli/source.h"
#include "completion-scripts.h"

#define RUNS_OFFERED 50
#define RUNS_TIMEOUT_S 1

/* ---- candidates ---------------------------------------------------------------- */

static int runs_offer(struct view *view)
{
	const struct store_parameter parameters[] = {
		{"since_unix_ns", STORE_INTEGER, 0, NULL},
		{"with_system", STORE_INTEGER, 0, NULL},
		{"limit", STORE_INTEGER, RUNS_OFFERED, NULL},
		{"candidate_limit", STORE_INTEGER, INT64_MAX, NULL},
		{0},
	};
	struct rows runs = {0};
	int error = rows_load(&runs, &row_type_run, view->store, "runs", parameters);

	for (size_t i = 0; i < runs.count; i++) {
		printf("%s\t", units_id(ROWS_ITEM(&runs, run, i)->id, false));
		output_print_text(&view->output, STYLE_PLAIN, ROWS_ITEM(&runs, run, i)->name);
		putchar('\n');
	}
	rows_free(&runs);
	return error;
}

/* Someone waits at a prompt: what a lake has not answered by then is not offered. */
static void give_up(int signal)
{
	_exit(VERB_OK);
}

static void verbs_offer(void)
{
	for (size_t i = 0; verbs[i]; i++)
		printf("%s\t%s\n", verbs[i]->name, verbs[i]->summary);
}

/* Offers things of a kind (verbs, questions, runs), a keyword for the shell, or words to choose from. */
static void sort_offer(const struct options *options, const struct verb *verb, const char *sort)
{
	static const char *const of_shells[] = {"file", "directory", "user"};
	size_t size;

	if (!sort)
		return;
	for (size_t i = 0; i < sizeof(of_shells) / sizeof(of_shells[0]); i++)
		if (strcmp(sort, of_shells[i]) == 0) {
			printf(":%s\n", sort);
			return;
		}
	if (strcmp(sort, "verb") == 0) {
		verbs_offer();
	} else if (strcmp(sort, "query") == 0) {
		verb->offer();
	} else if (strcmp(sort, "run") == 0) {
		puts("latest\tthe latest run");
		fflush(stdout);
		signal(SIGALRM, give_up);
		alarm(RUNS_TIMEOUT_S);
		source_show(options, runs_offer);
	} else {
		for (; *sort; sort += size + (sort[size] == ' ')) {
			size = strcspn(sort, " ");
			printf("%.*s\n", (int)size, sort);
		}
	}
}

/* Returns the index of the command that the verb runs, or where it would be. */
static size_t command_find(const struct verb *verb, char **words, size_t last)
{
	size_t at = 1;

	for (; at < last && words[at][0] == '-'; at++) {
		const struct option_spec *spec = option_find(verb->options, words[at]);

		if (strcmp(words[at], "--") == 0)
			return at + 1;
		at += spec && spec->argument && !strchr(words[at], '=');
	}
	return at;
}

/* Offers candidates for the last word: a verb, an option's value, an option or an operand. */
static int offer(const struct options *options, char **words, size_t last)
{
	const struct verb *verb = last > 0 ? verb_find(words[0]) : NULL;
	const struct option_spec *before;
	size_t command;

	if (last == 0) {
		verbs_offer();
		puts("--help\tlist the commands\n--version\tprint the version");
	}
	if (verb && verb->choose)
		verb = verb->choose(verb, (int)last + 1, words);
	if (!verb)
		return VERB_OK;
	command = command_find(verb, words, last);
	before = last > 1 ? option_find(verb->options, words[last - 1]) : NULL;
	if (verb->takes_command && command <= last && (command < last || words[last][0] != '-')) {
		printf(":command %zu\n", command + 1);
	} else if (before && before->argument) {
		sort_offer(options, verb, before->values);
	} else if (words[last][0] == '-') {
		for (const struct option_spec *spec = verb->options; spec->name; spec++)
			printf("--%s\t%s\n", spec->name, spec->help);
	} else {
		sort_offer(options, verb, verb->completion);
	}
	return VERB_OK;
}

/* ---- the verb ---------------------------------------------------------------- */

static const struct {
	const char *name, *script;
} shells[] = {{"bash", script_bash}, {"zsh", script_zsh}, {"fish", script_fish}};

static int completion_main(const struct options *options)
{
	if (strcmp(options->operands[0], "offer") == 0 && options->operand_count > 1)
		return offer(options, options->operands + 1, options->operand_count - 2);
	if (options_check_most(options, 1))
		return VERB_USAGE;
	for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]); i++) {
		if (strcmp(shells[i].name, options->operands[0]) == 0) {
			fputs(shells[i].script, stdout);
			return VERB_OK;
		}
	}
	return options_misuse(options, "unknown shell '%s': use bash, zsh or fish", options->operands[0]);
}

const struct verb verb_completion = {
	.name = "completion",
	.operands = "bash|zsh|fish",
	.operands_least = 1,
	.operands_most = SIZE_MAX,
	.summary = "print a shell completion script",
	.description = "Prints a script that completes commands, options, their values, and runs. They\n"
		       "come from the same tables as --help. The installation puts all three where\n"
		       "the shells look (for /usr/local, fish does so only if XDG_DATA_DIRS contains\n"
		       "/usr/local/share); otherwise, load the script as shown below.",
	.options = options_none,
	.examples = "  . <(tracer completion bash)     # in ~/.bashrc\n"
		    "  . <(tracer completion zsh)      # in ~/.zshrc, after compinit\n"
		    "  tracer completion fish >~/.config/fish/completions/tracer.fish",
	.completion = "bash zsh fish",
	.main = completion_main,
};
