/* Exponential backoff with jitter, so that many hosts do not retry at the same time after
 * an outage of the lake.
 *
 * The maximum is the default length of a round (send.interval): a failing shipper sends about as often as
 * a working one, and resumes within a minute after the lake is back. */
#pragma once

#include <stdint.h>

#define RETRY_FIRST_MS 1000
#define RETRY_MAX_MS (60 * 1000)
#define RETRY_AFTER_MAX_S 3600 /* limit of a server's Retry-After */

struct retry {
	unsigned attempts; /* failed attempts since the last success */
	uint64_t random_state;
};

/* `seed` comes from getrandom(2), or is fixed in tests. */
void retry_init(struct retry *retry, uint64_t seed);
void retry_succeeded(struct retry *retry);
/* Records a failure and returns how long to wait, in ms: between half and all of a step that
 * doubles each time, and at least `retry_after_s` (-1: not requested). */
uint64_t retry_failed(struct retry *retry, int64_t retry_after_s);
/* Returns `period_ms` with a jitter of up to a tenth. */
uint64_t retry_jitter(struct retry *retry, uint64_t period_ms);
