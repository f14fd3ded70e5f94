/* How long to wait before the next attempt: growing and jittered, so that a fleet whose
 * lake was away does not come back all at once.
 *
 * At most as long as a round is by default (send.interval): whoever fails asks about as often as
 * whoever works, and what waited is under way within a minute of the lake's return. */
#pragma once

#include <stdint.h>

#define RETRY_FIRST_MS 1000
#define RETRY_MOST_MS (60 * 1000)
#define RETRY_AFTER_MOST_S 3600 /* of what a server asks for */

struct retry {
	unsigned attempts; /* failed ones since the last success */
	uint64_t random_state;
};

/* `seed` from getrandom(2); a test gives its own. */
void retry_init(struct retry *retry, uint64_t seed);
void retry_succeeded(struct retry *retry);
/* Notes a failure and says how long to wait: between half of and the whole of a step that
 * doubles, and no less than `retry_after_s` (-1: none was asked for). */
uint64_t retry_failed(struct retry *retry, int64_t retry_after_s);
/* A time of `period_ms`, a tenth more or less. */
uint64_t retry_jitter(struct retry *retry, uint64_t period_ms);
