/* See privilege.h. */
#include "common/privilege.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/capability.h>

#include "common/log.h"

#ifdef __SANITIZE_ADDRESS__
/* LeakSanitizer traces the process at exit, which fails once the seccomp filter is loaded. */
int __lsan_is_turned_off(void);
static int is_confined;

int __lsan_is_turned_off(void)
{
	return is_confined;
}
#endif

static int failed(const char *step)
{
	int error = errno;

	log_error("cannot drop privileges (%s): %s", step, strerror(error));
	return -error;
}

/* The loop ends at the first capability that this kernel does not know, or at once without CAP_SETPCAP: then
 * there is nothing to drop that privilege_forbid_new() does not cover. */
int privilege_drop_bounds(void)
{
	for (int number = 0; prctl(PR_CAPBSET_DROP, number, 0, 0, 0) == 0; number++)
		;
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	return 0;
}

int privilege_become(uid_t uid, gid_t gid, const char *name, gid_t group)
{
	if (name ? initgroups(name, gid) : setgroups(group == PRIVILEGE_NO_GROUP ? 0 : 1, &group))
		return failed("setgroups");
	return setresgid(gid, gid, gid) || setresuid(uid, uid, uid) ? failed("setresuid") : 0;
}

int privilege_drop_capabilities(uint32_t kept)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {0};

	if (geteuid() == 0 && syscall(SYS_capget, &header, data))
		return failed("capget");
	data[0].effective = data[0].permitted = kept & data[0].permitted;
	data[1] = (struct __user_cap_data_struct){0};
	data[0].inheritable = 0;
	return syscall(SYS_capset, &header, data) ? failed("capset") : 0;
}

int privilege_forbid_new(void)
{
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
		       ? failed("PR_SET_NO_NEW_PRIVS")
		       : 0;
}

int privilege_landlock_begin(int *ret_rules)
{
	/* The access rights of Landlock ABI version 1. */
	struct landlock_ruleset_attr attributes = {
		.handled_access_fs = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1,
	};

	*ret_rules = (int)syscall(SYS_landlock_create_ruleset, &attributes, sizeof(attributes), 0);
	if (*ret_rules >= 0)
		return 0;
	if (errno != ENOSYS && errno != EOPNOTSUPP && errno != EPERM)
		return failed("Landlock");
	return 0;
}

int privilege_landlock_allow(int rules, const char *path, uint64_t access)
{
	struct landlock_path_beneath_attr beneath = {.allowed_access = access};

	if (rules < 0)
		return 0;
	beneath.parent_fd = open(path, O_PATH | O_CLOEXEC);
	if (beneath.parent_fd < 0)
		return -errno;
	int result = syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0) ? -errno : 0;
	close(beneath.parent_fd);
	return result;
}

int privilege_landlock_enter(int rules)
{
	if (rules < 0) {
		log_info("no Landlock here: access to files is not restricted by it");
		return 0;
	}
	int result = syscall(SYS_landlock_restrict_self, rules, 0) ? failed("Landlock") : 0;
	close(rules);
	return result;
}

int privilege_enter_seccomp(uint32_t otherwise, uint32_t action, const struct privilege_call *calls, size_t count)
{
	scmp_filter_ctx filter = seccomp_init(otherwise);
	int result = filter ? 0 : -ENOMEM;

	for (size_t i = 0; i < count && !result; i++)
		result = seccomp_rule_add_array(filter, calls[i].error ? SCMP_ACT_ERRNO(calls[i].error) : action,
						calls[i].number, calls[i].is_narrow, &calls[i].argument);
	if (!result)
		result = seccomp_load(filter);
	seccomp_release(filter);
#ifdef __SANITIZE_ADDRESS__
	is_confined = 1;
#endif
	errno = -result;
	return result ? failed("seccomp") : 0;
}
