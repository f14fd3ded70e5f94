/* A program that the workloads run under many names, so that the names of tools, the number of
 * processes and their behaviour are known by construction.
 *
 *   NAME [--copy] [--cpu MS] [--memory MIB] [--sleep MS] [--until FILE] [--crash]
 *        [--exit CODE] [--daemon] [--namespaces]
 *
 * Prints its name and namespaces, copies its input to its output, uses that much CPU and memory,
 * sleeps that long, waits until that file exists, and exits with that code, or by an invalid
 * memory access. --daemon does this in a twice-forked child with a session of its own, and
 * returns at once.
 *
 * Under the name `tracer`, as in `tracer run -- COMMAND...`, it runs the command and passes its
 * status on: this is the mark that the correlator knows, without the daemons that the real
 * program would start beside those of the test.
 */
#include <err.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#define UNTIL_MAX_MS (5 * 60 * 1000L)

struct options {
	long cpu_ms;
	long memory_mib;
	long sleep_ms;
	const char *until;
	int exit_code;
	bool copy;
	bool crash;
	bool daemon;
	bool namespaces;
};

static void options_parse(struct options *options, int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		bool has_value = i + 1 < argc;

		if (!strcmp(argv[i], "--copy"))
			options->copy = true;
		else if (!strcmp(argv[i], "--daemon"))
			options->daemon = true;
		else if (!strcmp(argv[i], "--crash"))
			options->crash = true;
		else if (!strcmp(argv[i], "--namespaces"))
			options->namespaces = true;
		else if (!strcmp(argv[i], "--cpu") && has_value)
			options->cpu_ms = atol(argv[++i]);
		else if (!strcmp(argv[i], "--memory") && has_value)
			options->memory_mib = atol(argv[++i]);
		else if (!strcmp(argv[i], "--sleep") && has_value)
			options->sleep_ms = atol(argv[++i]);
		else if (!strcmp(argv[i], "--until") && has_value)
			options->until = argv[++i];
		else if (!strcmp(argv[i], "--exit") && has_value)
			options->exit_code = atoi(argv[++i]);
	}
}

static long clock_ms(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* NAME pid:[INODE] mnt:[INODE] */
static void tell_namespaces(const char *name)
{
	char pid[32] = "", mount[32] = "";

	if (readlink("/proc/self/ns/pid", pid, sizeof(pid) - 1) < 0 ||
	    readlink("/proc/self/ns/mnt", mount, sizeof(mount) - 1) < 0)
		err(1, "/proc/self/ns");
	printf("%s %s %s\n", name, pid, mount);
	fflush(stdout);
}

static void copy_input(void)
{
	char buffer[4096];
	size_t size;

	while ((size = fread(buffer, 1, sizeof(buffer), stdin)))
		fwrite(buffer, 1, size, stdout);
}

/* A failed test may never create it. */
static void wait_for_file(const char *path)
{
	long end_ms = clock_ms(CLOCK_MONOTONIC) + UNTIL_MAX_MS;

	while (access(path, F_OK) < 0 && clock_ms(CLOCK_MONOTONIC) < end_ms)
		usleep(10 * 1000);
}

/* Step by step, so that the growth can be observed by the process that sets a limit. */
static void take_memory(long mib)
{
	const size_t piece_bytes = 1024 * 1024;

	for (long i = 0; i < mib; i++) {
		void *piece = mmap(NULL, piece_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (piece == MAP_FAILED)
			err(1, "mmap");
		memset(piece, 1, piece_bytes);
	}
}

/* Dumps core if the limits allow it. */
static void crash(void)
{
	static volatile int *volatile nowhere;
	struct rlimit limit;

	getrlimit(RLIMIT_CORE, &limit);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_CORE, &limit);
	*nowhere = 0;
}

/* Returns in the grandchild only. */
static void become_daemon(void)
{
	pid_t child = fork();

	if (child < 0)
		err(1, "fork");
	if (child) {
		waitpid(child, NULL, 0);
		_exit(0);
	}
	setsid();
	child = fork();
	if (child)
		_exit(child < 0);
}

static int run_command(int argc, char **argv)
{
	int first = 1;
	int status;
	pid_t child;

	while (first < argc && strcmp(argv[first], "--"))
		first++;
	if (++first >= argc)
		errx(2, "usage: tracer run -- COMMAND...");
	child = fork();
	if (child == 0) {
		execvp(argv[first], argv + first);
		err(127, "%s", argv[first]);
	}
	if (child < 0 || waitpid(child, &status, 0) < 0)
		err(1, "%s", argv[first]);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
	const char *slash = strrchr(argv[0], '/');
	const char *name = slash ? slash + 1 : argv[0];
	struct options options = {0};

	if (!strcmp(name, "tracer"))
		return run_command(argc, argv);
	options_parse(&options, argc, argv);
	if (options.daemon)
		become_daemon();
	if (options.namespaces)
		tell_namespaces(name);
	if (options.copy)
		copy_input();
	while (clock_ms(CLOCK_PROCESS_CPUTIME_ID) < options.cpu_ms)
		;
	take_memory(options.memory_mib);
	usleep((useconds_t)options.sleep_ms * 1000);
	if (options.until)
		wait_for_file(options.until);
	if (options.crash)
		crash();
	return options.exit_code;
}
