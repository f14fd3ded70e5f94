/* tracer sweep --by user: what each user's jobs asked for and did not use, what was left open or idle, what failed, and
 * the one thing to change; as a text that can be mailed to the user.
 */
#pragma once

#include <jansson.h>

#include "analysis/sweep/sweep.h"

struct sweep_users_request {
	struct store *store;
	const struct sweep *sweep;
	const struct question *jobs; /* user_jobs */
	const struct store_parameter *parameters;
	int64_t since_unix_ns;
	int64_t user_id; /* only this one; ROW_NULL: all */
	size_t most;     /* users */
};

/* Those who waste most come first; who wastes less than the thresholds is left out. Sets the first users, as in `tracer
 * sweep --by user --json` (docs/json.md), and the number of all. Texts are safe to print. Returns 0, -ENOMEM or the store's
 * error; release `*ret_users` either way. */
int sweep_users_load(const struct sweep_users_request *request, json_t **ret_users, size_t *ret_count);
/* What each of them has, as an object. */
json_t *sweep_users_columns(void);
