/* Which container a cgroup path belongs to. See container_name.h. */
#include "correlator/model/container_name.h"

#include <stdio.h>
#include <string.h>

#define ID_DIGITS 64 /* hexadecimal, as all runtimes generate them */

/* How the runtimes name a container's cgroup, with either cgroup driver (systemd: unit
 * PREFIX-ID.scope; cgroupfs: directory ID), in both v1 and v2. The first match is used. */
static const struct form {
	const char *beneath; /* part of the path above it, NULL: any path */
	const char *prefix;  /* of the component, or of the part after its first colon */
	const char *suffix;
	bool named; /* the id is a name, not ID_DIGITS digits */
	const char *runtime;
} forms[] = {
	{NULL, "docker-", ".scope", false, "docker"},
	{NULL, "docker-", "", false, "docker"},
	{NULL, "libpod-", ".scope", false, "podman"},
	{NULL, "libpod-", "", false, "podman"},
	{NULL, "cri-containerd-", ".scope", false, "containerd"},
	{NULL, "cri-containerd-", "", false, "containerd"},
	{NULL, "cri-containerd:", "", false, "containerd"}, /* kubepods-POD.slice:cri-containerd:ID */
	{NULL, "crio-", ".scope", false, "crio"},
	{NULL, "crio-", "", false, "crio"},
	{NULL, "nerdctl-", ".scope", false, "containerd"},
	{NULL, "nerdctl-", "", false, "containerd"},
	{"kubepods", "", "", false, "kubernetes"},
	{"libpod", "", "", false, "podman"},
	{"docker/", "", "", false, "docker"},
	{"/ecs/", "", "", false, "docker"},
	{NULL, "", "", false, "containerd"},
	{NULL, "lxc.payload.", "", true, "lxc"},
	{"/lxc/", "", "", true, "lxc"},
	{"/lxc.payload/", "", "", true, "lxc"},
	{NULL, "systemd-nspawn@", ".service", true, "nspawn"},
	{NULL, "machine-qemu", "", true, NULL}, /* a virtual machine */
	{NULL, "machine-", ".scope", true, "nspawn"},
};

/* Returns the id in `component`, its size in `*ret_size`, or NULL if it does not have this form. */
static const char *form_find_id(const struct form *form, const char *component, size_t size, size_t *ret_size)
{
	size_t prefix = strlen(form->prefix), suffix = strlen(form->suffix);

	if (size <= prefix + suffix || strncmp(component, form->prefix, prefix) != 0 ||
	    strncmp(component + size - suffix, form->suffix, suffix) != 0)
		return NULL;
	*ret_size = size - prefix - suffix;
	if (!form->named && (*ret_size != ID_DIGITS || strspn(component + prefix, "0123456789abcdef") < ID_DIGITS))
		return NULL;
	return component + prefix;
}

/* A form with a name as id must be directly in its folder. */
static bool form_is_beneath(const struct form *form, const char *before)
{
	size_t size = form->beneath ? strlen(form->beneath) : 0, length = strlen(before);

	if (!form->beneath)
		return true;
	if (!form->named)
		return strstr(before, form->beneath) != NULL;
	return length >= size && strcmp(before + length - size, form->beneath) == 0;
}

static bool parse_component(const char *component, size_t size, const char *before, struct container_name *ret)
{
	const char *colon = memchr(component, ':', size), *id;
	size_t id_size;

	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		if (!form_is_beneath(&forms[i], before))
			continue;
		id = form_find_id(&forms[i], component, size, &id_size);
		if (!id && colon && forms[i].prefix[0])
			id = form_find_id(&forms[i], colon + 1, size - (size_t)(colon + 1 - component), &id_size);
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
	char before[256] = "";
	bool found = false;

	for (const char *component = path; component;) {
		component += strspn(component, "/");
		size_t size = strcspn(component, "/");

		if (size == 0)
			break;
		size_t before_size = (size_t)(component - path);

		if (before_size < sizeof(before)) {
			memcpy(before, path, before_size);
			before[before_size] = '\0';
		}
		if (parse_component(component, size, before, ret_name)) {
			ret_name->path_size = (size_t)(component + size - path);
			found = true;
			if (is_outermost)
				break;
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

const char *cgroup_unit(const char *path, char *buffer, size_t size)
{
	static const char *const suffixes[] = {".service", ".scope"};
	const char *best = NULL;
	size_t best_size = 0;

	for (const char *component = path; *component;) {
		component += strspn(component, "/");
		size_t length = strcspn(component, "/");

		for (size_t i = 0; i < 2; i++) {
			size_t suffix = strlen(suffixes[i]);

			if (length > suffix && strncmp(component + length - suffix, suffixes[i], suffix) == 0) {
				best = component;
				best_size = length;
			}
		}
		component += length;
	}
	if (!best)
		return NULL;
	snprintf(buffer, size, "%.*s", (int)best_size, best);
	return buffer;
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
