/* See share_key.h. */
#include "cli/page/share_key.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "analysis/report/share.h"
#include "cli/process/user.h"
#include "cli/screen/output.h"

/* Returns 0 or -errno; -ENOENT if there is none. */
static int key_read(const struct user *user, const char *path, unsigned char key[SHARE_KEY_BYTES])
{
	int fd = user_open(user, path, O_RDONLY | O_NOFOLLOW, 0);
	ssize_t size;

	if (fd < 0)
		return fd;
	size = read(fd, key, SHARE_KEY_BYTES);
	close(fd);
	return size == SHARE_KEY_BYTES ? 0 : size < 0 ? -errno : -EPROTO;
}

static int key_make(const struct user *user, const char *path, unsigned char key[SHARE_KEY_BYTES])
{
	int error = user_make_directories(user, path), fd;

	if (error < 0)
		return error;
	if (getrandom(key, SHARE_KEY_BYTES, 0) != SHARE_KEY_BYTES)
		return -EIO;
	fd = user_open(user, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
	if (fd < 0)
		return fd;
	error = write(fd, key, SHARE_KEY_BYTES) == SHARE_KEY_BYTES ? 0 : -EIO;
	return close(fd) < 0 || error < 0 ? -EIO : 0;
}

int share_key_load(const char *verb)
{
	char path[PATH_MAX];
	unsigned char key[SHARE_KEY_BYTES];
	struct user user;
	int error = user_read_invoking(&user);

	if (error == 0 && !user_path("share.key", path))
		error = -ENOENT;
	if (error < 0)
		return say("tracer %s: no home directory is known in which to keep the key of pseudonyms", verb);
	error = key_read(&user, path, key);
	if (error == -ENOENT)
		error = key_make(&user, path, key);
	if (error < 0)
		return say("tracer %s: the key of pseudonyms in %s: %s", verb, path, strerror(-error));
	share_set_key(key);
	return 0;
}
