/* Files for sites without a connection to the lake, moved by hand and sent with `tracer ship --from DIR`.
 *
 * A file is a batch under the batch's name: so files rotate by age and size like batches,
 * reading them needs only zstd, writing a batch twice gives the same file,
 * and the lake receives the same data as over the network. When the directory has reached
 * its size limit, writing stops and reports it; the store keeps the rest.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "shipper/file.h"
#include "shipper/sink.h"

struct sink {
	const struct settings *settings;
	uv_timer_t *timer; /* the delivery is reported from the loop */
	struct delivery delivery;
	sink_done done;
	void *data;
};

static int ndjson_open(const struct settings *settings, uv_loop_t *loop, struct sink **ret_sink)
{
	struct sink *sink = calloc(1, sizeof(*sink));

	if (sink)
		sink->timer = malloc(sizeof(*sink->timer));
	if (!sink || !sink->timer) {
		free(sink);
		return -ENOMEM;
	}
	sink->settings = settings;
	uv_timer_init(loop, sink->timer);
	sink->timer->data = sink;
	*ret_sink = sink;
	return 0;
}

static void timer_closed(uv_handle_t *handle)
{
	free(handle);
}

static void ndjson_close(struct sink *sink)
{
	uv_close((uv_handle_t *)sink->timer, timer_closed);
	free(sink);
}

static const char *ndjson_target(const struct sink *sink)
{
	return sink->settings->ndjson_directory;
}

static void ndjson_describe(struct sink *sink, const struct batch *batch, FILE *file)
{
	fprintf(file, "%s/%s\n\n", sink->settings->ndjson_directory, batch->name);
}

static int64_t directory_bytes(const char *path)
{
	DIR *directory = opendir(path);
	struct dirent *entry;
	struct stat status;
	int64_t total = 0;

	if (!directory)
		return -errno;
	while ((entry = readdir(directory)))
		if (entry->d_name[0] != '.' &&
		    fstatat(dirfd(directory), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0)
			total += status.st_size;
	closedir(directory);
	return total;
}

static void delivery_due(uv_timer_t *timer)
{
	struct sink *sink = timer->data;

	sink->done(&sink->delivery, sink->data);
}

static void ndjson_send(struct sink *sink, const char *directory, const struct batch *batch, sink_done done, void *data)
{
	const char *target = sink->settings->ndjson_directory;
	int64_t used = directory_bytes(target);
	int error = used < 0 ? (int)used : 0;

	sink->done = done;
	sink->data = data;
	sink->delivery = (struct delivery){.kind = DELIVERY_RETRY};
	if (error == 0 && (uint64_t)used + batch->file_bytes > sink->settings->ndjson_bytes_max) {
		snprintf(sink->delivery.reason, sizeof(sink->delivery.reason),
			 "%s: contains %" PRId64 " bytes, the limit of ndjson.size: collect and remove "
			 "files; the store keeps new rows meanwhile",
			 target, used);
	} else {
		if (error == 0)
			error = file_copy(directory, target, batch->name);
		if (error == 0)
			sink->delivery.kind = DELIVERY_ACCEPTED;
		else
			snprintf(sink->delivery.reason, sizeof(sink->delivery.reason), "%s: cannot write: %s", target,
				 strerror(-error));
	}
	uv_timer_start(sink->timer, delivery_due, 0, 0);
}

const struct sink_type sink_ndjson = {
	.name = "ndjson",
	.open = ndjson_open,
	.send = ndjson_send,
	.describe = ndjson_describe,
	.target = ndjson_target,
	.close = ndjson_close,
};
