/* Stores that `tracer run` writes: copies of runs from another store. */
#pragma once

#include "correlator/store/writer.h"

/* As store_open_writer(), for several writers that put different runs (`tracer run`); -EBUSY if a correlator is writing. If no
 * other writer has it, runs that were not closed are closed, and the oldest above `bytes_max` deleted. */
int store_open_shared(const char *path, int64_t bytes_max, struct store **ret_store, struct store_error *ret_error);

/* Copies what was written of a run after revision `*rev` of `from`, and sets that: its parts, its host and the
 * containers that it ran in, and nothing else. At the end all of it, in place of what was copied before, and the losses
 * during it; what is still running is marked as `left` (docs/model.md). Returns 0 with everything committed, or -errno with
 * nothing. */
int store_copy_run(struct store *to, struct store *from, const struct row_run *run, int64_t *rev, bool is_end);

/* Call before the last store_close(): moves all commits into the database file, syncs it, and leaves only PATH.lock
 * beside it; if a reader uses the store, PATH-wal too, for the next writer. Returns 0 or -errno. */
int store_checkpoint(struct store *store);
