/* tracer completion SHELL: completions generated from the verbs' own tables.
 *
 * The scripts are short: at each tab they run `tracer completion offer -- WORD...`, which knows the
 * tables, the questions and the runs. It prints a line for each candidate, followed by a tab and its
 * description; or, for files and the like, a keyword that leaves completion to the shell.
 */
#include <string.h>

#include "cli/source.h"
#include "cli/units.h"

#define RUNS_OFFERED 50

static const char bash_script[] =
	"# bash completion for tracer: made by `tracer completion bash`\n"
	"_tracer()\n{\n"
	"\tlocal cur=${COMP_WORDS[COMP_CWORD]} offers\n"
	"\tmapfile -t offers < <(tracer completion offer -- \"${COMP_WORDS[@]:1:COMP_CWORD}\" 2>/dev/null)\n"
	"\tCOMPREPLY=()\n"
	"\tcase ${offers[0]} in\n"
	"\t:file) compopt -o default ;;\n"
	"\t:directory) compopt -o dirnames ;;\n"
	"\t:user) COMPREPLY=($(compgen -u -- \"$cur\")) ;;\n"
	"\t\":command $COMP_CWORD\") COMPREPLY=($(compgen -c -- \"$cur\")) ;;\n"
	"\t:command*) compopt -o default ;;\n" /* arguments of a command complete as files */
	"\t*) COMPREPLY=($(compgen -W \"${offers[*]%%$'\\t'*}\" -- \"$cur\")) ;;\n"
	"\tesac\n}\ncomplete -F _tracer tracer\n";

/* Autoloaded by zsh from a directory of functions, or sourced from a user's .zshrc. */
static const char zsh_script[] =
	"#compdef tracer\n# made by `tracer completion zsh`\n"
	"_tracer() {\n"
	"\tlocal -a offers=(${(f)\"$(tracer completion offer -- \"${(@Q)words[2,CURRENT]}\" 2>/dev/null)\"})\n"
	"\tcase $offers[1] in\n"
	"\t:file) _files ;;\n"
	"\t:directory) _files -/ ;;\n"
	"\t:user) _users ;;\n"
	"\t:command*) shift ${offers[1]#:command } words; ((CURRENT -= ${offers[1]#:command })); _normal ;;\n"
	"\t*) offers=(\"${(@)offers//:/\\\\:}\") offers=(\"${(@)offers/$'\\t'/:}\"); _describe tracer offers ;;\n"
	"\tesac\n}\n"
	"if [[ $funcstack[1] == _tracer ]]; then _tracer \"$@\"; else compdef _tracer tracer; fi\n";

static const char fish_script[] =
	"# fish completion for tracer: made by `tracer completion fish`\n"
	"function __fish_tracer\n"
	"\tset -l words (commandline -opc)\n"
	"\tset -l offers (tracer completion offer -- $words[2..] (commandline -ct) 2>/dev/null)\n"
	"\tswitch \"$offers[1]\"\n"
	"\t\tcase :file\n\t\t\t__fish_complete_path (commandline -ct)\n"
	"\t\tcase :directory\n\t\t\t__fish_complete_directories (commandline -ct)\n"
	"\t\tcase :user\n\t\t\t__fish_complete_users\n"
	"\t\tcase ':command*'\n\t\t\t__fish_complete_subcommand --fcs-skip=(string split ' ' $offers[1])[2]\n"
	"\t\tcase '*'\n\t\t\tprintf '%s\\n' $offers\n"
	"\tend\nend\n"
	"complete -c tracer -f -a '(__fish_tracer)'\n";

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
		const struct option_spec *spec = options_find(verb->options, words[at]);

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
		puts("--help\tlist the commands\n--version\tprint the release");
	}
	if (verb && verb->choose)
		verb = verb->choose(verb, (int)last + 1, words);
	if (!verb)
		return VERB_OK;
	command = command_find(verb, words, last);
	before = last > 1 ? options_find(verb->options, words[last - 1]) : NULL;
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
} shells[] = {{"bash", bash_script}, {"zsh", zsh_script}, {"fish", fish_script}};

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
	.summary = "print the completion of a shell",
	.description = "Prints a completion script, made of the same tables as --help: of commands,\n"
		       "options, their values, and runs. An installed tracer has put all three where\n"
		       "the shells look (below /usr/local fish looks only if XDG_DATA_DIRS names\n"
		       "/usr/local/share); elsewhere a shell reads its own as below.",
	.options = options_none,
	.examples = "  . <(tracer completion bash)     # in ~/.bashrc\n"
		    "  . <(tracer completion zsh)      # in ~/.zshrc, behind compinit\n"
		    "  tracer completion fish >~/.config/fish/completions/tracer.fish",
	.completion = "bash zsh fish",
	.main = completion_main,
};
