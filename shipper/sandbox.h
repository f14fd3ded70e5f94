/* What the shipper gives up before it speaks to the network: capabilities, new privileges, core
 * dumps, starting programs, and files other than those it needs. The unit adds what only a service
 * manager can (deploy/systemd/tracer-shipper.service.in). */
#pragma once

#include "shipper/settings.h"

/* 0 or -errno (logged). Where the kernel has no Landlock that part is left out. */
int sandbox_enter(const struct settings *settings);
