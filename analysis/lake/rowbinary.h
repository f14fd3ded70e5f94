/* Parser of ClickHouse's format RowBinaryWithNamesAndTypes: rows with the bytes that were
 * stored, which JSON could not represent if they are not UTF-8.
 *
 * The caller feeds it bytes as they arrive; it does no I/O. Network data is untrusted:
 * each length is checked against the data present and against a bound before it is used.
 */
#pragma once

#include "common/store/store.h"

#define ROWBINARY_COLUMNS_MAX 256
#define ROWBINARY_NAME_BYTES_MAX 128
#define ROWBINARY_ROW_BYTES_MAX (8 << 20) /* of one row; command lines are far smaller */

struct rowbinary *rowbinary_new(void);
void rowbinary_free(struct rowbinary *rows);

/* Appends a copy of the bytes. Returns 0 or -ENOMEM. */
int rowbinary_feed(struct rowbinary *rows, const void *data, size_t size);
/* Returns the number of unread bytes; above ROWBINARY_ROW_BYTES_MAX they include a complete row. */
size_t rowbinary_pending(const struct rowbinary *rows);

/* Returns 1 once names and types of the columns are known; 0 if more bytes are needed; -EPROTO if the
 * format is wrong; -ENOTSUP for a type that the lake does not use; -ENOMEM. */
int rowbinary_read_head(struct rowbinary *rows);
/* Call after the head. Returns 1 for a row; 0 if more bytes are needed; -EPROTO; -ENOMEM. */
int rowbinary_next(struct rowbinary *rows);

size_t rowbinary_width(const struct rowbinary *rows);
const char *rowbinary_name(const struct rowbinary *rows, size_t column);
/* Returns a value of the current row; valid until the next rowbinary_feed() or rowbinary_next(). */
struct store_value rowbinary_value(const struct rowbinary *rows, size_t column);
