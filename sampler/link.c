/* See link.h. */
#include "sampler/link.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/log.h"

static int connect_to(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd;

	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	memcpy(address.sun_path, path, strlen(path) + 1);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	int error = -errno;

	close(fd);
	return error;
}

bool link_open(struct link *link, const struct wire_message *hello)
{
	if (link->fd >= 0)
		return true;
	int fd = connect_to(link->path);

	if (fd < 0) {
		if (!link->is_failing)
			log_warning("cannot connect to %s: %s; retrying", link->path, strerror(-fd));
		link->is_failing = true;
		return false;
	}
	link->fd = fd;
	link_add(link, hello);
	link_send(link);
	if (link->fd >= 0 && link->is_failing)
		log_info("connected");
	link->is_failing = link->fd < 0;
	return link->fd >= 0;
}

void link_add(struct link *link, const struct wire_message *message)
{
	wire_encode(&link->output, message);
}

void link_send(struct link *link)
{
	ssize_t sent = link->output.size ? send(link->fd, link->output.data, link->output.size, MSG_NOSIGNAL) : 0;

	if (sent != (ssize_t)link->output.size) {
		log_warning("disconnected: %s", sent < 0 ? strerror(errno) : "the correlator does not read");
		link_close(link);
	}
	link->output.size = 0;
}

void link_close(struct link *link)
{
	if (link->fd >= 0)
		close(link->fd);
	link->fd = -1;
	wire_output_deinit(&link->output);
}
