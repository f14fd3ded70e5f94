/* Which container a cgroup path belongs to. See container_name.h. */
#include "correlator/model/container_name.h"

#include <stdio.h>
#include <string.h>

#define ID_DIGITS 64    /* hexadecimal, as all runtimes generate them */
#define SLICE ".slice:" /* a cgroup of systemd's, taken for a directory by the other driver: SLICE:PREFIX:ID */

/* How the runtimes name a container's cgroup, with either cgroup driver (systemd: unit
 * PREFIX-ID.scope; cgroupfs: directory ID), in both v1 and v2. The first match is used. */
static const struct form {
	const char *beneath; /* part of the path above it; of a name: the end of that path */
	const char *prefix;
	const char *suffix; /* the id is a name, which ends before it; NULL: it is ID_DIGITS digits */
	const char *runtime;
} forms[] = {
	{"", "docker-", NULL, "docker"},
	{"", "libpod-", NULL, "podman"},
	{"", "cri-containerd-", NULL, "containerd"},
	{"", "cri-containerd:", NULL, "containerd"}, /* kubepods-POD.slice:cri-containerd:ID */
	{"", "crio-", NULL, "crio"},
	{"", "nerdctl-", NULL, "containerd"},
	{"kubepods", "", NULL, "kubernetes"},
	{"libpod", "", NULL, "podman"},
	{"docker/", "", NULL, "docker"},
	{"/ecs/", "", NULL, "docker"},
	{"", "", NULL, "containerd"},
	{"", "lxc.payload.", "", "lxc"},
	{"/lxc/", "", "", "lxc"},
	{"/lxc.payload/", "", "", "lxc"},
	{"", "systemd-nspawn@", ".service", "nspawn"},
	{"", "machine-qemu", "", NULL}, /* a virtual machine */
	{"", "machine-", ".scope", "nspawn"},
};

/* Whether it is a name with that suffix. */
static bool has_suffix(const char *name, size_t size, const char *suffix)
{
	size_t length = strlen(suffix);

	return size > length && memcmp(name + size - length, suffix, length) == 0;
}

/* Returns the id in `component`, its size in `*ret_size`, or NULL if it does not have this form. */
static const char *form_find_id(const struct form *form, const char *component, size_t size, size_t *ret_size)
{
	size_t prefix = strlen(form->prefix);
	const char *id = component + prefix, *suffix = form->suffix ? form->suffix : ".scope";

	if (size <= prefix || memcmp(component, form->prefix, prefix) != 0)
		return NULL;
	size -= prefix;
	if (has_suffix(id, size, suffix))
		size -= strlen(suffix);
	else if (form->suffix)
		return NULL;
	*ret_size = size;
	if (!form->suffix && (size != ID_DIGITS || strspn(id, "0123456789abcdef") < ID_DIGITS))
		return NULL;
	return id;
}

static bool form_is_beneath(const struct form *form, const char *path, size_t size)
{
	size_t length = strlen(form->beneath);

	if (!form->suffix)
		return memmem(path, size, form->beneath, length) != NULL;
	return size >= length && memcmp(path + size - length, form->beneath, length) == 0;
}

static bool parse_component(const char *path, const char *component, size_t size, struct container_name *ret)
{
	const char *slice = memmem(component, size, SLICE, strlen(SLICE)), *id;
	const char *name = slice ? slice + strlen(SLICE) : component;
	size_t id_size;

	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		if (!form_is_beneath(&forms[i], path, (size_t)(component - path)))
			continue;
		id = form_find_id(&forms[i], name, (size_t)(component + size - name), &id_size);
		if (!id)
			continue;
		if (!forms[i].runtime)
			return false;
		snprintf(ret->runtime, sizeof(ret->runtime), "%s", forms[i].runtime);
		snprintf(ret->runtime_id, sizeof(ret->runtime_id), "%.*s", (int)id_size, id);
		return true;
	}
	return false;
}

static bool parse(const char *path, bool is_outermost, struct container_name *ret_name)
{
	bool found = false;

	for (const char *component = path; *component && !(found && is_outermost);) {
		component += strspn(component, "/");
		size_t size = strcspn(component, "/");

		if (parse_component(path, component, size, ret_name)) {
			ret_name->path_size = (size_t)(component + size - path);
			found = true;
		}
		component += size;
	}
	return found;
}

/* The innermost wins: a container engine may itself run in a container. */
bool container_parse(const char *path, struct container_name *ret_name)
{
	return parse(path, false, ret_name);
}

bool cgroup_is_of_pod(const char *path)
{
	return strstr(path, "kubepods") != NULL;
}

const char *cgroup_unit(const char *path, char *buffer, size_t size)
{
	const char *unit = NULL;

	for (const char *component = path; *component;) {
		component += strspn(component, "/");
		size_t length = strcspn(component, "/");

		if (has_suffix(component, length, ".service") || has_suffix(component, length, ".scope")) {
			snprintf(buffer, size, "%.*s", (int)length, component);
			unit = buffer;
		}
		component += length;
	}
	return unit;
}

size_t cgroup_roots_size(const char *path)
{
	const char *manager = strstr(path, "/user@");
	size_t size = manager ? (size_t)(manager - path) : strlen(path);
	struct container_name outermost;

	if (parse(path, true, &outermost) && outermost.path_size < size)
		size = outermost.path_size;
	return size;
}
