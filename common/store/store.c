/* Opening of a store for reading, its schema and errors. See store.h. */
#include "common/store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/store/internal.h"
#include "common/text.h"
#include "store-migrations.h"
#include "store-views.h"

#define APPLICATION_ID 0x54524352 /* "TRCR" */
#define LOOKASIDE_BYTES 1200      /* for SQLite's small allocations, instead of malloc: */
#define LOOKASIDE_COUNT 500       /* as many as an upsert of the widest table needs */
#define LOCKS_READ_MAX 3          /* /proc/locks, until the writer's is in it */
#define BUSY_TIMEOUT_MS 5000      /* for WAL recovery by a reader, or the lock of a copy tool */
#define READER_CACHE_KIB 12288    /* most: a report visits the same pages again and again */

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

int store_refuse(struct store_error *ret_error, int error, const char *format, ...)
{
	char raw[sizeof(ret_error->text)];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(raw, sizeof(raw), format, arguments);
	va_end(arguments);
	text_escape(raw, strlen(raw), ret_error->text, sizeof(ret_error->text));
	return error;
}

int store_explain(struct store_error *ret_error, int error, const char *path, const char *what)
{
	switch (error) {
	case -ENOSPC: return store_refuse(ret_error, error, "%s: no space left on its disk: free some", path);
	case -EUCLEAN:
		return store_refuse(ret_error, error,
				    "%s: not a tracer store, or damaged (%s): move it away, or use another file", path,
				    what);
	case -EROFS:
		return store_refuse(ret_error, error, "%s: read-only: use a store on a writable file system", path);
	case -EACCES:
	case -EPERM:
		return store_refuse(ret_error, error,
				    "%s: permission denied: readable only by its "
				    "owner and group (`tracer` if installed)",
				    path);
	case -ENOENT:
		return store_refuse(ret_error, error,
				    "%s: no such file: is tracer-correlator running, "
				    "or is the store elsewhere (--store)?",
				    path);
	default: return store_refuse(ret_error, error, "%s: %s (%s)", path, what, strerror(-error));
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
	int error = 0, rc = sqlite3_prepare_v2(store->db, sql, -1, &statement, NULL);

	if (rc == SQLITE_OK)
		rc = sqlite3_step(statement);
	if (rc == SQLITE_ROW || rc == SQLITE_DONE)
		*ret_value = rc == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0;
	else
		error = store_fail(store, rc, "cannot read the store");
	sqlite3_finalize(statement);
	return error;
}

/* ---- the schema -------------------------------------------------------------- */

int store_read_version(struct store *store, int64_t *ret_version)
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
	else if (application != APPLICATION_ID || version < 0) {
		snprintf(store->base.error, sizeof(store->base.error), "a database of another program");
		return -EUCLEAN;
	}
	*ret_version = version;
	return 0;
}

int store_refuse_newer(const char *path, int64_t version, struct store_error *ret_error)
{
	return store_refuse(ret_error, -EPROTO,
			    "%s: written by a newer release (schema %lld, this one supports %d): use that "
			    "release's programs",
			    path, (long long)version, store_schema_version());
}

#define X(name, file) name,
static const char *const migrations[] = {STORE_SQL_MIGRATIONS(X)};
#undef X

int store_schema_version(void)
{
	return sizeof(migrations) / sizeof(migrations[0]);
}

int store_migrate(struct store *store, int64_t version)
{
	char finish[128];
	int error = store_exec(store, "BEGIN IMMEDIATE");

	for (int next = (int)version; error == 0 && next < store_schema_version(); next++)
		error = store_exec(store, migrations[next]);
	if (error == 0)
		error = store_exec(store, sql_views);
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

	if (store)
		store->base.driver = &store_driver_sqlite;
	return store;
}

void store_configure_sqlite(void)
{
	sqlite3_config(SQLITE_CONFIG_SINGLETHREAD);
	sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

int store_connect(struct store *store, const char *name, int flags, const char *vfs)
{
	int rc;

	store_configure_sqlite();
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

int store_probe_file(const char *path, int flags, struct store_error *ret_error)
{
	struct stat status;
	int fd = open(path, flags | O_CLOEXEC | O_NONBLOCK, 0640);
	int error = 0;

	if (fd < 0)
		return store_explain(ret_error, -errno, path, "cannot open");
	if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode))
		error = store_refuse(ret_error, -EUCLEAN, "%s: not a regular file", path);
	close(fd);
	return error;
}

int store_open_empty(struct store **ret_store, struct store_error *ret_error)
{
	struct store *store = store_new();
	int error;

	if (!store)
		return store_refuse(ret_error, -ENOMEM, "out of memory");
	error = store_connect(store, ":memory:", SQLITE_OPEN_READWRITE, NULL);
	if (error == 0)
		error = store_migrate(store, 0);
	if (error < 0) {
		store_refuse(ret_error, error, "%s", store->base.error);
		store_close(store);
		return error;
	}
	*ret_store = store;
	return 0;
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
	return store_connect(store, uri, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL);
}

/* Returns true for the codes by which SQLite reports that PATH-shm is missing and cannot be created, because of
 * the file system (cannot open) or of a sandbox (read-only). */
static bool cannot_map_shm(int code)
{
	return (code & 0xff) == SQLITE_CANTOPEN || (code & 0xff) == SQLITE_READONLY;
}

static int reader_prepare(struct store *store, const char *path, struct store_error *ret_error)
{
	int64_t version = 0;
	int error = store_connect(store, path, SQLITE_OPEN_READONLY, NULL);
	if (error == 0)
		error = store_read_version(store, &version);
	if (error < 0 && cannot_map_shm(sqlite3_errcode(store->db)) && reader_open_immutable(store, path) == 0)
		error = store_read_version(store, &version);
	if (error < 0)
		return store_explain(ret_error, error, path, store->base.error);
	if (version > store_schema_version())
		return store_refuse_newer(path, version, ret_error);
	if (version == 0)
		return store_refuse(ret_error, -EPROTO, "%s: empty: tracer-correlator initializes it when it starts",
				    path);
	if (version < store_schema_version())
		return store_refuse(ret_error, -EPROTO,
				    "%s: schema %lld is older than this release's %d: tracer-correlator "
				    "upgrades it when it starts",
				    path, (long long)version, store_schema_version());
	/* A reader may be in a sandbox that lets it write no file: a large sort would fail. */
	error = store_exec(store, "PRAGMA temp_store = MEMORY");
	if (error == 0)
		error = store_limit_cache(store, READER_CACHE_KIB);
	return error < 0 ? store_explain(ret_error, error, path, store->base.error) : 0;
}

int store_open_reader(const char *path, struct store **ret_store, struct store_error *ret_error)
{
	struct store *store = store_new();
	int error;

	if (!store)
		return store_refuse(ret_error, -ENOMEM, "out of memory");
	error = store_probe_file(path, O_RDONLY, ret_error);
	if (error == 0)
		error = reader_prepare(store, path, ret_error);
	if (error < 0) {
		store_close(store);
		return error;
	}
	*ret_store = store;
	return 0;
}

void store_read_boot_id(char ret_boot_id[40])
{
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t size = fd < 0 ? 0 : read(fd, ret_boot_id, 36);

	ret_boot_id[size == 36 ? size : 0] = '\0';
	if (fd >= 0)
		close(fd);
}

/* ---- the writer's lock ------------------------------------------------------- */

/* Finds who holds the lock file of that inode; 0 if unknown. The file itself says nothing: anyone could write it who may
 * lock it. */
static pid_t lock_find_holder(ino_t inode)
{
	FILE *locks = fopen("/proc/locks", "re");
	char line[128], kind[8];
	unsigned long found;
	pid_t pid, holder = 0;

	while (locks && !holder && fgets(line, sizeof(line), locks))
		if (sscanf(line, "%*s %7s %*s %*s %d %*[0-9a-f]:%*[0-9a-f]:%lu", kind, &pid, &found) == 3 &&
		    strcmp(kind, "FLOCK") == 0 && found == inode)
			holder = pid;
	if (locks)
		fclose(locks);
	return holder;
}

int store_lock_name(const char *path, char name[PATH_MAX])
{
	return snprintf(name, PATH_MAX, "%s.lock", path) < PATH_MAX ? 0 : -ENAMETOOLONG;
}

pid_t store_find_writer(const char *path)
{
	char name[PATH_MAX];
	struct stat status;
	pid_t pid = 0;

	if (store_lock_name(path, name) < 0 || stat(name, &status) < 0)
		return 0;
	/* The kernel gives its list in parts, and may skip a lock if others are released in between. */
	for (int i = 0; i < LOCKS_READ_MAX && pid == 0; i++)
		pid = lock_find_holder(status.st_ino);
	return pid;
}
