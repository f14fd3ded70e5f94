/* tracer sweep --by user: what each user's jobs asked for and did not use, what was left open or idle, what failed, and
 * the one thing to change; as a text that can be mailed to the user.
 */
#pragma once

#include "analysis/sweep/sweep.h"
#include "cli/screen/output.h"

struct sweep_users_request {
	struct store *store;
	const struct sweep *sweep;
	const struct question *jobs; /* user_jobs */
	const struct store_parameter *parameters;
	int64_t since_unix_ns;
	size_t most; /* users */
};

/* Those who waste most come first; who wastes less than the thresholds is left out. Returns 0, -ENOMEM or the store's
 * error. */
int sweep_users_print(const struct sweep_users_request *request, const struct output *output);
/* What each of them has, as an object. */
json_t *sweep_users_columns(void);
int sweep_users_to_json(const struct sweep_users_request *request, json_t *root);
