/* What an answer of the lake, or of a receiver of spans, means for the batch, and what the user can do about it.
 *
 * No I/O is done here, so that all kinds of answers can be tested.
 */
#pragma once

#include "shipper/http.h"

enum delivery_kind {
	DELIVERY_ACCEPTED,  /* the lake has it */
	DELIVERY_RETRY,     /* send the same bytes again later */
	DELIVERY_REFUSED,   /* the lake rejects these rows; a retry will not help */
	DELIVERY_INVALID,   /* the same, and a retry is forbidden */
	DELIVERY_TOO_LARGE, /* too many bytes for the lake or a proxy; send fewer */
	DELIVERY_TOO_MUCH,  /* took too long or too much memory: send fewer, or the same later */
};

/* What lacks time or memory does so not because of the batch if it has fewer rows. */
#define DELIVERY_ROWS_MIN 1000

/* What became of a batch. */
struct delivery {
	enum delivery_kind kind;
	int64_t retry_after_s;   /* -1: not given */
	uint64_t rejected_count; /* rows of an accepted batch that the receiver did not take, as it says itself */
	char reason[512];        /* one line: what happened, what to do; "" if all was accepted */
};

/* What the reasons mention; no secrets. */
struct delivery_context {
	const char *url; /* as configured */
	const char *database, *entity, *user;
	int64_t now_unix_s;
};

/* ClickHouse's. */
void delivery_read(const struct http_answer *answer, const struct delivery_context *context,
		   struct delivery *ret_delivery);
/* Those of OTLP/HTTP. */
void delivery_read_otlp(const struct http_answer *answer, const struct delivery_context *context,
			struct delivery *ret_delivery);
