/* Runs that several hosts share: their parts, and the parts combined.
 *
 * Each part is a run of its own host (joined_runs in common/store/views.sql); the one that began
 * first represents all of them.
 */
#pragma once

#include "analysis/query/rows.h"

/* Loads the parts of the shared run that `run` belongs to or, if that is NULL, of all shared runs
 * begun since; sorted by the run that represents them, then by start. A run that no other host
 * shares has no parts. Returns 0 or -errno. */
int joined_load(struct store *store, const struct row_run *run, int64_t since_unix_ns, struct rows *ret_parts);

/* Returns the first of the parts that this run represents, and their number: 0 if it has none. */
const struct row_part *joined_find(const struct rows *parts, int64_t run_id, size_t *ret_count);

/* Combines all parts into one run: sums of counts and times (unknown if one part is), the highest
 * peaks, the worst status, the time from the first start to the last end on the clock of the first
 * part. Texts are borrowed from the parts. */
struct row_run joined_sum(const struct row_part *parts, size_t count);

/* Whether no earlier part is on the same host: a host can have several. */
bool joined_is_new_host(const struct row_part *parts, size_t index);

/* Returns the host of a run, or NULL if it is not in `hosts`. */
const struct row_host *joined_host(const struct rows *hosts, const struct row_run *run);
