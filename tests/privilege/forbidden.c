/* A daemon's sandbox from inside: enters it as the daemon does, then tries what must fail, and
 * what must work. Prints a verdict for each attempt.
 *
 * usage: forbidden probe | probe-files DIRECTORY | reader | correlator STORE | nobody   (root; STORE: a writable file)
 *
 * For "probe-files" scans are as before Linux 5.19 (probe/iterator.h), on any kernel.
 *
 * For "nobody" it only gives up root, and shows that nothing but a sandbox refuses the attempts.
 *
 * If the sandbox is broken, the attempts harm only this process and a directory of its own,
 * never the machine.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <linux/userfaultfd.h>

#include "common/privilege.h"
#include "correlator/confine.h"
#include "probe/iterator.h"
#include "probe/sandbox.h"

#define NOBODY 65534

static const char *daemon_name;
static int failures, verdict_count;
static bool has_landlock;

static void verdict(bool ok, const char *name, const char *why)
{
	printf("%s - privilege: %s: %s%s%s\n", ok ? "ok" : "not ok", daemon_name, name, ok ? "" : "\n    ",
	       ok ? "" : why);
	failures += !ok;
	verdict_count++;
}

/* An iterator over processes with a program that writes nothing: r0 = 0; exit. */
static int iterator_link(void)
{
	const struct bpf_insn program[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	struct btf *btf = btf__load_vmlinux_btf();
	LIBBPF_OPTS(bpf_prog_load_opts, options, .expected_attach_type = BPF_TRACE_ITER);

	if (!btf)
		return -1;
	options.attach_btf_id = (uint32_t)btf__find_by_name_kind(btf, "bpf_iter_task", BTF_KIND_FUNC);
	btf__free(btf);
	int fd = bpf_prog_load(BPF_PROG_TYPE_TRACING, "nothing", "GPL", program, 2, &options);
	return fd < 0 ? -1 : bpf_link_create(fd, 0, BPF_TRACE_ITER, NULL);
}

static long call_bpf(int command, union bpf_attr *attributes)
{
	return syscall(SYS_bpf, command, attributes, sizeof(*attributes));
}

enum {
	PROBE = 1,
	READER = 2,
	CORRELATOR = 4,
	LISTED = PROBE | READER, /* their filters are allow lists */
	ALL = LISTED | CORRELATOR,
	LANDLOCKED = 16, /* to some of them it is refused by Landlock alone */
	PRIVILEGED = 8,  /* the kernel refuses it without privileges, before it looks at the arguments, if it has it */
};

struct attempt {
	int who; /* for whom it is forbidden */
	const char *name;
	long number;
	long argument[6];
};

#define PATH(text) (long)(text)
#define NO_PID 0x7fffffff

/* By number, so that no library substitutes another call. */
static const struct attempt attempts[] = {
	{LISTED | LANDLOCKED, "open a file", SYS_openat, {AT_FDCWD, PATH("/etc/passwd"), O_RDONLY}},
	{ALL | LANDLOCKED, "make a file", SYS_openat, {AT_FDCWD, PATH("/tmp/forbidden"), O_CREAT | O_WRONLY, 0600}},
	{PROBE, "look into another process", SYS_openat, {AT_FDCWD, PATH("/proc/1/cmdline"), O_RDONLY}},
	{LISTED, "read names in a directory", SYS_getdents64, {0, 0, 0}},
	{LISTED, "remove a file", SYS_unlinkat, {AT_FDCWD, PATH("/tmp/forbidden"), 0}},
	{ALL, "truncate a file", SYS_truncate, {PATH("/nowhere"), 0}},
	{LISTED, "rename a file", SYS_renameat2, {AT_FDCWD, PATH("/x"), AT_FDCWD, PATH("/y"), 0}},
	{ALL | LANDLOCKED, "make a directory", SYS_mkdirat, {AT_FDCWD, PATH("/tmp/forbidden"), 0700}},
	{LISTED, "change a mode", SYS_fchmodat, {AT_FDCWD, PATH("/tmp/forbidden"), 0777}},
	{ALL, "a TCP socket", SYS_socket, {AF_INET, SOCK_STREAM, 0}},
	{ALL, "an IPv6 socket", SYS_socket, {AF_INET6, SOCK_DGRAM, 0}},
	{ALL, "a netlink socket", SYS_socket, {AF_NETLINK, SOCK_RAW, 0}},
	{ALL | PRIVILEGED, "a packet socket", SYS_socket, {AF_PACKET, SOCK_RAW, 0}},
	{LISTED, "a pair of sockets", SYS_socketpair, {AF_INET, SOCK_STREAM, 0, 0}},
	{LISTED, "listen", SYS_listen, {-1, 1}},
	{LISTED, "bind", SYS_bind, {-1, 0, 0}},
	{LISTED, "accept", SYS_accept4, {-1, 0, 0, 0}},
	{ALL, "run a program", SYS_execve, {PATH("/bin/true"), 0, 0}},
	{ALL, "run a program by descriptor", SYS_execveat, {-1, PATH(""), 0, 0, 0}},
	{PROBE, "fork", SYS_clone, {SIGCHLD, 0, 0, 0, 0}},
	{ALL, "clone3", SYS_clone3, {0, 0}},
	{ALL | PRIVILEGED, "fork into a user namespace", SYS_clone, {CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0}},
	{ALL, "tracing", SYS_ptrace, {PTRACE_TRACEME, 0, 0, 0}},
	{ALL, "read a process' memory", SYS_process_vm_readv, {1, 0, 0, 0, 0, 0}},
	{ALL, "kill a process", SYS_kill, {NO_PID, 0}},
	{ALL, "signal by pidfd", SYS_pidfd_send_signal, {-1, 0, 0, 0}},
	{ALL, "mount", SYS_mount, {PATH("none"), PATH("/nowhere"), PATH("tmpfs"), 0, 0}},
	{ALL, "unmount", SYS_umount2, {PATH("/nowhere"), 0}},
	{ALL, "change the root", SYS_chroot, {PATH("/nowhere")}},
	{ALL, "new namespaces", SYS_unshare, {0}},
	{ALL, "another's namespace", SYS_setns, {-1, 0}},
	{ALL, "change the user", SYS_setuid, {NOBODY}},
	{ALL, "change the group", SYS_setgid, {NOBODY}},
	{ALL, "take capabilities", SYS_capset, {0, 0}},
	{LISTED, "change limits", SYS_prlimit64, {0, 7, 0, 0}},
	{LISTED, "set a process option", SYS_prctl, {PR_SET_DUMPABLE, 1, 0, 0, 0}},
	{LISTED,
	 "memory that can be executed",
	 SYS_mmap,
	 {0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0}},
	{LISTED, "make memory executable", SYS_mprotect, {0, 0, PROT_READ | PROT_EXEC}},
	{LISTED, "a file in memory", SYS_memfd_create, {PATH("forbidden"), 0}},
	{ALL, "io_uring", SYS_io_uring_setup, {0, 0}},
	{ALL | PRIVILEGED, "perf events", SYS_perf_event_open, {0, 0, -1, -1, 0}},
	{ALL, "user faults", SYS_userfaultfd, {UFFD_USER_MODE_ONLY}},
	{ALL, "keys", SYS_keyctl, {0, 0, 0, 0, 0}},
	{ALL | PRIVILEGED, "a kernel module", SYS_finit_module, {-1, PATH(""), 0}},
	{ALL | PRIVILEGED, "another kernel", SYS_kexec_load, {0, 0, 0, 0}},
	{ALL, "the clock", SYS_clock_settime, {-1, 0}},
	{LISTED, "a device's controls", SYS_ioctl, {0, 0, 0}},
	{LISTED, "another filter", SYS_seccomp, {99, 0, 0}},
};

static long try_one(const struct attempt *attempt)
{
	const long *with = attempt->argument;

	errno = 0;
	return syscall(attempt->number, with[0], with[1], with[2], with[3], with[4], with[5]);
}

/* EPERM comes from the filter, EACCES from Landlock: be_nobody() shows that. The correlator's filter answers clone3 as
 * a kernel without it, so that threads are made with clone. */
static bool is_refusal(int who, const struct attempt *attempt)
{
	return errno == EPERM || (who != PROBE && errno == EACCES) ||
	       (who == CORRELATOR && attempt->number == SYS_clone3 && errno == ENOSYS);
}

static void try_forbidden(int who)
{
	char why[128];

	for (size_t i = 0; i < sizeof(attempts) / sizeof(attempts[0]); i++) {
		if (!(attempts[i].who & who) || (attempts[i].who & LANDLOCKED && who != PROBE && !has_landlock))
			continue;
		long result = try_one(&attempts[i]);
		snprintf(why, sizeof(why), "gave %ld, %s", result, strerror(errno));
		verdict(result == -1 && is_refusal(who, &attempts[i]), attempts[i].name, why);
	}
}

/* Each in a process of its own, since it may run a program. */
static int be_nobody(void)
{
	const struct option_user nobody = {"nobody", NOBODY, NOBODY};
	int result = confine_drop(&nobody);

	verdict(result == 0, "root is given up", strerror(-result));
	for (size_t i = 0; i < sizeof(attempts) / sizeof(attempts[0]); i++) {
		int status = 0;
		pid_t child = fork();

		if (child == 0)
			_exit(try_one(&attempts[i]) == -1 && (errno == EPERM || errno == EACCES));
		waitpid(child, &status, 0);
		remove("/tmp/forbidden");
		verdict((attempts[i].who & PRIVILEGED) || WEXITSTATUS(status) == 0, attempts[i].name,
			"the sandbox alone does not refuse it");
	}
	return failures ? 1 : 0;
}

static void try_bpf(void)
{
	union bpf_attr attributes = {.prog_type = BPF_PROG_TYPE_SOCKET_FILTER};
	char why[128];

	static const struct {
		const char *name;
		int command;
	} refused[] = {
		{"load a BPF program", BPF_PROG_LOAD},
		{"make a BPF map", BPF_MAP_CREATE},
		{"open a pinned object", BPF_OBJ_GET},
		{"pin an object", BPF_OBJ_PIN},
		{"attach a BPF program", BPF_LINK_CREATE},
		{"detach one", BPF_LINK_DETACH},
		{"find another's program", BPF_PROG_GET_FD_BY_ID},
		{"find another's map", BPF_MAP_GET_FD_BY_ID},
		{"change a map by a call", BPF_MAP_UPDATE_ELEM},
		{"read a map by a call", BPF_MAP_LOOKUP_ELEM},
	};
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		errno = 0;
		long result = call_bpf(refused[i].command, &attributes);
		snprintf(why, sizeof(why), "gave %ld, %s", result, strerror(errno));
		verdict(result == -1 && errno == EPERM, refused[i].name, why);
	}
}

/* `iterators`: files of iterators, which can be opened and nothing else, or links. */
static void try_scan(int link, const int *iterators)
{
	char path[32], byte;
	int fd = -1;

	if (iterators) {
		verdict(bpf_iter_create(link) < 0 && errno == EPERM, "make an iterator by a call", "it can");
		verdict(open("/etc/passwd", O_RDONLY | O_CLOEXEC) < 0 || !has_landlock, "open a file as an iterator is",
			"it can");
	}
	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", iterators ? iterators[i] : -1);
		fd = iterators ? open(path, O_RDONLY | O_CLOEXEC) : bpf_iter_create(link);
		verdict(fd >= 0, i == 0 ? "a process scan still works" : "and another", strerror(errno));
		verdict(fd >= 0 && read(fd, &byte, 1) == 0, "and can be read", strerror(errno));
	}
}

static void try_needed(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "/nowhere"};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	int result = connect(fd, (struct sockaddr *)&address, sizeof(address));

	/* Landlock permits connect(2); the path does not exist. */
	verdict(fd >= 0 && result == -1 && errno == ENOENT, "connecting to a Unix socket works", strerror(errno));
	void *memory = malloc(1 << 20);
	verdict(memory != NULL, "memory can be had", "no");
	free(memory);
}

/* Another process of the sandbox's user: only the filter protects it. */
static pid_t victim_start(void)
{
	int ready[2];
	char byte;

	if (pipe(ready))
		return -1;
	pid_t child = fork();
	if (child == 0) {
		if (setgid(NOBODY) || setuid(NOBODY) || prctl(PR_SET_PDEATHSIG, SIGKILL) ||
		    write(ready[1], "1", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1)
		child = -1;
	close(ready[0]);
	return child;
}

static void try_victim(pid_t victim)
{
	verdict(syscall(SYS_tgkill, victim, victim, 0) == -1 && errno == EPERM,
		"signal another process of the same user", "it can");
	verdict(syscall(SYS_kill, victim, 0) == -1 && errno == EPERM, "kill another process of the same user",
		"it can");
}

static int sandbox(const int *iterators)
{
	return sandbox_enter(NOBODY, NOBODY, PRIVILEGE_NO_GROUP, iterators);
}

#if defined(__x86_64__)
/* getpid through the 32-bit entry, where numbers denote other calls, in a child process, because the attempt
 * kills it. Returns its wait status. */
static int try_other_abi(bool is_confined)
{
	int status = 0;
	pid_t child = fork();
	long result;

	if (child == 0) {
		signal(SIGSEGV, SIG_DFL); /* a sanitizer has a handler */
		if (is_confined && sandbox(NULL))
			_exit(2);
		__asm__ volatile("int $0x80" : "=a"(result) : "a"(20L) : "memory", "r8", "r9", "r10", "r11");
		_exit(1);
	}
	waitpid(child, &status, 0);
	return status;
}
#endif

static void check_other_abi(void)
{
#if defined(__x86_64__)
	static const char name[] = "a system call of the 32-bit kind kills";

	if (WIFSIGNALED(try_other_abi(false))) {
		printf("skip - privilege: %s: %s: this kernel has none\n", daemon_name, name);
		verdict_count++;
		return;
	}
	int status = try_other_abi(true);
	verdict(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS, name, "it came back");
#endif
}

/* `directory`: where files of iterators can be made; or NULL, for links. */
static int be_probe(pid_t victim, const char *directory)
{
	int link = iterator_link();

	if (link < 0 || (!directory && iterator_needs_file(link))) {
		printf("skip - privilege: %s: %s\n", daemon_name,
		       link < 0 ? strerror(errno) : "scans take files before Linux 5.19");
		verdict_count++;
		return 0;
	}
	const int files[] = {directory ? iterator_file(link, directory) : -1,
			     directory ? iterator_file(link, directory) : -1};
	const int *iterators = directory ? files : NULL;
	check_other_abi();
	int result = sandbox(iterators);
	verdict(result == 0, "the sandbox is entered", strerror(-result));
	if (result)
		return 1;
	try_forbidden(PROBE);
	try_victim(victim);
	try_bpf();
	try_scan(link, iterators);
	try_needed();
	return failures ? 1 : 0;
}

static int be_reader(pid_t victim)
{
	char byte;
	int result = sandbox_enter_reader(NOBODY, NOBODY);

	verdict(result == 0, "the sandbox is entered", strerror(-result));
	if (result)
		return 1;
	try_forbidden(READER);
	try_victim(victim);
	int fd = open("/proc/1/cmdline", O_RDONLY);
	verdict(fd >= 0 && read(fd, &byte, 1) == 1, "arguments can be read", strerror(errno));
	return failures ? 1 : 0;
}

/* SQLite creates and removes files beside the store. */
static void try_store(const char *store)
{
	char path[256];

	snprintf(path, sizeof(path), "%s-wal", store);
	int fd = open(path, O_CREAT | O_EXCL | O_RDWR, 0600);
	verdict(fd >= 0 && write(fd, "x", 1) == 1 && unlink(path) == 0,
		"a file beside the store can be made and removed", strerror(errno));
	verdict(open("/proc/self/stat", O_RDONLY) >= 0, "files can be read", strerror(errno));
}

static int be_correlator(pid_t victim, const char *store)
{
	const struct option_user nobody = {"nobody", NOBODY, NOBODY};
	int result = confine_drop(&nobody);

	if (result == 0)
		result = confine_enter(store, NULL, NULL);
	verdict(result == 0, "the sandbox is entered", strerror(-result));
	if (result)
		return 1;
	try_forbidden(CORRELATOR);
	try_victim(victim);
	try_store(store);
	return failures ? 1 : 0;
}

int main(int argc, char **argv)
{
	int status = 2;

	setvbuf(stdout, NULL, _IOLBF, 0);
	has_landlock = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION) > 0;
	daemon_name = argc > 1 ? argv[1] : "";
	if (argc == 2 && strcmp(daemon_name, "probe") == 0)
		status = be_probe(victim_start(), NULL);
	else if (argc == 3 && strcmp(daemon_name, "probe-files") == 0)
		status = be_probe(victim_start(), argv[2]);
	else if (argc == 2 && strcmp(daemon_name, "reader") == 0)
		status = be_reader(victim_start());
	else if (argc == 3 && strcmp(daemon_name, "correlator") == 0)
		status = be_correlator(victim_start(), argv[2]);
	else if (argc == 2 && strcmp(daemon_name, "nobody") == 0)
		status = be_nobody();
	else
		fprintf(stderr,
			"usage: forbidden probe | probe-files DIRECTORY | reader | correlator STORE | nobody\n");
	printf("1..%d\n", verdict_count);
	return status;
}
