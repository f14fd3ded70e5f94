/* Runs that several hosts share: their parts, and what they are together.
 *
 * Each part is a run of its own host (joined_runs in common/store/views.sql); the one that began
 * first stands for all.
 */
#pragma once

#include "query/rows.h"

/* The parts of the run that `run` is a part of, or, where that is NULL, of all that have begun
 * since: by the run that stands for them, then as they began. None where a run is alone.
 * 0 or -errno. */
int joined_load(struct store *store, const struct row_run *run, int64_t since_unix_ns, struct rows *ret_parts);

/* The parts that the run of this id stands for: the first one and how many, 0 where it is alone. */
const struct row_part *joined_find(const struct rows *parts, int64_t run_id, size_t *ret_count);

/* All parts as one: counts and times added up (unknown where a part is), peaks the highest of
 * any, the worst result, from the first beginning to the last end, on the clock of the first. Text
 * is the parts'. */
struct row_run joined_sum(const struct row_part *parts, size_t count);

/* Whether no part before that one was on its host: some hosts have several. */
bool joined_is_new_host(const struct row_part *parts, size_t index);

/* The host of a run, NULL where it is not among these. */
const struct row_host *joined_host(const struct rows *hosts, const struct row_run *run);
