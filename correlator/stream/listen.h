/* The correlator's socket: who may connect is decided by the kernel, so that others cost nothing. */
#pragma once

#include <stdbool.h>
#include <uv.h>

/* Opens a listening socket at `path`; replaces a stale socket file. Besides its owner, only `group` may connect (mode 0660),
 * or if that is (gid_t)-1, only the user `peer_uid`. Returns the descriptor or -errno, which is -EADDRINUSE if a
 * server answers there. */
int listen_open(const char *path, gid_t group, uid_t peer_uid);

/* Whether the kernel says that the peer is root, our own user or `peer_uid`. `*ret_uid` is its user, (uid_t)-1 unknown. */
bool listen_admits(const uv_pipe_t *peer, uid_t peer_uid, uid_t *ret_uid);

/* Accepts a connection only to close it. */
void listen_refuse(uv_stream_t *listener);
