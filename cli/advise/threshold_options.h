/* Thresholds of findings (analysis/query/thresholds.h) as options of verbs: `--set FINDING.PARAMETER=VALUE`, and `--list`. */
#pragma once

#include "analysis/query/thresholds.h"
#include "cli/options.h"

/* An entry for a verb's table of options. */
#define OPTION_SPEC_SET(example) \
	{ \
		"set", 0, "FINDING.PARAMETER=VALUE", NULL, "set a threshold, such as " example, \
			.take = threshold_options_take \
	}

extern struct thresholds thresholds_given;

/* Adds one. Returns 0 or, after a message, VERB_USAGE. */
int threshold_options_take(const struct options *options, const char *text);
/* Checks all against the findings of a kind. Returns 0 or, after a message, VERB_USAGE. */
int threshold_options_check(const struct options *options, const struct catalogue *catalogue, const char *kind);
/* Prints the findings of a kind: title, and each parameter with its value and the source of its default. Returns the
 * exit status. */
int threshold_options_list(const struct options *options, const char *kind);
