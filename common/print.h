/* Error check of a program's output. */
#pragma once

#include <stdio.h>

/* Flushes `file`. Returns 0, or -errno, which is logged in one line unless it is EPIPE (the reader
 * closed the pipe). Call it once, at the end. */
int print_finish(FILE *file);
