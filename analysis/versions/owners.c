/* Packages that own files of this host. See owners.h. */
#include "analysis/versions/owners.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uthash.h>

#include "analysis/versions/rpm.h"
#include "common/identity.h"

#define NS_PER_S INT64_C(1000000000)
#define FILE_BYTES_MAX (64 << 20) /* a list of packages of a host has 10 MiB */
#define CONDA_LEVELS_MAX 8        /* folders between a program and its prefix */
#define CONDA_FILES_MAX 10000     /* packages of an environment */

/* A program that dpkg installed. */
struct dpkg_file {
	UT_hash_handle hh;
	const char *package;
	char path[];
};

struct owners {
	const char *root;
	int64_t host_id;
	bool dpkg_is_read;
	struct dpkg_file *dpkg_files;
	char *dpkg_status; /* NULL: there is no dpkg */
};

/* ---- files ------------------------------------------------------------------------- */

/* Returns the text, to be freed, or NULL. Users choose where programs are: only regular files are read. */
static char *file_read(const char *directory, const char *name)
{
	char path[PATH_MAX];
	struct stat status;
	char *text = NULL;
	ssize_t size;
	int file;

	if (snprintf(path, sizeof(path), "%s/%s", directory, name) >= (int)sizeof(path))
		return NULL;
	file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	if (file < 0)
		return NULL;
	if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size < FILE_BYTES_MAX)
		text = malloc((size_t)status.st_size + 1);
	if (text) {
		size = read(file, text, (size_t)status.st_size);
		text[size > 0 ? size : 0] = '\0';
	}
	close(file);
	return text;
}

static int64_t changed_unix_ns(const struct stat *status)
{
	return status->st_ctim.tv_sec * NS_PER_S + status->st_ctim.tv_nsec;
}

/* Neither the file nor the link to it. */
static bool is_unchanged(const char *path, int64_t began_unix_ns)
{
	struct stat link, file;

	return lstat(path, &link) == 0 && stat(path, &file) == 0 && S_ISREG(file.st_mode) &&
	       changed_unix_ns(&link) <= began_unix_ns && changed_unix_ns(&file) <= began_unix_ns;
}

/* ---- dpkg -------------------------------------------------------------------------- */

/* dpkg knows files by the path in the package, which may be /bin/sort while the file is /usr/bin/sort. */
static const char *merged_path(const char *path)
{
	return strncmp(path, "/usr/", 5) == 0 ? path + 4 : path;
}

static bool is_program(const char *path)
{
	size_t size = strlen(path);

	return strstr(path, "bin/") || (size > 4 && strcmp(path + size - 4, ".jar") == 0);
}

static void dpkg_file_add(struct owners *owners, const char *path, const char *package)
{
	struct dpkg_file *file;

	path = merged_path(path);
	HASH_FIND_STR(owners->dpkg_files, path, file);
	if (file)
		return;
	file = malloc(sizeof(*file) + strlen(path) + strlen(package) + 2);
	if (!file)
		return;
	file->package = stpcpy(file->path, path) + 1;
	strcpy((char *)file->package, package);
	HASH_ADD_STR(owners->dpkg_files, path, file);
}

/* PACKAGE.list or PACKAGE:ARCHITECTURE.list has a path a line. */
static void dpkg_list_read(struct owners *owners, const char *directory, const char *name)
{
	size_t size = strchr(name, ':') ? strcspn(name, ":") : strlen(name) - strlen(".list");
	char *text, *rest, *line, package[256];

	snprintf(package, sizeof(package), "%.*s", (int)size, name);
	rest = text = file_read(directory, name);
	while (rest && (line = strsep(&rest, "\n")))
		if (is_program(line))
			dpkg_file_add(owners, line, package);
	free(text);
}

static void dpkg_read(struct owners *owners)
{
	char directory[PATH_MAX];
	const struct dirent *entry;
	DIR *lists;

	owners->dpkg_is_read = true;
	snprintf(directory, sizeof(directory), "%s/var/lib/dpkg", owners->root);
	owners->dpkg_status = file_read(directory, "status");
	strncat(directory, "/info", sizeof(directory) - strlen(directory) - 1);
	lists = owners->dpkg_status ? opendir(directory) : NULL;
	while (lists && (entry = readdir(lists))) {
		size_t size = strlen(entry->d_name);

		if (size > 5 && strcmp(entry->d_name + size - 5, ".list") == 0)
			dpkg_list_read(owners, directory, entry->d_name);
	}
	if (lists)
		closedir(lists);
}

/* 2:1.16+dfsg-1+b2 is 1.16. */
static void upstream_version(char *version)
{
	char *colon = strchr(version, ':'), *end = strrchr(version, '-');

	if (end)
		*end = '\0';
	end = strstr(version, "+d");
	if (end && (strncmp(end, "+dfsg", 5) == 0 || strncmp(end, "+ds", 3) == 0))
		*end = '\0';
	if (colon)
		memmove(version, colon + 1, strlen(colon + 1) + 1);
}

/* A package is a paragraph of lines "Key: value". */
static bool dpkg_version(const char *status, const char *package, char *version, size_t capacity)
{
	char wanted[300];
	const char *found = status, *value, *end;

	snprintf(wanted, sizeof(wanted), "Package: %.256s\n", package);
	while ((found = strstr(found, wanted)) && found > status && found[-1] != '\n')
		found++;
	end = found ? strstr(found, "\n\n") : NULL;
	value = found ? strstr(found, "\nVersion: ") : NULL;
	if (!value || (end && value > end))
		return false;
	value += strlen("\nVersion: ");
	snprintf(version, capacity, "%.*s", (int)strcspn(value, "\n"), value);
	upstream_version(version);
	return true;
}

static bool dpkg_find(struct owners *owners, const char *path, struct package_owner *owner)
{
	const struct dpkg_file *file;
	const char *wanted = merged_path(path);

	if (!owners->dpkg_is_read)
		dpkg_read(owners);
	HASH_FIND_STR(owners->dpkg_files, wanted, file);
	if (!file)
		return false;
	owner->manager = "dpkg";
	snprintf(owner->package, sizeof(owner->package), "%s", file->package);
	return dpkg_version(owners->dpkg_status, file->package, owner->version, sizeof(owner->version));
}

/* ---- conda ------------------------------------------------------------------------- */

/* Whether conda-meta/NAME.json is of a package with that file. */
static bool conda_package_read(const char *directory, const char *name, const char *file, struct package_owner *owner)
{
	char quoted[PATH_MAX + 2];
	char *text = file_read(directory, name);
	json_t *root = NULL;
	const char *package, *version;

	snprintf(quoted, sizeof(quoted), "\"%s\"", file);
	if (text && strstr(text, quoted))
		root = json_loads(text, 0, NULL);
	free(text);
	package = json_string_value(json_object_get(root, "name"));
	version = json_string_value(json_object_get(root, "version"));
	if (package && version) {
		owner->manager = "conda";
		snprintf(owner->package, sizeof(owner->package), "%s", package);
		snprintf(owner->version, sizeof(owner->version), "%s", version);
	}
	json_decref(root);
	return package && version;
}

static bool conda_prefix_find(const char *directory, const char *file, struct package_owner *owner)
{
	const struct dirent *entry;
	bool is_found = false;
	DIR *packages = opendir(directory);

	for (int i = 0; packages && !is_found && i < CONDA_FILES_MAX && (entry = readdir(packages)); i++) {
		size_t size = strlen(entry->d_name);

		if (size > 5 && strcmp(entry->d_name + size - 5, ".json") == 0)
			is_found = conda_package_read(directory, entry->d_name, file, owner);
	}
	if (packages)
		closedir(packages);
	return is_found;
}

/* The prefix, which has a folder conda-meta, is some levels above the program. */
static bool conda_find(const struct owners *owners, const char *path, struct package_owner *owner)
{
	const char *slash = path + strlen(path);
	char directory[PATH_MAX];

	for (int level = 0; level < CONDA_LEVELS_MAX; level++) {
		slash = memrchr(path, '/', (size_t)(slash - path));
		if (!slash || slash == path)
			break;
		if (snprintf(directory, sizeof(directory), "%s%.*s/conda-meta", owners->root, (int)(slash - path),
			     path) < (int)sizeof(directory) &&
		    conda_prefix_find(directory, slash + 1, owner))
			return true;
	}
	return false;
}

/* ---- all --------------------------------------------------------------------------- */

/* As the correlator derives it from what the probe reads. */
static int64_t local_host_id(const char *root)
{
	char directory[PATH_MAX];
	struct identity identity;
	char *text;
	size_t size;

	snprintf(directory, sizeof(directory), "%s/etc", root);
	text = file_read(directory, "machine-id");
	size = text ? strcspn(text, "\n") : 0;
	identity_begin(&identity, "host");
	identity_add_bytes(&identity, text, size);
	free(text);
	return size > 0 ? identity_end(&identity) : 0;
}

struct owners *owners_new(const char *root)
{
	struct owners *owners = calloc(1, sizeof(*owners));

	if (owners) {
		owners->root = root;
		owners->host_id = local_host_id(root);
	}
	return owners;
}

void owners_free(struct owners *owners)
{
	struct dpkg_file *file, *next;

	if (!owners)
		return;
	HASH_ITER (hh, owners->dpkg_files, file, next) {
		HASH_DEL(owners->dpkg_files, file);
		free(file);
	}
	free(owners->dpkg_status);
	free(owners);
}

int64_t owners_host_id(const struct owners *owners)
{
	return owners->host_id;
}

bool owners_find(struct owners *owners, const char *path, int64_t began_unix_ns, struct package_owner *ret_owner)
{
	size_t root_size = strlen(owners->root);
	char full[PATH_MAX], *real;
	bool is_found;

	if (path[0] != '/' || snprintf(full, sizeof(full), "%s%s", owners->root, path) >= (int)sizeof(full) ||
	    !is_unchanged(full, began_unix_ns))
		return false;
	if (conda_find(owners, path, ret_owner))
		return true;
	real = realpath(full, NULL);
	is_found =
		real && strncmp(real, owners->root, root_size) == 0 &&
		(dpkg_find(owners, real + root_size, ret_owner) || rpm_find(owners->root, real + root_size, ret_owner));
	free(real);
	return is_found;
}
