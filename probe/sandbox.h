/* Once the programs are attached, the probe needs almost no privileges: it drops the
 * rest permanently.
 *
 * What remains possible: reading the ring, creating iterators from open links (which
 * takes no capability since Linux 5.19), connecting to a Unix socket, writing to open
 * descriptors. The probe cannot open files, run programs, inspect processes, reach a
 * network, or load anything into the kernel.
 */
#pragma once

#include <sys/types.h>

/* If this process is root, it becomes `uid` and `gid`, with `group` as the only supplementary group, to
 * reach the socket (PRIVILEGE_NO_GROUP: none). Returns 0 or a negative errno; a failure has been logged. */
int sandbox_enter(uid_t uid, gid_t gid, gid_t group, const int *iterators);

/* The same for the reader of arguments (probe/forward/arguments.h), without a group: it may open
 * files in /proc, and fork. */
int sandbox_enter_reader(uid_t uid, gid_t gid);
