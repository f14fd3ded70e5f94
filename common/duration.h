/* Human-readable durations: 1.23 ms, 52.3 s, 3m07s. */
#pragma once

#include <stdint.h>

#define DURATION_SIZE 32

/* Formats `ns` into `text` and returns it. `microseconds` is how to write that unit: "µs" or "us". */
const char *duration_format(char text[DURATION_SIZE], uint64_t ns, const char *microseconds);
