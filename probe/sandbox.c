/* See sandbox.h. The order matters: each step needs what the next ones take away. */
#include "probe/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/bpf.h>

#include "common/privilege.h"

/* Calls for open descriptors, memory that is not executable, signals, time. */
/* clang-format off */
#define CALLS_OF_BOTH                                                                 \
	{SCMP_SYS(read)}, {SCMP_SYS(write)}, {SCMP_SYS(close)}, {SCMP_SYS(ppoll)},             \
	{SCMP_SYS(sendto)}, {SCMP_SYS(recvfrom)}, {SCMP_SYS(clock_gettime)}, {SCMP_SYS(brk)},  \
	{SCMP_SYS(munmap)}, {SCMP_SYS(mremap)}, {SCMP_SYS(madvise)}, {SCMP_SYS(futex)},        \
	{SCMP_SYS(getrandom)}, {SCMP_SYS(fcntl)}, {SCMP_SYS(rt_sigaction)},                    \
	{SCMP_SYS(rt_sigprocmask)}, {SCMP_SYS(rt_sigreturn)}, {SCMP_SYS(sigaltstack)},         \
	{SCMP_SYS(restart_syscall)}, {SCMP_SYS(gettid)}, {SCMP_SYS(getpid)},                   \
	{SCMP_SYS(exit)}, {SCMP_SYS(exit_group)},                                              \
	{SCMP_SYS(mmap), true, {2, SCMP_CMP_MASKED_EQ, PROT_EXEC, 0}}
/* clang-format on */

static int calls_allow(const struct privilege_call *allowed, size_t count)
{
	return privilege_enter_seccomp(SCMP_ACT_ERRNO(EPERM), SCMP_ACT_ALLOW, allowed, count);
}

static int seccomp_enter(bool with_iterators)
{
	const struct privilege_call scan =
		with_iterators
			? (struct privilege_call){SCMP_SYS(openat), true, {2, SCMP_CMP_EQ, O_RDONLY | O_CLOEXEC, 0}}
			: (struct privilege_call){SCMP_SYS(bpf), true, {0, SCMP_CMP_EQ, BPF_ITER_CREATE, 0}};
	const struct privilege_call allowed[] = {
		CALLS_OF_BOTH,
		/* `connect` is for a restarted correlator. With these arguments only: a Unix socket,
		 * a new scan of running processes, and a signal to this process for abort(3),
		 * since its user may have other processes. */
		/* clang-format off */
		{SCMP_SYS(pread64)}, {SCMP_SYS(connect)}, {SCMP_SYS(shutdown)},
		{SCMP_SYS(getsockopt)},
		/* clang-format on */
		{SCMP_SYS(socket), true, {0, SCMP_CMP_EQ, AF_UNIX, 0}},
		{SCMP_SYS(tgkill), true, {0, SCMP_CMP_EQ, (scmp_datum_t)getpid(), 0}},
		scan,
	};

	return calls_allow(allowed, sizeof(allowed) / sizeof(allowed[0]));
}

/* The reader opens files to read them, which Landlock restricts to /proc, and forks. */
static int reader_seccomp_enter(void)
{
	const struct privilege_call allowed[] = {
		CALLS_OF_BOTH,
		/* clang-format off */
		{SCMP_SYS(openat), true, {2, SCMP_CMP_MASKED_EQ, O_ACCMODE | O_CREAT, O_RDONLY}},
		{SCMP_SYS(setitimer)}, {SCMP_SYS(wait4)},
		{SCMP_SYS(set_robust_list)}, {SCMP_SYS(rseq)},
		/* clang-format on */
		{SCMP_SYS(clone), true, {0, SCMP_CMP_MASKED_EQ, PRIVILEGE_NAMESPACES, 0}},
	};

	return calls_allow(allowed, sizeof(allowed) / sizeof(allowed[0]));
}

static int privileges_drop(uid_t uid, gid_t gid, gid_t group)
{
	int result = privilege_drop_bounds();

	if (!result && geteuid() == 0) /* otherwise the service manager has done it */
		result = privilege_become(uid, gid, NULL, group);
	if (!result)
		result = privilege_drop_capabilities(PRIVILEGE_NO_CAPABILITY);
	return result ? result : privilege_forbid_new();
}

/* Each may be opened for reading, however it is reached. */
static int iterators_allow(int rules, const int *iterators)
{
	char path[32];
	int result = 0;

	for (int i = 0; i < 2 && !result; i++) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", iterators[i]);
		result = privilege_landlock_allow(rules, path, LANDLOCK_ACCESS_FS_READ_FILE);
	}
	return result;
}

int sandbox_enter(uid_t uid, gid_t gid, gid_t group, const int *iterators)
{
	int rules, result = privileges_drop(uid, gid, group);

	if (!result)
		result = privilege_landlock_begin(&rules);
	if (!result && iterators)
		result = iterators_allow(rules, iterators);
	if (!result) /* no other path is allowed */
		result = privilege_landlock_enter(rules);
	return result ? result : seccomp_enter(iterators != NULL);
}

int sandbox_enter_reader(uid_t uid, gid_t gid)
{
	int rules, result = privileges_drop(uid, gid, PRIVILEGE_NO_GROUP);

	if (!result)
		result = privilege_landlock_begin(&rules);
	if (!result)
		result = privilege_landlock_allow(rules, "/proc", LANDLOCK_ACCESS_FS_READ_FILE);
	if (!result && rules >= 0) /* without Landlock: the probe reports it */
		result = privilege_landlock_enter(rules);
	return result ? result : reader_seccomp_enter();
}
