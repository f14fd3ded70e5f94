/* Cgroups: created when they are recorded, freed when nothing is in them.
 *
 * The kernel side records the path of a cgroup once. A freed cgroup that is needed again is read
 * from the store, which has every recorded one. */
#pragma once

#include <uthash.h>

#include "correlator/model/cgroup_limits.h"

struct model;

struct cgroup {
	uint64_t cgroup_id;
	char *path;
	struct container *container; /* NULL: not in a container */
	struct cgroup_limits limits; /* as last recorded */
	bool dirty;                  /* in model->dirty_cgroups: */
	struct cgroup *dirty_prev, *dirty_next;
	uint64_t used_boot_ns; /* last sweep that found it in use */
	UT_hash_handle hh;
};

/* Returns NULL if it was never recorded. */
struct cgroup *cgroup_find(struct model *model, uint64_t cgroup_id);
struct cgroup *cgroup_add(struct model *model, uint64_t cgroup_id, const char *path, size_t size);
/* Searches memory only, not the store. */
struct cgroup *cgroup_known(struct model *model, uint64_t cgroup_id);
int64_t cgroup_row_id(const struct model *model, uint64_t cgroup_id);
void cgroup_free(struct model *model, struct cgroup *cgroup);
/* Frees all of them: another boot has different ones. */
void cgroup_forget_all(struct model *model);
