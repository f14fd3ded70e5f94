/* What every fuzz target is made of. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What a target promises of every input: the fuzzer, or the replay, ends where it does not hold. */
static inline void require(bool holds)
{
	if (!holds)
		abort();
}
