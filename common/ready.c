/* See ready.h. */
#include "common/ready.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/log.h"

#define ALIVE_PERIOD_NS 1000000000ULL

static int manager_fd = -1;
static bool is_watched;

void ready_notify(int *fd)
{
	if (*fd < 0)
		return;
	if (write(*fd, "1", 1) != 1)
		log_warning("cannot write to --ready-fd: %s", strerror(errno));
	close(*fd);
	*fd = -1;
}

static void manager_send(const char *state)
{
	if (manager_fd >= 0 && write(manager_fd, state, strlen(state)) < 0 && errno != EAGAIN)
		log_warning("cannot tell the service manager %s: %s", state, strerror(errno));
}

/* A path that begins with '@' is an abstract name. */
void ready_notify_manager(void)
{
	const char *path = getenv("NOTIFY_SOCKET"), *watched = getenv("WATCHDOG_PID");
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	size_t size = path ? strlen(path) : 0;

	if (size == 0 || size >= sizeof(address.sun_path))
		return;
	memcpy(address.sun_path, path, size);
	if (*path == '@')
		address.sun_path[0] = '\0';
	manager_fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (manager_fd >= 0 && connect(manager_fd, (struct sockaddr *)&address,
				       (socklen_t)(offsetof(struct sockaddr_un, sun_path) + size)) < 0) {
		log_warning("cannot connect to the service manager: %s", strerror(errno));
		close(manager_fd);
		manager_fd = -1;
	}
	is_watched = watched && strtol(watched, NULL, 10) == getpid();
	manager_send("READY=1");
}

void ready_notify_alive(uint64_t now_boot_ns)
{
	static uint64_t next_boot_ns;

	if (!is_watched || now_boot_ns < next_boot_ns)
		return;
	next_boot_ns = now_boot_ns + ALIVE_PERIOD_NS;
	manager_send("WATCHDOG=1");
}
