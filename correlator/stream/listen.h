/* The correlator's socket: who may connect is decided by the kernel, so that others cost nothing. */
#pragma once

#include <sys/types.h>

/* Opens a listening socket at `path`; replaces a stale socket file. Besides its owner, only `group` may connect (mode 0660),
 * or if that is (gid_t)-1, only the user `peer_uid`. Returns the descriptor or -errno, which is -EADDRINUSE if a
 * server answers there. */
int listen_open(const char *path, gid_t group, uid_t peer_uid);
