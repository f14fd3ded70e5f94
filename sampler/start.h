/* When processes started. */
#pragma once

#include <stdint.h>

/* The start of a process on the boot clock, in whole ticks of 10 ms; 0: it is gone. `root` is where proc is, "" for the
 * system's. */
uint64_t process_start(const char *root, uint32_t pid);
