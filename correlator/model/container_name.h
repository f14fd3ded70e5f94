/* Names of containers and cgroups: which container a cgroup path belongs to.
 *
 * A runtime says what it runs on its privileged socket alone, but every
 * one of them writes its container's id into the cgroup path; and who starts one names
 * its image on the command line.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct container_name {
	char runtime[16];    /* docker, podman, containerd, kubernetes, crio, lxc, nspawn */
	char runtime_id[72]; /* 64 hexadecimal digits, or the machine's name */
	size_t path_size;    /* bytes of the path that are the container's own cgroup */
};

/* Whether `path` is in a container's cgroup. */
bool container_parse(const char *path, struct container_name *ret_name);

/* What a command line says of the container that it starts or watches over. */
struct container_label {
	char name[128]; /* "" not said */
	char image[256];
	char runtime_id[72]; /* "" not said: whichever it is that it starts */
};

/* `arguments`: argv, each ended by NUL. False: it names nothing. */
bool container_label_parse(const char *program, const char *arguments, size_t size, struct container_label *ret_label);

/* Base name of a systemd unit in `path` ("ssh.service"), innermost first, or NULL.
 * `buffer` receives the text. */
const char *cgroup_unit(const char *path, char *buffer, size_t size);
