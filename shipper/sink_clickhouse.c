/* The lake as a sink: a batch is the body of one INSERT over HTTP (docs/shipping.md). */
#include <stdlib.h>
#include <string.h>

#include "shipper/file.h"
#include "shipper/post.h"

static void url_format(const struct sink *sink, const struct batch *batch, char url[POST_URL_BYTES])
{
	post_url(sink, url,
		 "/?query=INSERT%%20INTO%%20%s.%s_rows%%20FORMAT%%20JSONEachRow"
		 "&async_insert=0&wait_end_of_query=1&input_format_skip_unknown_fields=1&insert_deduplication_token=%s",
		 post_settings(sink)->lake.database, batch->entity, batch->digest);
}

static void clickhouse_describe(struct sink *sink, const struct batch *batch, FILE *file)
{
	char url[POST_URL_BYTES];

	url_format(sink, batch, url);
	fprintf(file, "POST %s\nContent-Encoding: zstd\n\n", url);
}

static void clickhouse_send(struct sink *sink, const char *directory, const struct batch *batch, sink_done done,
			    void *data)
{
	char url[POST_URL_BYTES], path[PATH_MAX], reason[512];
	struct post_request request = {
		.url = url,
		.type = "Content-Type: application/x-ndjson",
		.encoding = "Content-Encoding: zstd",
		.body_fd = -1,
		.body_bytes = batch->file_bytes,
		.read = delivery_read,
	};

	url_format(sink, batch, url);
	if (file_path(path, directory, batch->name) == 0)
		request.body_fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (request.body_fd >= 0) {
		post_send(sink, &request, batch, done, data);
		return;
	}
	snprintf(reason, sizeof(reason), "%.300s: cannot open: %s", path, strerror(errno));
	post_fail(sink, DELIVERY_RETRY, reason, done, data);
}

const struct sink_type sink_clickhouse = {
	.name = "clickhouse",
	.open = post_open,
	.send = clickhouse_send,
	.describe = clickhouse_describe,
	.target = post_target,
	.close = post_close,
};
