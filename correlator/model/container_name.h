/* Names of containers and cgroups: which container a cgroup path belongs to.
 *
 * A runtime describes its containers only on its privileged socket. But runtimes put the
 * container's id into the cgroup path, and rules say how.
 */
#pragma once

#include "common/rules/rules.h"

struct container_name {
	char runtime[16];    /* as rules name it: docker */
	char runtime_id[72]; /* 64 hexadecimal digits, or a name */
	size_t path_size;    /* length of the path of the container's own cgroup */
};

/* Whether `path` is in a container's cgroup. */
bool container_parse(const struct rules *rules, const char *path, struct container_name *ret_name);

/* Whether the kubelet has made the cgroup, for a pod. */
bool cgroup_is_of_pod(const char *path);

/* Returns the innermost systemd unit in `path` ("ssh.service"), written to `buffer`,
 * or NULL if there is none. */
const char *cgroup_unit(const char *path, char *buffer, size_t size);

/* Returns the size of the part of `path` that root named: beneath a user's service manager, that user creates
 * cgroups with any names; beneath a container, what runs in it may. */
size_t cgroup_roots_size(const struct rules *rules, const char *path);
