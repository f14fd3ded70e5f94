/* ClickHouse's format RowBinaryWithNamesAndTypes, taken apart: rows with the bytes that were
 * stored, which JSON could not carry where they are no UTF-8.
 *
 * Fed with bytes as they come, it does no I/O. What comes from the network is hostile:
 * every length is checked against what is there and against a bound before it is believed.
 */
#pragma once

#include "common/store/store.h"

#define ROWBINARY_COLUMNS_MAX 256
#define ROWBINARY_NAME_BYTES_MAX 128
#define ROWBINARY_ROW_BYTES_MAX (8 << 20) /* one row; a command line is at most a fraction */

struct rowbinary *rowbinary_new(void);
void rowbinary_free(struct rowbinary *rows);

/* Takes over more bytes. 0 or -ENOMEM. */
int rowbinary_feed(struct rowbinary *rows, const void *data, size_t size);
/* How many bytes wait to be read: above ROWBINARY_ROW_BYTES_MAX there is a row among them. */
size_t rowbinary_pending(const struct rowbinary *rows);

/* 1: names and types of the columns are known; 0: needs more bytes; -EPROTO: this is not
 * the format; -ENOTSUP: a type that no column of ours has; -ENOMEM. */
int rowbinary_read_head(struct rowbinary *rows);
/* After the head. 1: a row; 0: needs more bytes; -EPROTO; -ENOMEM. */
int rowbinary_next(struct rowbinary *rows);

size_t rowbinary_width(const struct rowbinary *rows);
const char *rowbinary_name(const struct rowbinary *rows, size_t column);
/* Of the current row; valid until the next call of rowbinary_feed or rowbinary_next. */
struct store_value rowbinary_value(const struct rowbinary *rows, size_t column);
