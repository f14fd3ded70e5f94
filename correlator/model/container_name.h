/* Names of containers and cgroups: which container a cgroup path belongs to.
 *
 * A runtime describes its containers only on its privileged socket. But runtimes put the
 * container's id into the cgroup path, and the command line that starts a container names
 * its image.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct container_name {
	char runtime[16];    /* docker, podman, containerd, kubernetes, crio, lxc, nspawn */
	char runtime_id[72]; /* 64 hexadecimal digits, or a name */
	size_t path_size;    /* length of the path of the container's own cgroup */
};

/* Whether `path` is in a container's cgroup. */
bool container_parse(const char *path, struct container_name *ret_name);

/* What a command line tells about the container that it starts or monitors. */
struct container_label {
	char name[128]; /* "" unknown */
	char image[256];
	char runtime_id[72]; /* "" unknown: whichever container it starts */
};

/* `arguments` is argv, each terminated by NUL. Returns false if it gives neither name nor image. */
bool container_label_parse(const char *program, const char *arguments, size_t size, struct container_label *ret_label);

/* Returns the innermost systemd unit in `path` ("ssh.service"), written to `buffer`,
 * or NULL if there is none. */
const char *cgroup_unit(const char *path, char *buffer, size_t size);
