/* Rows as OpenTelemetry spans (common/otlp/span.h): runs and tasks that are over.
 *
 * A line is one span with its resource. What changes after its end is sent again, as the same span.
 */
#pragma once

#include "common/json_text.h"
#include "common/store/store.h"
#include "shipper/settings.h"

#define SPANS_SUFFIX "_spans" /* of a batch's entity */
/* Of a batch: with another line, which has texts of some KiB, still less than a request may have. */
#define SPANS_BYTES_MAX (3u << 20)

/* The run and the host of the latest row. */
struct spans {
	struct store_result *run_result, *host_result; /* hold the texts */
	struct row_run run;
	struct row_host host;
};

/* Returns false if its rows are no spans. */
bool spans_has_entity(const char *entity);
/* As store_query_entity(). */
int spans_query(struct store *store, const char *entity, int64_t after_rev, int64_t limit,
		struct store_result **ret_result);
/* Writes a row of spans_query() as a line. Returns 0 or -errno. */
int spans_write(struct spans *spans, struct store *store, const struct settings *settings, const char *entity,
		struct store_result *result, struct json_text *text);
/* Call before the store is closed. */
void spans_deinit(struct spans *spans);
