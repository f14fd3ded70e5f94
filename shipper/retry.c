/* Retry backoff. See retry.h. */
#include "shipper/retry.h"

void retry_init(struct retry *retry, uint64_t seed)
{
	*retry = (struct retry){.random_state = seed | 1};
}

/* Returns a number below `limit`, from xorshift64*: no secret depends on it. */
static uint64_t random_below(struct retry *retry, uint64_t limit)
{
	uint64_t x = retry->random_state;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	retry->random_state = x;
	return limit ? (x * 0x2545f4914f6cdd1dULL >> 11) % limit : 0;
}

void retry_succeeded(struct retry *retry)
{
	retry->attempts = 0;
}

uint64_t retry_failed(struct retry *retry, int64_t retry_after_s)
{
	uint64_t step_ms = RETRY_FIRST_MS, wait_ms, asked_ms = 0;

	for (unsigned i = 0; i < retry->attempts && step_ms < RETRY_MAX_MS; i++)
		step_ms *= 2;
	if (step_ms > RETRY_MAX_MS)
		step_ms = RETRY_MAX_MS;
	retry->attempts++;
	wait_ms = step_ms / 2 + random_below(retry, step_ms / 2 + 1);
	if (retry_after_s > RETRY_AFTER_MAX_S)
		retry_after_s = RETRY_AFTER_MAX_S;
	if (retry_after_s > 0)
		asked_ms = (uint64_t)retry_after_s * 1000 + random_below(retry, RETRY_FIRST_MS);
	return wait_ms > asked_ms ? wait_ms : asked_ms;
}

uint64_t retry_jitter(struct retry *retry, uint64_t period_ms)
{
	return period_ms - period_ms / 10 + random_below(retry, period_ms / 5 + 1);
}
