/* Shared by every fuzz target. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Asserts what must hold for every input; the fuzzer, or the replay, aborts if it does not. */
static inline void require(bool holds)
{
	if (!holds)
		abort();
}
