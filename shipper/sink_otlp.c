/* A receiver of OpenTelemetry as a sink: a batch, lines of spans (spans.h), is the body of one request of OTLP/HTTP
 * (https://opentelemetry.io/docs/specs/otlp/#otlphttp). */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <zlib.h>

#include "common/otlp/span.h"
#include "shipper/file.h"
#include "shipper/post.h"
#include "shipper/spans.h"

#define PATH "/v1/traces"
#define ENCODING "Content-Encoding: gzip" /* which every receiver has to understand */
#define TYPE "Content-Type: application/json"
#define GZIP_WINDOW_BITS (15 + 16) /* the largest, and gzip's format */
#define GZIP_MEMORY_LEVEL 8        /* the default */
#define OUT_BYTES (64 * 1024)

static void otlp_describe(struct sink *sink, const struct batch *batch, FILE *file)
{
	char url[POST_URL_BYTES];

	post_url(sink, url, PATH);
	fprintf(file, "POST %s\n" TYPE "\n" ENCODING "\n\n", url);
}

/* ---- the body ------------------------------------------------------------------------ */

static int gzip_add(z_stream *gzip, int fd, const char *data, size_t size, int flush)
{
	unsigned char out[OUT_BYTES];
	int error = 0;

	gzip->next_in = (unsigned char *)data; /* which zlib only reads */
	gzip->avail_in = (unsigned)size;
	do {
		gzip->next_out = out;
		gzip->avail_out = sizeof(out);
		if (deflate(gzip, flush) == Z_STREAM_ERROR)
			return -EIO;
		error = file_write_all(fd, out, sizeof(out) - gzip->avail_out);
	} while (error == 0 && gzip->avail_out == 0);
	return error;
}

/* Lines, of which the last has no newline, become the elements of an array. Returns 0 or -errno. */
static int body_write(int fd, char *lines, size_t size)
{
	z_stream gzip = {0};
	int error = -ENOMEM;

	for (size_t i = 0; i < size; i++)
		if (lines[i] == '\n')
			lines[i] = ',';
	if (deflateInit2(&gzip, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW_BITS, GZIP_MEMORY_LEVEL,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return error;
	error = gzip_add(&gzip, fd, OTLP_REQUEST_BEGIN, strlen(OTLP_REQUEST_BEGIN), Z_NO_FLUSH);
	if (error == 0)
		error = gzip_add(&gzip, fd, lines, size, Z_NO_FLUSH);
	if (error == 0)
		error = gzip_add(&gzip, fd, OTLP_REQUEST_END, strlen(OTLP_REQUEST_END), Z_FINISH);
	deflateEnd(&gzip);
	return error;
}

/* Reads the batch. Returns 0 or -errno. */
static int lines_read(const char *directory, const struct batch *batch, char **ret_lines, size_t *ret_size)
{
	FILE *file = open_memstream(ret_lines, ret_size);
	int error;

	if (!file)
		return -ENOMEM;
	error = batch_print(directory, batch, file);
	return fclose(file) == 0 ? error : -ENOMEM;
}

/* Returns a descriptor, which the caller closes; -E2BIG: larger than a request may be; -errno. */
static int body_make(const char *directory, const struct batch *batch, uint64_t *ret_bytes)
{
	char *lines = NULL;
	size_t size = 0;
	int error = lines_read(directory, batch, &lines, &size), fd = -1;

	if (error == 0 && size + strlen(OTLP_REQUEST_BEGIN OTLP_REQUEST_END) >= OTLP_REQUEST_BYTES_MAX)
		error = -E2BIG;
	if (error == 0) {
		fd = memfd_create("request", MFD_CLOEXEC);
		error = fd < 0 ? -errno : body_write(fd, lines, size > 0 ? size - 1 : 0);
	}
	free(lines);
	if (error < 0) {
		if (fd >= 0)
			close(fd);
		return error;
	}
	*ret_bytes = (uint64_t)lseek(fd, 0, SEEK_END);
	return fd;
}

/* ---- sending ------------------------------------------------------------------------- */

static bool has_spans(const struct batch *batch)
{
	size_t size = strlen(batch->entity), suffix = strlen(SPANS_SUFFIX);

	return size > suffix && strcmp(batch->entity + size - suffix, SPANS_SUFFIX) == 0;
}

static void otlp_send(struct sink *sink, const char *directory, const struct batch *batch, sink_done done, void *data)
{
	char url[POST_URL_BYTES], reason[512];
	struct post_request request = {.url = url, .type = TYPE, .encoding = ENCODING, .read = delivery_read_otlp};

	if (!has_spans(batch)) {
		snprintf(reason, sizeof(reason), "%s: has no spans: send it with the sink clickhouse", batch->name);
		post_fail(sink, DELIVERY_INVALID, reason, done, data);
		return;
	}
	post_url(sink, url, PATH);
	request.body_fd = body_make(directory, batch, &request.body_bytes);
	if (request.body_fd >= 0) {
		post_send(sink, &request, batch, done, data);
		return;
	}
	snprintf(reason, sizeof(reason), "%.200s/%s: cannot make a request: %s", directory, batch->name,
		 strerror(-request.body_fd));
	post_fail(sink, request.body_fd == -E2BIG ? DELIVERY_TOO_LARGE : DELIVERY_RETRY, reason, done, data);
}

const struct sink_type sink_otlp = {
	.name = "otlp",
	.takes_spans = true,
	.open = post_open,
	.send = otlp_send,
	.describe = otlp_describe,
	.target = post_target,
	.close = post_close,
};
