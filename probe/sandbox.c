/* See sandbox.h. The order matters: each step needs what the next ones take away. */
#include "probe/sandbox.h"

#include <errno.h>
#include <grp.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <seccomp.h>

#include "common/log.h"

/* Kernels before 5.19 refuse every bpf(2) call without CAP_BPF where
 * kernel.unprivileged_bpf_disabled is set. */
#define CAP_BPF_NUMBER 39

struct capabilities {
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
};

static int capabilities_get(struct capabilities *ret_capabilities)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};

	return syscall(SYS_capget, &header, ret_capabilities->data) ? -errno : 0;
}

static int capabilities_set(const struct capabilities *capabilities)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};

	return syscall(SYS_capset, &header, capabilities->data) ? -errno : 0;
}

/* Can an iterator be made with no capability in effect? */
static int iterator_needs_capability(int link, bool *ret_needed)
{
	struct capabilities all, none;
	int result = capabilities_get(&all);

	if (result)
		return result;
	none = all;
	for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++)
		none.data[i].effective = 0;
	result = capabilities_set(&none);
	if (result)
		return result;
	int fd = bpf_iter_create(link);
	*ret_needed = fd < 0;
	if (fd >= 0)
		close(fd);
	return capabilities_set(&all);
}

static int identity_change(const struct sandbox_options *options)
{
	if (geteuid() != 0)
		return 0; /* the service manager has done it */
	size_t count = options->group == (gid_t)-1 ? 0 : 1;
	if (setgroups(count, &options->group) ||
	    setresgid(options->gid, options->gid, options->gid) ||
	    setresuid(options->uid, options->uid, options->uid))
		return -errno;
	return 0;
}

static int capabilities_drop(bool keep_bpf)
{
	struct capabilities kept = {0};

	if (keep_bpf) {
		uint32_t bit = 1U << (CAP_BPF_NUMBER % 32);

		kept.data[CAP_BPF_NUMBER / 32].effective = bit;
		kept.data[CAP_BPF_NUMBER / 32].permitted = bit;
	}
	return capabilities_set(&kept);
}

/* Fails with EINVAL at the first number that this kernel does not know; without
 * CAP_SETPCAP there is nothing to give away that no_new_privs does not cover. */
static void capabilities_bound(void)
{
	for (int number = 0; prctl(PR_CAPBSET_DROP, number, 0, 0, 0) == 0; number++)
		;
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
}

/* No path of any kind. Where the kernel has no Landlock, or a service manager's filter
 * does not let it through, seccomp stands alone. */
static int landlock_enter(void)
{
	struct landlock_ruleset_attr rules = {
		.handled_access_fs = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1,
	};
	int fd = (int)syscall(SYS_landlock_create_ruleset, &rules, sizeof(rules), 0);

	if (fd < 0)
		return errno == ENOSYS || errno == EOPNOTSUPP || errno == EPERM ? 0 : -errno;
	int result = syscall(SYS_landlock_restrict_self, fd, 0) ? -errno : 0;
	close(fd);
	return result;
}

static int seccomp_allow(scmp_filter_ctx filter)
{
	static const int calls[] = {
		SCMP_SYS(read), SCMP_SYS(write), SCMP_SYS(close), SCMP_SYS(ppoll),
		SCMP_SYS(connect), SCMP_SYS(sendto), SCMP_SYS(recvfrom), SCMP_SYS(getsockopt),
		SCMP_SYS(clock_gettime), SCMP_SYS(brk), SCMP_SYS(munmap), SCMP_SYS(mremap),
		SCMP_SYS(madvise), SCMP_SYS(futex), SCMP_SYS(getrandom), SCMP_SYS(fcntl),
		SCMP_SYS(rt_sigaction), SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigreturn),
		SCMP_SYS(sigaltstack), SCMP_SYS(restart_syscall), SCMP_SYS(gettid),
		SCMP_SYS(getpid), SCMP_SYS(exit), SCMP_SYS(exit_group),
	};
	int result = 0;

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]) && !result; i++)
		result = seccomp_rule_add(filter, SCMP_ACT_ALLOW, calls[i], 0);
	/* To connect again; anything else of the network stays shut. */
	if (!result)
		result = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(socket), 1,
					  SCMP_A0(SCMP_CMP_EQ, AF_UNIX));
	/* abort(3) signals this process; there may be others of its user. */
	if (!result)
		result = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 1,
					  SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)getpid()));
	/* A new pass over the living: no other use of bpf(2). */
	if (!result)
		result = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(bpf), 1,
					  SCMP_A0(SCMP_CMP_EQ, BPF_ITER_CREATE));
	if (!result)
		result = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1,
					  SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
	return result;
}

static int seccomp_enter(void)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));

	if (!filter)
		return -ENOMEM;
	int result = seccomp_allow(filter);
	if (!result)
		result = seccomp_load(filter);
	seccomp_release(filter);
	return result;
}

int sandbox_enter(const struct sandbox_options *options)
{
	const char *step = "trying the iterator without privilege";
	bool keep_bpf = false;
	int result = iterator_needs_capability(options->iterator_link, &keep_bpf);

	if (!result) {
		step = "becoming an unprivileged user";
		capabilities_bound();
		prctl(PR_SET_KEEPCAPS, keep_bpf, 0, 0, 0);
		result = identity_change(options);
	}
	if (!result) {
		step = "dropping capabilities";
		result = capabilities_drop(keep_bpf);
	}
	if (!result) {
		step = "setting no_new_privs";
		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
		    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0))
			result = -errno;
	}
	if (!result) {
		step = "entering Landlock";
		result = landlock_enter();
	}
	if (!result) {
		step = "entering seccomp";
		result = seccomp_enter();
	}
	if (result)
		log_error("cannot give privileges away (%s): %s", step, strerror(-result));
	else if (keep_bpf)
		log_info("this kernel asks CAP_BPF for reading iterators (before 5.19): kept");
	return result;
}
