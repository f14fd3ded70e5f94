/* Thresholds of findings that a user sets: `--set FINDING.PARAMETER=VALUE`, and `--list`.
 *
 * A parameter is named as in the finding's file (least_ns), or as an option (least).
 */
#pragma once

#include "analysis/query/catalogue.h"
#include "cli/options.h"

#define THRESHOLDS_MAX 64

struct thresholds {
	const char *set[THRESHOLDS_MAX]; /* FINDING.PARAMETER=VALUE, borrowed */
	size_t count;
	struct store_parameter bound[QUESTION_PARAMETERS_MAX + 1]; /* of the question asked last */
};

/* Adds one. Returns 0 or, after a message, VERB_USAGE. */
int thresholds_take(struct thresholds *thresholds, const struct options *options, const char *text);
/* Checks all against the findings of a kind ("tune", "sweep"). Returns 0 or, after a message, VERB_USAGE. */
int thresholds_check(const struct thresholds *thresholds, const struct options *options,
		     const struct catalogue *catalogue, const char *kind);

/* The parameters of a finding: `given` (ends with a NULL name) comes first, then what was set, then the default. A run
 * is left out: the caller binds it. Call thresholds_check() first. The array ends with a NULL name and is valid until
 * the next call. */
const struct store_parameter *thresholds_bind(struct thresholds *thresholds, const struct question *question,
					      const struct store_parameter *given);

#define SWEEP_USER_JOBS "user_jobs" /* the question of tracer sweep --by user */

/* Whether a question is a finding of that kind. */
bool finding_is(const struct question *question, const char *kind);
/* Prints the findings of a kind: title, and each parameter with its value and the source of its default. Returns the
 * exit status. */
int thresholds_list(const struct thresholds *thresholds, const struct options *options, const char *kind);

/* Loads the shipped findings and those of the site; prints what is wrong with the latter. Returns 0 or -ENOMEM. */
int thresholds_catalogue(struct catalogue **ret_catalogue);
