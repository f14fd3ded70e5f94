/* What the rules say about a subject: its rule, role and names.
 *
 * Interpreters are unwrapped and what they run is matched again; the innermost rule
 * that matches decides.
 */
#include <string.h>

#include "common/rules/match.h"

/* A #! script is named after the script even if no rule matches its interpreter. */
static const struct rule unknown_interpreter = {
	.role = RULES_ROLE_INTERPRETER,
	.unwrap = {.enabled = true, .short_clusters = true},
};

static void name_set_text(char ret_text[RULES_NAME_MAX], const char *text)
{
	name_set(ret_text, text, strlen(text));
}

/* The text fields of a class, in the order of enum template_text. */
static char *class_text(struct rules_class *class, enum template_text text)
{
	switch (text) {
#define X(NAME, key, field) \
	case TEMPLATE_TEXT_##NAME: return class->field;
		TEMPLATE_TEXTS(X)
#undef X
	case TEMPLATE_TEXT_COUNT: break;
	}
	return NULL;
}

/* A program without a path may have an empty name; a class must not. */
static void name_set_program(char ret_text[RULES_NAME_MAX], const struct view *view)
{
	name_set_text(ret_text, view->program[0] ? view->program : "unknown");
}

/* Fills the texts that are still empty. */
static void class_add_texts(struct rules_class *class, const struct rules *rules, const struct rule *rule,
			    const struct view *view)
{
	for (int text = 0; text < TEMPLATE_TEXT_COUNT; text++) {
		char *field = class_text(class, (enum template_text)text);

		if (!rule->texts[text] || field[0] != '\0')
			continue;
		template_expand(rule->texts[text], rule, view, &rules->scratch->captures, field);
		if (text == TEMPLATE_TEXT_RUN_KEY && rule->match.regexes[TEMPLATE_SOURCE_CGROUP].count > 0)
			class->run_key_cgroup_size = captures_end(&rules->scratch->captures, TEMPLATE_SOURCE_CGROUP);
	}
}

/* `continue: true` rules add what the deciding rule left open. */
static void class_add(struct rules_class *class, const struct rules *rules, const struct rule *rule,
		      const struct view *view)
{
	class_add_texts(class, rules, rule, view);
	class->expected_codes |= rule->expected_codes;
	for (int trait = 0; trait < RULES_TRAIT_COUNT; trait++)
		class->traits |= (uint32_t)rule->traits[trait] << trait;
	if (class->requested_thread_count == 0)
		class->requested_thread_count = threads_requested(rule, view);
	if (rule->engine && class->engine[0] == '\0')
		name_set_text(class->engine, rule->engine);
}

/* Fills the class with everything that `rule` says about the view. */
static void class_fill(struct rules_class *class, const struct rules *rules, const struct rule *rule,
		       const struct view *view)
{
	*class = (struct rules_class){
		.rule = rule->name,
		.role = rule->role == RULES_ROLE_INTERPRETER ? RULES_ROLE_TOOL : rule->role,
		.rank = rule->rank,
		.boundary = rule->role == RULES_ROLE_SHELL ? RULES_BOUNDARY_PROCESS_GROUP : rule->boundary,
		.nested = rule->nested,
	};
	class_add(class, rules, rule, view);
	if (class->name[0] == '\0')
		name_set_program(class->name, view);
}

/* `python -c CODE` is named "python -c", without the code. */
static void class_name_command(struct rules_class *class, const struct rule *rule)
{
	const char *option = rule->unwrap.command_option.items[0].text;
	size_t size = strlen(class->name), room = sizeof(class->name) - 1 - size;

	if (strlen(option) + 1 > room)
		return;
	class->name[size] = ' ';
	strcpy(class->name + size + 1, option);
}

/* A shell without a script or -c reads commands from descriptor 0. If that is not a terminal, its commands
 * are the steps of one piece of work, even with -i. */
static bool shell_is_interactive(const struct view *view, const struct rule *rule)
{
	return view->subject->has_terminal && !view_has_option(view, rule, 's');
}

/* Returns the code of -c or -e, or NULL if it is missing; `inner` begins with that option. */
static const char *code_argument(const struct view *inner)
{
	if (inner->argc > 0 && strchr(inner->argv[0], '='))
		return inner->argv[0];
	for (size_t i = 1; i < inner->argc; i++)
		if (inner->argv[i][0] != '-' && inner->argv[i][0] != '+')
			return inner->argv[i];
	return NULL;
}

/* Unwraps the interpreter `view`, which matched `rule`. Returns true if `ret_inner` is to be matched next. */
static bool class_unwrap(struct rules_class *class, const struct rule *rule, const struct view *view,
			 struct view *ret_inner)
{
	switch (view_unwrap(view, rule, ret_inner)) {
	case VIEW_OPERAND_COMMAND:
		class_name_command(class, rule);
		class->command = code_argument(ret_inner);
		return false;
	case VIEW_OPERAND_NONE:
		class->interactive = rule->role == RULES_ROLE_SHELL && shell_is_interactive(view, rule);
		return false;
	case VIEW_OPERAND_NAMELESS: return false;
	case VIEW_OPERAND_SCRIPT:
		if (ret_inner->program[0] != '\0')
			name_set_text(class->name, ret_inner->program);
		return true;
	}
	return false;
}

static bool name_has_subcommand(const struct rule *rule)
{
	const struct template *name = rule ? rule->texts[TEMPLATE_TEXT_NAME] : NULL;
	const struct template_part *part = name ? name->parts : NULL;

	while (part && part->kind != TEMPLATE_SUBCOMMAND)
		part = part->next;
	return part != NULL;
}

/* `samtools --version`, `java -version`, `bwa` without arguments: scripts ask this way for the version or
 * usage. It does no work, and says nothing about the step that it is part of. */
static bool asks_for_version(const struct view *view, const struct rule *rule)
{
	static const char *const options[] = {"--version", "-version", "--help"};
	static const char *const words[] = {"version", "help", "-v", "-V", "-h"};

	if (view->argc == 1)
		return name_has_subcommand(rule);
	if (view->argc != 2)
		return false;
	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++)
		if (strcmp(view->argv[1], options[i]) == 0)
			return true;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words) && name_has_subcommand(rule); i++)
		if (strcmp(view->argv[1], words[i]) == 0)
			return true;
	return false;
}

static void class_decide(struct rules_class *class, const struct rules *rules, const struct rules_subject *subject)
{
	struct view views[2];

	view_init(&views[0], subject);
	name_set_program(class->name, &views[0]);
	for (unsigned depth = 0; depth <= RULES_UNWRAP_MAX; depth++) {
		const struct view *view = &views[depth % 2];
		const struct rule *rule = rules_find(rules, view);

		if (rule)
			class_fill(class, rules, rule, view);
		else if (depth == 0 && subject->script)
			rule = &unknown_interpreter;
		if (rule && rule->unwrap.enabled && class_unwrap(class, rule, view, &views[(depth + 1) % 2]))
			continue;
		if (class->role == RULES_ROLE_TOOL && asks_for_version(view, rule))
			class->role = RULES_ROLE_HELPER;
		class->path = view->path;
		break;
	}
}

void rules_classify(const struct rules *rules, const struct rules_subject *subject, struct rules_class *ret_class)
{
	struct rule_candidates candidates;
	const struct rule *rule;
	struct view view;

	*ret_class = (struct rules_class){.role = RULES_ROLE_TOOL};
	class_decide(ret_class, rules, subject);
	view_init(&view, subject);
	rules_scratch_begin(rules->scratch);
	rule_candidates_begin(&candidates, rules, &rules->continuing, view.program);
	while ((rule = rule_candidates_next(&candidates))) {
		if (rule_holds(rules, rule, candidates.named, &view))
			class_add(ret_class, rules, rule, &view);
	}
}
