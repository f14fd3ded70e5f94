/* How the server drops its privileges: see docs/security.md. */
#pragma once

#include <stdbool.h>

/* Its sockets listen already. From here on it reads files and writes none, executes no program and, without a lake,
 * makes no connection to another host. It may still remove its Unix socket, NULL if it has none. Children inherit this.
 * Returns 0 or, after logging, -errno. */
int sandbox_enter(bool has_lake, const char *socket_path);
