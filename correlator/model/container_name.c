/* Which container a cgroup path belongs to. See container_name.h. */
#include "correlator/model/container_name.h"

#include <stdio.h>
#include <string.h>

/* Returns where the next component of `path` after `size` bytes ends. */
static size_t next_end(const char *path, size_t size)
{
	size += strspn(path + size, "/");
	return size + strcspn(path + size, "/");
}

static bool parse(const struct rules *rules, const char *path, bool is_outermost, struct container_name *ret_name)
{
	struct rules_cgroup cgroup;
	bool found = false;

	for (size_t size = 0; path[size] && !(found && is_outermost);) {
		size = next_end(path, size);
		if (!rules_read_cgroup(rules, path, size, &cgroup))
			continue;
		snprintf(ret_name->runtime, sizeof(ret_name->runtime), "%s", cgroup.runtime);
		snprintf(ret_name->runtime_id, sizeof(ret_name->runtime_id), "%.*s", (int)cgroup.id_size, cgroup.id);
		ret_name->path_size = size;
		found = true;
	}
	return found;
}

/* The innermost wins: a container engine may itself run in a container. */
bool container_parse(const struct rules *rules, const char *path, struct container_name *ret_name)
{
	return parse(rules, path, false, ret_name);
}

bool cgroup_is_of_pod(const char *path)
{
	return strstr(path, "kubepods") != NULL;
}

/* Whether it is a name with that suffix. */
static bool has_suffix(const char *name, size_t size, const char *suffix)
{
	size_t length = strlen(suffix);

	return size > length && memcmp(name + size - length, suffix, length) == 0;
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

size_t cgroup_roots_size(const struct rules *rules, const char *path)
{
	const char *manager = strstr(path, "/user@");
	size_t size = manager ? (size_t)(manager - path) : strlen(path);
	struct container_name outermost;

	if (parse(rules, path, true, &outermost) && outermost.path_size < size)
		size = outermost.path_size;
	return size;
}
