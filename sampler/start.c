/* See start.h. */
#include "sampler/start.h"

#include <stdio.h>
#include <string.h>

#define TICK_NS UINT64_C(10000000)

uint64_t process_start(const char *root, uint32_t pid)
{
	unsigned long long ticks;
	char path[512], text[1024];
	FILE *file;
	size_t size;

	snprintf(path, sizeof(path), "%s/proc/%u/stat", root, pid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	size = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[size] = '\0';
	/* The name, which may hold anything, ends with the last parenthesis. The start is the 22nd field. */
	const char *rest = strrchr(text, ')');

	if (!rest ||
	    sscanf(rest + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
		   &ticks) != 1)
		return 0;
	return ticks * TICK_NS;
}
