/* See iterator.h. */
#include "probe/iterator.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "common/privilege.h"

/* Tried by a child: features may have been ported to other versions. */
bool iterator_needs_file(int link)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0)
		_exit(privilege_drop_capabilities(PRIVILEGE_NO_CAPABILITY) || bpf_iter_create(link) < 0);
	return pid < 0 || waitpid(pid, &status, 0) != pid || status != 0;
}

int iterator_file(int link, const char *directory)
{
	char path[256], opened[32];

	snprintf(path, sizeof(path), "%s/tracer-iterator-%d", directory, (int)getpid());
	unlink(path); /* of a process that was killed here */
	if (bpf_obj_pin(link, path))
		return -ENODEV;
	int fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (unlink(path) || fd < 0)
		return -errno;
	/* The user that this process becomes may read it, too: changing its owner would take another capability. */
	snprintf(opened, sizeof(opened), "/proc/self/fd/%d", fd);
	return chmod(opened, 0444) ? -errno : fd;
}
