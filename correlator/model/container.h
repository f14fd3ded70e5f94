/* Containers: whose processes are in them, and what is known of them.
 *
 * A host may make thousands a day and run for years: they are let go when nothing is in them. */
#pragma once

#include <uthash.h>

#include "correlator/model/cgroup_limits.h"

struct model;
struct image;
struct process;
struct container_name;

struct container {
	int64_t id;
	char runtime[16];
	char runtime_id[72];
	char *cgroup_path;
	int64_t run_id, task_id;                /* ROW_NULL until known */
	int64_t pid_namespace, mount_namespace; /* of its first process, ROW_NULL unknown */
	char *image, *name;                     /* NULL: not to be seen */
	bool labelled;                          /* command lines were asked */
	struct cgroup_limits limits;
	int64_t living_count;
	uint64_t begin_boot_ns, end_boot_ns;
	int64_t started_unix_ns;
	bool dirty;
	uint64_t used_boot_ns; /* of the last sweep that found it in use */
	UT_hash_handle hh;     /* by id */
};

/* `pid_namespace` where nothing else identifies it, else 0: others may have had the same cgroup. */
struct container *container_get(struct model *model, const struct container_name *name, const char *path,
				uint32_t pid_namespace);
struct container *container_of_process(struct model *model, const struct process *process);
/* What `image`, which has just begun in it, says of its container. */
void container_note_image(struct model *model, const struct image *image);
/* What the command line of who started it, or watches over it, says of a container. */
void container_set_label(struct model *model, struct container *container, const struct process *teller);
void container_free(struct model *model, struct container *container);
