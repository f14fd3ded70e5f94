/* Small files that must be complete or absent. */
#pragma once

#include <limits.h>
#include <sys/types.h>

/* Builds DIRECTORY/NAME. Returns 0 or -ENAMETOOLONG. */
int file_path(char ret_path[PATH_MAX], const char *directory, const char *name);

/* Writes everything, in as many calls as necessary. Returns 0 or -errno. */
int file_write_all(int fd, const void *data, size_t size);

/* Writes DIRECTORY/NAME via a temporary file beside it. With `durable`, it is on disk
 * on return. Returns 0 or -errno. */
int file_write(const char *directory, const char *name, const void *data, size_t size, mode_t mode, int durable);

/* Overwrites an existing file in place, for use when the disk is full and
 * a reader that sees a partial file only has to read again. Returns 0 or -errno. */
int file_overwrite(const char *directory, const char *name, const void *data, size_t size);

/* Copies NAME from one directory to another; it is complete and on disk on return. Returns 0 or -errno.
 * (Landlock ABI version 1 denies renames between directories.) */
int file_copy(const char *from_directory, const char *to_directory, const char *name);

/* Reads the whole file into memory that the caller frees; `ret_size` excludes the terminating NUL.
 * Returns 0; -EFBIG above `most` bytes; -errno. */
int file_read(const char *path, size_t most, char **ret_data, size_t *ret_size);
