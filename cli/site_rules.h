/* Loads rules for the verbs, and locates single rules in their files. */
#pragma once

#include "analysis/query/catalogue.h"
#include "cli/screen/checks.h"
#include "common/rules/rules.h"

#define SITE_RULES_DEFAULT TRACER_CONFIG_DIR "/rules.d"
#define SITE_RULES_WHERE_SIZE 768
#define SITE_QUERIES_DEFAULT TRACER_CONFIG_DIR "/queries.d"

/* Loads the shipped rules and those in `directory` (NULL: default). Returns NULL after printing an error. */
struct rules *site_rules_load(const char *directory);

/* Checks the rules in `directory` as tracer-correlator does: adds a check, with file, line and reason,
 * for each file that it would skip. With `report_ok`, adds one for a directory without errors, too. */
void site_rules_check(const char *directory, bool report_ok, struct checks *checks);

/* Loads the shipped questions and findings and those in `directory` (NULL: default); prints what is wrong with the latter.
 * Returns NULL after printing an error. */
struct catalogue *site_queries_load(const char *directory);

/* Prints why a file could not be read. Returns VERB_FAILED. */
int site_file_say(int result, const struct tree_error *error);

/* Prints "FILE:LINE: reason" to standard error. */
void site_rules_say(const struct tree_error *error);

/* Formats "NAME (FILE:LINE)", or a note that the rule no longer exists, or that
 * there was none (`rule` is NULL). `rules` is NULL if they could not be loaded. */
void site_rules_where(const struct rules *rules, const char *rule, char *text, size_t capacity);
