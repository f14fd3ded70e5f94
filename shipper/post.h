/* What the sinks have in common that POST to the server of the settings (lake.*): one request at a time; its result, that of
 * an early failure too, is reported from the loop. */
#pragma once

#include "shipper/delivery.h"
#include "shipper/sink.h"

struct post_request {
	const char *url, *type, *encoding; /* headers Content-Type and Content-Encoding, as a whole */
	int body_fd;                       /* closed afterwards */
	uint64_t body_bytes;
	/* What an answer means. */
	void (*read)(const struct http_answer *answer, const struct delivery_context *context,
		     struct delivery *ret_delivery);
};

#define POST_URL_BYTES 6144

/* Of sink_type. */
int post_open(const struct settings *settings, uv_loop_t *loop, struct sink **ret_sink);
const char *post_target(const struct sink *sink);
void post_close(struct sink *sink);

const struct settings *post_settings(const struct sink *sink);
/* Formats the URL of the settings with `path`, a printf format, behind it. */
void post_url(const struct sink *sink, char ret_url[POST_URL_BYTES], const char *path, ...)
	__attribute__((format(printf, 3, 4)));
void post_send(struct sink *sink, const struct post_request *request, const struct batch *batch, sink_done done,
	       void *data);
/* Reports a result without a request. */
void post_fail(struct sink *sink, enum delivery_kind kind, const char *reason, sink_done done, void *data);
