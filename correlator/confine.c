/* Capabilities, Landlock, seccomp. See confine.h.
 *
 * The filter says what is refused and not what is allowed, unlike the probe's
 * (probe/sandbox.c): SQLite, libuv and the C library choose their system calls as the
 * kernel offers them, and a list of all would break with their next release. */
#include "correlator/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/capability.h>
#include <linux/landlock.h>
#include <seccomp.h>

#ifdef __SANITIZE_ADDRESS__
/* The sanitizer's check for leaks traces the process at its end: not one that is confined. */
int __lsan_is_turned_off(void);
static int confined;

int __lsan_is_turned_off(void)
{
	return confined;
}
#endif

void confine_bounds(void)
{
	/* Fails at the first number that this kernel does not know, or for want of
	 * CAP_SETPCAP: then there is nothing to give away that no_new_privs does not cover. */
	for (int number = 0; prctl(PR_CAPBSET_DROP, number, 0, 0, 0) == 0; number++)
		;
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
}

int confine_capabilities(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {0};

	if (geteuid() == 0)
		data[0].effective = data[0].permitted = 1U << CAP_DAC_OVERRIDE;
	return syscall(SYS_capset, &header, data) ? -errno : 0;
}

#define READ (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define REMOVE LANDLOCK_ACCESS_FS_REMOVE_FILE
#define WRITE (LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_MAKE_REG | REMOVE)

static int landlock_allow(int rules, const char *directory, uint64_t access)
{
	struct landlock_path_beneath_attr beneath = {
		.allowed_access = access,
		.parent_fd = open(directory, O_PATH | O_CLOEXEC),
	};

	if (beneath.parent_fd < 0)
		return -errno;
	int result = syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0)
			     ? -errno : 0;
	close(beneath.parent_fd);
	return result;
}

/* Of the file itself, wherever a link leads. */
static int landlock_allow_around(int rules, const char *file, uint64_t access)
{
	char path[PATH_MAX];

	if (!realpath(file, path))
		return -errno;
	return landlock_allow(rules, dirname(path), access);
}

/* Where the kernel has no Landlock, or a service manager's filter does not let it through,
 * the users' rights on files stand alone. */
static int landlock_enter(const char *store, const char *socket)
{
	struct landlock_ruleset_attr attributes = {
		.handled_access_fs = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1,
	};
	int rules = (int)syscall(SYS_landlock_create_ruleset, &attributes, sizeof(attributes), 0);

	if (rules < 0)
		return errno == ENOSYS || errno == EOPNOTSUPP || errno == EPERM ? 0 : -errno;
	int result = landlock_allow(rules, "/", READ);
	if (!result)
		result = landlock_allow_around(rules, store, WRITE);
	if (!result && socket)
		result = landlock_allow_around(rules, socket, REMOVE);
	if (!result && syscall(SYS_landlock_restrict_self, rules, 0))
		result = -errno;
	close(rules);
	return result;
}

static int seccomp_refuse(scmp_filter_ctx filter)
{
	static const int calls[] = {
		SCMP_SYS(execve), SCMP_SYS(execveat), SCMP_SYS(ptrace), SCMP_SYS(kill),
		SCMP_SYS(tkill), SCMP_SYS(rt_sigqueueinfo), SCMP_SYS(rt_tgsigqueueinfo),
		SCMP_SYS(pidfd_open), SCMP_SYS(pidfd_getfd), SCMP_SYS(pidfd_send_signal),
		SCMP_SYS(process_vm_readv), SCMP_SYS(process_vm_writev), SCMP_SYS(kcmp),
		SCMP_SYS(bpf), SCMP_SYS(perf_event_open), SCMP_SYS(userfaultfd),
		SCMP_SYS(io_uring_setup), SCMP_SYS(mount), SCMP_SYS(umount2), SCMP_SYS(move_mount),
		SCMP_SYS(fsopen), SCMP_SYS(open_tree), SCMP_SYS(mount_setattr),
		SCMP_SYS(pivot_root), SCMP_SYS(chroot), SCMP_SYS(unshare), SCMP_SYS(setns),
		SCMP_SYS(setuid), SCMP_SYS(setgid), SCMP_SYS(setreuid), SCMP_SYS(setregid),
		SCMP_SYS(setresuid), SCMP_SYS(setresgid), SCMP_SYS(setgroups), SCMP_SYS(capset),
		SCMP_SYS(add_key), SCMP_SYS(request_key), SCMP_SYS(keyctl),
		SCMP_SYS(init_module), SCMP_SYS(finit_module), SCMP_SYS(delete_module),
		SCMP_SYS(kexec_load), SCMP_SYS(kexec_file_load), SCMP_SYS(reboot),
		SCMP_SYS(clock_settime), SCMP_SYS(settimeofday), SCMP_SYS(personality),
		SCMP_SYS(open_by_handle_at), SCMP_SYS(mknod), SCMP_SYS(mknodat),
	};
	const uint32_t refused = SCMP_ACT_ERRNO(EPERM);
	int result = 0;

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]) && !result; i++)
		result = seccomp_rule_add(filter, refused, calls[i], 0);
	if (!result)
		result = seccomp_rule_add(filter, refused, SCMP_SYS(socket), 1,
					  SCMP_A0(SCMP_CMP_NE, AF_UNIX));
	/* abort(3) signals this process. */
	if (!result)
		result = seccomp_rule_add(filter, refused, SCMP_SYS(tgkill), 1,
					  SCMP_A0(SCMP_CMP_NE, (scmp_datum_t)getpid()));
	return result;
}

static int seccomp_enter(void)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);

	if (!filter)
		return -ENOMEM;
	int result = seccomp_refuse(filter);
	if (!result)
		result = seccomp_load(filter);
	seccomp_release(filter);
	return result;
}

int confine_enter(const char *store, const char *socket)
{
	int result = landlock_enter(store, socket);

#ifdef __SANITIZE_ADDRESS__
	confined = 1;
#endif
	return result ? result : seccomp_enter();
}
