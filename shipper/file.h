/* Small files that must be whole or not there at all. */
#pragma once

#include <limits.h>
#include <sys/types.h>

/* DIRECTORY/NAME. 0 or -ENAMETOOLONG. */
int file_path(char ret_path[PATH_MAX], const char *directory, const char *name);

/* All of it, however many calls that takes. 0 or -errno. */
int file_write_all(int fd, const void *data, size_t size);

/* Writes DIRECTORY/NAME by way of a temporary file beside it. With `durable` it is on disk
 * when this returns. 0 or -errno. */
int file_write(const char *directory, const char *name, const void *data, size_t size, mode_t mode, int durable);

/* Writes over a file that is there, in the room that it has: what to do where the disk is full and
 * a reader that meets half of it only has to read again. 0 or -errno. */
int file_overwrite(const char *directory, const char *name, const void *data, size_t size);

/* NAME from one directory to another, whole and on disk when it returns. 0 or -errno.
 * (Landlock's first version refuses every rename between two directories.) */
int file_copy(const char *from_directory, const char *to_directory, const char *name);

/* The whole file, ended by a NUL that `ret_size` does not count; to free. -EFBIG above
 * `most` bytes; -errno. */
int file_read(const char *path, size_t most, char **ret_data, size_t *ret_size);
