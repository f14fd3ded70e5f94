#include "primes.h"

#include <err.h>
#include <stdlib.h>
#include <string.h>

char *sieve_new(size_t limit)
{
	char *sieve = malloc(limit);

	if (!sieve)
		err(1, "sieve of %zu", limit);
	memset(sieve, 1, limit);
	sieve[0] = sieve[1] = 0;
	for (size_t i = 2; i * i < limit; i++)
		for (size_t j = i * i; sieve[i] && j < limit; j += i)
			sieve[j] = 0;
	return sieve;
}
