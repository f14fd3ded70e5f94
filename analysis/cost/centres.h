/* Cost centres of a site: a list in CSV that says which one a run belongs to.
 *
 *   Centre  its name
 *   User    of the run: a name known here, or a number
 *   Cgroup  path of the run's container; of other runs it is not stored
 *   Run     name of the run
 *
 * Cgroup and Run are patterns (analysis/cost/csv_file.h). The first row of which all fields match applies.
 */
#pragma once

#include <stdint.h>

#include "common/yaml/tree.h"

struct centres;

/* Returns 0; -EINVAL or -errno with `*ret_error`; -ENOMEM. */
int centres_load(const char *path, struct centres **ret_centres, struct tree_error *ret_error);
void centres_free(struct centres *centres);

/* `user_id` is negative and `cgroup` NULL if unknown. Returns NULL if no row applies. */
const char *centres_find(const struct centres *centres, int64_t user_id, const char *cgroup, const char *run);
