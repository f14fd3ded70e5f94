/* Secrets in files. See secret_file.h. */
#include "common/http/secret_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* systemd keeps credentials in a directory that only the user of the unit can enter; in the mode of the
 * files themselves, an ACL appears as group permission. */
bool secret_file_is_credential(const char *name)
{
	return !strchr(name, '/') && getenv("CREDENTIALS_DIRECTORY");
}

static int secret_check(int fd, const char *name, const char *path, char *ret_reason, size_t capacity)
{
	struct stat status;

	if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode)) {
		snprintf(ret_reason, capacity, "%s: not a regular file", path);
		return -EINVAL;
	}
	if (!secret_file_is_credential(name) && (status.st_mode & 077)) {
		snprintf(ret_reason, capacity,
			 "%s: others can read it (mode %04o): run chmod 600 and make the user who needs it its owner",
			 path, status.st_mode & 07777);
		return -EACCES;
	}
	return 0;
}

static int secret_take(int fd, const char *path, struct secret_file *secret, char *ret_reason, size_t capacity)
{
	ssize_t size = read(fd, secret->text, sizeof(secret->text));
	size_t end;

	if (size < 0) {
		snprintf(ret_reason, capacity, "%s: cannot read: %s", path, strerror(errno));
		return -EIO;
	}
	end = (size_t)size;
	while (end > 0 && (secret->text[end - 1] == '\n' || secret->text[end - 1] == '\r'))
		end--;
	/* The secret becomes part of a header: no line breaks or other control characters. */
	for (size_t i = 0; i < end; i++)
		if ((unsigned char)secret->text[i] < 0x20 || secret->text[i] == 0x7f)
			end = 0;
	if (end == 0 || end >= sizeof(secret->text)) {
		snprintf(ret_reason, capacity, "%s: expected one line with the secret, at most %d bytes", path,
			 SECRET_BYTES_MAX - 1);
		return -EINVAL;
	}
	secret->text[end] = '\0';
	return 0;
}

int secret_file_read(const char *name, struct secret_file *ret_secret, char *ret_reason, size_t capacity)
{
	bool is_credential = secret_file_is_credential(name);
	char path[PATH_MAX];
	int fd, error;

	snprintf(path, sizeof(path), "%s%s%s", is_credential ? getenv("CREDENTIALS_DIRECTORY") : "",
		 is_credential ? "/" : "", name);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0) {
		error = -errno;
		snprintf(ret_reason, capacity, "%s: cannot open: %s", path, strerror(-error));
		return error;
	}
	error = secret_check(fd, name, path, ret_reason, capacity);
	if (error == 0)
		error = secret_take(fd, path, ret_secret, ret_reason, capacity);
	close(fd);
	if (error < 0)
		secret_file_wipe(ret_secret);
	return error;
}

void secret_file_wipe(struct secret_file *secret)
{
	explicit_bzero(secret, sizeof(*secret));
}
