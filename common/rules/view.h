/* A view of a subject: the program as executed, or what an interpreter runs.
 *
 * `python3 -u x.py a b` is first viewed as python3 with all its arguments, then,
 * unwrapped, as x.py with a and b. Views borrow everything from the subject.
 */
#pragma once

#include "common/rules/rule.h"

struct view {
	const struct rules_subject *subject;
	const char *path;             /* program, script, module, class */
	char program[RULES_NAME_MAX]; /* base name of the path, truncated if too long */
	bool is_script;               /* an interpreter or shell runs `path` */
	size_t argc;                  /* including the program: argv[1] is its first argument */
	const char *const *argv;
};

enum view_operand {
	VIEW_OPERAND_NONE,     /* none: reads commands from standard input */
	VIEW_OPERAND_COMMAND,  /* the code itself is an argument */
	VIEW_OPERAND_NAMELESS, /* the code comes from a descriptor, as in `bash <(...)` */
	VIEW_OPERAND_SCRIPT,   /* a script or module, which has a view of its own */
};

void view_init(struct view *view, const struct rules_subject *subject);

/* Determines what the interpreter of `rule` runs and sets `*ret_inner` for VIEW_OPERAND_SCRIPT. For
 * VIEW_OPERAND_COMMAND, its arguments begin with the option. `ret_inner` must differ from `view`. */
enum view_operand view_unwrap(const struct view *view, const struct rule *rule, struct view *ret_inner);

/* Returns true if an option such as -i precedes the first operand, alone or in a cluster. */
bool view_has_option(const struct view *view, const struct rule *rule, char letter);

/* Both return "" if there is none. Operands are the arguments that are neither options, nor their values, nor
 * assignments (CC=clang). A number after an option is its value (`make -j 8 all`); an option has no value if
 * another one follows (`nextflow run -with-report -profile test`). */
const char *view_operand(const struct view *view, const struct rule_patterns *options_with_value, unsigned number);
const char *view_option(const struct view *view, const char *spelling);

/* Joins the arguments (without the program) with spaces in `buffer`; truncates if it is
 * too small. */
void view_join_arguments(const struct view *view, char *buffer, size_t capacity);

/* Returns the last component of the path, without trailing slashes; it is not NUL-terminated. */
const char *path_base(const char *path, size_t *ret_size);
