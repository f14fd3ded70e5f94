/* The lake as a store that is read (common/store/store.h): the same queries, answered by
 * ClickHouse for all hosts that ship to it.
 *
 * Where it differs: store_begin_reading() promises no single commit, since every query sees
 * what has come until then; store_read_stream() knows no stream (-ENODATA), since a lake has
 * as many as hosts. Rows come as they are asked for; memory is bounded by the largest row, and
 * a whole answer by LAKE_ANSWER_ROWS_MAX and LAKE_ANSWER_BYTES_MAX, since readers may keep all of it.
 */
#pragma once

#include "common/lake/settings.h"
#include "common/store/store.h"

/* Of one answer, which may have no end: what readers that keep all of it have the memory for. More
 * is an error, and not the first half. */
#define LAKE_ANSWER_ROWS_MAX 1000000
#define LAKE_ANSWER_BYTES_MAX (512LL << 20)

/* Asks the lake which schema it has. 0; -EPROTO: one that is older than this
 * program's; -errno.
 * The text in `ret_error` is for a person. */
int lake_open(const struct access *settings, struct store **ret_store, struct store_error *ret_error);
