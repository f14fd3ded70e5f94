/* tracer completion SHELL: completions made of the verbs' own tables. */
#include <string.h>

#include "cli/options.h"

/* Behind the header, the first word of each line. */
#define RUN_IDS "tracer runs --limit 50 2>/dev/null | sed -n '2,$s/ .*//p'"

/* Likewise; and of a question, whose words stand before, the options that are its own and all others. */
#define QUERY_NAMES "tracer query --list 2>/dev/null | sed -n '2,$s/ .*//p'"
#define QUERY_OPTIONS(words) "tracer query " words " --help 2>/dev/null | sed -n 's/^  .*\\(--[a-z-]*\\).*/\\1/p'"

/* What completes a value or an operand of that sort, in each shell. */
static const struct {
	const char *what, *bash, *zsh, *fish;
} sorts[] = {
	{"file", "compopt -o default; COMPREPLY=()", "_files", " -F"},
	{"directory", "compopt -o dirnames; COMPREPLY=()", "_files -/", " -f -a '(__fish_complete_directories)'"},
	{"user", "COMPREPLY=($(compgen -u -- \"$cur\"))", "_users", " -f -a '(__fish_complete_users)'"},
	/* Of a command; what stands behind it takes files. The others have their own for it. */
	{"command", "compopt -o default; [[ $prev != \"$verb\" && $prev != -* ]] || "
	 "COMPREPLY=($(compgen -c -- \"$cur\"))", "", ""},
	{"run", "COMPREPLY=($(compgen -W \"latest $(" RUN_IDS ")\" -- \"$cur\"))", "_tracer_runs",
	 " -f -a '(__fish_tracer_runs)'"},
	{"query", "COMPREPLY=($(compgen -W \"$(" QUERY_NAMES ")\" -- \"$cur\"))", "_tracer_queries",
	 " -f -a '(__fish_tracer_queries)'"},
	{"verb", "COMPREPLY=($(compgen -W \"$verbs\" -- \"$cur\"))", "_tracer_verbs", ""},
};

#define SORTS (sizeof(sorts) / sizeof(sorts[0]))

/* SORTS: none of them, but words to choose from. */
static size_t sort_find(const char *what)
{
	size_t sort = 0;

	while (sort < SORTS && strcmp(sorts[sort].what, what) != 0)
		sort++;
	return sort;
}

static void verbs_print(void)
{
	for (size_t i = 0; verbs[i]; i++)
		printf("%s%s", i ? " " : "", verbs[i]->name);
}

/* ---- bash -------------------------------------------------------------------- */

static void bash_reply(const char *what)
{
	size_t sort = sort_find(what);

	if (sort < SORTS)
		fputs(sorts[sort].bash, stdout);
	else
		printf("COMPREPLY=($(compgen -W '%s' -- \"$cur\"))", what);
}

static void bash_values(const struct verb *verb)
{
	for (const struct option_spec *spec = verb->options; spec->name; spec++) {
		if (!spec->argument)
			continue;
		printf("\t%s:--%s", verb->name, spec->name);
		if (spec->letter)
			printf("|%s:-%c", verb->name, spec->letter);
		printf(") ");
		bash_reply(spec->values ? spec->values : "");
		printf("; return ;;\n");
	}
}

static void bash_operands(const struct verb *verb)
{
	if (strcmp(verb->completion, "query") == 0) {
		printf("\t%s:-*) COMPREPLY=($(compgen -W \"$(" QUERY_OPTIONS("\"${COMP_WORDS[@]:2:COMP_CWORD-2}\"")
		       ")\" -- \"$cur\")) ;;\n\t%s:*) ", verb->name, verb->name);
	} else {
		printf("\t%s:-*) COMPREPLY=($(compgen -W '", verb->name);
		for (const struct option_spec *spec = verb->options; spec->name; spec++)
			printf("%s--%s", spec == verb->options ? "" : " ", spec->name);
		printf("' -- \"$cur\")) ;;\n\t%s:*) ", verb->name);
	}
	bash_reply(verb->completion);
	printf(" ;;\n");
}

static void print_bash(void)
{
	printf("# bash completion for tracer: made by `tracer completion bash`\n"
	       "_tracer()\n{\n\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
	       "\tlocal verb=${COMP_WORDS[1]} verbs='");
	verbs_print();
	printf("'\n\tCOMPREPLY=()\n\tif ((COMP_CWORD == 1)); then\n"
	       "\t\tCOMPREPLY=($(compgen -W \"$verbs --help --version\" -- \"$cur\"))\n\t\treturn\n\tfi\n"
	       "\tcase $verb:$prev in\n");
	for (size_t i = 0; verbs[i]; i++)
		bash_values(verbs[i]);
	printf("\tesac\n\tcase $verb:$cur in\n");
	for (size_t i = 0; verbs[i]; i++)
		bash_operands(verbs[i]);
	printf("\tesac\n}\ncomplete -F _tracer tracer\n");
}

/* ---- zsh --------------------------------------------------------------------- */

/* Text within single quotes and brackets of a zsh specification. */
static void zsh_text(const char *text)
{
	for (; *text; text++) {
		if (*text == '\'')
			printf("'\\''");
		else if (strchr("[]:\\", *text))
			printf("\\%c", *text);
		else
			putchar(*text);
	}
}

static void zsh_action(const char *what)
{
	size_t sort = sort_find(what);

	if (sort < SORTS)
		fputs(sorts[sort].zsh, stdout);
	else
		printf("(%s)", what);
}

/* One of its two spellings; either rules the other out. */
static void zsh_option(const struct option_spec *spec, bool by_letter)
{
	printf(" \\\n\t\t\t'");
	if (spec->letter)
		printf("(-%c --%s)", spec->letter, spec->name);
	if (by_letter)
		printf("-%c%s[", spec->letter, spec->argument ? "+" : "");
	else
		printf("--%s%s[", spec->name, spec->argument ? "=" : "");
	zsh_text(spec->help);
	putchar(']');
	if (spec->argument) {
		putchar(':');
		zsh_text(spec->argument);
		putchar(':');
		zsh_action(spec->values ? spec->values : "");
	}
	putchar('\'');
}

static void zsh_verb(const struct verb *verb)
{
	printf("\t%s)\n\t\t", verb->name);
	if (strcmp(verb->completion, "query") == 0) /* a question's options are known once it is named */
		printf("[[ $words[CURRENT] == --* ]] && _tracer_query_options && return\n\t\t");
	printf("_arguments -s -S");
	for (const struct option_spec *spec = verb->options; spec->name; spec++) {
		if (spec->letter)
			zsh_option(spec, true);
		zsh_option(spec, false);
	}
	if (verb->takes_command) { /* whose own completion goes on */
		printf(" \\\n\t\t\t'(-)1:command:_command_names -e' '*::argument:_normal'");
	} else if (*verb->completion) {
		printf(" \\\n\t\t\t'*:argument:");
		zsh_action(verb->completion);
		putchar('\'');
	}
	printf(" ;;\n");
}

static void print_zsh(void)
{
	printf("#compdef tracer\n# made by `tracer completion zsh`\n"
	       "_tracer_runs() { compadd \"$@\" latest ${(f)\"$(" RUN_IDS ")\"} }\n"
	       "_tracer_queries() { compadd \"$@\" ${(f)\"$(" QUERY_NAMES ")\"} }\n"
	       "_tracer_query_options() { compadd -- ${(f)\"$(" QUERY_OPTIONS("$words[2,CURRENT-1]") ")\"} }\n"
	       "_tracer_verbs() {\n\tlocal -a verbs=(\n");
	for (size_t i = 0; verbs[i]; i++) {
		printf("\t\t'%s:", verbs[i]->name);
		zsh_text(verbs[i]->summary);
		printf("'\n");
	}
	printf("\t)\n\t_describe command verbs\n}\n_tracer() {\n"
	       "\tif ((CURRENT == 2)); then\n"
	       "\t\t_arguments '--help[list the commands]' '--version[print the release]' "
	       "'1:command:_tracer_verbs'\n"
	       "\t\treturn\n\tfi\n"
	       "\tlocal verb=$words[2]\n\tshift words; ((CURRENT--))\n\tcase $verb in\n");
	for (size_t i = 0; verbs[i]; i++)
		zsh_verb(verbs[i]);
	/* Called by zsh from a folder of functions, or read by a person's .zshrc. */
	printf("\tesac\n}\n"
	       "if [[ $funcstack[1] == _tracer ]]; then _tracer \"$@\"; else compdef _tracer tracer; fi\n");
}

/* ---- fish -------------------------------------------------------------------- */

static void fish_text(const char *text)
{
	for (; *text; text++) {
		if (*text == '\'' || *text == '\\')
			putchar('\\');
		putchar(*text);
	}
}

/* What stands for a value or an operand. */
static void fish_values(const char *what)
{
	size_t sort = sort_find(what);

	if (sort < SORTS)
		fputs(sorts[sort].fish, stdout);
	else
		printf(" -f -a '%s'", what);
}

/* Skips ours to where the command begins; "-" keeps fish from taking a name for its own. */
static void fish_command(const struct verb *verb)
{
	printf(" -f -a '(__fish_complete_subcommand --fcs-skip=2 -");
	for (const struct option_spec *spec = verb->options; spec->name; spec++) {
		if (!spec->argument)
			continue;
		printf(" --%s", spec->name);
		if (spec->letter)
			printf(" -%c", spec->letter);
	}
	printf(")'");
}

static void fish_option(const struct verb *verb, const struct option_spec *spec)
{
	printf("complete -c tracer -n '__fish_tracer_verb %s' -l %s", verb->name, spec->name);
	if (spec->letter)
		printf(" -s %c", spec->letter);
	if (spec->argument) {
		printf(" -r");
		fish_values(spec->values ? spec->values : "");
	}
	printf(" -d '");
	fish_text(spec->help);
	printf("'\n");
}

static void fish_verb(const struct verb *verb)
{
	for (const struct option_spec *spec = verb->options; spec->name; spec++)
		fish_option(verb, spec);
	if (!*verb->completion)
		return;
	printf("complete -c tracer -n '__fish_tracer_verb %s'", verb->name);
	if (strcmp(verb->completion, "verb") == 0) {
		printf(" -f -a '");
		verbs_print();
		printf("'");
	} else if (verb->takes_command) {
		fish_command(verb);
	} else {
		fish_values(verb->completion);
	}
	putchar('\n');
}

static void print_fish(void)
{
	printf("# fish completion for tracer: made by `tracer completion fish`\n"
	       "function __fish_tracer_runs\n\techo latest\n\t" RUN_IDS "\nend\n"
	       "function __fish_tracer_queries\n\tif string match -q -- '-*' (commandline -ct)\n\t\t"
	       "set -l words (commandline -opc)\n\t\t" QUERY_OPTIONS("$words[3..]") "\n\telse\n\t\t" QUERY_NAMES "\n\tend\nend\n"
	       "function __fish_tracer_verb\n\tset -l words (commandline -opc)\n"
	       "\ttest \"$words[2]\" = \"$argv\"\nend\n"
	       "complete -c tracer -f\n"
	       "complete -c tracer -n '__fish_tracer_verb \"\"' -l help -d 'list the commands'\n"
	       "complete -c tracer -n '__fish_tracer_verb \"\"' -l version -d 'print the release'\n");
	for (size_t i = 0; verbs[i]; i++) {
		printf("complete -c tracer -n '__fish_tracer_verb \"\"' -a %s -d '", verbs[i]->name);
		fish_text(verbs[i]->summary);
		printf("'\n");
	}
	for (size_t i = 0; verbs[i]; i++)
		fish_verb(verbs[i]);
}

/* ---- the verb ---------------------------------------------------------------- */

static const struct {
	const char *name;
	void (*print)(void);
} shells[] = {{"bash", print_bash}, {"zsh", print_zsh}, {"fish", print_fish}};

static int completion_main(const struct options *options)
{
	for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]); i++) {
		if (strcmp(shells[i].name, options->operands[0]) == 0) {
			shells[i].print();
			return VERB_OK;
		}
	}
	return options_misuse(options, "unknown shell '%s': use bash, zsh or fish", options->operands[0]);
}

const struct verb verb_completion = {
	.name = "completion",
	.operands = "bash|zsh|fish",
	.operands_least = 1,
	.operands_most = 1,
	.summary = "print the completion of a shell",
	.description =
		"Prints a completion script, made of the same tables as --help: of commands,\n"
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
