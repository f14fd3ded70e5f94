/* Opening of a store for writing, its lock and its log. See writer.h.
 *
 * SQLite settings and their reasons:
 *   WAL                  readers never wait for the writer, nor it for them.
 *   synchronous=NORMAL   a commit survives any termination of the correlator, including
 *       kill -9, which is what an acknowledgement promises: the ring also outlives the
 *       process. Only a crash of the machine can undo the commits since
 *       the last checkpoint (the kernel writes pages out within about 30 s);
 *       the ring is then lost as well, and the database stays consistent. FULL would
 *       fsync at each commit, which on ext4 also waits for the dirty pages of the
 *       observed pipeline: the tracer would slow down what it measures. The revisions of
 *       commits undone by a crash must not be assigned again, or the shipper, whose
 *       cursor is past them, would skip the new rows: see store_init_writer().
 *   persistent WAL       PATH-wal and PATH-shm remain when the writer ends, so that a
 *       user with only read access (group of the file, no write to the directory) can
 *       open the store while no writer runs. A reader needs search permission on the
 *       directory and read permission on PATH, PATH-wal and PATH-shm, which SQLite
 *       creates with the mode and owner of PATH.
 *   auto_vacuum          incremental: expiry frees pages without rewriting the file.
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "correlator/store/internal.h"

#define LOCK_TIMEOUT_MS 2000
#define LOCK_POLL_MS 20
/* Part of the correlator's 48 MiB. */
#define WRITER_CACHE_KIB "8192"
/* A checkpoint writes a page once however often it changed, so rare checkpoints save writes; but the WAL must not
 * fill a disk that is nearly full. */
#define WAL_CHECKPOINT_PAGES 8000
#define WAL_CHECKPOINT_PAGES_SCARCE 256
#define WAL_LIMIT_BYTES (64 << 20) /* a checkpoint truncates a larger WAL to this size */
#define WAL_LIMIT_BYTES_SCARCE (1 << 20)
#define SCARCE_BYTES (2ULL * WAL_LIMIT_BYTES) /* free disk space below which it is scarce, */
#define ENOUGH_BYTES (4ULL * WAL_LIMIT_BYTES) /* and from which on it no longer is */

/* ---- the writer's lock ------------------------------------------------------- */

/* Returns 0 with the whole lock; 1 with a share of it, if that is wanted; -errno. */
static int lock_try(int fd, bool is_shared)
{
	int waited_ms = 0;

	for (;;) {
		if (flock(fd, LOCK_EX | LOCK_NB) == 0)
			return 0;
		if (is_shared && flock(fd, LOCK_SH | LOCK_NB) == 0)
			return 1;
		/* Another that shares it has the whole lock while it opens the store. */
		if (errno != EWOULDBLOCK || !is_shared || waited_ms >= LOCK_TIMEOUT_MS)
			return errno == EWOULDBLOCK ? -EBUSY : -errno;
		poll(NULL, 0, LOCK_POLL_MS);
		waited_ms += LOCK_POLL_MS;
	}
}

/* PATH.lock remains when the writer ends: if it were removed, two writers could lock two
 * files of that name. Only its owner may open it: a user who can read a file can lock it. */
static int lock_take(const char *path, bool is_shared, int *ret_fd, struct store_error *ret_error)
{
	char name[PATH_MAX];
	int fd, result;

	if (store_lock_name(path, name) < 0)
		return store_refuse(ret_error, -ENAMETOOLONG, "the store's name is too long");
	fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0 && errno == ENOENT)
		return store_refuse(ret_error, -ENOENT,
				    "%s: no such directory: create it, or use another "
				    "store",
				    path);
	if (fd < 0)
		return store_explain(ret_error, -errno, path, "cannot create its lock file");
	fchmod(fd,
	       0600); /* earlier releases let the group read it; fails for a file of another user, who may lock it */
	result = lock_try(fd, is_shared);
	if (result >= 0) {
		*ret_fd = fd;
		return result;
	}
	close(fd);
	return store_refuse(ret_error, result,
			    result == -EBUSY
				    ? "%s: in use by another tracer-correlator or tracer run (pid %d): stop it, or "
				      "use another store"
				    : "%s: cannot lock it (holder %d)",
			    path, store_find_writer(path));
}

/* ---- the log ------------------------------------------------------------------ */

static int wal_bound(struct store *store, bool room_is_scarce)
{
	char sql[96];

	writer_of(store)->room_is_scarce = room_is_scarce;
	snprintf(sql, sizeof(sql), "PRAGMA wal_autocheckpoint = %d; PRAGMA journal_size_limit = %d",
		 room_is_scarce ? WAL_CHECKPOINT_PAGES_SCARCE : WAL_CHECKPOINT_PAGES,
		 room_is_scarce ? WAL_LIMIT_BYTES_SCARCE : WAL_LIMIT_BYTES);
	return store_exec(store, sql);
}

int store_watch_room(struct store *store)
{
	uint64_t limit_bytes = writer_of(store)->room_is_scarce ? ENOUGH_BYTES : SCARCE_BYTES;
	struct statvfs disk;
	bool is_scarce;
	int error;

	/* Fails for a store in memory, which has no file name. */
	if (statvfs(sqlite3_db_filename(store->db, "main"), &disk) < 0)
		return 0;
	is_scarce = (uint64_t)disk.f_bavail * disk.f_frsize < limit_bytes;
	if (is_scarce == writer_of(store)->room_is_scarce)
		return 0;
	error = wal_bound(store, is_scarce);
	/* Checkpoint now, while there may be room for it: the next transaction then starts at the
	 * beginning of the WAL. What cannot be written now is written once there is room. */
	if (error == 0 && is_scarce)
		sqlite3_wal_checkpoint_v2(store->db, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
	return error;
}

/* ---- opening ----------------------------------------------------------------- */

static int writer_configure(struct store *store)
{
	int persist = 1;
	int error = store_exec(store, "PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL;"
				      "PRAGMA synchronous = NORMAL; PRAGMA cache_size = -" WRITER_CACHE_KIB ";"
				      "PRAGMA temp_store = MEMORY");

	if (error == 0)
		error = wal_bound(store, false);
	if (error == 0)
		sqlite3_file_control(store->db, "main", SQLITE_FCNTL_PERSIST_WAL, &persist);
	return error;
}

static int writer_prepare(struct store *store, const char *path, struct store_error *ret_error)
{
	int64_t version = 0;
	int error = store_connect(store, path, SQLITE_OPEN_READWRITE,
				  writer_of(store)->is_shared ? NULL : store_locks_vfs());

	if (error == 0)
		error = store_read_version(store, &version);
	if (error == 0 && version > store_schema_version())
		return store_refuse_newer(path, version, ret_error);
	if (error == 0)
		error = writer_configure(store);
	if (error == 0 && version < store_schema_version())
		error = store_migrate(store, version);
	if (error == 0)
		error = store_init_writer(store);
	return error == 0 ? 0 : store_explain(ret_error, error, path, store->base.error);
}

static void writer_close(struct store *store)
{
	int lock_fd = writer_of(store)->lock_fd;

	store_deinit_writer(store);
	store_driver_sqlite.close(store); /* frees it */
	if (lock_fd >= 0)
		close(lock_fd);
}

int store_open_for_writing(const char *path, bool is_shared, struct store **ret_store, struct store_error *ret_error)
{
	struct store_writer *writer = calloc(1, sizeof(*writer));
	struct store *store = &writer->store;
	int error, is_joined;

	if (!writer)
		return store_refuse(ret_error, -ENOMEM, "out of memory");
	writer->driver = store_driver_sqlite;
	writer->driver.close = writer_close;
	store->base.driver = &writer->driver;
	writer->is_shared = is_shared;
	writer->lock_fd = -1;
	error = is_joined = lock_take(path, is_shared, &writer->lock_fd, ret_error);
	if (error >= 0)
		error = store_probe_file(path, O_RDWR | O_CREAT, ret_error);
	if (error == 0)
		error = writer_prepare(store, path, ret_error);
	if (error < 0) {
		store_close(store);
		return error;
	}
	*ret_store = store;
	return is_joined;
}

int store_open_writer(const char *path, struct store **ret_store, struct store_error *ret_error)
{
	return store_open_for_writing(path, false, ret_store, ret_error);
}
