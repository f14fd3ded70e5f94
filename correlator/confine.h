/* Before the first byte of a probe or a recording is read, the correlator gives away what
 * it does not need to turn that into rows.
 *
 * What stays possible: reading files, writing in the directory of the store, removing the
 * socket. No program can be run, no process looked at or signalled, no network reached,
 * nothing loaded into the kernel.
 */
#pragma once

#include "common/option.h"

/* No way back to root, no new privileges, no core with what we saw; and another user, where
 * one is named. Who still runs as root keeps the right to write into a store that belongs to
 * somebody else. 0 or a negative errno, logged. */
int confine_drop(const struct option_user *user);

/* The rest. `socket`: NULL where there is none. 0 or a negative errno, logged. */
int confine_enter(const char *store, const char *socket);
