/* Frozen batches. See batch.h. */
#include "shipper/batch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <openssl/evp.h>
#include <zstd.h>

#include "common/identity.h"
#include "shipper/file.h"

/* Level 1 with a small window takes 1 MiB of memory instead of 10, at 200 MB/s. */
#define ZSTD_LEVEL 1
#define ZSTD_WINDOW_LOG 18
#define ZSTD_WINDOW_LOG_MAX 27 /* when reading back: bounds memory */
#define OUT_BYTES (64 * 1024)
#define IN_BYTES (32 * 1024)
#define TEMPORARY_NAME ".batch.tmp"

/* ---- names ---------------------------------------------------------------------- */

static void batch_format_name(struct batch *batch)
{
	char host[IDENTITY_TEXT_SIZE];

	identity_format(batch->host_id, host);
	snprintf(batch->name, sizeof(batch->name), "%s.%s.%020" PRIu64 "-%020" PRIu64 ".%" PRIu64 BATCH_SUFFIX, host,
		 batch->entity, batch->from_version, batch->to_version, batch->row_count);
}

int batch_parse_name(const char *name, struct batch *ret_batch)
{
	struct batch batch = {0};
	int64_t last;
	char host[IDENTITY_TEXT_SIZE];

	/* Accept only the canonical form: formatting the parsed name must reproduce it. */
	if (sscanf(name, "%16[0-9a-f].%31[a-z_].%20" SCNu64 "-%20" SCNu64 ".%10" SCNu64, host, batch.entity,
		   &batch.from_version, &batch.to_version, &batch.row_count) != 5 ||
	    strlen(host) != 16 || identity_parse_prefix(host, &batch.host_id, &last) < 0)
		return -EINVAL;
	batch_format_name(&batch);
	if (strcmp(batch.name, name) != 0)
		return -EINVAL;
	*ret_batch = batch;
	return 0;
}

/* ---- digests -------------------------------------------------------------------- */

static EVP_MD_CTX *digest_new(void)
{
	EVP_MD_CTX *digest = EVP_MD_CTX_new();

	if (digest && EVP_DigestInit_ex(digest, EVP_sha256(), NULL) != 1) {
		EVP_MD_CTX_free(digest);
		return NULL;
	}
	return digest;
}

static void digest_end(EVP_MD_CTX *digest, char ret_text[BATCH_DIGEST_BYTES])
{
	unsigned char bytes[EVP_MAX_MD_SIZE];
	unsigned size = 0;

	EVP_DigestFinal_ex(digest, bytes, &size);
	for (unsigned i = 0; i < size && 2 * i + 2 < BATCH_DIGEST_BYTES; i++)
		snprintf(ret_text + 2 * i, 3, "%02x", bytes[i]);
}

/* ---- writing -------------------------------------------------------------------- */

struct batch_writer {
	char directory[PATH_MAX], path[PATH_MAX];
	int fd;
	ZSTD_CCtx *zstd;
	EVP_MD_CTX *digest;
	uint64_t row_count, text_bytes, file_bytes;
	char out[OUT_BYTES];
};

void batch_writer_free(struct batch_writer *writer)
{
	if (!writer)
		return;
	if (writer->fd >= 0) {
		close(writer->fd);
		unlink(writer->path);
	}
	ZSTD_freeCCtx(writer->zstd);
	EVP_MD_CTX_free(writer->digest);
	free(writer);
}

int batch_writer_new(const char *directory, struct batch_writer **ret_writer)
{
	struct batch_writer *writer = calloc(1, sizeof(*writer));
	int error;

	if (!writer)
		return -ENOMEM;
	writer->fd = -1;
	writer->zstd = ZSTD_createCCtx();
	writer->digest = digest_new();
	error = writer->zstd && writer->digest ? 0 : -ENOMEM;
	if (error == 0)
		error = file_path(writer->path, directory, TEMPORARY_NAME);
	if (error == 0) {
		snprintf(writer->directory, sizeof(writer->directory), "%s", directory);
		ZSTD_CCtx_setParameter(writer->zstd, ZSTD_c_compressionLevel, ZSTD_LEVEL);
		ZSTD_CCtx_setParameter(writer->zstd, ZSTD_c_windowLog, ZSTD_WINDOW_LOG);
		ZSTD_CCtx_setParameter(writer->zstd, ZSTD_c_checksumFlag, 1);
		writer->fd = open(writer->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0640);
		error = writer->fd < 0 ? -errno : 0;
	}
	if (error < 0) {
		batch_writer_free(writer);
		return error;
	}
	*ret_writer = writer;
	return 0;
}

static int writer_write(struct batch_writer *writer, size_t size)
{
	EVP_DigestUpdate(writer->digest, writer->out, size);
	writer->file_bytes += size;
	return file_write_all(writer->fd, writer->out, size);
}

static int writer_compress(struct batch_writer *writer, const char *data, size_t size, ZSTD_EndDirective directive)
{
	ZSTD_inBuffer in = {data, size, 0};
	size_t left;
	int error = 0;

	do {
		ZSTD_outBuffer out = {writer->out, sizeof(writer->out), 0};

		left = ZSTD_compressStream2(writer->zstd, &out, &in, directive);
		if (ZSTD_isError(left))
			return -EIO;
		error = writer_write(writer, out.pos);
	} while (error == 0 && (directive == ZSTD_e_end ? left > 0 : in.pos < in.size));
	return error;
}

int batch_writer_add(struct batch_writer *writer, const char *line, size_t size)
{
	writer->row_count++;
	writer->text_bytes += size;
	return writer_compress(writer, line, size, ZSTD_e_continue);
}

uint64_t batch_writer_rows(const struct batch_writer *writer)
{
	return writer->row_count;
}

uint64_t batch_writer_text_bytes(const struct batch_writer *writer)
{
	return writer->text_bytes;
}

int batch_writer_finish(struct batch_writer *writer, struct batch *batch)
{
	char path[PATH_MAX];
	int error = writer_compress(writer, NULL, 0, ZSTD_e_end);

	batch->row_count = writer->row_count;
	batch->text_bytes = writer->text_bytes;
	batch->file_bytes = writer->file_bytes;
	digest_end(writer->digest, batch->digest);
	batch_format_name(batch);
	if (error == 0)
		error = file_path(path, writer->directory, batch->name);
	/* Not synced: after a crash of the machine batch_check() detects missing data, and
	 * a recreated batch is just as good, though not identical. */
	if (error == 0 && rename(writer->path, path) < 0)
		error = -errno;
	if (error == 0) {
		close(writer->fd);
		writer->fd = -1;
	}
	return error;
}

/* ---- reading -------------------------------------------------------------------- */

struct reader {
	int fd;
	ZSTD_DCtx *zstd;
	EVP_MD_CTX *digest;
	FILE *copy; /* or NULL */
	uint64_t file_bytes, row_count;
	size_t left; /* 0: at the end of a frame */
	char in[IN_BYTES], out[OUT_BYTES];
};

static int reader_take(struct reader *reader, size_t size)
{
	ZSTD_inBuffer in = {reader->in, size, 0};
	bool more = true;

	while (in.pos < in.size || more) {
		ZSTD_outBuffer out = {reader->out, sizeof(reader->out), 0};

		reader->left = ZSTD_decompressStream(reader->zstd, &out, &in);
		if (ZSTD_isError(reader->left))
			return -EBADMSG;
		for (size_t i = 0; i < out.pos; i++)
			reader->row_count += reader->out[i] == '\n';
		if (reader->copy && fwrite(reader->out, 1, out.pos, reader->copy) != out.pos)
			return -EIO;
		/* If the output buffer is full, there may be more; but not after the end of a frame,
		 * where another call would start the next frame. */
		more = out.pos == out.size && reader->left > 0;
	}
	return 0;
}

static int reader_run(struct reader *reader)
{
	ssize_t size;
	int error = 0;

	ZSTD_DCtx_setParameter(reader->zstd, ZSTD_d_windowLogMax, ZSTD_WINDOW_LOG_MAX);
	while (error == 0 && (size = read(reader->fd, reader->in, sizeof(reader->in))) != 0) {
		if (size < 0)
			return -errno;
		EVP_DigestUpdate(reader->digest, reader->in, (size_t)size);
		reader->file_bytes += (uint64_t)size;
		error = reader_take(reader, (size_t)size);
	}
	return error == 0 && (reader->left > 0 || reader->file_bytes == 0) ? -EBADMSG : error;
}

static int batch_read(const char *directory, const struct batch *batch, FILE *copy, struct batch *ret_batch)
{
	struct reader *reader = calloc(1, sizeof(*reader));
	char path[PATH_MAX];
	int error;

	if (!reader)
		return -ENOMEM;
	reader->copy = copy;
	reader->zstd = ZSTD_createDCtx();
	reader->digest = digest_new();
	error = file_path(path, directory, batch->name);
	reader->fd = error == 0 ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
	if (error == 0)
		error = reader->fd < 0 ? -errno : reader->zstd && reader->digest ? 0 : -ENOMEM;
	if (error == 0)
		error = reader_run(reader);
	if (error == 0 && reader->row_count != batch->row_count)
		error = -EBADMSG;
	if (error == 0 && ret_batch) {
		ret_batch->file_bytes = reader->file_bytes;
		digest_end(reader->digest, ret_batch->digest);
	}
	if (reader->fd >= 0)
		close(reader->fd);
	ZSTD_freeDCtx(reader->zstd);
	EVP_MD_CTX_free(reader->digest);
	free(reader);
	return error;
}

int batch_check(const char *directory, struct batch *batch)
{
	return batch_read(directory, batch, NULL, batch);
}

int batch_print(const char *directory, const struct batch *batch, FILE *file)
{
	return batch_read(directory, batch, file, NULL);
}

static int is_batch(const struct dirent *entry)
{
	struct batch batch;

	return batch_parse_name(entry->d_name, &batch) == 0;
}

int batch_each(const char *directory, batch_function take, void *data)
{
	struct dirent **entries;
	struct batch batch;
	int count = scandir(directory, &entries, is_batch, alphasort);
	int result = 0;

	if (count < 0)
		return -errno;
	for (int i = 0; i < count; i++) {
		if (result == 0 && batch_parse_name(entries[i]->d_name, &batch) == 0)
			result = take(&batch, data);
		free(entries[i]);
	}
	free(entries);
	return result;
}
