/* Views of a subject, and unwrapping of interpreters. See view.h. */
#include "common/rules/view.h"

#include <string.h>

const char *path_base(const char *path, size_t *ret_size)
{
	size_t size = strlen(path);
	const char *slash;

	while (size > 1 && path[size - 1] == '/')
		size--;
	slash = memrchr(path, '/', size);
	if (slash && size > 1) {
		size -= (size_t)(slash + 1 - path);
		path = slash + 1;
	}
	*ret_size = size;
	return path;
}

static void view_set_program(struct view *view, const char *path)
{
	size_t size;
	const char *base = path_base(path, &size);

	view->path = path;
	if (size >= sizeof(view->program))
		size = sizeof(view->program) - 1;
	memcpy(view->program, base, size);
	view->program[size] = '\0';
}

/* What is executed or read through a descriptor (fexecve, runc's copy of itself, `bash <(...)`) has no
 * usable name. */
static bool path_is_nameless(const char *path)
{
	return *path == '\0' || strncmp(path, "/proc/", 6) == 0 || strncmp(path, "/dev/fd/", 8) == 0 ||
	       strncmp(path, "memfd:", 6) == 0 || strcmp(path, "/dev/stdin") == 0;
}

void view_init(struct view *view, const struct rules_subject *subject)
{
	const char *path = subject->path;

	view->subject = subject;
	view->is_script = false;
	view->argc = subject->argc;
	view->argv = subject->argv;
	if (subject->argc > 0 && path_is_nameless(path))
		path = subject->argv[0];
	view_set_program(view, path);
}

/* `python pkg/__main__.py` is named pkg. */
static void view_rename_main(struct view *view)
{
	char folder[RULES_NAME_MAX];
	size_t size = strlen(view->path), end = strlen("/__main__.py");
	const char *path = view->path;

	if (size <= end || size - end >= sizeof(folder) || strcmp(path + size - end, "/__main__.py") != 0)
		return;
	memcpy(folder, path, size - end);
	folder[size - end] = '\0';
	view_set_program(view, folder);
	view->path = path;
}

/* Sets the inner view to the program `path`, given in argv[position]. */
static enum view_operand view_enter(const struct view *view, size_t position, const char *path, struct view *ret_inner)
{
	ret_inner->subject = view->subject;
	ret_inner->is_script = true;
	ret_inner->argc = view->argc - position;
	ret_inner->argv = view->argv + position;
	view_set_program(ret_inner, path);
	view_rename_main(ret_inner);
	return VIEW_OPERAND_SCRIPT;
}

static enum view_operand view_enter_value(const struct view *view, size_t position, struct view *ret_inner)
{
	if (position >= view->argc || view->argv[position][0] == '\0')
		return VIEW_OPERAND_NONE;
	if (path_is_nameless(view->argv[position]))
		return VIEW_OPERAND_NAMELESS;
	return view_enter(view, position, view->argv[position], ret_inner);
}

static bool options_have(const struct rule_patterns *options, const char *name, size_t size)
{
	for (size_t i = 0; i < options->count; i++) {
		const char *text = options->items[i].text;

		if (strncmp(text, name, size) == 0 && text[size] == '\0')
			return true;
	}
	return false;
}

/* What follows an option in the walk over the arguments. */
enum step {
	STEP_UNKNOWN,    /* the option is not declared */
	STEP_NEXT,       /* the next argument */
	STEP_SKIP_VALUE, /* the next but one */
	STEP_DONE,       /* the result is in `operand` */
};

struct walk {
	const struct view *view;
	const struct rule *rule;
	struct view *inner;
	size_t position;
	enum view_operand operand;
};

static enum step walk_finish(struct walk *walk, enum view_operand operand)
{
	walk->operand = operand;
	if (operand == VIEW_OPERAND_COMMAND) {
		walk->inner->argc = walk->view->argc - walk->position;
		walk->inner->argv = walk->view->argv + walk->position;
	}
	return STEP_DONE;
}

/* Handles an option; `value` is attached to it, or NULL. */
static enum step walk_option(struct walk *walk, const char *name, size_t size, const char *value)
{
	const struct rule_unwrap *unwrap = &walk->rule->unwrap;

	if (options_have(&unwrap->script_option, name, size) || options_have(&unwrap->module_option, name, size))
		return walk_finish(walk, value ? view_enter(walk->view, walk->position, value, walk->inner)
					       : view_enter_value(walk->view, walk->position + 1, walk->inner));
	if (options_have(&unwrap->command_option, name, size))
		return walk_finish(walk, VIEW_OPERAND_COMMAND);
	if (options_have(&unwrap->stdin_option, name, size))
		return walk_finish(walk, VIEW_OPERAND_NONE);
	if (options_have(&walk->rule->options_with_value, name, size))
		return value ? STEP_NEXT : STEP_SKIP_VALUE;
	return STEP_UNKNOWN;
}

/* Handles -abcVALUE letter by letter. */
static enum step walk_cluster(struct walk *walk, const char *cluster)
{
	for (size_t i = 1; cluster[i]; i++) {
		const char name[] = {cluster[0], cluster[i]};
		enum step step = walk_option(walk, name, sizeof(name), cluster[i + 1] ? cluster + i + 1 : NULL);

		if (step != STEP_UNKNOWN)
			return step;
		if (options_have(&walk->rule->unwrap.options_attached, name, sizeof(name)))
			break;
	}
	return STEP_NEXT;
}

static bool is_option(const struct rule *rule, const char *argument)
{
	if (argument[0] == '-')
		return true;
	return argument[0] == '+' && argument[1] != '\0' && rule->role == RULES_ROLE_SHELL;
}

static enum step walk_argument(struct walk *walk)
{
	const char *argument = walk->view->argv[walk->position];
	size_t size = strcspn(argument, "=");
	enum step step;

	if (!is_option(walk->rule, argument))
		return walk_finish(walk, view_enter_value(walk->view, walk->position, walk->inner));
	if (argument[1] == '\0') /* "-": standard input */
		return walk_finish(walk, VIEW_OPERAND_NONE);
	if (strcmp(argument, "--") == 0)
		return walk_finish(walk, view_enter_value(walk->view, walk->position + 1, walk->inner));
	step = walk_option(walk, argument, size, argument[size] ? argument + size + 1 : NULL);
	if (step != STEP_UNKNOWN)
		return step;
	return argument[1] == '-' || !walk->rule->unwrap.short_clusters ? STEP_NEXT : walk_cluster(walk, argument);
}

/* busybox: the applet is the name it was invoked by, or its first argument. */
static enum view_operand view_unwrap_applet(const struct view *view, struct view *ret_inner)
{
	enum view_operand operand = VIEW_OPERAND_NONE;

	if (view->argc > 0) {
		const char *called = view->argv[0] + (view->argv[0][0] == '-');

		operand = view_enter(view, 0, called, ret_inner);
		if (strcmp(ret_inner->program, view->program) == 0)
			operand = view_enter_value(view, 1, ret_inner);
		ret_inner->is_script = false;
	}
	return operand;
}

enum view_operand view_unwrap(const struct view *view, const struct rule *rule, struct view *ret_inner)
{
	struct walk walk = {.view = view, .rule = rule, .inner = ret_inner, .position = 1};
	const char *script = view->subject->script;

	if (rule->unwrap.multi_call)
		return view_unwrap_applet(view, ret_inner);
	/* The kernel puts the path of a #! script after the interpreter and at most one
	 * argument, which comes from the #! line. */
	for (size_t i = 1; script && !view->is_script && i < view->argc && i <= 2; i++) {
		if (strcmp(view->argv[i], script) == 0)
			return view_enter_value(view, i, ret_inner);
	}
	while (walk.position < view->argc) {
		enum step step = walk_argument(&walk);

		if (step == STEP_DONE)
			return walk.operand;
		walk.position += step == STEP_SKIP_VALUE ? 2 : 1;
	}
	return VIEW_OPERAND_NONE;
}

bool view_has_option(const struct view *view, const struct rule *rule, char letter)
{
	for (size_t i = 1; i < view->argc; i++) {
		const char *argument = view->argv[i];

		if (argument[0] != '-' || argument[1] == '\0')
			return false;
		if (argument[1] != '-' && strchr(argument, letter))
			return true;
		if (options_have(&rule->options_with_value, argument, strlen(argument)))
			i++;
	}
	return false;
}

static bool is_number(const char *text)
{
	return text[strspn(text, "0123456789.")] == '\0';
}

/* CC=clang, threads=4 */
static bool is_assignment(const char *text)
{
	size_t size = strcspn(text, "=");

	return text[size] == '=' && size > 0 && strcspn(text, "/.:") > size;
}

const char *view_operand(const struct view *view, const struct rule_patterns *options_with_value, unsigned number)
{
	bool options = true, after_option = false, takes_value = false;

	for (size_t i = 1; i < view->argc; i++) {
		const char *argument = view->argv[i];

		if (options && strcmp(argument, "--") == 0) {
			options = after_option = false;
		} else if (options && argument[0] == '-' && argument[1] != '\0') {
			after_option = true;
			takes_value = options_have(options_with_value, argument, strlen(argument));
		} else {
			bool is_value = after_option && (takes_value || is_number(argument));

			if (!is_value && !is_assignment(argument) && --number == 0)
				return argument;
			after_option = false;
		}
	}
	return "";
}

const char *view_option(const struct view *view, const char *spelling)
{
	size_t size = strlen(spelling);

	for (size_t i = 1; i < view->argc && strcmp(view->argv[i], "--") != 0; i++) {
		const char *argument = view->argv[i];

		if (strncmp(argument, spelling, size) != 0)
			continue;
		if (argument[size] == '=')
			return argument + size + 1;
		if (argument[size] == '\0')
			return i + 1 < view->argc ? view->argv[i + 1] : "";
	}
	return "";
}

void view_join_arguments(const struct view *view, char *buffer, size_t capacity)
{
	size_t length = 0;

	for (size_t i = 1; i < view->argc && length + 1 < capacity; i++) {
		size_t size = strlen(view->argv[i]);

		if (i > 1)
			buffer[length++] = ' ';
		if (size > capacity - 1 - length)
			size = capacity - 1 - length;
		memcpy(buffer + length, view->argv[i], size);
		length += size;
	}
	buffer[length] = '\0';
}
