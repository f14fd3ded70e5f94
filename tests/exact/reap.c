/* Runs commands one after another as the subreaper of all processes that they leave behind, and
 * writes the ground truth of every process that it reaps.
 *
 *   reap COMMAND ARGUMENT [COMMAND ARGUMENT]...
 *
 * Each command runs with its argument as `PROGRAM COMMAND ARGUMENT`, where PROGRAM is `actor` in
 * the same directory. */
#include <err.h>
#include <libgen.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "tests/exact/truth.h"

int main(int argc, char **argv)
{
	char actor[4096], directory[4096];

	snprintf(directory, sizeof(directory), "%s", argv[0]);
	snprintf(actor, sizeof(actor), "%s/actor", dirname(directory));
	if (argc < 3 || argc % 2 == 0)
		errx(2, "usage: reap COMMAND ARGUMENT [COMMAND ARGUMENT]...");
	if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0)
		err(1, "prctl");
	for (int i = 1; i < argc; i += 2) {
		pid_t pid = fork();

		if (pid == 0) {
			truth_note_act(argv[i], getpid());
			execl(actor, actor, argv[i], argv[i + 1], NULL);
		}
		if (pid <= 0)
			err(127, "%s", actor);
		truth_reap_everything();
	}
	return 0;
}
