/* Processes of known behaviour, for tests/exact/check: each act is a way to run and to end
 * that accounting can get wrong.
 *
 *   actor ACT DIRECTORY      DIRECTORY is for the act's files
 *
 * Processes that start children reap them and write their ground truth (truth.h), unless the
 * act is about children reaped by another process.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <linux/sched.h>

#include "tests/exact/truth.h"

#define MIB (1024 * 1024)
#define BLOCK_SIZE (64 * 1024)
#define THREADS 4

static const char *directory;
static char *self;

/* ---- workloads */

static void burn(long cpu_ms)
{
	struct timespec begin, now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < cpu_ms);
}

/* All pages stay in memory until it is unmapped. */
static void *memory_take(size_t size)
{
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		err(1, "mmap");
	memset(memory, 1, size);
	return memory;
}

/* Writes a file through to the disk, reads half of it back from the disk, and truncates the last part
 * written before it reaches the disk. */
static void disk_use(int blocks)
{
	static __thread char block[BLOCK_SIZE];
	char path[4096];

	snprintf(path, sizeof(path), "%s/file-%ld", directory, (long)gettid());
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0)
		err(1, "%s", path);
	for (int i = 0; i < blocks; i++)
		if (write(fd, block, sizeof(block)) < 0)
			err(1, "%s", path);
	fsync(fd);
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	for (int i = 0; i < blocks / 2; i++)
		if (pread(fd, block, sizeof(block), (off_t)i * BLOCK_SIZE) < 0)
			err(1, "%s", path);
	if (write(fd, block, sizeof(block)) < 0 || ftruncate(fd, (off_t)blocks * BLOCK_SIZE) < 0)
		err(1, "%s", path);
	close(fd);
	unlink(path);
}

static void work(long cpu_ms, size_t memory_bytes, int blocks)
{
	void *memory = memory_take(memory_bytes);

	burn(cpu_ms);
	disk_use(blocks);
	munmap(memory, memory_bytes);
}

static _Noreturn void leave(int status)
{
	truth_note_peak();
	_exit(status);
}

static pid_t checked_fork(void)
{
	pid_t pid = fork();

	if (pid < 0)
		err(1, "fork");
	return pid;
}

static void execute(const char *act)
{
	execl(self, self, act, directory, NULL);
	err(127, "%s", self);
}

static pid_t spawn(const char *act)
{
	char *arguments[] = {self, (char *)act, (char *)directory, NULL};
	pid_t pid;
	int error = posix_spawn(&pid, self, NULL, NULL, arguments, environ);

	if (error)
		errx(1, "posix_spawn: %s", strerror(error));
	return pid;
}

/* ---- one process */

static void act_nothing(void)
{
	_exit(0);
}

static void act_peak(void)
{
	leave(0);
}

static void act_single(void)
{
	work(60, 20 * MIB, 16);
	leave(3);
}

static void *thread_work(void *number)
{
	work(10 + 5 * (long)(intptr_t)number, MIB, 4 + (int)(intptr_t)number);
	return NULL;
}

static void threads_start(pthread_t threads[THREADS], void *(*body)(void *))
{
	for (intptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, body, (void *)i))
			errx(1, "pthread_create");
}

static void threads_run(void)
{
	pthread_t threads[THREADS];

	threads_start(threads, thread_work);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

static void act_threads(void)
{
	threads_run();
	work(20, 8 * MIB, 4);
	leave(0);
}

static void *thread_work_for_ever(void *number)
{
	thread_work(number);
	for (;;)
		burn(1000);
	return NULL;
}

static void act_threads_running(void)
{
	pthread_t threads[THREADS];

	threads_start(threads, thread_work_for_ever);
	usleep(200000);
	leave(7);
}

static void *thread_leave_later(void *number)
{
	thread_work(number);
	usleep(50000);
	if (!number)
		leave(42);
	return NULL;
}

static void act_leader_first(void)
{
	pthread_t threads[THREADS];

	work(10, MIB, 3);
	threads_start(threads, thread_leave_later);
	pthread_exit(NULL);
}

static void *thread_execute(void *number)
{
	thread_work(number);
	execute("single");
	return NULL;
}

/* The leader has used some of every resource when the other thread's exec terminates it. */
static void act_thread_exec(void)
{
	pthread_t thread;

	work(15, 30 * MIB, 5);
	if (pthread_create(&thread, NULL, thread_execute, NULL))
		errx(1, "pthread_create");
	for (;;)
		pause();
}

static void act_exec_chain(void)
{
	work(10, 40 * MIB, 4);
	execute("single");
}

/* Already running when the probe starts, or still when it ends: works, reports that, waits, works again. */
static void act_patient(void)
{
	char path[4096], byte;

	work(40, 10 * MIB, 8);
	snprintf(path, sizeof(path), "%s/worked", directory);
	close(open(path, O_WRONLY | O_CREAT, 0600));
	snprintf(path, sizeof(path), "%s/go-on", directory);
	int fd = open(path, O_RDONLY);

	if (fd < 0 || read(fd, &byte, 1) < 0)
		err(1, "%s", path);
	work(40, 30 * MIB, 8); /* more than any process scan has seen */
	leave(5);
}

static void act_patient_threads(void)
{
	threads_run();
	act_patient();
}

/* ---- parents and children */

/* The peaks of the children are measured: the 400 MiB of their parent, from which they were forked, must not
 * count, but in the fork that keeps them. */
static void act_big_parent(void)
{
	void *memory = memory_take((size_t)400 * MIB);
	pid_t pids[8];

	for (int i = 0; i < 2; i++) {
		pids[i] = vfork();
		if (pids[i] == 0) {
			execl(self, self, "peak", directory, NULL);
			_exit(127);
		}
		pids[2 + i] = spawn("peak");
		pids[4 + i] = checked_fork();
		if (pids[4 + i] == 0)
			execute("peak");
	}
	pids[6] = spawn("single"); /* below the peak of its parent */
	pids[7] = checked_fork();
	if (pids[7] == 0) {
		munmap(memory, (size_t)300 * MIB);
		memory_take(50 * MIB);
		leave(0);
	}
	truth_reap_all(pids, 8);
	munmap(memory, (size_t)400 * MIB);
	leave(0);
}

static void act_small_parent(void)
{
	truth_reap(spawn("peak"));
	leave(0);
}

/* `count` children, `parallel` at a time; every second one does not exec. */
static void children_run(int count, int parallel)
{
	pid_t pids[100];

	for (int done = 0; done < count; done += parallel) {
		for (int i = 0; i < parallel; i++) {
			pids[i] = i % 2 ? spawn("nothing") : checked_fork();
			if (pids[i] == 0)
				_exit((done + i) % 256);
		}
		truth_reap_all(pids, parallel);
	}
}

static void act_short(void)
{
	children_run(200, 2);
	leave(0);
}

static void act_many(void)
{
	children_run(10000, 50);
	leave(0);
}

/* A textbook daemon: its parent and its grandparent have ended. */
static void act_daemon(void)
{
	pid_t child = checked_fork();

	if (child) {
		truth_reap(child);
		leave(0);
	}
	setsid();
	if (checked_fork())
		_exit(0);
	usleep(50000);
	work(30, 12 * MIB, 6);
	execute("single");
}

/* Three generations, each outliving the previous one: they are reparented to the subreaper. */
static void act_orphans(void)
{
	for (int generation = 0; generation < 3; generation++) {
		if (checked_fork()) {
			burn(5);
			_exit(10 + generation);
		}
		usleep(20000);
		work(10, 2 * MIB, 2);
	}
	leave(20);
}

static void act_statuses(void)
{
	const int signals[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGILL,  SIGABRT, SIGKILL, SIGSEGV,
			       SIGPIPE, SIGALRM, SIGTERM, SIGUSR1, SIGXCPU, SIGRTMAX};
	const struct rlimit none = {0, 0};
	pid_t pid;

	setrlimit(RLIMIT_CORE, &none);
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++) {
		pid = checked_fork();
		if (pid == 0) {
			signal(signals[i], SIG_DFL);
			kill(getpid(), signals[i]);
			_exit(99);
		}
		truth_reap(pid);
	}
	for (int code = 0; code < 256; code += 17) {
		pid = checked_fork();
		if (pid == 0)
			_exit(code);
		truth_reap(pid);
	}
	leave(255);
}

static void act_core(void)
{
	struct rlimit limit;

	getrlimit(RLIMIT_CORE, &limit);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_CORE, &limit);
	if (chdir(directory) < 0)
		err(1, "%s", directory);
	memory_take(4 * MIB);
	abort();
}

/* Children that are not waited for: the kernel reaps them when they end. */
static void act_auto_reaped(void)
{
	enum { COUNT = 50 };
	pid_t pids[COUNT];

	signal(SIGCHLD, SIG_IGN);
	for (int i = 0; i < COUNT; i++) {
		pids[i] = checked_fork();
		if (pids[i] == 0)
			_exit(i);
	}
	while (wait(NULL) >= 0 || errno != ECHILD)
		;
	for (int i = 0; i < COUNT; i++)
		truth_note_ran(pids[i], i << 8);
	leave(0);
}

/* ---- the same pid again and again */

/* Forks a child with that pid, or with any pid for 0. Returns -1 if the pid is taken. */
static pid_t fork_as(pid_t wanted)
{
	struct clone_args arguments = {
		.exit_signal = SIGCHLD,
		.set_tid = wanted ? (uintptr_t)&wanted : 0,
		.set_tid_size = wanted ? 1 : 0,
	};

	return (pid_t)syscall(SYS_clone3, &arguments, sizeof(arguments));
}

static void *thread_speak(void *unused)
{
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, "!", 1) != 1)
		err(1, "/dev/null");
	close(fd);
	return NULL;
}

/* Successive owners of the pid differ in every figure that is compared. A thread of each ends before
 * the previous owner's final record is written. */
static _Noreturn void reuse_body(int turn)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, thread_speak, NULL))
		errx(1, "pthread_create");
	pthread_join(thread, NULL);
	if (turn % 5)
		threads_run();
	disk_use(1 + turn % 3);
	burn(turn % 7);
	if (turn % 4 == 3)
		execute("nothing");
	_exit(turn % 256);
}

/* The next owner begins immediately, before the kernel's final record of the previous one. */
static void act_reuse(void)
{
	pid_t wanted = 0, pid;

	for (int turn = 0; turn < 100; turn++) {
		pid = fork_as(wanted);
		if (pid < 0 && errno == EEXIST)
			break; /* taken by another process: too few turns are reported */
		if (pid < 0)
			err(1, "clone3 with a chosen pid");
		if (pid == 0)
			reuse_body(turn);
		wanted = pid;
		truth_reap(pid);
	}
	leave(0);
}

/* ---- */

static const struct {
	const char *name;
	void (*run)(void);
} acts[] = {
	{"nothing", act_nothing},
	{"peak", act_peak},
	{"single", act_single},
	{"threads", act_threads},
	{"threads-running", act_threads_running},
	{"leader-first", act_leader_first},
	{"thread-exec", act_thread_exec},
	{"exec-chain", act_exec_chain},
	{"patient", act_patient},
	{"patient-threads", act_patient_threads},
	{"big-parent", act_big_parent},
	{"small-parent", act_small_parent},
	{"short", act_short},
	{"many", act_many},
	{"daemon", act_daemon},
	{"orphans", act_orphans},
	{"statuses", act_statuses},
	{"core", act_core},
	{"auto-reaped", act_auto_reaped},
	{"reuse", act_reuse},
};

int main(int argc, char **argv)
{
	if (argc != 3)
		errx(2, "usage: actor ACT DIRECTORY");
	self = argv[0];
	directory = argv[2];
	for (size_t i = 0; i < sizeof(acts) / sizeof(*acts); i++)
		if (!strcmp(argv[1], acts[i].name))
			acts[i].run();
	errx(2, "no act %s", argv[1]);
}
