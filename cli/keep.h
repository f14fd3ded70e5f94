/* The database of `tracer run --store FILE`: what was in it and what is added.
 *
 * The correlator works on a copy in its own directory, as its own user; FILE stays
 * the invoking user's (0600), is reached with that user's rights and replaced whole,
 * or not at all. FILE.lock is held meanwhile, as a correlator would.
 */
#ifndef TRACER_CLI_KEEP_H
#define TRACER_CLI_KEEP_H

#include <sys/types.h>

#include "cli/user.h"

struct keep {
	const char *path; /* NULL: nothing is kept */
	const struct user *user;
	int lock_fd;
};

/* Checks FILE, locks it, and copies what is in it to `copy_path`, for the owner of
 * the directory it stands in. 0 or -errno, said. */
int keep_begin(struct keep *keep, const char *path, const struct user *user,
	       const char *copy_path);

/* Puts `copy_path` in FILE's place. Its writer has ended well (`clean`), or its log
 * is folded in first. 0 or -errno, said. */
int keep_finish(struct keep *keep, const char *copy_path, bool clean);

void keep_release(struct keep *keep);

#endif
