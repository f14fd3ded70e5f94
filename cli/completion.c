/* tracer completion SHELL: completions made of the verbs' own tables. */
#include <stdio.h>
#include <string.h>

#include "cli/options.h"

static const struct option_spec option_specs[] = {
	OPTION_SPEC_HELP,
	OPTION_SPEC_END,
};

#define RUN_IDS "tracer runs --limit 50 2>/dev/null | sed -n '2,$s/ .*//p'"

/* ---- bash -------------------------------------------------------------------- */

/* The command that fills COMPREPLY for a value or an operand. */
static void bash_reply(const char *what)
{
	if (strcmp(what, "file") == 0)
		printf("compopt -o default; COMPREPLY=()");
	else if (strcmp(what, "directory") == 0)
		printf("COMPREPLY=($(compgen -d -- \"$cur\"))");
	else if (strcmp(what, "user") == 0)
		printf("COMPREPLY=($(compgen -u -- \"$cur\"))");
	else if (strcmp(what, "command") == 0)
		printf("COMPREPLY=($(compgen -c -- \"$cur\"))");
	else if (strcmp(what, "run") == 0)
		printf("COMPREPLY=($(compgen -W \"latest $(" RUN_IDS ")\" -- \"$cur\"))");
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
	printf("\t%s:-*) COMPREPLY=($(compgen -W '", verb->name);
	for (const struct option_spec *spec = verb->options; spec->name; spec++)
		printf("%s--%s", spec == verb->options ? "" : " ", spec->name);
	printf("' -- \"$cur\")) ;;\n\t%s:*) ", verb->name);
	if (strcmp(verb->completion, "verb") == 0)
		printf("COMPREPLY=($(compgen -W \"$verbs\" -- \"$cur\"))");
	else
		bash_reply(verb->completion);
	printf(" ;;\n");
}

static void print_bash(void)
{
	printf("# bash completion for tracer: made by `tracer completion bash`\n"
	       "_tracer()\n{\n\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
	       "\tlocal verb=${COMP_WORDS[1]} verbs='");
	for (size_t i = 0; verbs[i]; i++)
		printf("%s%s", i ? " " : "", verbs[i]->name);
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
	if (strcmp(what, "file") == 0)
		printf("_files");
	else if (strcmp(what, "directory") == 0)
		printf("_files -/");
	else if (strcmp(what, "user") == 0)
		printf("_users");
	else if (strcmp(what, "command") == 0)
		printf("_command_names -e");
	else if (strcmp(what, "run") == 0)
		printf("_tracer_runs");
	else if (strcmp(what, "verb") == 0)
		printf("_tracer_verbs");
	else
		printf("(%s)", what);
}

static void zsh_option(const struct option_spec *spec)
{
	printf(" \\\n\t\t\t'--%s%s[", spec->name, spec->argument ? "=" : "");
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

static void print_zsh(void)
{
	printf("#compdef tracer\n# made by `tracer completion zsh`\n"
	       "_tracer_runs() { compadd latest ${(f)\"$(" RUN_IDS ")\"} }\n"
	       "_tracer_verbs() {\n\tlocal -a verbs=(\n");
	for (size_t i = 0; verbs[i]; i++) {
		printf("\t\t'%s:", verbs[i]->name);
		zsh_text(verbs[i]->summary);
		printf("'\n");
	}
	printf("\t)\n\t_describe command verbs\n}\n_tracer() {\n"
	       "\tif ((CURRENT == 2)); then _tracer_verbs; return; fi\n"
	       "\tlocal verb=$words[2]\n\tshift words; ((CURRENT--))\n\tcase $verb in\n");
	for (size_t i = 0; verbs[i]; i++) {
		printf("\t%s)\n\t\t_arguments -s", verbs[i]->name);
		for (const struct option_spec *spec = verbs[i]->options; spec->name; spec++)
			zsh_option(spec);
		if (*verbs[i]->completion) {
			printf(" \\\n\t\t\t'*:argument:");
			zsh_action(verbs[i]->completion);
			putchar('\'');
		}
		printf(" ;;\n");
	}
	printf("\tesac\n}\n_tracer \"$@\"\n");
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

/* "-r -a 'words'" or the file completion of the shell. */
static void fish_values(const char *what)
{
	if (strcmp(what, "file") == 0)
		printf(" -F");
	else if (strcmp(what, "directory") == 0)
		printf(" -x -a '(__fish_complete_directories)'");
	else if (strcmp(what, "user") == 0)
		printf(" -x -a '(__fish_complete_users)'");
	else if (strcmp(what, "run") == 0)
		printf(" -f -a \"latest (" RUN_IDS ")\"");
	else if (strcmp(what, "command") == 0)
		printf(" -f -a '(__fish_complete_subcommand)'");
	else
		printf(" -x -a '%s'", what);
}

static void fish_verb(const struct verb *verb)
{
	for (const struct option_spec *spec = verb->options; spec->name; spec++) {
		printf("complete -c tracer -n '__fish_seen_subcommand_from %s' -l %s", verb->name,
		       spec->name);
		if (spec->letter)
			printf(" -s %c", spec->letter);
		if (spec->argument)
			fish_values(spec->values ? spec->values : "");
		printf(" -d '");
		fish_text(spec->help);
		printf("'\n");
	}
	if (!*verb->completion)
		return;
	printf("complete -c tracer -n '__fish_seen_subcommand_from %s'", verb->name);
	if (strcmp(verb->completion, "verb") == 0) {
		printf(" -f -a '");
		for (size_t i = 0; verbs[i]; i++)
			printf("%s%s", i ? " " : "", verbs[i]->name);
		printf("'");
	} else {
		fish_values(verb->completion);
	}
	putchar('\n');
}

static void print_fish(void)
{
	printf("# fish completion for tracer: made by `tracer completion fish`\ncomplete -c tracer -f\n");
	for (size_t i = 0; verbs[i]; i++) {
		printf("complete -c tracer -n __fish_use_subcommand -a %s -d '", verbs[i]->name);
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

static int completion_main(const struct verb *verb, int argc, char **argv)
{
	struct options options;
	const char *value;
	int option;

	options_init(&options, verb, argc, argv);
	option = options_next(&options, &value);
	if (option < 0)
		return options_exit(option);
	if (options_check_operands(&options, 1, 1))
		return VERB_USAGE;
	for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]); i++) {
		if (strcmp(shells[i].name, options.operands[0]) == 0) {
			shells[i].print();
			return fflush(stdout) == 0 ? VERB_OK : VERB_FAILED;
		}
	}
	return options_misuse(&options, "'%s' is none of bash, zsh, fish", options.operands[0]);
}

const struct verb verb_completion = {
	.name = "completion",
	.operands = "bash|zsh|fish",
	.summary = "print the completion of a shell",
	.description =
		"Prints a completion script, made of the same tables as --help. An installed tracer has\n"
		"them where the shells look; otherwise:",
	.options = option_specs,
	.examples = "  . <(tracer completion bash)\n"
		    "  tracer completion fish >~/.config/fish/completions/tracer.fish",
	.completion = "bash zsh fish",
	.main = completion_main,
};
