/* See listen.h. */
#include "correlator/stream/listen.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <linux/posix_acl.h>
#include <linux/posix_acl_xattr.h>

#define ACL_READ_WRITE (ACL_READ | ACL_WRITE)

static int allow_group(const char *path, gid_t group)
{
	return chown(path, (uid_t)-1, group) < 0 ? -errno : 0;
}

/* A file has one owner, and no unprivileged process can make another user the owner; but it can name that user in its
 * access control list. Where the file system has none, the group of the process remains. */
static int allow_user(const char *path, uid_t uid)
{
	const struct {
		struct posix_acl_xattr_header header;
		struct posix_acl_xattr_entry entries[5];
	} list = {
		{POSIX_ACL_XATTR_VERSION},
		{
			{ACL_USER_OBJ, ACL_READ_WRITE, (unsigned)ACL_UNDEFINED_ID},
			{ACL_USER, ACL_READ_WRITE, uid},
			{ACL_GROUP_OBJ, 0, (unsigned)ACL_UNDEFINED_ID},
			{ACL_MASK, ACL_READ_WRITE, (unsigned)ACL_UNDEFINED_ID},
			{ACL_OTHER, 0, (unsigned)ACL_UNDEFINED_ID},
		},
	};

	return setxattr(path, "system.posix_acl_access", &list, sizeof(list), 0) == 0 || errno == EOPNOTSUPP ? 0
													     : -errno;
}

int listen_open(const char *path, gid_t group, uid_t probe_uid)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct stat status;
	int r, fd;

	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	memcpy(address.sun_path, path, strlen(path) + 1);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0 || errno == EAGAIN) {
		close(fd);
		return -EADDRINUSE;
	}
	/* Left by a correlator that was killed. Any other file is kept, and bind() fails. */
	if (errno == ECONNREFUSED && lstat(path, &status) == 0 && S_ISSOCK(status.st_mode))
		unlink(path);
	mode_t mask = umask(0117);

	r = bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ? -errno : 0;
	umask(mask);
	if (r == 0)
		r = group != (gid_t)-1 ? allow_group(path, group) : allow_user(path, probe_uid);
	if (r == 0 && listen(fd, 4) < 0)
		r = -errno;
	if (r < 0) {
		close(fd);
		return r;
	}
	return fd;
}

bool listen_admits(const uv_pipe_t *peer, uid_t peer_uid, uid_t *ret_uid)
{
	struct ucred credentials = {.uid = (uid_t)-1};
	socklen_t size = sizeof(credentials);
	uv_os_fd_t fd;
	bool is_known = uv_fileno((const uv_handle_t *)peer, &fd) == 0 &&
			getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0;

	*ret_uid = credentials.uid;
	return is_known && (credentials.uid == 0 || credentials.uid == geteuid() || credentials.uid == peer_uid);
}

static void refused(uv_handle_t *handle)
{
	free(handle);
}

void listen_refuse(uv_stream_t *listener)
{
	uv_pipe_t *pipe = malloc(sizeof(*pipe));

	if (!pipe)
		return;
	uv_pipe_init(listener->loop, pipe, 0);
	uv_accept(listener, (uv_stream_t *)pipe);
	uv_close((uv_handle_t *)pipe, refused);
}
