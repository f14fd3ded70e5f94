/* Drops the privileges that the correlator does not need, before it reads the first byte of
 * a probe or a recording.
 *
 * It can still read files, write in the directory of the store and remove the socket. It
 * cannot execute programs, inspect or signal other processes, use the network or load
 * anything into the kernel.
 */
#pragma once

#include "common/option.h"

/* Rules out a return to root, new privileges and core dumps, and switches to `user` if one is
 * named. A process that remains root keeps CAP_DAC_OVERRIDE, to write to a store that belongs
 * to another user. Returns 0 or a negative errno, logged. */
int confine_drop(const struct option_user *user);

/* Enters Landlock and seccomp. The sockets may be NULL. Returns 0 or a negative errno, logged. */
int confine_enter(const char *store, const char *socket, const char *sampler_socket);
