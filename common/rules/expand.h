/* Templates filled in from what a rule matched. */
#pragma once

#include "common/rules/match.h"

/* At most RULES_NAME_MAX - 1 bytes, cut at a character. Placeholders with nothing to
 * show leave no double or trailing space; where `template->whole`, they leave the
 * text empty. `captures` are of the rule that the template belongs to. */
void template_expand(const struct template *template, const struct rule *rule, const struct view *view,
		     const struct captures *captures, char ret_text[RULES_NAME_MAX]);

/* Copies what fits of `size` bytes, cut at a character. */
void name_set(char ret_text[RULES_NAME_MAX], const char *text, size_t size);
