/* Opening and closing of the store, its lock, schema and errors. See store.h.
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
#include "common/store/store.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "common/store/internal.h"
#include "common/text.h"

#define APPLICATION_ID 0x54524352 /* "TRCR" */
#define LOOKASIDE_BYTES 1200      /* for SQLite's small allocations, instead of malloc: */
#define LOOKASIDE_COUNT 500       /* as many as an upsert of the widest table needs */
#define LOCK_TIMEOUT_MS 2000
#define LOCK_POLL_MS 20
#define BUSY_TIMEOUT_MS 5000 /* for WAL recovery by a reader, or the lock of a copy tool */
/* Part of the correlator's 48 MiB. */
#define WRITER_CACHE_KIB 8192
/* A checkpoint writes a page once however often it changed, so rare checkpoints save writes; but the WAL must not
 * fill a disk that is nearly full. */
#define WAL_CHECKPOINT_PAGES 8000
#define WAL_CHECKPOINT_PAGES_SCARCE 256
#define WAL_LIMIT_BYTES (64 << 20) /* a checkpoint truncates a larger WAL to this size */
#define WAL_LIMIT_BYTES_SCARCE (1 << 20)
#define SCARCE_BYTES (2ULL * WAL_LIMIT_BYTES) /* free disk space below which it is scarce, */
#define ENOUGH_BYTES (4ULL * WAL_LIMIT_BYTES) /* and from which on it no longer is */

/* ---- errors ------------------------------------------------------------------ */

/* Returns -errno for an SQLite result code, using the system errno of `db` if there is one. */
static int errno_of(sqlite3 *db, int rc)
{
	int system_errno = db ? sqlite3_system_errno(db) : 0;

	switch (rc & 0xff) {
	case SQLITE_OK:
	case SQLITE_ROW:
	case SQLITE_DONE: return 0;
	case SQLITE_FULL: return -ENOSPC;
	case SQLITE_BUSY:
	case SQLITE_LOCKED: return -EBUSY;
	case SQLITE_NOTADB:
	case SQLITE_CORRUPT: return -EUCLEAN;
	case SQLITE_READONLY: return -EROFS;
	case SQLITE_NOMEM: return -ENOMEM;
	case SQLITE_CONSTRAINT:
	case SQLITE_MISMATCH:
	case SQLITE_TOOBIG: return -EINVAL;
	case SQLITE_CANTOPEN:
	case SQLITE_IOERR:
		/* May also be a full disk: SQLite reports failure to grow PATH-shm as an I/O error. */
		return system_errno > 0 ? -system_errno : -EIO;
	default: return -EIO;
	}
}

/* SQLite's messages quote names from the file, which may be untrusted, so they are escaped. */
int store_fail(struct store *store, int rc, const char *what)
{
	int error = errno_of(store->db, rc);
	char raw[sizeof(store->base.error)];

	snprintf(raw, sizeof(raw), "%s: %s", what, store->db ? sqlite3_errmsg(store->db) : sqlite3_errstr(rc));
	text_escape(raw, strlen(raw), store->base.error, sizeof(store->base.error));
	return error;
}

int store_fail_as(struct store *store, int error, const char *words)
{
	snprintf(store->base.error, sizeof(store->base.error), "%s", words);
	return error;
}

__attribute__((format(printf, 3, 4))) static int error_set(struct store_error *ret_error, int error, const char *format,
							   ...)
{
	char raw[sizeof(ret_error->text)];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(raw, sizeof(raw), format, arguments);
	va_end(arguments);
	text_escape(raw, strlen(raw), ret_error->text, sizeof(ret_error->text));
	return error;
}

/* Explains a failed open to the user. */
static int error_explain(struct store_error *ret_error, int error, const char *path, const char *what)
{
	switch (error) {
	case -ENOSPC: return error_set(ret_error, error, "%s: no space left on its disk: free some", path);
	case -EUCLEAN:
		return error_set(ret_error, error,
				 "%s: not a tracer store, or damaged (%s): move it away, or use "
				 "another file",
				 path, what);
	case -EROFS:
		return error_set(ret_error, error,
				 "%s: read-only: use a store on a writable "
				 "file system",
				 path);
	case -EACCES:
	case -EPERM:
		return error_set(ret_error, error,
				 "%s: permission denied: readable only by its "
				 "owner and group (`tracer` if installed)",
				 path);
	case -ENOENT:
		return error_set(ret_error, error,
				 "%s: no such file: is tracer-correlator running, "
				 "or is the store elsewhere (--store)?",
				 path);
	default: return error_set(ret_error, error, "%s: %s (%s)", path, what, strerror(-error));
	}
}

/* ---- helpers ----------------------------------------------------------------- */

int store_exec(struct store *store, const char *sql)
{
	int rc = sqlite3_exec(store->db, sql, NULL, NULL, NULL);

	return rc == SQLITE_OK ? 0 : store_fail(store, rc, "cannot use the store");
}

int store_read_integer(struct store *store, const char *sql, int64_t *ret_value)
{
	sqlite3_stmt *statement = NULL;
	int64_t value = 0;
	int rc = sqlite3_prepare_v2(store->db, sql, -1, &statement, NULL);

	if (rc == SQLITE_OK) {
		rc = sqlite3_step(statement);
		if (rc == SQLITE_ROW)
			value = sqlite3_column_int64(statement, 0);
	}
	if (rc != SQLITE_ROW && rc != SQLITE_DONE) {
		int error = store_fail(store, rc, "cannot read the store");

		sqlite3_finalize(statement);
		return error;
	}
	sqlite3_finalize(statement);
	*ret_value = value;
	return 0;
}

/* ---- the writer's lock ------------------------------------------------------- */

/* Finds who holds a lock file, for messages; 0 if unknown. The file itself says nothing: anyone could write it who
 * may lock it. */
static pid_t lock_find_holder(const char *name)
{
	FILE *locks = fopen("/proc/locks", "re");
	char line[128], kind[8];
	struct stat status;
	unsigned long inode;
	pid_t pid, found = 0;

	if (stat(name, &status) < 0)
		status.st_ino = 0;
	while (locks && !found && fgets(line, sizeof(line), locks))
		if (sscanf(line, "%*s %7s %*s %*s %d %*[0-9a-f]:%*[0-9a-f]:%lu", kind, &pid, &inode) == 3 &&
		    strcmp(kind, "FLOCK") == 0 && inode == status.st_ino)
			found = pid;
	if (locks)
		fclose(locks);
	return found;
}

static int lock_name(const char *path, char name[PATH_MAX])
{
	return snprintf(name, PATH_MAX, "%s.lock", path) < PATH_MAX ? 0 : -ENAMETOOLONG;
}

pid_t store_find_writer(const char *path)
{
	char name[PATH_MAX];

	return lock_name(path, name) < 0 ? 0 : lock_find_holder(name);
}

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

	if (lock_name(path, name) < 0)
		return error_set(ret_error, -ENAMETOOLONG, "the store's name is too long");
	fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0 && errno == ENOENT)
		return error_set(ret_error, -ENOENT,
				 "%s: no such directory: create it, or use another "
				 "store",
				 path);
	if (fd < 0)
		return error_explain(ret_error, -errno, path, "cannot create its lock file");
	fchmod(fd,
	       0600); /* earlier releases let the group read it; fails for a file of another user, who may lock it */
	result = lock_try(fd, is_shared);
	if (result >= 0) {
		*ret_fd = fd;
		return result;
	}
	close(fd);
	return error_set(ret_error, result,
			 result == -EBUSY
				 ? "%s: in use by another tracer-correlator or tracer run (pid %d): stop it, or "
				   "use another store"
				 : "%s: cannot lock it (holder %d)",
			 path, lock_find_holder(name));
}

/* ---- the schema -------------------------------------------------------------- */

/* Reads the schema version, 0 for an empty database. Returns -EUCLEAN for a database of another program. */
static int schema_read_version(struct store *store, int64_t *ret_version)
{
	int64_t application = 0, version = 0, objects = 0;
	int error;

	error = store_read_integer(store, "SELECT count(*) FROM sqlite_schema", &objects);
	if (error == 0)
		error = store_read_integer(store, "PRAGMA application_id", &application);
	if (error == 0)
		error = store_read_integer(store, "PRAGMA user_version", &version);
	if (error < 0)
		return error;
	if (objects == 0 && application == 0)
		version = 0;
	else if (application != APPLICATION_ID) {
		snprintf(store->base.error, sizeof(store->base.error), "a database of another program");
		return -EUCLEAN;
	}
	*ret_version = version;
	return 0;
}

static int schema_refuse_newer(const char *path, int64_t version, struct store_error *ret_error)
{
	return error_set(ret_error, -EPROTO,
			 "%s: written by a newer release (schema %lld, this one supports %d): use that "
			 "release's programs",
			 path, (long long)version, store_schema_version());
}

/* Migrates from `version` to the newest schema, atomically. */
static int schema_migrate(struct store *store, int64_t version)
{
	char finish[128];
	int error = store_exec(store, "BEGIN IMMEDIATE");

	for (int next = (int)version + 1; error == 0 && next <= store_schema_version(); next++)
		error = store_exec(store, store_migration_text(next));
	if (error == 0)
		error = store_exec(store, store_views_text());
	snprintf(finish, sizeof(finish), "PRAGMA application_id = %d; PRAGMA user_version = %d; COMMIT", APPLICATION_ID,
		 store_schema_version());
	if (error == 0)
		error = store_exec(store, finish);
	if (error < 0 && !sqlite3_get_autocommit(store->db))
		sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
	return error;
}

/* ---- opening ----------------------------------------------------------------- */

static struct store *store_new(void)
{
	struct store *store = calloc(1, sizeof(*store));

	if (store) {
		store->base.driver = &store_driver_sqlite;
		store->lock_fd = -1;
	}
	return store;
}

void store_destroy(struct store *store)
{
	store_deinit_writer(store);
	sqlite3_close(store->db);
	if (store->lock_fd >= 0)
		close(store->lock_fd);
	free(store);
}

/* Opens a connection that trusts nothing in the file except its rows. */
static int connection_open(struct store *store, const char *name, int flags)
{
	bool is_only_writer = store->lock_fd >= 0 && !store->is_shared;
	const char *vfs = is_only_writer ? store_locks_vfs() : NULL;
	int rc;

	/* Memory statistics take a lock at each allocation, a tenth of the writer's time.
	 * Once SQLite is in use the call fails, which does no harm. */
	sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
	rc = sqlite3_open_v2(name, &store->db, flags | SQLITE_OPEN_NOMUTEX, vfs);

	if (rc != SQLITE_OK)
		return store_fail(store, rc, "cannot open");
	sqlite3_extended_result_codes(store->db, 1);
	sqlite3_busy_timeout(store->db, BUSY_TIMEOUT_MS);
	sqlite3_db_config(store->db, SQLITE_DBCONFIG_LOOKASIDE, NULL, LOOKASIDE_BYTES, LOOKASIDE_COUNT);
	sqlite3_db_config(store->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(store->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(store->db, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
	sqlite3_db_config(store->db, SQLITE_DBCONFIG_DQS_DDL, 0, NULL);
	return 0;
}

/* Opens the file before SQLite does, for exact errors and to create it with mode 0640. */
static int file_probe(const char *path, int flags, struct store_error *ret_error)
{
	struct stat status;
	int fd = open(path, flags | O_CLOEXEC | O_NONBLOCK, 0640);
	int error = 0;

	if (fd < 0)
		return error_explain(ret_error, -errno, path, "cannot open");
	if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode))
		error = error_set(ret_error, -EUCLEAN, "%s: not a regular file", path);
	close(fd);
	return error;
}

static int wal_bound(struct store *store, bool room_is_scarce)
{
	char sql[96];

	store->room_is_scarce = room_is_scarce;
	snprintf(sql, sizeof(sql), "PRAGMA wal_autocheckpoint = %d; PRAGMA journal_size_limit = %d",
		 room_is_scarce ? WAL_CHECKPOINT_PAGES_SCARCE : WAL_CHECKPOINT_PAGES,
		 room_is_scarce ? WAL_LIMIT_BYTES_SCARCE : WAL_LIMIT_BYTES);
	return store_exec(store, sql);
}

int store_watch_room(struct store *store)
{
	uint64_t limit_bytes = store->room_is_scarce ? ENOUGH_BYTES : SCARCE_BYTES;
	struct statvfs disk;
	bool is_scarce;
	int error;

	/* Fails for a store in memory, which has no file name. */
	if (statvfs(sqlite3_db_filename(store->db, "main"), &disk) < 0)
		return 0;
	is_scarce = (uint64_t)disk.f_bavail * disk.f_frsize < limit_bytes;
	if (is_scarce == store->room_is_scarce)
		return 0;
	error = wal_bound(store, is_scarce);
	/* Checkpoint now, while there may be room for it: the next transaction then starts at the
	 * beginning of the WAL. What cannot be written now is written once there is room. */
	if (error == 0 && is_scarce)
		sqlite3_wal_checkpoint_v2(store->db, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
	return error;
}

static int writer_configure(struct store *store)
{
	char sql[256];
	int persist = 1;
	int error;

	snprintf(sql, sizeof(sql),
		 "PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL;"
		 "PRAGMA synchronous = NORMAL; PRAGMA cache_size = -%d; PRAGMA temp_store = MEMORY",
		 WRITER_CACHE_KIB);
	error = store_exec(store, sql);
	if (error == 0)
		error = wal_bound(store, false);
	if (error == 0)
		sqlite3_file_control(store->db, "main", SQLITE_FCNTL_PERSIST_WAL, &persist);
	return error;
}

static int writer_prepare(struct store *store, const char *path, struct store_error *ret_error)
{
	int64_t version = 0;
	int error = connection_open(store, path, SQLITE_OPEN_READWRITE);

	if (error == 0)
		error = schema_read_version(store, &version);
	if (error == 0 && version > store_schema_version())
		return schema_refuse_newer(path, version, ret_error);
	if (error == 0)
		error = writer_configure(store);
	if (error == 0 && version < store_schema_version())
		error = schema_migrate(store, version);
	if (error == 0)
		error = store_init_writer(store);
	return error == 0 ? 0 : error_explain(ret_error, error, path, store->base.error);
}

static int writer_open(const char *path, bool is_shared, struct store **ret_store, struct store_error *ret_error)
{
	struct store *store = store_new();
	int error, is_joined;

	if (!store)
		return error_set(ret_error, -ENOMEM, "out of memory");
	store->is_shared = is_shared;
	error = is_joined = lock_take(path, is_shared, &store->lock_fd, ret_error);
	if (error >= 0)
		error = file_probe(path, O_RDWR | O_CREAT, ret_error);
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
	return writer_open(path, false, ret_store, ret_error);
}

int store_open_shared(const char *path, int64_t bytes_max, struct store **ret_store, struct store_error *ret_error)
{
	struct store *store;
	int error = writer_open(path, true, &store, ret_error);

	if (error == 0)
		error = store_clean(store, bytes_max);
	else if (error == 1)
		error = 0;
	else
		return error;
	if (error == 0 && flock(store->lock_fd, LOCK_SH) < 0)
		error = store_fail_as(store, -errno, "cannot share its lock");
	if (error < 0) {
		error_explain(ret_error, error, path, store->base.error);
		store_close(store);
		return error;
	}
	*ret_store = store;
	return 0;
}

int store_open_empty(struct store **ret_store, struct store_error *ret_error)
{
	struct store *store = store_new();
	int error;

	if (!store)
		return error_set(ret_error, -ENOMEM, "out of memory");
	error = connection_open(store, ":memory:", SQLITE_OPEN_READWRITE);
	if (error == 0)
		error = schema_migrate(store, 0);
	if (error < 0) {
		error_set(ret_error, error, "%s", store->base.error);
		store_close(store);
		return error;
	}
	*ret_store = store;
	return 0;
}

int store_settle(struct store *store)
{
	int persist = 0;

	sqlite3_file_control(store->db, "main", SQLITE_FCNTL_PERSIST_WAL, &persist);
	sqlite3_busy_timeout(store->db, 0); /* a checkpoint that has to wait for a reader does what it can */
	return store_exec(store, "PRAGMA synchronous = FULL; PRAGMA wal_checkpoint(TRUNCATE)");
}

int store_limit_cache(struct store *store, int kib)
{
	char sql[64];

	snprintf(sql, sizeof(sql), "PRAGMA cache_size = -%d", kib);
	return store_exec(store, sql);
}

/* On read-only media, where no writer can exist, a WAL database can only be
 * opened as immutable; but not if there is a PATH-wal, which may contain rows. */
static int reader_open_immutable(struct store *store, const char *path)
{
	char wal[4096], uri[3 * 4096 + 32];
	size_t used;

	if ((size_t)snprintf(wal, sizeof(wal), "%s-wal", path) >= sizeof(wal))
		return -ENAMETOOLONG;
	if (access(wal, F_OK) == 0 || errno != ENOENT)
		return -EACCES;
	used = (size_t)snprintf(uri, sizeof(uri), "file:");
	for (const char *c = path; *c; c++) {
		bool plain = strchr("/._-~", *c) || (*c >= '0' && *c <= '9') || (*c >= 'a' && *c <= 'z') ||
			     (*c >= 'A' && *c <= 'Z');

		used += (size_t)snprintf(uri + used, sizeof(uri) - used, plain ? "%c" : "%%%02X", (unsigned char)*c);
	}
	snprintf(uri + used, sizeof(uri) - used, "?immutable=1");
	sqlite3_close(store->db);
	store->db = NULL;
	return connection_open(store, uri, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
}

/* Returns true for the codes by which SQLite reports that PATH-shm is missing and cannot be created, because of
 * the file system (cannot open) or of a sandbox (read-only). */
static bool is_out_of_reach(int code)
{
	return (code & 0xff) == SQLITE_CANTOPEN || (code & 0xff) == SQLITE_READONLY;
}

static int reader_prepare(struct store *store, const char *path, struct store_error *ret_error)
{
	int64_t version = 0;
	int error = connection_open(store, path, SQLITE_OPEN_READONLY);
	if (error == 0)
		error = schema_read_version(store, &version);
	if (error < 0 && is_out_of_reach(sqlite3_errcode(store->db)) && reader_open_immutable(store, path) == 0)
		error = schema_read_version(store, &version);
	if (error < 0)
		return error_explain(ret_error, error, path, store->base.error);
	if (version > store_schema_version())
		return schema_refuse_newer(path, version, ret_error);
	if (version == 0)
		return error_set(ret_error, -EPROTO, "%s: empty: tracer-correlator initializes it when it starts",
				 path);
	if (version < store_schema_version())
		return error_set(ret_error, -EPROTO,
				 "%s: schema %lld is older than this release's %d: tracer-correlator "
				 "upgrades it when it starts",
				 path, (long long)version, store_schema_version());
	return 0;
}

int store_open_reader(const char *path, struct store **ret_store, struct store_error *ret_error)
{
	struct store *store = store_new();
	int error;

	if (!store)
		return error_set(ret_error, -ENOMEM, "out of memory");
	error = file_probe(path, O_RDONLY, ret_error);
	if (error == 0)
		error = reader_prepare(store, path, ret_error);
	if (error < 0) {
		store_close(store);
		return error;
	}
	*ret_store = store;
	return 0;
}
