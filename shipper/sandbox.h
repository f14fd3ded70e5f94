/* Sandbox that the shipper enters before it uses the network: no capabilities, new privileges, core
 * dumps, execution of programs, or access to other files than those it needs. The unit adds what only a
 * service manager can do (deploy/systemd/tracer-shipper.service.in). */
#pragma once

#include "shipper/settings.h"

/* `directory` and `scratch` are further directories to read and write, or NULL; the latter may also be removed.
 * Returns 0 or -errno (logged). Without Landlock in the kernel, that part is skipped. */
int sandbox_enter(const struct settings *settings, const char *directory, const char *scratch);
