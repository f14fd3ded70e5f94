/* Prints the primes below a limit. */
#ifndef PRIMES_H
#define PRIMES_H

#include <stddef.h>

size_t limit_parse(const char *text);
/* One byte for each number below `limit`, 1 for primes. Owned by the caller. */
char *sieve_new(size_t limit);
void primes_print(const char *sieve, size_t limit);

#endif
