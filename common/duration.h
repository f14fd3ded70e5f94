/* Lengths of time as people read them: 1.23 ms, 52.3 s, 3m07s. */
#pragma once

#include <stdint.h>

#define DURATION_SIZE 32

/* `microseconds` is the unit's name where it is shown: "µs" or "us". */
const char *duration_format(char text[DURATION_SIZE], uint64_t ns, const char *microseconds);
