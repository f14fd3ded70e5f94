/* See sandbox.h. */
#include "cli/serve/sandbox.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <sys/socket.h>

#include <linux/capability.h>

#include "common/privilege.h"

#define READ (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)

static int landlock_enter(const char *socket_path)
{
	char directory[PATH_MAX];
	int rules, error = privilege_landlock_begin(&rules);

	if (error == 0)
		error = privilege_landlock_allow(rules, "/", READ);
	if (error == 0 && socket_path) {
		snprintf(directory, sizeof(directory), "%s", socket_path);
		error = privilege_landlock_allow(rules, dirname(directory), LANDLOCK_ACCESS_FS_REMOVE_FILE);
	}
	return error < 0 ? error : privilege_landlock_enter(rules);
}

static int seccomp_enter(bool has_lake)
{
	/* A store needs no network; names of users may come from a service on a Unix socket. */
	const struct privilege_call refused[] = {
		PRIVILEGE_CALLS_REFUSED,
		{SCMP_SYS(socket), true, {0, SCMP_CMP_NE, AF_UNIX, 0}},
	};

	return privilege_enter_seccomp(SCMP_ACT_ALLOW, SCMP_ACT_ERRNO(EPERM), refused,
				       sizeof(refused) / sizeof(refused[0]) - has_lake);
}

/* As root, which the unit does not use, it keeps the capability to read a store of another user. */
int sandbox_enter(bool has_lake, const char *socket_path)
{
	int error = privilege_forbid_new();

	if (error == 0)
		error = privilege_drop_bounds();
	if (error == 0)
		error = privilege_drop_capabilities(1U << CAP_DAC_OVERRIDE);
	if (error == 0)
		error = landlock_enter(socket_path);
	return error < 0 ? error : seccomp_enter(has_lake);
}
