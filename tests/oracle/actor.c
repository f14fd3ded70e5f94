/* Every program of the oracle's workloads: does what its arguments say, and writes what it did (truth.h).
 *
 *   NAME [STEP...]
 *
 * A step is WORD or WORD=NUMBER: `words` below is the list. Some are followed by a block, which `end` closes:
 *
 *   align anon=40 fork=3 touch=10 sleep=500 end wait exit=2
 *
 * Static, so that nothing but its steps uses memory and I/O; under many names, so that tools have names. Under the name
 * `tracer` it stands for `tracer run -- COMMAND...`: the mark of a run, without daemons of its own.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/oracle/truth.h"

#define KIB ((size_t)1024)
#define MIB (1024 * KIB)
#define HUGE_BYTES (2 * MIB)
#define BLOCK_BYTES (64 * KIB)
#define PAGE_BYTES (4 * KIB)
#define REGIONS_MAX 32
#define STEPS_MAX 64
#define MEMFD 100 /* descriptor of memory that survives an exec */

static const char *own_name;
static char block[BLOCK_BYTES];

/* ---- memory */

/* Memory that this process holds: one object of the truth. */
struct region {
	uint64_t object;
	char *address;
	size_t size;
	bool is_shared; /* a shared mapping: what is written is not copied */
	bool is_forked; /* private, but other processes may hold the same pages */
};

static struct region regions[REGIONS_MAX];
static int region_count;

static uint64_t object_new(void)
{
	static uint32_t count;

	return (uint64_t)getpid() << 32 | count++;
}

static void region_hold(const struct region *region)
{
	truth_add(TRUTH_HOLD, region->object, region->size);
}

static void region_add(uint64_t object, char *address, size_t size, bool is_shared)
{
	if (region_count == REGIONS_MAX)
		errx(98, "too many regions");
	regions[region_count] = (struct region){object, address, size, is_shared, false};
	region_hold(&regions[region_count++]);
}

static void region_fill(uint64_t object, void *address, size_t size, bool is_shared)
{
	if (address == MAP_FAILED)
		err(98, "memory");
	memset(address, 1, size);
	region_add(object, address, size, is_shared);
}

static void *map_private(size_t size, int flags)
{
	return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
}

static void *map_shared(size_t size, int flags, int fd)
{
	return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | flags, fd, 0);
}

static void do_anon(size_t mib)
{
	region_fill(object_new(), map_private(mib * MIB, 0), mib * MIB, false);
}

static void do_thp(size_t mib)
{
	char *address = map_private(mib * MIB + HUGE_BYTES, 0);

	if (address == MAP_FAILED)
		err(98, "memory");
	address += HUGE_BYTES - (uintptr_t)address % HUGE_BYTES;
	madvise(address, mib * MIB, MADV_HUGEPAGE);
	region_fill(object_new(), address, mib * MIB, false);
}

static void do_huge(size_t mib)
{
	region_fill(object_new(), map_private(mib * MIB, MAP_HUGETLB), mib * MIB, false);
}

static void do_shm(size_t mib)
{
	region_fill(object_new(), map_shared(mib * MIB, MAP_ANONYMOUS, -1), mib * MIB, true);
}

static void memfd_map(size_t mib)
{
	struct stat status;

	if (fstat(MEMFD, &status) < 0)
		err(98, "memfd");
	region_fill(UINT64_C(1) << 63 | status.st_ino, map_shared(mib * MIB, 0, MEMFD), mib * MIB, true);
}

static void do_memfd(size_t mib)
{
	int fd = memfd_create("oracle", 0);

	if (fd < 0 || ftruncate(fd, (off_t)(mib * MIB)) < 0 || dup2(fd, MEMFD) < 0)
		err(98, "memfd");
	close(fd);
	memfd_map(mib);
}

static void do_attach(size_t mib)
{
	memfd_map(mib);
}

/* Returns its descriptor. */
static int file_fill(const char *path, int flags, size_t mib)
{
	int fd = open(path, O_RDWR | O_CLOEXEC | flags, 0600);

	for (size_t left = mib * MIB; left; left -= BLOCK_BYTES)
		if (fd < 0 || write(fd, block, BLOCK_BYTES) != (ssize_t)BLOCK_BYTES)
			err(97, "%s", path);
	return fd;
}

/* It stays: the runner removes it with the directory. */
static void do_tmpfs(size_t mib)
{
	const char *directory = getenv(TRUTH_DIRECTORY);
	uint64_t object = object_new();
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/file-%llx", directory ? directory : "/dev/shm", (unsigned long long)object);
	close(file_fill(path, O_CREAT, mib));
	truth_add(TRUTH_FILE, object, mib * MIB);
}

static void look_at(const char *address, size_t size)
{
	volatile char sum = 0;

	for (size_t at = 0; at < size; at += PAGE_BYTES)
		sum = (char)(sum + address[at]);
}

/* Page cache, which the kernel can drop: no object. */
static void do_map(size_t mib)
{
	int fd = file_fill(".", O_TMPFILE, mib);
	const char *address = map_shared(mib * MIB, 0, fd);

	if (address == MAP_FAILED)
		err(98, "a mapped file");
	close(fd);
	look_at(address, mib * MIB);
	truth_add(TRUTH_MAPPED, object_new(), mib * MIB);
}

/* A part of private memory that others hold was written: it is another object now. */
static void region_split(struct region *region, size_t size)
{
	char *address = region->address;

	region->address += size;
	region->size -= size;
	region_hold(region);
	region_add(object_new(), address, size, false);
}

/* Writes to the first bytes of its memory. */
static void do_touch(size_t mib)
{
	size_t left = mib * MIB;

	for (int i = 0, count = region_count; i < count && left; i++) {
		struct region *region = &regions[i];
		size_t size = left < region->size ? left : region->size;

		memset(region->address, 2, size);
		left -= size;
		if (region->is_forked && !region->is_shared)
			region_split(region, size);
	}
}

static void do_look(size_t unused)
{
	for (int i = 0; i < region_count; i++)
		look_at(regions[i].address, regions[i].size);
}

static void do_free(size_t unused)
{
	for (; region_count; region_count--) {
		struct region *region = &regions[region_count - 1];

		munmap(region->address, region->size);
		region->size = 0;
		region_hold(region);
	}
}

/* ---- time, files, network */

static uint64_t clock_ms(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void do_cpu(size_t ms)
{
	uint64_t end_ms = clock_ms(CLOCK_THREAD_CPUTIME_ID) + ms;

	while (clock_ms(CLOCK_THREAD_CPUTIME_ID) < end_ms)
		;
}

static void do_sleep(size_t ms)
{
	struct timespec time = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000000};

	while (nanosleep(&time, &time) < 0 && errno == EINTR)
		;
}

static void *thread_main(void *cpu_ms)
{
	do_cpu((size_t)cpu_ms);
	return NULL;
}

static void do_threads(size_t ms)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, thread_main, (void *)ms))
			errx(97, "pthread_create");
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}

static void do_lock(size_t ms)
{
	int fd = open("lock", O_RDWR | O_CREAT | O_CLOEXEC, 0666);

	if (fd < 0 || flock(fd, LOCK_EX) < 0)
		err(97, "lock");
	do_sleep(ms);
	close(fd);
}

static void do_file(size_t kib)
{
	int fd = open(".", O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);

	for (size_t i = 0; i < kib; i++)
		if (fd < 0 || write(fd, block, KIB) != (ssize_t)KIB)
			err(97, "file");
	for (size_t i = 0; i < kib; i++)
		if (pread(fd, block, KIB, (off_t)(i * KIB)) != (ssize_t)KIB)
			err(97, "file");
	close(fd);
}

/* To itself, over loopback. */
static void do_tcp(size_t kib)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct sockaddr *any = (struct sockaddr *)&address;
	socklen_t size = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0),
	    client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (bind(listener, any, size) < 0 || listen(listener, 1) < 0 || getsockname(listener, any, &size) < 0 ||
	    connect(client, any, size) < 0)
		err(97, "TCP");
	int server = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

	for (size_t i = 0; i < kib; i++)
		if (send(client, block, KIB, 0) != (ssize_t)KIB ||
		    recv(server, block, KIB, MSG_WAITALL) != (ssize_t)KIB)
			err(97, "TCP");
	truth_add_traffic(kib * KIB, kib * KIB);
	close(server);
	close(client);
	close(listener);
}

static void do_in(size_t unused)
{
	while (read(STDIN_FILENO, block, KIB) > 0)
		;
}

static void do_out(size_t kib)
{
	for (size_t i = 0; i < kib; i++)
		if (write(STDOUT_FILENO, block, KIB) != (ssize_t)KIB)
			err(96, "standard output");
}

/* ---- processes */

static void run(char **steps);

static _Noreturn void leave(int status)
{
	truth_end(TRUTH_EXIT, status);
	_exit(status);
}

static void do_exit(size_t status)
{
	leave((int)status);
}

static void do_kill(size_t number)
{
	const struct rlimit none = {0, 0};

	setrlimit(RLIMIT_CORE, &none);
	signal((int)number, SIG_DFL);
	truth_end(TRUTH_KILL, (int)number);
	raise((int)number);
	_exit(95); /* not reached */
}

/* Returns the exit status of the last one, as a shell reports it. */
static int wait_for_children(void)
{
	struct rusage usage;
	int status = 0;
	pid_t pid;

	while ((pid = wait4(-1, &status, 0, &usage)) > 0) {
		const struct timeval *user = &usage.ru_utime, *system = &usage.ru_stime;

		truth_add(TRUTH_REAPED, (uint64_t)pid,
			  (size_t)((user->tv_sec + system->tv_sec) * 1000000 + user->tv_usec + system->tv_usec));
	}
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void do_wait(size_t unused)
{
	wait_for_children();
}

static bool begins_block(const char *step)
{
	return !strncmp(step, "fork=", 5) || !strncmp(step, "spawn=", 6) || !strncmp(step, "vfork=", 6);
}

/* Returns the `end` of the block that the steps are in, or the end of all steps. */
static char **block_end(char **steps)
{
	for (int depth = 0; *steps; steps++) {
		depth += begins_block(*steps);
		if (!strcmp(*steps, "end") && depth-- == 0)
			break;
	}
	return steps;
}

/* Executes the program NAME STEP... of the block. */
static _Noreturn void become(char **words)
{
	char *arguments[STEPS_MAX + 1] = {NULL};
	ptrdiff_t count = block_end(words) - words;

	if (count > 0 && count <= STEPS_MAX)
		memcpy(arguments, words, (size_t)count * sizeof(*words));
	execvp(arguments[0] ? arguments[0] : "", arguments);
	_exit(94);
}

/* A child without a program of its own. */
static _Noreturn void live(char **steps)
{
	truth_begin(own_name, TRUTH_FORK);
	for (int i = 0; i < region_count; i++)
		region_hold(&regions[i]);
	run(steps);
	leave(0);
}

/* `how` is the first letter of fork, spawn or vfork. */
static void start_child(char how, char **steps)
{
	pid_t pid = how == 'v' ? vfork() : fork();

	if (pid < 0)
		err(97, "fork");
	if (pid == 0 && how == 'f')
		live(steps);
	else if (pid == 0)
		become(steps);
}

static void start_children(const char *how, char **steps)
{
	long count = atol(strchr(how, '=') + 1);

	if (*how == 'f')
		for (int i = 0; i < region_count; i++)
			regions[i].is_forked = true;
	while (count-- > 0)
		start_child(*how, steps);
}

/* Goes on as an orphan in a session of its own; the process that was started ends. */
static void do_daemon(size_t unused)
{
	if (fork())
		leave(0);
	setsid();
	if (fork())
		_exit(0);
	truth_begin(own_name, TRUTH_FORK);
	for (int i = 0; i < region_count; i++)
		region_hold(&regions[i]);
}

/* ---- steps */

static const struct {
	const char *word;
	void (*run)(size_t number);
} words[] = {
	{"cpu", do_cpu},         /* ms of CPU time */
	{"threads", do_threads}, /* ms of CPU time in each of two more threads */
	{"sleep", do_sleep},     /* ms */
	{"lock", do_lock},       /* ms that it holds the lock of its directory */
	{"anon", do_anon},       /* MiB of private memory, until `free` or the end */
	{"thp", do_thp},         /* the same, in transparent huge pages */
	{"huge", do_huge},       /* the same, in reserved huge pages */
	{"shm", do_shm},         /* MiB of shared memory */
	{"memfd", do_memfd},     /* MiB of shared memory that survives an exec */
	{"attach", do_attach},   /* maps so many MiB of it */
	{"tmpfs", do_tmpfs},     /* MiB of a file in memory that nobody maps */
	{"map", do_map},         /* MiB of a mapped file on disk */
	{"touch", do_touch},     /* writes to the first MiB of its memory */
	{"look", do_look},       /* reads all of it */
	{"free", do_free},       /* frees all of it */
	{"file", do_file},       /* KiB written to a file and read back */
	{"tcp", do_tcp},         /* KiB sent and received */
	{"in", do_in},           /* reads standard input to its end */
	{"out", do_out},         /* KiB to standard output */
	{"daemon", do_daemon},   /* goes on in the background */
	{"wait", do_wait},       /* for all children */
	{"exit", do_exit},       /* with that status */
	{"kill", do_kill},       /* itself, by that signal */
};

static void run_word(const char *step)
{
	size_t length = strcspn(step, "=");

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strlen(words[i].word) == length && !strncmp(step, words[i].word, length)) {
			words[i].run(step[length] ? strtoul(step + length + 1, NULL, 10) : 0);
			return;
		}
	errx(93, "no step %s", step);
}

/* Up to the end of their block. Further steps: `fork=N STEP... end`, N children that do the block; `spawn=N NAME STEP... end`
 * and vfork=, N children that execute a program; `become NAME STEP...`, which replaces this one. */
static void run(char **steps)
{
	for (; *steps && strcmp(*steps, "end"); steps += *steps != NULL) {
		if (begins_block(*steps)) {
			start_children(*steps, steps + 1);
			steps = block_end(steps + 1);
		} else if (!strcmp(*steps, "become")) {
			truth_end(TRUTH_BECOMES, 0);
			become(steps + 1);
		} else {
			run_word(*steps);
		}
	}
}

/* The truth of the whole command is what wait4 reports. */
static int run_command(char **command)
{
	int status = 0;
	pid_t pid = fork();

	if (pid < 0)
		err(97, "fork");
	if (pid == 0)
		become(command);
	status = wait_for_children();
	truth_end(TRUTH_EXIT, status);
	return status;
}

int main(int argc, char **argv)
{
	const char *slash = strrchr(argv[0], '/');

	own_name = slash ? slash + 1 : argv[0];
	truth_begin(own_name, TRUTH_EXEC);
	if (!strcmp(own_name, "tracer") && argc > 3)
		return run_command(argv + 3);
	run(argv + 1);
	leave(0);
}
