/* Which run a command began. */
#pragma once

#include <sys/types.h>

#include "analysis/query/rows.h"

/* A command that was started on this host. */
struct run_started {
	pid_t pid; /* as the kernel side sees it; 0: unknown, in another PID namespace */
	uid_t user_id;
	int64_t begin_unix_ns, boot_ns[2]; /* before it was started; before and after */
	char **argv;
};

/* Finds the command's run: by its pid or, if that is unknown, the only one of the user that began in that time with these
 * arguments. Sets no rows if there is none. Ignore rows after the first. Returns 0 or -errno. */
int run_started_find(struct store *store, const struct run_started *started, struct rows *ret_runs);
