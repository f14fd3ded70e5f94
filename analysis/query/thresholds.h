/* Thresholds of findings that a user sets: FINDING.PARAMETER=VALUE. A parameter is named as in the finding's file
 * (least_ns), or as an option (least). */
#pragma once

#include <jansson.h>

#include "analysis/query/catalogue.h"

#define THRESHOLDS_MAX 64
#define THRESHOLDS_REASON_SIZE 512

struct thresholds {
	const char *set[THRESHOLDS_MAX]; /* FINDING.PARAMETER=VALUE, borrowed */
	size_t count;
	struct store_parameter bound[QUESTION_PARAMETERS_MAX + 1]; /* of the question asked last */
};

/* Adds one. Returns 0, or -EINVAL with a reason. */
int thresholds_add(struct thresholds *thresholds, const char *text, char ret_reason[THRESHOLDS_REASON_SIZE]);
/* Checks all against the findings of a kind ("tune", "sweep"). Returns 0, or -EINVAL with a reason. */
int thresholds_check(const struct thresholds *thresholds, const struct catalogue *catalogue, const char *kind,
		     char ret_reason[THRESHOLDS_REASON_SIZE]);

/* The parameters of a finding: `given` (ends with a NULL name) comes first, then what was set, then the default. A run
 * is left out: the caller binds it. Call thresholds_check() first. The array ends with a NULL name and is valid until
 * the next call. */
const struct store_parameter *thresholds_bind(struct thresholds *thresholds, const struct question *question,
					      const struct store_parameter *given);

#define SWEEP_USER_JOBS "user_jobs" /* the question of tracer sweep --by user */

/* Whether thresholds of that kind are about it: also about the question of tracer sweep --by user, which is no finding. */
bool thresholds_are_of(const struct question *question, const char *kind);
/* Whether a parameter is a threshold: what the verb sets itself is none. */
bool thresholds_is(const struct question_field *parameter);
/* The value as written: what was set last, else the default. */
const char *thresholds_value(const struct thresholds *thresholds, const struct question *question,
			     const struct question_field *parameter);
/* All of a kind, as an array (docs/json.md). */
json_t *thresholds_to_json(const struct thresholds *thresholds, const struct catalogue *catalogue, const char *kind);
