/* One POST at a time to the server of the settings (lake.*), for sinks: its result, that of an early failure too, is
 * reported from the loop. */
#pragma once

#include "shipper/delivery.h"
#include "shipper/sink.h"

struct post;

struct post_request {
	const char *url, *type, *encoding; /* headers Content-Type and Content-Encoding, as a whole */
	int body_fd;                       /* closed afterwards */
	uint64_t body_bytes;
	/* What an answer means. */
	void (*read)(const struct http_answer *answer, const struct delivery_context *context,
		     struct delivery *ret_delivery);
};

#define POST_URL_BYTES 6144

int post_new(const struct settings *settings, uv_loop_t *loop, struct post **ret_post);
/* Aborts a request in progress without calling `done`. */
void post_free(struct post *post);
/* Formats the URL of the settings with `path`, a printf format, behind it. */
void post_url(const struct settings *settings, char ret_url[POST_URL_BYTES], const char *path, ...)
	__attribute__((format(printf, 3, 4)));
void post_send(struct post *post, const struct post_request *request, const struct batch *batch, sink_done done,
	       void *data);
/* Reports a result without a request. */
void post_fail(struct post *post, enum delivery_kind kind, const char *reason, sink_done done, void *data);
