/* What may change of the host while the probe runs: its name and its processors. Their files are opened once, as the sandbox
 * allows no more. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define HOST_NAME_SIZE 65 /* of struct utsname, including a NUL */

struct host {
	int name_fd, processors_fd; /* -1: cannot be read, and stays as it is */
	char name[HOST_NAME_SIZE];
	uint64_t processor_count; /* online */
};

/* `name` and `processors` are the files: /proc/sys/kernel/hostname, and a list such as 0-3,6. */
void host_open(struct host *host, const char *name, const char *processors);

/* Returns whether anything has changed. */
bool host_read(struct host *host);
