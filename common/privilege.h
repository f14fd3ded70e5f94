/* Steps by which a daemon permanently drops its privileges. Each daemon chooses the steps, their order and
 * their lists itself (probe/sandbox.c, correlator/confine.c,
 * shipper/sandbox.c).
 *
 * Each function returns 0 or -errno. All but privilege_landlock_allow()
 * log their failure.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include <linux/landlock.h>
#include <linux/sched.h>
#include <seccomp.h>

#define PRIVILEGE_NO_GROUP ((gid_t)-1)
#define PRIVILEGE_NO_CAPABILITY 0
/* Flags of clone(2) that make namespaces: in a user namespace of its own, a process has all capabilities. */
#define PRIVILEGE_NAMESPACES \
	(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWPID | CLONE_NEWNET)

/* Drops the bounding set, so that execve() cannot regain a capability. Call before privilege_become(). */
int privilege_drop_bounds(void);

/* Switches to another user. Its groups are those of user `name`; if that is NULL, only `group`, if any. */
int privilege_become(uid_t uid, gid_t gid, const char *name, gid_t group);

/* Drops all capabilities; a process that still runs as root keeps those of `kept` (bits below 32) that it has. */
int privilege_drop_capabilities(uint32_t kept);

/* Sets no_new_privs, and makes the process non-dumpable: others of the same user cannot trace it. */
int privilege_forbid_new(void);

/* Landlock: forbids all file access except what is allowed beneath a path, given as bits of
 * LANDLOCK_ACCESS_FS_*. If the kernel lacks Landlock, or the system call filter of a service manager
 * blocks it, `*ret_rules` is -1, and the other two do nothing but report it. */
int privilege_landlock_begin(int *ret_rules);
int privilege_landlock_allow(int rules, const char *path, uint64_t access);
int privilege_landlock_enter(int rules); /* closes `rules` */

/* A system call; with `is_narrow`, only if `argument` matches. */
struct privilege_call {
	int number;
	bool is_narrow;
	struct scmp_arg_cmp argument;
	uint16_t error; /* if not 0, it fails with this, whatever the action */
};

/* Calls that no daemon with an own user needs: initialisers of struct privilege_call. A list of what is refused, not of
 * what is allowed: libraries choose their calls by what the kernel offers. */
/* clang-format off */
#define PRIVILEGE_CALLS_REFUSED \
	{SCMP_SYS(execve)}, {SCMP_SYS(execveat)}, {SCMP_SYS(ptrace)}, {SCMP_SYS(rt_sigqueueinfo)}, \
	{SCMP_SYS(rt_tgsigqueueinfo)}, {SCMP_SYS(pidfd_getfd)}, {SCMP_SYS(process_vm_readv)}, \
	{SCMP_SYS(process_vm_writev)}, {SCMP_SYS(kcmp)}, {SCMP_SYS(bpf)}, {SCMP_SYS(perf_event_open)}, \
	{SCMP_SYS(userfaultfd)}, {SCMP_SYS(io_uring_setup)}, {SCMP_SYS(mount)}, {SCMP_SYS(umount2)}, \
	{SCMP_SYS(move_mount)}, {SCMP_SYS(fsopen)}, {SCMP_SYS(open_tree)}, {SCMP_SYS(mount_setattr)}, \
	{SCMP_SYS(pivot_root)}, {SCMP_SYS(chroot)}, {SCMP_SYS(unshare)}, {SCMP_SYS(setns)}, {SCMP_SYS(setuid)}, \
	{SCMP_SYS(setgid)}, {SCMP_SYS(setreuid)}, {SCMP_SYS(setregid)}, {SCMP_SYS(setresuid)}, {SCMP_SYS(setresgid)}, \
	{SCMP_SYS(setgroups)}, {SCMP_SYS(capset)}, {SCMP_SYS(add_key)}, {SCMP_SYS(request_key)}, {SCMP_SYS(keyctl)}, \
	{SCMP_SYS(init_module)}, {SCMP_SYS(finit_module)}, {SCMP_SYS(delete_module)}, {SCMP_SYS(kexec_load)}, \
	{SCMP_SYS(kexec_file_load)}, {SCMP_SYS(reboot)}, {SCMP_SYS(clock_settime)}, {SCMP_SYS(settimeofday)}, \
	{SCMP_SYS(personality)}, {SCMP_SYS(open_by_handle_at)}, {SCMP_SYS(mknod)}, {SCMP_SYS(mknodat)}
/* clang-format on */

/* Loads a seccomp filter: `action` (SCMP_ACT_*) for `calls`, `otherwise` for all others. */
int privilege_enter_seccomp(uint32_t otherwise, uint32_t action, const struct privilege_call *calls, size_t count);
