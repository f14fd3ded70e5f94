/* Starts short commands at a steady rate until it is asked to stop, each with its own number and an
 * exit status derived from it, so that their count determines them all.
 *
 *   storm RATE FIRST COUNT [BYTES]   RATE a second, numbered from FIRST, COUNT at most;
 *                                    SIGTERM ends it sooner; BYTES of further arguments
 *   storm --leaf NUMBER [TEXT]       the command that it starts
 *   storm --forks SECONDS            processes that do not exec, at full speed
 *
 * Prints its pid and that of each command (not of each fork), and finally how many it started
 * in how many seconds. */
#include <err.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#define RUNNING_MAX 64
/* tests/faults/storm.py has the same rule of which commands fail, and how. */
#define FAILS_EVERY 50
#define PADDING_MAX 100000

static volatile sig_atomic_t stopping;

static void on_signal(int number)
{
	stopping = number;
}

static int leaf_status(long number)
{
	return number % FAILS_EVERY ? 0 : (int)(number % 199) + 1;
}

static void leaf_start(char *self, long number, char *padding)
{
	char text[24];
	char *arguments[] = {self, (char *)"--leaf", text, padding, NULL};
	pid_t pid;

	snprintf(text, sizeof(text), "%ld", number);
	int error = posix_spawn(&pid, self, NULL, NULL, arguments, environ);

	if (error)
		errx(1, "%s: %s", self, strerror(error));
	printf("%d\n", pid);
}

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Reaps ended children; waits for one if too many are running. */
static long leaves_reap(long running)
{
	while (running && waitpid(-1, NULL, running < RUNNING_MAX ? WNOHANG : 0) > 0)
		running--;
	return running;
}

static void storm(char *self, double rate, long first, long count, char *padding)
{
	double began_s = now_s();
	long number = 0, running = 0;

	while (number < count && !stopping) {
		if ((double)number > (now_s() - began_s) * rate) {
			usleep(1000);
			continue;
		}
		leaf_start(self, first + number++, padding);
		running = leaves_reap(running + 1);
	}
	while (wait(NULL) > 0)
		;
	printf("%ld %.3f\n", number, now_s() - began_s);
}

static void forks(double seconds)
{
	double began_s = now_s();
	long number = 0, running = 0;

	while (now_s() - began_s < seconds) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(0);
		if (pid < 0)
			err(1, "fork");
		number++;
		running = leaves_reap(running + 1);
	}
	while (wait(NULL) > 0)
		;
	printf("%ld %.3f\n", number, now_s() - began_s);
}

int main(int argc, char **argv)
{
	static char padding[PADDING_MAX + 1];

	if (argc >= 3 && !strcmp(argv[1], "--leaf"))
		return leaf_status(atol(argv[2]));
	if (argc == 3 && !strcmp(argv[1], "--forks")) {
		forks(atof(argv[2]));
		return 0;
	}
	if (argc < 4 || argc > 5 || (argc == 5 && atol(argv[4]) > PADDING_MAX))
		errx(2, "usage: storm RATE FIRST COUNT [BYTES], storm --leaf NUMBER [TEXT], or "
			"storm --forks SECONDS");
	signal(SIGTERM, on_signal);
	printf("%d\n", getpid());
	if (argc == 5)
		memset(padding, 'x', (size_t)atol(argv[4]));
	storm(argv[0], atof(argv[1]), atol(argv[2]), atol(argv[3]), argc == 5 ? padding : NULL);
	return 0;
}
