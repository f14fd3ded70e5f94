/* The canonical dump of a store, which must be identical when a recording is replayed twice.
 *
 * A table is a line "table NAME: COLUMN, ..." followed by one line per row, ordered by
 * key. Integers are printed as they are, text in quotes with all but plain ASCII as
 * \xHH, blobs as x'HH...', NULL as NULL. What depends on the time of commits, not
 * on their content, is omitted.
 */
#pragma once

#include <stdio.h>

#include "common/store/store.h"

/* Returns 0 or -errno. */
int store_dump(struct store *store, FILE *file);
