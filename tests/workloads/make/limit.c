#include "primes.h"

#include <stdlib.h>

size_t limit_parse(const char *text)
{
	size_t limit = strtoul(text, NULL, 10);

	return limit > 2 ? limit : 2;
}
