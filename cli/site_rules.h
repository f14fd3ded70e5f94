/* The rules as the verbs load them, and where one of them stands. */
#pragma once

#include "cli/findings.h"
#include "common/rules/rules.h"

#define SITE_RULES_DEFAULT TRACER_CONFIG_DIR "/rules.d"
#define SITE_RULES_WHERE_SIZE 768

/* The shipped rules and those of `directory` (NULL: the default one). NULL: said. */
struct rules *site_rules_load(const char *directory);

/* Whether all that `directory` holds can be used, as tracer-correlator sees it: what it leaves out,
 * each with file, line and reason. Of a directory in which all is well `tell_ok` adds a line too. */
void site_rules_check(const char *directory, bool tell_ok, struct findings *findings);

/* "FILE:LINE: reason" on standard error. */
void site_rules_say(const struct tree_error *error);

/* "NAME (FILE:LINE)"; says so where no rule is of that name any more, or where
 * there was none (NULL). `rules` may be NULL: they could not be read. */
void site_rules_where(const struct rules *rules, const char *rule, char *text, size_t capacity);
