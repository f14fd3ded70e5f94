/* The initial PID namespace: a process in another one does not see the processes outside it. */
#pragma once

#include <stdbool.h>
#include <sys/stat.h>

#define PID_NAMESPACE_INITIAL 0xEFFFFFFCU /* its inode: the kernel's PROC_PID_INIT_INO */

/* Of a link such as /proc/self/ns/pid. Returns true if it cannot be read. */
static inline bool pid_namespace_is_initial(const char *path)
{
	struct stat status;

	return stat(path, &status) < 0 || status.st_ino == PID_NAMESPACE_INITIAL;
}
