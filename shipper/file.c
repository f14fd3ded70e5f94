/* Atomic file operations. See file.h. */
#include "shipper/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

int file_path(char ret_path[PATH_MAX], const char *directory, const char *name)
{
	return (size_t)snprintf(ret_path, PATH_MAX, "%s/%s", directory, name) >= PATH_MAX ? -ENAMETOOLONG : 0;
}

#define TEMPORARY_NAME ".copy.tmp"
#define COPY_BYTES (1 << 20) /* at a time */

int file_write_all(int fd, const void *data, size_t size)
{
	const char *next = data;

	while (size > 0) {
		ssize_t written = write(fd, next, size);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return written < 0 ? -errno : -EIO;
		next += written;
		size -= (size_t)written;
	}
	return 0;
}

/* Makes a rename in the directory durable. Returns 0 or -errno. */
static int sync_directory(const char *directory)
{
	int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int error;

	if (fd < 0)
		return -errno;
	error = fsync(fd) < 0 ? -errno : 0;
	close(fd);
	return error;
}

int file_write(const char *directory, const char *name, const void *data, size_t size, mode_t mode, int durable)
{
	char path[PATH_MAX], temporary[PATH_MAX];
	int fd, error;

	if (file_path(path, directory, name) < 0 ||
	    (size_t)snprintf(temporary, sizeof(temporary), "%s/.%s.tmp", directory, name) >= sizeof(temporary))
		return -ENAMETOOLONG;
	fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, mode);
	if (fd < 0)
		return -errno;
	error = fchmod(fd, mode) < 0 ? -errno : file_write_all(fd, data, size);
	if (error == 0 && durable && fsync(fd) < 0)
		error = -errno;
	close(fd);
	if (error == 0 && rename(temporary, path) < 0)
		error = -errno;
	if (error < 0) {
		unlink(temporary);
		return error;
	}
	return durable ? sync_directory(directory) : 0;
}

int file_overwrite(const char *directory, const char *name, const void *data, size_t size)
{
	char path[PATH_MAX];
	int fd, error;

	if (file_path(path, directory, name) < 0)
		return -ENAMETOOLONG;
	fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return -errno;
	error = file_write_all(fd, data, size);
	if (error == 0 && ftruncate(fd, (off_t)size) < 0)
		error = -errno;
	close(fd);
	return error;
}

static int copy_content(const char *from, const char *to)
{
	int in = open(from, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	int out = in < 0 ? -1 : open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0640);
	int error = out < 0 ? -errno : 0;
	ssize_t size = 1;

	while (error == 0 && size > 0) {
		size = sendfile(out, in, NULL, COPY_BYTES);
		if (size < 0)
			error = -errno;
	}
	if (error == 0 && fsync(out) < 0)
		error = -errno;
	if (in >= 0)
		close(in);
	if (out >= 0)
		close(out);
	return error;
}

int file_copy(const char *from_directory, const char *to_directory, const char *name)
{
	char from[PATH_MAX], to[PATH_MAX], temporary[PATH_MAX];
	int error;

	if (file_path(from, from_directory, name) < 0 || file_path(to, to_directory, name) < 0 ||
	    file_path(temporary, to_directory, TEMPORARY_NAME) < 0)
		return -ENAMETOOLONG;
	error = copy_content(from, temporary);
	if (error == 0 && rename(temporary, to) < 0)
		error = -errno;
	if (error < 0)
		unlink(temporary);
	return error < 0 ? error : sync_directory(to_directory);
}

int file_read(const char *path, size_t most, char **ret_data, size_t *ret_size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	size_t used = 0;
	ssize_t count = 1;
	char *data;
	int error;

	if (fd < 0)
		return -errno;
	data = malloc(most + 2);
	while (data && count > 0 && used <= most) {
		count = read(fd, data + used, most + 1 - used);
		used += count > 0 ? (size_t)count : 0;
	}
	error = !data ? -ENOMEM : count < 0 ? -errno : used > most ? -EFBIG : 0;
	close(fd);
	if (error < 0) {
		free(data);
		return error;
	}
	data[used] = '\0';
	*ret_data = data;
	*ret_size = used;
	return 0;
}
