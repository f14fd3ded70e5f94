/* See confine.h. */
#include "correlator/confine.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/capability.h>

#include "common/log.h"
#include "common/privilege.h"

int confine_drop(const struct option_user *user)
{
	int result = privilege_drop_bounds();

	if (!result && user->name) {
		const struct passwd *entry = getpwuid(user->uid);

		result = privilege_become(user->uid, user->gid, entry ? entry->pw_name : NULL, PRIVILEGE_NO_GROUP);
	}
	if (!result)
		result = privilege_forbid_new();
	return result ? result : privilege_drop_capabilities(1U << CAP_DAC_OVERRIDE);
}

#define READ (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define REMOVE LANDLOCK_ACCESS_FS_REMOVE_FILE
#define WRITE (LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_MAKE_REG | REMOVE)

/* Allows `access` in the directory of `file`, with symbolic links resolved. */
static int allow_around(int rules, const char *file, uint64_t access)
{
	char path[PATH_MAX];
	int result = realpath(file, path) ? privilege_landlock_allow(rules, dirname(path), access) : -errno;

	if (result)
		log_error("cannot restrict file access to the directory of %s: %s", file, strerror(-result));
	return result;
}

static int landlock_enter(const char *store, const char *socket, const char *sampler_socket)
{
	int rules, result = privilege_landlock_begin(&rules);

	if (!result)
		result = privilege_landlock_allow(rules, "/", READ);
	if (!result)
		result = allow_around(rules, store, WRITE);
	if (!result && socket)
		result = allow_around(rules, socket, REMOVE);
	if (!result && sampler_socket)
		result = allow_around(rules, sampler_socket, REMOVE);
	return result ? result : privilege_landlock_enter(rules);
}

static int seccomp_enter(void)
{
	const struct privilege_call refused[] = {
		PRIVILEGE_CALLS_REFUSED,
		{SCMP_SYS(kill)},
		{SCMP_SYS(tkill)},
		{SCMP_SYS(pidfd_open)},
		{SCMP_SYS(pidfd_send_signal)},
		{SCMP_SYS(truncate)}, /* Landlock restricts it only from 6.2 on */
		/* Its flags no filter can see. Threads are then made with clone. */
		{SCMP_SYS(clone3), .error = ENOSYS},
		{SCMP_SYS(clone), true, {0, SCMP_CMP_MASKED_EQ, CLONE_NEWUSER, CLONE_NEWUSER}},
		{SCMP_SYS(socket), true, {0, SCMP_CMP_NE, AF_UNIX, 0}},
		/* abort(3) signals this process. */
		{SCMP_SYS(tgkill), true, {0, SCMP_CMP_NE, (scmp_datum_t)getpid(), 0}},
	};

	return privilege_enter_seccomp(SCMP_ACT_ALLOW, SCMP_ACT_ERRNO(EPERM), refused,
				       sizeof(refused) / sizeof(refused[0]));
}

int confine_enter(const char *store, const char *socket, const char *sampler_socket)
{
	int result = landlock_enter(store, socket, sampler_socket);

	return result ? result : seccomp_enter();
}
