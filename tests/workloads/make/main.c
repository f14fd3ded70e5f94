#include "primes.h"

#include <stdlib.h>

int main(int argc, char **argv)
{
	size_t limit = limit_parse(argc > 1 ? argv[1] : "100");
	char *sieve = sieve_new(limit);

	primes_print(sieve, limit);
	free(sieve);
	return 0;
}
