/* Keeps the locks of readers from stopping a store's writer. See internal.h.
 *
 * SQLite coordinates by POSIX locks on bytes of PATH-shm, and every reader of a file may lock it for reading: one
 * could keep out the writer for ever. So the writer asks what is in its way. Only writers take the locks for writing, for
 * checkpoints and for recovery, and they take them exclusively, which needs write access: a read lock there is ignored.
 * Read locks on read marks are what readers protect their snapshot with. They are respected until the
 * WAL, which cannot be emptied meanwhile, has grown to WAL_HELD_BYTES_MAX; then that reader may get an error, or rows of
 * different moments.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "correlator/store/internal.h"

#define SHM_LOCK_BYTE 120 /* of WAL_WRITE_LOCK; this and the order are part of SQLite's file format (walformat) */
#define SHM_READ_MARK 3   /* after the locks for writing, checkpoints and recovery */
#define WAL_HELD_BYTES_MAX (1LL << 30)

/* Follows SQLite's own structure of an open file. */
struct lock_file {
	const char *path;
	int shm_fd;            /* -1: not open yet; closed last, since closing it releases all locks of this process */
	unsigned taken_anyway; /* locks, as bits, that a reader holds and the writer took all the same */
};

static const sqlite3_vfs *original;
static sqlite3_vfs vfs;
static sqlite3_io_methods original_methods, methods;

static struct lock_file *lock_file_of(sqlite3_file *file)
{
	return (struct lock_file *)((char *)file + original->szOsFile);
}

static bool wal_is_too_large(const char *path)
{
	char name[PATH_MAX];
	struct stat status;

	return snprintf(name, sizeof(name), "%s-wal", path) < (int)sizeof(name) && stat(name, &status) == 0 &&
	       status.st_size > WAL_HELD_BYTES_MAX;
}

/* Whether read locks of other processes, and nothing else, are on these bytes. */
static bool only_readers_hold(struct lock_file *locks, int offset, int count)
{
	char name[PATH_MAX];
	bool is_held = false;

	if (locks->shm_fd < 0 && snprintf(name, sizeof(name), "%s-shm", locks->path) < (int)sizeof(name))
		locks->shm_fd = open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	for (int i = 0; i < count; i++) {
		struct flock lock = {
			.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = SHM_LOCK_BYTE + offset + i, .l_len = 1};

		if (fcntl(locks->shm_fd, F_GETLK, &lock) < 0 || lock.l_type == F_WRLCK)
			return false;
		is_held = is_held || lock.l_type == F_RDLCK;
	}
	return is_held;
}

static int shm_lock(sqlite3_file *file, int offset, int count, int flags)
{
	struct lock_file *locks = lock_file_of(file);
	unsigned mask = ((1U << count) - 1) << offset;
	int rc;

	if (flags & SQLITE_SHM_UNLOCK && flags & SQLITE_SHM_EXCLUSIVE && locks->taken_anyway & mask) {
		locks->taken_anyway &= ~mask;
		return SQLITE_OK;
	}
	rc = original_methods.xShmLock(file, offset, count, flags);
	if (rc != SQLITE_BUSY || !(flags & SQLITE_SHM_EXCLUSIVE) || !only_readers_hold(locks, offset, count) ||
	    (offset + count > SHM_READ_MARK && !wal_is_too_large(locks->path)))
		return rc;
	locks->taken_anyway |= mask;
	return SQLITE_OK;
}

static int file_close(sqlite3_file *file)
{
	int shm_fd = lock_file_of(file)->shm_fd;
	int rc = original_methods.xClose(file);

	if (shm_fd >= 0)
		close(shm_fd);
	return rc;
}

static int file_open(sqlite3_vfs *self, const char *name, sqlite3_file *file, int flags, int *ret_flags)
{
	int rc = original->xOpen(self, name, file, flags, ret_flags);

	if (rc != SQLITE_OK || !(flags & SQLITE_OPEN_MAIN_DB) || file->pMethods->iVersion < 2)
		return rc;
	*lock_file_of(file) = (struct lock_file){.path = name, .shm_fd = -1};
	original_methods = methods = *file->pMethods;
	methods.xShmLock = shm_lock;
	methods.xClose = file_close;
	file->pMethods = &methods;
	return rc;
}

const char *store_locks_vfs(void)
{
	if (original)
		return vfs.zName;
	store_configure_sqlite(); /* the next call would be its first use */
	original = sqlite3_vfs_find(NULL);
	vfs = *original;
	vfs.zName = "tracer-writer";
	vfs.szOsFile += (int)sizeof(struct lock_file);
	vfs.xOpen = file_open;
	sqlite3_vfs_register(&vfs, 0);
	return vfs.zName;
}
