/* Expansion of templates with what a rule matched. */
#pragma once

#include "common/rules/match.h"

/* Writes at most RULES_NAME_MAX - 1 bytes, truncated between characters. Empty
 * placeholders leave no double or trailing space; if `template->whole` is set, one
 * makes the text empty. `captures` are those of the rule that the template belongs to. */
void template_expand(const struct template *template, const struct rule *rule, const struct view *view,
		     const struct captures *captures, char ret_text[RULES_NAME_MAX]);

/* Returns where the match in that text ended, 0: there was none. */
size_t captures_end(const struct captures *captures, enum template_source source);

/* Copies `size` bytes, truncated between characters if necessary. */
void name_set(char ret_text[RULES_NAME_MAX], const char *text, size_t size);
