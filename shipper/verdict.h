/* What an answer of the lake means for the batch, and what a person can do about it.
 *
 * Pure: no I/O, so that every answer anybody ever gave can be tried in a test.
 */
#pragma once

#include "shipper/http.h"

enum verdict_kind {
	VERDICT_ACCEPTED,  /* the lake has it */
	VERDICT_RETRY,     /* again later, the same bytes */
	VERDICT_REFUSED,   /* the lake does not want these rows: another attempt will not help */
	VERDICT_TOO_LARGE, /* so many bytes do not get to the lake: fewer may */
};

struct verdict {
	enum verdict_kind kind;
	int64_t retry_after_s; /* -1: as we like */
	char reason[512];      /* one line: what happened, what to do; "" where accepted */
};

/* What the sentences name. No secret among them. */
struct verdict_context {
	const char *url; /* as configured */
	const char *database, *entity, *user;
	int64_t now_unix_s;
};

void verdict_reach(const struct http_answer *answer, const struct verdict_context *context,
		   struct verdict *ret_verdict);
