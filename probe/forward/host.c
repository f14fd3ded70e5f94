/* See host.h. */
#include "probe/forward/host.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* Reads the first line of an open file. Returns false if there is none. */
static bool line_read(int fd, char *line, size_t capacity)
{
	ssize_t size = fd < 0 ? -1 : pread(fd, line, capacity - 1, 0);

	line[size > 0 ? size : 0] = '\0';
	line[strcspn(line, "\n")] = '\0';
	return *line;
}

/* Returns 0 if it is no list of numbers and ranges. */
static uint64_t list_count(const char *list)
{
	uint64_t count = 0;
	unsigned first, last;
	int length;

	for (;; list++) {
		if (sscanf(list, "%u%n-%u%n", &first, &length, &last, &length) < 1)
			return 0;
		if (list[strspn(list, "0123456789")] != '-')
			last = first;
		if (last < first)
			return 0;
		count += last - first + 1;
		list += length;
		if (*list != ',')
			return *list ? 0 : count;
	}
}

bool host_read(struct host *host)
{
	char name[HOST_NAME_SIZE], list[4096];
	uint64_t count = line_read(host->processors_fd, list, sizeof(list)) ? list_count(list) : 0;
	bool has_changed = count && count != host->processor_count;

	if (has_changed)
		host->processor_count = count;
	if (!line_read(host->name_fd, name, sizeof(name)) || strcmp(name, host->name) == 0)
		return has_changed;
	memcpy(host->name, name, sizeof(name));
	return true;
}

void host_open(struct host *host, const char *name, const char *processors)
{
	struct utsname names;

	uname(&names);
	snprintf(host->name, sizeof(host->name), "%s", names.nodename);
	host->processor_count = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
	host->name_fd = open(name, O_RDONLY | O_CLOEXEC);
	host->processors_fd = open(processors, O_RDONLY | O_CLOEXEC);
	host_read(host);
}
