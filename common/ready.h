/* Readiness: one byte written to a descriptor that the program inherited (--ready-fd), and messages to a
 * service manager that waits for them (sd_notify(3), without libsystemd: the probe is privileged).
 */
#pragma once

#include <stdint.h>

/* Writes '1' to `*fd`, closes it and sets it to -1. Does nothing if it is already negative. */
void ready_notify(int *fd);

/* The service works: connects to the manager's socket, $NOTIFY_SOCKET, and says so. Without a manager, this
 * and the next do nothing. */
void ready_notify_manager(void);

/* The program's loop goes on; call in each turn. If the manager has a watchdog for this process (WatchdogSec=),
 * it is told so, at most once a second, and ends a program that says nothing for that long. */
void ready_notify_alive(uint64_t now_boot_ns);
