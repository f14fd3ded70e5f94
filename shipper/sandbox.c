/* See sandbox.h. */
#include "shipper/sandbox.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/capability.h>

#include "common/http/secret_file.h"
#include "common/log.h"
#include "common/privilege.h"

#define READ (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define WRITE \
	(READ | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_REG | \
	 LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_REMOVE_DIR)

/* A path that is missing or inaccessible needs no rule. */
static int path_allow(int ruleset, const char *path, uint64_t access)
{
	int error = privilege_landlock_allow(ruleset, path, access);

	if (error == -ENOENT || error == -EACCES)
		return 0;
	if (error < 0)
		log_error("cannot restrict file access to %s: %s", path, strerror(-error));
	return error;
}

/* Allows the directory of a file, since the file itself may be replaced. */
static int directory_allow(int ruleset, const char *file)
{
	char directory[PATH_MAX];

	snprintf(directory, sizeof(directory), "%s", file);
	return path_allow(ruleset, dirname(directory), READ);
}

/* Also allows the target of a symbolic link: a store on another disk, or a resolv.conf in /run. */
static int file_allow(int ruleset, const char *file)
{
	char real[PATH_MAX];
	int error = directory_allow(ruleset, file);

	return error == 0 && realpath(file, real) ? directory_allow(ruleset, real) : error;
}

/* The scratch directory, and the right to remove it at the end. */
static int scratch_allow(int ruleset, const char *scratch)
{
	char parent[PATH_MAX];
	int error = path_allow(ruleset, scratch, WRITE);

	snprintf(parent, sizeof(parent), "%s", scratch);
	return error == 0 ? path_allow(ruleset, dirname(parent), LANDLOCK_ACCESS_FS_REMOVE_DIR) : error;
}

static int paths_allow(int ruleset, const struct settings *settings)
{
	/* For name resolution, certificates, time zones, and libraries that name services load late. */
	static const char *const system[] = {
		"/etc",         "/usr",     "/lib", "/lib64", "/run/systemd/resolve", "/proc/sys/kernel",
		"/dev/urandom", "/dev/null"};
	const char *const files[] = {settings->lake.password_file,
				     settings->lake.token_file,
				     settings->lake.ca_file,
				     settings->lake.certificate_file,
				     settings->lake.key_file,
				     settings->lake.proxy_password_file,
				     "/etc/resolv.conf"};
	const char *credentials = getenv("CREDENTIALS_DIRECTORY");
	int error = 0;

	for (size_t i = 0; error == 0 && i < sizeof(system) / sizeof(system[0]); i++)
		error = path_allow(ruleset, system[i], i < 5 ? READ : LANDLOCK_ACCESS_FS_READ_FILE);
	if (error == 0)
		error = file_allow(ruleset, settings->store);
	for (size_t i = 0; error == 0 && i < sizeof(files) / sizeof(files[0]); i++)
		if (files[i][0] && !secret_file_is_credential(files[i]))
			error = file_allow(ruleset, files[i]);
	if (error == 0 && credentials)
		error = path_allow(ruleset, credentials, READ);
	if (error == 0)
		error = path_allow(ruleset, settings->state, WRITE);
	if (error == 0 && settings->ndjson_directory)
		error = path_allow(ruleset, settings->ndjson_directory, WRITE);
	return error;
}

static int landlock_enter(const struct settings *settings, const char *directory, const char *scratch)
{
	int rules, error = privilege_landlock_begin(&rules);

	if (error == 0)
		error = paths_allow(rules, settings);
	if (error == 0 && directory)
		error = path_allow(rules, directory, WRITE);
	if (error == 0 && scratch)
		error = scratch_allow(rules, scratch);
	return error < 0 ? error : privilege_landlock_enter(rules);
}

static int seccomp_enter(void)
{
	static const struct privilege_call refused[] = {PRIVILEGE_CALLS_REFUSED, {SCMP_SYS(kill)}};

	return privilege_enter_seccomp(SCMP_ACT_ALLOW, SCMP_ACT_ERRNO(EPERM), refused,
				       sizeof(refused) / sizeof(refused[0]));
}

/* No privilege is needed, and none can be regained. If run as root, which the unit does
 * not do, it keeps the capability to read a store of another user. */
int sandbox_enter(const struct settings *settings, const char *directory, const char *scratch)
{
	int error = privilege_forbid_new();

	if (error == 0)
		error = privilege_drop_bounds();
	if (error == 0)
		error = privilege_drop_capabilities(1U << CAP_DAC_OVERRIDE);
	if (error == 0)
		error = landlock_enter(settings, directory, scratch);
	return error < 0 ? error : seccomp_enter();
}
