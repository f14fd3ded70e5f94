/* After the programs are attached, the probe needs almost nothing: it gives the rest
 * away, for good.
 *
 * What stays possible: reading the ring, making iterators of links that are held (which
 * takes no capability since Linux 5.19), connecting to a Unix socket, writing to open
 * descriptors. No file can be opened, no program run, no process looked at, no network
 * reached, nothing loaded into the kernel.
 */
#pragma once

#include <sys/types.h>

/* Where this process is root, it becomes that user, with that one group besides, to reach the
 * socket (PRIVILEGE_NO_GROUP: none). 0 or a negative errno; what failed has been logged. */
int sandbox_enter(uid_t uid, gid_t gid, gid_t group);

/* The same for the reader of arguments (probe/forward/arguments.h), without a group: it opens
 * files in /proc, and forks. */
int sandbox_enter_reader(uid_t uid, gid_t gid);
