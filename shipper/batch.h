/* A frozen batch: rows of one entity in one file, written once and sent unchanged.
 *
 * Rows of the store change and get higher revisions while a batch waits for its
 * answer, so a batch recreated after a restart would be different. So there is a file: it is
 * written before the first byte is sent and removed after the cursor is saved, and each
 * attempt, even after a restart, sends the same bytes. Its size is bounded, at most two
 * exist at a time (the one being sent and the next), and the shipper's memory does not
 * depend on the size of a batch.
 *
 *   HOST.ENTITY.FROM-TO.ROWS.ndjson.zst
 *
 * HOST is the id of the host (16 hexadecimal digits); FROM (exclusive) and TO are versions, so
 * names are unique even if a store is recreated. The ndjson sink delivers the
 * same files under the same names.
 */
#pragma once

#include <stdio.h>

#include "common/store/store.h"

#define BATCH_SUFFIX ".ndjson.zst"
#define BATCH_NAME_BYTES 160
#define BATCH_DIGEST_BYTES 65             /* SHA-256 in hexadecimal, and NUL */
#define BATCH_ROWS_MAX 900000             /* less than one block of ClickHouse, with a margin */
#define BATCH_TEXT_BYTES_MAX (200u << 20) /* the same, before compression */

struct batch {
	int64_t host_id;
	char entity[STORE_ENTITY_NAME_BYTES];
	uint64_t from_version, to_version;
	uint64_t row_count;
	uint64_t file_bytes; /* as sent */
	uint64_t text_bytes; /* before compression; 0 if another process wrote it */
	char digest[BATCH_DIGEST_BYTES];
	char name[BATCH_NAME_BYTES];
};

/* Parses the name of a batch into `ret_batch`. Returns 0, or -EINVAL if it is not one. */
int batch_parse_name(const char *name, struct batch *ret_batch);

/* ---- writing ---- */

struct batch_writer;

/* Returns 0 or -errno. The file has a temporary name until batch_writer_finish(). */
int batch_writer_new(const char *directory, struct batch_writer **ret_writer);
/* Adds one line of JSON. Returns 0 or -errno (-ENOSPC). */
int batch_writer_add(struct batch_writer *writer, const char *line, size_t size);
uint64_t batch_writer_rows(const struct batch_writer *writer);
uint64_t batch_writer_text_bytes(const struct batch_writer *writer);
/* Freezes the batch. The caller sets its host, entity and versions; the rest is filled in. Returns 0 or -errno. */
int batch_writer_finish(struct batch_writer *writer, struct batch *batch);
/* Frees the writer, and removes the file if unfinished. */
void batch_writer_free(struct batch_writer *writer);

/* ---- reading ---- */

/* Checks the whole file: complete, one valid frame, ROWS lines. Sets size and
 * digest. Returns 0; -EBADMSG if it is damaged or truncated; -errno. */
int batch_check(const char *directory, struct batch *batch);

/* Writes the decompressed rows to `file`. Returns 0 or -errno. */
int batch_print(const char *directory, const struct batch *batch, FILE *file);

/* Calls `take` for each batch in `directory`, in the order of names, until it returns a
 * nonzero value, which is returned. Other file names are ignored. Returns 0 or -errno. */
typedef int (*batch_function)(const struct batch *batch, void *data);
int batch_each(const char *directory, batch_function take, void *data);
