/* Which container a cgroup path belongs to. See container.h. */
#include "correlator/container.h"

#include <stdio.h>
#include <string.h>

#define ID_DIGITS 64

static size_t hex_digits(const char *text)
{
	return strspn(text, "0123456789abcdef");
}

/* Path components as the runtimes write them; the id follows the prefix. */
static const struct {
	const char *prefix;
	const char *runtime;
} prefixes[] = {
	{"docker-", "docker"},          {"libpod-", "podman"},   {"cri-containerd-", "containerd"},
	{"crio-", "crio"},              {"nerdctl-", "containerd"},
};

static bool parse_component(const char *component, size_t size, const char *before,
			    struct container_name *ret)
{
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++) {
		size_t length = strlen(prefixes[i].prefix);

		if (size >= length + ID_DIGITS && strncmp(component, prefixes[i].prefix, length) == 0 &&
		    hex_digits(component + length) == ID_DIGITS) {
			snprintf(ret->runtime, sizeof(ret->runtime), "%s", prefixes[i].runtime);
			snprintf(ret->runtime_id, sizeof(ret->runtime_id), "%.*s", ID_DIGITS,
				 component + length);
			return true;
		}
	}
	if (size == ID_DIGITS && hex_digits(component) >= ID_DIGITS) {
		const char *runtime = strstr(before, "kubepods")  ? "kubernetes"
				      : strstr(before, "libpod")  ? "podman"
				      : strstr(before, "docker/") ? "docker"
								  : "containerd";

		snprintf(ret->runtime, sizeof(ret->runtime), "%s", runtime);
		snprintf(ret->runtime_id, sizeof(ret->runtime_id), "%.*s", ID_DIGITS, component);
		return true;
	}
	return false;
}

/* Runtimes that name the machine instead: /lxc.payload.NAME, /machine.slice/... */
static bool parse_named(const char *component, size_t size, const char *before,
			struct container_name *ret)
{
	static const char lxc[] = "lxc.payload.";
	static const char nspawn[] = "systemd-nspawn@";
	const char *runtime, *name;

	if (strncmp(component, lxc, sizeof(lxc) - 1) == 0) {
		runtime = "lxc";
		name = component + sizeof(lxc) - 1;
	} else if (strncmp(component, nspawn, sizeof(nspawn) - 1) == 0) {
		runtime = "nspawn";
		name = component + sizeof(nspawn) - 1;
	} else {
		return false;
	}
	snprintf(ret->runtime, sizeof(ret->runtime), "%s", runtime);
	snprintf(ret->runtime_id, sizeof(ret->runtime_id), "%.*s", (int)(component + size - name), name);
	return true;
}

bool container_parse(const char *path, struct container_name *ret_name)
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
		/* The innermost wins: a container engine may itself run in one. */
		if (parse_component(component, size, before, ret_name) ||
		    parse_named(component, size, before, ret_name)) {
			ret_name->path_size = (size_t)(component + size - path);
			found = true;
		}
		component += size;
	}
	return found;
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

			if (length > suffix &&
			    strncmp(component + length - suffix, suffixes[i], suffix) == 0) {
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
