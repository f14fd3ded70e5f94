/* Containers: which run and task they belong to, and what is known about them.
 *
 * A host may create thousands a day and run for years, so they are freed when nothing is in them. */
#pragma once

#include <uthash.h>

#include "correlator/model/cgroup_limits.h"

struct model;
struct process;
struct run;
struct container_name;

#define CONTAINER_OF_NAMESPACE "namespace" /* the runtime of those that only a namespace shows */

struct container {
	int64_t id;
	char runtime[16];
	char runtime_id[72];
	char *cgroup_path;
	bool is_of_namespace;                   /* its identity is that of its first process, not its path */
	int64_t run_id, task_id;                /* ROW_NULL until known */
	int64_t pid_namespace, mount_namespace; /* of the first process inside, ROW_NULL unknown */
	char *image, *name;                     /* NULL unknown */
	bool labelled;                          /* command lines above it were searched */
	struct cgroup_limits limits;
	int64_t living_count;
	uint64_t begin_boot_ns, end_boot_ns;
	int64_t started_unix_ns;
	bool dirty; /* in model->dirty_containers: */
	struct container *dirty_prev, *dirty_next;
	uint64_t used_boot_ns;       /* last sweep that found it in use */
	UT_hash_handle hh;           /* by id */
	UT_hash_handle hh_namespace; /* by pid_namespace, the latest with that number */
};

/* Adds a container to the model's. */
void container_add(struct model *model, struct container *container);
/* `first` is its first process, NULL unless nothing in the path identifies it. */
struct container *container_get(struct model *model, const struct container_name *name, const char *path,
				const struct process *first);
/* Takes those of the first process inside: a runtime that is still entering has the host's. */
void container_note_namespaces(struct model *model, struct container *container, const struct process *process);
/* Takes name and image of a container from the command line that started or monitors it. */
void container_set_label(struct model *model, struct container *container, const struct process *source);
/* Whether it is of a pod, new, and has no name yet. */
bool container_awaits_pod(const struct model *model, const struct container *container);
/* `name`: NAMESPACE/POD/CONTAINER. */
void container_set_pod(struct model *model, struct container *container, const char *name);
/* Names the run that a pod's container has begun after the pod. */
void container_name_run(struct model *model, const struct container *container, struct run *run);
void container_free(struct model *model, struct container *container);
