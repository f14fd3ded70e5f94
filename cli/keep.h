/* The database of `tracer run --store FILE`: what was in it and the command's run.
 *
 * The correlator records all that happens on the host, in a store of its own that is removed. Of
 * that FILE gets the command's run alone. It is the invoking user's (0600), reached with that
 * user's rights, migrated if it is of an older release, and has all of the run or nothing.
 */
#ifndef TRACER_CLI_KEEP_H
#define TRACER_CLI_KEEP_H

#include "cli/user.h"
#include "common/store/store.h"

struct keep {
	const char *path; /* NULL: nothing is kept */
	const struct user *user;
	struct store *store;
};

/* Opens FILE, or makes it, and keeps other writers out. 0 or -errno, said. */
int keep_begin(struct keep *keep, const char *path, const struct user *user);

/* Copies a run from the store that it was recorded in. 0 or -errno, said. */
int keep_run(struct keep *keep, struct store *from, const struct row_run *run);

/* Closes FILE. */
void keep_end(struct keep *keep);

#endif
