/* A frozen batch: rows of one entity in one file, made once and sent as it is.
 *
 * Rows of the store change and move on to higher revisions while a batch waits for its
 * answer, so a batch made anew after a restart would be another one. Hence the file: it is
 * written before the first byte is sent and removed after the cursor is saved, and every
 * attempt, also that of a successor, sends these bytes. It is bounded, there are two at a
 * time (the one under way and the next), and it also keeps the shipper's memory apart from
 * the size of a batch.
 *
 *   HOST.ENTITY.FROM-TO.ROWS.ndjson.zst
 *
 * HOST is the host's id (16 hexadecimal digits); FROM (exclusive) and TO are versions, so
 * names do not repeat, not even when a store is made anew. The ndjson sink hands out the
 * same files under the same names.
 */
#pragma once

#include <stdio.h>

#include "common/store/store.h"

#define BATCH_SUFFIX ".ndjson.zst"
#define BATCH_NAME_BYTES 160
#define BATCH_DIGEST_BYTES 65             /* SHA-256 in hexadecimal, and NUL */
#define BATCH_ROWS_MAX 900000             /* below one block of ClickHouse, with a margin */
#define BATCH_TEXT_BYTES_MAX (200u << 20) /* the same, before compression */

struct batch {
	int64_t host_id;
	char entity[STORE_ENTITY_NAME_BYTES];
	uint64_t from_version, to_version;
	uint64_t row_count;
	uint64_t file_bytes; /* as sent */
	uint64_t text_bytes; /* before compression; 0 where it was not made by this process */
	char digest[BATCH_DIGEST_BYTES];
	char name[BATCH_NAME_BYTES];
};

/* 0 and what the name says, or -EINVAL: not the name of a batch. */
int batch_parse_name(const char *name, struct batch *ret_batch);

/* ---- making one ---- */

struct batch_writer;

/* -errno. The file has a temporary name until batch_writer_finish. */
int batch_writer_new(const char *directory, struct batch_writer **ret_writer);
/* One line of JSON. 0 or -errno (-ENOSPC). */
int batch_writer_add(struct batch_writer *writer, const char *line, size_t size);
uint64_t batch_writer_rows(const struct batch_writer *writer);
uint64_t batch_writer_text_bytes(const struct batch_writer *writer);
/* Freezes it. `batch` has host, entity and versions, the rest is filled in. 0 or -errno. */
int batch_writer_finish(struct batch_writer *writer, struct batch *batch);
/* Removes what is unfinished. */
void batch_writer_free(struct batch_writer *writer);

/* ---- taking one up again ---- */

/* Reads the file through: complete, one frame that decompresses, ROWS lines. Fills size
 * and digest. 0; -EBADMSG: damaged or cut off; -errno. */
int batch_check(const char *directory, struct batch *batch);

/* Decompressed, to `file`. 0 or -errno. */
int batch_print(const char *directory, const struct batch *batch, FILE *file);

/* Calls `take` with each batch in `directory`, in the order of names, until it returns
 * something other than 0, which is returned. Other names are passed over. -errno. */
typedef int (*batch_function)(const struct batch *batch, void *data);
int batch_each(const char *directory, batch_function take, void *data);
