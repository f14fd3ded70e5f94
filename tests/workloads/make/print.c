#include "primes.h"

#include <stdio.h>

void primes_print(const char *sieve, size_t limit)
{
	for (size_t i = 0; i < limit; i++)
		if (sieve[i])
			printf("%zu\n", i);
}
