/* One look at a subject: the program as executed, or what an interpreter runs.
 *
 * `python3 -u x.py a b` is first looked at as python3 with all its arguments, then,
 * unwrapped, as x.py with a and b. Views borrow everything from the subject.
 */
#pragma once

#include "common/rules/rule.h"

struct view {
	const struct rules_subject *subject;
	const char *path;             /* program, script, module, class */
	char program[RULES_NAME_MAX]; /* base name of the path, cut where it is long */
	bool is_script;               /* an interpreter or shell runs `path` */
	size_t argc;                  /* from the program on: argv[1] is its first argument */
	const char *const *argv;
};

enum view_operand {
	VIEW_OPERAND_NONE,    /* nothing given: reads commands from standard input */
	VIEW_OPERAND_COMMAND, /* the code itself is an argument */
	VIEW_OPERAND_SCRIPT,  /* something that can be looked at */
};

void view_init(struct view *view, const struct rules_subject *subject);

/* What the interpreter of `rule` runs; `*ret_inner` is set for VIEW_OPERAND_SCRIPT. For
 * VIEW_OPERAND_COMMAND its arguments begin with the option. It may not be `view`. */
enum view_operand view_unwrap(const struct view *view, const struct rule *rule, struct view *ret_inner);

/* An option such as -i given before the first operand, alone or in a cluster. */
bool view_has_option(const struct view *view, const struct rule *rule, char letter);

/* "" where there is none. A subcommand is an operand that looks like a word. */
const char *view_operand(const struct view *view, const struct rule_patterns *options_with_value, unsigned number);
const char *view_option(const struct view *view, const char *spelling);

/* Arguments (without the program) joined by a space into `buffer`, cut where it is
 * full. */
void view_join_arguments(const struct view *view, char *buffer, size_t capacity);

/* Without folders and trailing slashes. */
const char *path_base(const char *path, size_t *ret_size);
