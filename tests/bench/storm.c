/* Starts a command COUNT times, PARALLEL at a time, and waits for all: the exec storm of the
 * performance goals or, with PARALLEL = COUNT, a crowd of processes.
 *
 *   storm COUNT PARALLEL COMMAND [ARGUMENT...]
 */
#include <err.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>

static void wait_for_one(void)
{
	int status;

	if (wait(&status) < 0)
		err(1, "wait");
	if (status)
		errx(1, "a command ended with wait status %#x", (unsigned int)status);
}

int main(int argc, char **argv)
{
	long count, parallel, running = 0;

	if (argc < 4)
		errx(2, "usage: storm COUNT PARALLEL COMMAND [ARGUMENT...]");
	count = atol(argv[1]);
	parallel = atol(argv[2]);
	for (long i = 0; i < count; i++) {
		pid_t pid;
		int error = posix_spawn(&pid, argv[3], NULL, NULL, argv + 3, environ);

		if (error)
			errx(1, "%s: error %d", argv[3], error);
		if (++running >= parallel && parallel < count) {
			wait_for_one();
			running--;
		}
	}
	while (running-- > 0)
		wait_for_one();
	return 0;
}
