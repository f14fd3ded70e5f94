/* Cgroups: made when they are recorded, let go when nothing is in them.
 *
 * The kernel side records the path of a cgroup once; whoever is let go and needed again is read
 * from the store, which has all that were recorded. */
#pragma once

#include <uthash.h>

#include "correlator/model/cgroup_limits.h"

struct model;

struct cgroup {
	uint64_t cgroup_id;
	char *path;
	struct container *container; /* NULL: not a container's */
	struct cgroup_limits limits; /* as last recorded */
	bool dirty;
	uint64_t used_boot_ns; /* of the last sweep that found it in use */
	UT_hash_handle hh;
};

/* NULL: it was never recorded. */
struct cgroup *cgroup_find(struct model *model, uint64_t cgroup_id);
struct cgroup *cgroup_add(struct model *model, uint64_t cgroup_id, const char *path, size_t size);
/* As far as memory knows: the store is not asked. */
struct cgroup *cgroup_known(struct model *model, uint64_t cgroup_id);
int64_t cgroup_row_id(const struct model *model, uint64_t cgroup_id);
void cgroup_free(struct model *model, struct cgroup *cgroup);
/* Another boot has others. */
void cgroup_forget_all(struct model *model);
