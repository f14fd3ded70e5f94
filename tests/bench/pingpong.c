/* Two processes that pass a byte back and forth through pipes: on one processor, each
 * transfer is a context switch.
 *
 *   pingpong ROUND_TRIPS
 */
#include <err.h>
#include <stdlib.h>
#include <sys/wait.h>

static void take(int from)
{
	char byte;

	if (read(from, &byte, 1) != 1)
		err(1, "read");
}

static void give(int to)
{
	if (write(to, "x", 1) != 1)
		err(1, "write");
}

int main(int argc, char **argv)
{
	int there[2], back[2], status;
	long round_trips;
	pid_t child;

	if (argc != 2)
		errx(2, "usage: pingpong ROUND_TRIPS");
	round_trips = atol(argv[1]);
	if (pipe(there) < 0 || pipe(back) < 0)
		err(1, "pipe");
	child = fork();
	if (child < 0)
		err(1, "fork");
	for (long i = 0; i < round_trips; i++) {
		if (child) {
			give(there[1]);
			take(back[0]);
		} else {
			take(there[0]);
			give(back[1]);
		}
	}
	if (!child)
		return 0;
	if (waitpid(child, &status, 0) < 0 || status)
		errx(1, "the other side failed");
	return 0;
}
