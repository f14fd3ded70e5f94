/* Errors of a file, a disk or a user, and how they are reported. */
#include "tests/stores.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "common/store/internal.h"
#include "correlator/store/copy.h"

static struct store_error error_text;

static void change(const char *sql)
{
	sqlite3 *db = NULL;

	ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
	ck_assert_msg(sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK, "%s", sqlite3_errmsg(db));
	sqlite3_close(db);
}

static void expect_refused(int (*open)(const char *, struct store **, struct store_error *), int expected,
			   const char *words)
{
	struct store *opened = NULL;
	int error = open(path, &opened, &error_text);

	ck_assert_msg(error == expected, "%d instead of %d: %s", error, expected, error_text.text);
	ck_assert_msg(strstr(error_text.text, words) != NULL, "no `%s` in: %s", words, error_text.text);
	ck_assert_ptr_null(opened);
}

#define expect_writer_refused(expected, words) expect_refused(store_open_writer, expected, words)
#define expect_reader_refused(expected, words) expect_refused(store_open_reader, expected, words)

static bool root_or_skip(const char *test)
{
	if (geteuid() == 0)
		return true;
	printf("skip - store: %s: needs root to mount a small file system or change user\n", test);
	return false;
}

/* Fills the file system with that many bytes, until unlink(filler). */
static char filler[192];

static void fill(off_t size)
{
	int fd;

	snprintf(filler, sizeof(filler), "%s/filler", directory);
	fd = open(filler, O_CREAT | O_WRONLY, 0600);
	ck_assert_int_eq(posix_fallocate(fd, 0, size), 0);
	close(fd);
}

/* Mounts a file system at `directory` that disappears with the test's process. */
static bool mount_small(const char *test, const char *options)
{
	if (!root_or_skip(test))
		return false;
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("tmpfs", directory, "tmpfs", 0, options) < 0) {
		printf("skip - store: %s: cannot mount a tmpfs: %s\n", test, strerror(errno));
		return false;
	}
	return true;
}

static const char *beside(const char *suffix)
{
	static char name[192];

	snprintf(name, sizeof(name), "%s%s", path, suffix);
	return name;
}

static int64_t wal_bytes(void)
{
	struct stat status;

	return stat(beside("-wal"), &status) < 0 ? -1 : (int64_t)status.st_size;
}

/* Rewrites the same 200 rows: about 100 KiB of log a commit, while the store stays small. */
static void rewrite_rows(int times)
{
	static uint64_t offset;

	for (int i = 0; i < times; i++) {
		for (int64_t id = 1; id <= 200; id++) {
			struct row_incident row = fill_incident(id, "a sentence of some length, and another one");

			row.boot_ns = (int64_t)offset;
			put_incident(&row);
		}
		commit(++offset);
	}
}

/* By default the log would grow to 32 MiB before a checkpoint. */
TEST(log_does_not_fill_a_small_disk)
{
	if (!mount_small("log_does_not_fill_a_small_disk", "size=8m"))
		return;
	open_store();
	rewrite_rows(300);
	ck_assert_int_lt(wal_bytes(), 3 << 20);
	/* With more space it may grow; with less it is truncated. */
	ck_assert_int_eq(mount(NULL, directory, NULL, MS_REMOUNT, "size=1g"), 0);
	rewrite_rows(300);
	ck_assert_int_gt(wal_bytes(), 6 << 20);
	ck_assert_int_eq(mount(NULL, directory, NULL, MS_REMOUNT, "size=100m"), 0);
	rewrite_rows(3);
	ck_assert_int_lt(wal_bytes(), 3 << 20);
}

TEST(second_writer_is_refused)
{
	char pid[24];

	open_store();
	snprintf(pid, sizeof(pid), "pid %ld", (long)getpid());
	expect_writer_refused(-EBUSY, pid);
	ck_assert_int_eq(store_find_writer(path), getpid());
	close_store();
	ck_assert_int_eq(store_find_writer(path), 0);
	open_store();
}

/* Who can open a file can lock it, and keep a correlator from starting. */
TEST(the_lock_is_the_writers_alone)
{
	struct stat status;

	open_store();
	close_store();
	ck_assert_int_eq(chmod(beside(".lock"), 0640), 0); /* as earlier releases left it */
	open_store();
	ck_assert_int_eq(stat(beside(".lock"), &status), 0);
	ck_assert_uint_eq(status.st_mode & 0777, 0600);
	close_store();
	ck_assert_int_eq(unlink(beside(".lock")), 0);
	ck_assert_int_eq(symlink("tracer.db", beside(".lock")), 0);
	expect_writer_refused(-ELOOP, "cannot create its lock file");
}

static void change_by_file(const char *name)
{
	char *sql = NULL;
	size_t size = 0;
	FILE *file = fopen(name, "r");

	ck_assert_ptr_nonnull(file);
	ck_assert_int_gt(getdelim(&sql, &size, '\0', file), 0);
	fclose(file);
	change(sql);
	free(sql);
}

/* Restores a store written by the release with schema 1. */
static void restore_schema_1(void)
{
	change_by_file(SCHEMA_1);
	change_by_file(SCHEMA_1_ROWS);
}

#define BOOT_ID "01234567-89ab-cdef-0123-456789abcdef"

/* Old content is unchanged, new columns are unknown for it, and the store is writable. */
TEST(older_schema_is_migrated)
{
	restore_schema_1();
	change("INSERT INTO containers VALUES (5, 40, 1, 'docker', '5', '/docker/5', NULL, NULL, 1, NULL, 1)");
	change("INSERT INTO checkpoints VALUES (-1, CAST(x'0701C424' || '" BOOT_ID "' || x'03' AS BLOB)), "
	       "(0, CAST(x'0501C424' || '" BOOT_ID "' || x'C402' || 'ab' AS BLOB)), (17, x'0208')");
	expect_reader_refused(-EPROTO, "older");
	open_store();
	/* Of the saved states, only the host's continues. */
	ck_assert_rows("SELECT id, hex(state) FROM states",
		       "0 82AA67656E65726174696F6E03A66C6F73736573C4026162\n"); /* generation 3, losses "ab" */
	ck_assert_int_eq(read_integer("PRAGMA user_version"), store_schema_version());
	ck_assert_rows("SELECT count(*), sum(cpu_ns), sum(length(arguments)), count(sent_bytes), count(gpu), "
		       "(SELECT sum(cpu_ns) FROM standing_tasks), "
		       "(SELECT count(*) FROM containers WHERE mount_namespace IS NULL) FROM processes",
		       "14 56519333 231 0 0 56519333 1\n");
	PUT(TOOL, tool, .id = 7);
	PUT(PROCESS, process, .id = 7, .tool_id = 7, .sent_bytes = 7);
	commit(1);
	ck_assert_rows("SELECT rev > 40, sent_bytes FROM processes WHERE id = 7", "1 7\n");
	close_store();
	open_store(); /* does not migrate again */
	ck_assert_int_eq(count_of("processes"), 15);
	close_store();
	store_close(open_reader());
}

TEST(failed_migration_leaves_the_old_store)
{
	restore_schema_1();
	change("ALTER TABLE samples ADD COLUMN sent_bytes INTEGER"); /* makes 0002 fail */
	expect_writer_refused(-EIO, "duplicate column");
	ck_assert_int_eq(read_integer("PRAGMA user_version"), 1);
	ck_assert_int_eq(count_of("processes"), 14);
	ck_assert_int_eq(count_of("pragma_table_info('hosts') WHERE name = 'product'"), 0);
}

TEST(empty_file_is_no_store_yet)
{
	fclose(fopen(path, "w"));
	expect_reader_refused(-EPROTO, "empty");
	open_store();
	close_store();
	store_close(open_reader());
}

TEST(impossible_schema_is_refused)
{
	open_store();
	close_store();
	change("PRAGMA user_version = -7");
	expect_writer_refused(-EUCLEAN, "another program");
	expect_reader_refused(-EUCLEAN, "another program");
}

TEST(damage_is_reported_on_use)
{
	static const struct store_text all = {.name = "all", .sql = "SELECT * FROM runs"};
	static const char garbage[4096] = {0x55};
	struct row_run run = fill_run(1, "text");
	struct store_result *result = NULL;
	int fd, got;

	open_store();
	for (run.id = 1; run.id < 1000; run.id++)
		put_run(&run);
	commit(1);
	close_store();
	change("PRAGMA wal_checkpoint(TRUNCATE)");
	fd = open(path, O_WRONLY);
	/* Behind the schema and the tables' root pages, among the rows of runs. */
	for (off_t at = 60 * 4096; at < 80 * 4096; at += 4096)
		ck_assert_int_eq(pwrite(fd, garbage, sizeof(garbage), at), sizeof(garbage));
	close(fd);
	store = open_reader();
	ck_assert_int_eq(store_query_text(store, &all, NULL, &result), 0);
	while ((got = store_result_next(result)) == 1)
		;
	ck_assert_int_eq(got, -EUCLEAN);
	ck_assert_ptr_nonnull(strstr(store_error_text(store), "malformed"));
	store_result_free(result);
}

TEST(missing_file_is_reported)
{
	expect_reader_refused(-ENOENT, "no such file");
	ck_assert_int_ne(access(path, F_OK), 0);
	snprintf(path, sizeof(path), "%s/no/such.db", directory);
	expect_writer_refused(-ENOENT, "no such directory");
}

/* With the files that the writer left, as on a file system that was remounted read-only; or the database file
 * alone, as on archive media. */
TEST_TIMES(read_only_file_system, 2)
{
	if (!mount_small("read_only_file_system", "size=8m"))
		return;
	open_store();
	put_everything(1);
	commit(1);
	close_store();
	if (_i == 1) {
		ck_assert_int_eq(unlink(beside("-wal")), 0);
		ck_assert_int_eq(unlink(beside("-shm")), 0);
	}
	ck_assert_int_eq(mount(NULL, directory, NULL, MS_REMOUNT | MS_RDONLY, NULL), 0);
	expect_writer_refused(-EROFS, "read-only");
	store = open_reader();
	ck_assert_uint_gt(run_query(store, "runs"), 0);
}

#define NOBODY 65534

/* In a child running as nobody: operations on a store that it can only read. */
static void read_as_nobody(void)
{
	store = NULL; /* any open store is the parent's */
	if (setgid(NOBODY) < 0 || setuid(NOBODY) < 0)
		_exit(2);
	if (store_open_reader(path, &store, &error_text) < 0) {
		fprintf(stderr, "%s\n", error_text.text);
		_exit(3);
	}
	if (run_query(store, "runs") == 0)
		_exit(4);
	close_store();
	_exit(store_open_writer(path, &store, &error_text) == -EACCES ? 0 : 5);
}

static void expect_nobody_reads(void)
{
	int status;
	pid_t child = fork();

	if (child == 0)
		read_as_nobody();
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %x", status);
}

TEST(another_user_reads)
{
	struct stat status;

	if (!root_or_skip("another_user_reads"))
		return;
	open_store();
	ck_assert_int_eq(stat(path, &status), 0);
	ck_assert_uint_eq(status.st_mode & 0777, 0640);
	ck_assert_int_eq(chmod(directory, 0750), 0);
	ck_assert_int_eq(chown(directory, 0, NOBODY), 0);
	close_store();
	/* As installed: the file belongs to the group, and its companion files follow. */
	ck_assert_int_eq(chown(path, 0, NOBODY), 0);
	ck_assert_int_eq(unlink(beside("-wal")), 0);
	ck_assert_int_eq(unlink(beside("-shm")), 0);
	open_store();
	put_everything(1);
	commit(1);
	expect_nobody_reads(); /* while the writer is open */
	close_store();
	expect_nobody_reads(); /* after it has closed */
	kill_a_writer();
	expect_nobody_reads(); /* and after it was killed */
}

TEST(a_checkpointed_store_is_one_file_and_its_lock)
{
	open_store();
	put_everything(1);
	commit(1);
	ck_assert_int_ge(wal_bytes(), 0);
	ck_assert_int_eq(store_checkpoint(store), 0);
	close_store();
	ck_assert_int_eq(access(beside(".lock"), F_OK), 0);
	for (size_t i = 0; i < 3; i++)
		ck_assert_int_lt(access(beside(((const char *const[]){"-wal", "-shm", "-journal"})[i]), F_OK), 0);
}

static int put_batch(int64_t first, int64_t count)
{
	struct row_run run = fill_run(1, "text");
	struct store_stream stream = stream_at((uint64_t)first);
	int error = 0;

	for (run.id = first; error == 0 && run.id < first + count; run.id++)
		error = store_put_run(store, &run);
	if (error < 0) {
		store_rollback(store);
		return error;
	}
	return store_commit(store, &stream);
}

TEST(full_disk_is_waited_out)
{
	int64_t first = 1;
	int error;

	if (!mount_small("full_disk_is_waited_out", "size=6m"))
		return;
	open_store();
	fill(4 << 20);
	while ((error = put_batch(first, 500)) == 0)
		first += 500;
	ck_assert_msg(error == -ENOSPC, "%d: %s", error, store_error_text(store));
	ck_assert_int_eq(put_batch(first, 500), -ENOSPC);
	ck_assert_int_eq(count_of("runs"), first - 1);
	/* Once there is space again, the same batch is written completely. */
	ck_assert_int_eq(unlink(filler), 0);
	error = put_batch(first, 500);
	ck_assert_msg(error == 0, "%d: %s", error, store_error_text(store));
	ck_assert_int_eq(count_of("runs"), first + 499);
}

TEST(no_space_to_begin_with)
{
	if (!mount_small("no_space_to_begin_with", "size=64k"))
		return;
	fill(60 << 10);
	expect_writer_refused(-ENOSPC, "no space");
}

/* Reads the store for ever, and so protects a snapshot. */
static void hold_snapshot(int ready_fd)
{
	sqlite3 *db;

	if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) ||
	    sqlite3_exec(db, "BEGIN; SELECT count(*) FROM runs", NULL, NULL, NULL) || write(ready_fd, "1", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

/* The frames of the WAL that a checkpoint, which the writer's connection makes, cannot move to the database. */
static int frames_left(void)
{
	int frames = 0, moved = 0;

	sqlite3_wal_checkpoint_v2(store->db, NULL, SQLITE_CHECKPOINT_PASSIVE, &frames, &moved);
	return frames - moved;
}

/* A reader protects its snapshot, but not for ever: the WAL, which grows meanwhile, would fill the disk. */
TEST(a_snapshot_is_protected_within_bounds)
{
	const int64_t too_large = (1LL << 30) + 1;
	pid_t reader;

	open_store();
	ck_assert_int_eq(put_batch(1, 100), 0);
	reader = start_child(hold_snapshot);
	ck_assert_int_eq(put_batch(200, 100), 0);
	ck_assert_int_gt(frames_left(), 0);
	ck_assert_int_eq(truncate(beside("-wal"), too_large), 0);
	ck_assert_int_eq(frames_left(), 0);
	ck_assert_int_eq(put_batch(400, 1), 0);
	ck_assert_int_eq(count_of("runs"), 201);
	ck_assert_int_lt(wal_bytes(), too_large);
	kill_and_wait(reader);
}

int main(void)
{
	return suite_run("store", make_directory, remove_directory);
}
