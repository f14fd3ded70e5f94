/* Sandbox that the shipper enters before it uses the network: no capabilities, new privileges, core
 * dumps, execution of programs, or access to other files than those it needs. The unit adds what only a
 * service manager can do (deploy/systemd/tracer-shipper.service.in). */
#pragma once

#include "shipper/settings.h"

/* Returns 0 or -errno (logged). Without Landlock in the kernel, that part is skipped. */
int sandbox_enter(const struct settings *settings);
