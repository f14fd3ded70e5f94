/* Thresholds of findings (analysis/query/thresholds.h) as options of verbs: `--set FINDING.PARAMETER=VALUE`, and `--list`. */
#pragma once

#include "analysis/query/thresholds.h"
#include "cli/options.h"

/* Adds one. Returns 0 or, after a message, VERB_USAGE. */
int threshold_options_take(struct thresholds *thresholds, const struct options *options, const char *text);
/* Checks all against the findings of a kind. Returns 0 or, after a message, VERB_USAGE. */
int threshold_options_check(const struct thresholds *thresholds, const struct options *options,
			    const struct catalogue *catalogue, const char *kind);
/* Prints the findings of a kind: title, and each parameter with its value and the source of its default. Returns the
 * exit status. */
int threshold_options_list(const struct thresholds *thresholds, const struct options *options, const char *kind);
