/* See sandbox.h. The order matters: each step needs what the next ones take away. */
#include "probe/sandbox.h"

#include <errno.h>
#include <grp.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/bpf.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <seccomp.h>

#include "common/log.h"

/* Fails with EINVAL at the first number that this kernel does not know; without
 * CAP_SETPCAP there is nothing to give away that no_new_privs does not cover. */
static int bounds_drop(const struct sandbox_options *options)
{
	for (int number = 0; prctl(PR_CAPBSET_DROP, number, 0, 0, 0) == 0; number++)
		;
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	return 0;
}

static int identity_change(const struct sandbox_options *options)
{
	if (geteuid() != 0)
		return 0; /* the service manager has done it */
	if (setgroups(options->group == (gid_t)-1 ? 0 : 1, &options->group) ||
	    setresgid(options->gid, options->gid, options->gid))
		return -1;
	return setresuid(options->uid, options->uid, options->uid);
}

static int capabilities_drop(const struct sandbox_options *options)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {0};

	return (int)syscall(SYS_capset, &header, none);
}

static int privileges_forbid(const struct sandbox_options *options)
{
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

/* No path of any kind. Where the kernel has no Landlock, or a service manager's filter
 * does not let it through, seccomp stands alone. */
static int landlock_enter(const struct sandbox_options *options)
{
	struct landlock_ruleset_attr rules = {
		.handled_access_fs = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1,
	};
	int fd = (int)syscall(SYS_landlock_create_ruleset, &rules, sizeof(rules), 0);

	if (fd < 0)
		return errno == ENOSYS || errno == EOPNOTSUPP || errno == EPERM ? 0 : -1;
	int result = (int)syscall(SYS_landlock_restrict_self, fd, 0);
	close(fd);
	return result;
}

/* With any arguments: what works on descriptors that are open, memory that cannot be run,
 * time, signals to itself. `connect` is for the next correlator. */
static const int calls[] = {
	SCMP_SYS(read), SCMP_SYS(write), SCMP_SYS(close), SCMP_SYS(ppoll), SCMP_SYS(connect),
	SCMP_SYS(sendto), SCMP_SYS(recvfrom), SCMP_SYS(getsockopt), SCMP_SYS(clock_gettime),
	SCMP_SYS(brk), SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(madvise), SCMP_SYS(futex),
	SCMP_SYS(getrandom), SCMP_SYS(fcntl), SCMP_SYS(rt_sigaction), SCMP_SYS(rt_sigprocmask),
	SCMP_SYS(rt_sigreturn), SCMP_SYS(sigaltstack), SCMP_SYS(restart_syscall),
	SCMP_SYS(gettid), SCMP_SYS(getpid), SCMP_SYS(exit), SCMP_SYS(exit_group),
};

/* With these arguments only: a Unix socket, a new pass over the living, memory. */
static const struct {
	int call;
	struct scmp_arg_cmp argument;
} narrow_calls[] = {
	{SCMP_SYS(socket), {0, SCMP_CMP_EQ, AF_UNIX, 0}},
	{SCMP_SYS(bpf), {0, SCMP_CMP_EQ, BPF_ITER_CREATE, 0}},
	{SCMP_SYS(mmap), {2, SCMP_CMP_MASKED_EQ, PROT_EXEC, 0}},
};

static int seccomp_enter(const struct sandbox_options *options)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	int result = filter ? 0 : -ENOMEM;

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]) && !result; i++)
		result = seccomp_rule_add(filter, SCMP_ACT_ALLOW, calls[i], 0);
	for (size_t i = 0; i < sizeof(narrow_calls) / sizeof(narrow_calls[0]) && !result; i++)
		result = seccomp_rule_add(filter, SCMP_ACT_ALLOW, narrow_calls[i].call, 1,
					  narrow_calls[i].argument);
	if (!result) /* abort(3) signals this process; there may be others of its user */
		result = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 1,
					  SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)getpid()));
	if (!result)
		result = seccomp_load(filter);
	seccomp_release(filter);
	errno = -result;
	return result;
}

int sandbox_enter(const struct sandbox_options *options)
{
	static const struct {
		const char *what;
		int (*take)(const struct sandbox_options *options); /* not 0: see errno */
	} steps[] = {
		{"bounding capabilities", bounds_drop},
		{"becoming an unprivileged user", identity_change},
		{"dropping capabilities", capabilities_drop},
		{"forbidding new privileges", privileges_forbid},
		{"entering Landlock", landlock_enter},
		{"entering seccomp", seccomp_enter},
	};

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		if (steps[i].take(options) == 0)
			continue;
		int error = errno;

		log_error("cannot give privileges away (%s): %s", steps[i].what, strerror(error));
		return -error;
	}
	return 0;
}
