/* Whether what a program printed has arrived. */
#pragma once

#include <stdio.h>

/* Flushes. 0, or -errno logged in one line (a reader that went away, EPIPE, is not worth a
 * word). Call it once, at the end. */
int print_finish(FILE *file);
