/* The lake as a read-only store (common/store/store.h): the same queries, answered by
 * ClickHouse for all hosts that ship to it.
 *
 * Differences: store_begin_reading() gives no snapshot, since each query sees
 * what has arrived until then; store_read_stream() returns -ENODATA, since a lake has
 * a stream per host. Rows are read as requested, and memory is bounded by the largest row; an
 * answer is bounded by LAKE_ANSWER_ROWS_MAX and LAKE_ANSWER_BYTES_MAX, since readers may keep all of it.
 */
#pragma once

#include "analysis/lake/settings.h"
#include "common/store/store.h"

/* Limits of one answer, which could be endless: what readers that keep all of it have memory for. Exceeding
 * one is an error; the answer is not truncated. */
#define LAKE_ANSWER_ROWS_MAX 1000000
#define LAKE_ANSWER_BYTES_MAX (512LL << 20)

/* Checks the schema version of the lake. Returns 0; -EPROTO if it is older than this
 * program's; -errno.
 * `ret_error` gets a message for the user. */
int lake_open(const struct access *settings, struct store **ret_store, struct store_error *ret_error);
