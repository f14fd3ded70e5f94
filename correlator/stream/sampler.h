/* One sampler's stream: checks each message, feeds the model. A sampler is trusted less than the probe: it can only
 * report what devices of its own kind did for processes that the model knows.
 *
 * Does no I/O: the server feeds it from a socket.
 */
#pragma once

#include "correlator/apply/apply.h"

#define SAMPLER_NAME_MAX 16
#define SAMPLER_MESSAGES_MAX 4096 /* a second: 64 devices with 64 processes each */

struct sampler {
	char name[SAMPLER_NAME_MAX + 1]; /* "" before its first message */
	char driver[64];
	uint64_t second; /* the current one, and its messages */
	unsigned message_count;
};

/* Processes one message, at that time. Returns 0, or -EPROTO with `*ret_reason` (static text) if the peer violates the
 * protocol and must be disconnected. */
int sampler_feed(struct sampler *sampler, struct model *model, const void *data, size_t size, uint64_t now_boot_ns,
		 const char **ret_reason);
