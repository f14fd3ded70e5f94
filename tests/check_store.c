/* The store: what goes in comes out, and what can be wrong with a file is said. */
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/store/store.h"

static char directory[64];
static char path[96];
static struct store_error error_text;

/* ---- fixtures ---------------------------------------------------------------- */

static void setup(void)
{
	strcpy(directory, "/tmp/check-store-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/tracer.db", directory);
	error_text.text[0] = '\0';
}

static void teardown(void)
{
	DIR *listing;
	struct dirent *entry;

	umount2(directory, MNT_DETACH); /* where the test mounted one */
	listing = opendir(directory);
	while ((entry = readdir(listing)))
		unlinkat(dirfd(listing), entry->d_name, 0);
	closedir(listing);
	rmdir(directory);
}

static struct store *open_writer(void)
{
	struct store *store = NULL;
	int error = store_open_writer(path, &store, &error_text);

	ck_assert_msg(error == 0, "%d: %s", error, error_text.text);
	return store;
}

static struct store *open_reader(void)
{
	struct store *store = NULL;
	int error = store_open_reader(path, &store, &error_text);

	ck_assert_msg(error == 0, "%d: %s", error, error_text.text);
	return store;
}

/* A row in which every integer is `value` and every text is `text`. */
#define FILL_I(column) row.column = value;
#define FILL_T(column) row.column = text;
#define FILL_B(column) row.column = (struct row_blob){text, strlen(text)};
#define R(NAME, name, table, key) \
	static struct row_##name fill_##name(int64_t value, const char *text) \
	{ \
		struct row_##name row = {0}; \
\
		ROW_##NAME##_COLUMNS(FILL_I, FILL_T, FILL_B) \
		return row; \
	}
ROWS(R)
#undef R

static struct store_stream stream_at(uint64_t offset)
{
	struct store_stream stream = {.boot_id = "boot", .ring_epoch = 1, .ring_offset = offset,
				      .committed_boot_ns = offset, .committed_unix_ns = offset};

	return stream;
}

static void commit(struct store *store, uint64_t offset)
{
	struct store_stream stream = stream_at(offset);
	int error = store_commit(store, &stream);

	ck_assert_msg(error == 0, "%d: %s", error, store_error_text(store));
}

static void put_everything(struct store *store, int64_t value)
{
#define R(NAME, name, table, key) { \
		struct row_##name row = fill_##name(value, "text"); \
		ck_assert_int_eq(store_put_##name(store, &row), 0); \
	}
	ROWS(R)
#undef R
	ck_assert_int_eq(store_put_checkpoint(store, value, "state", 5), 0);
}

static size_t count_rows(struct store *store, const char *query,
			 const struct store_parameter *parameters)
{
	struct store_result *result = NULL;
	size_t count = 0;
	int got = store_query(store, query, parameters, &result);

	ck_assert_msg(got == 0, "%s: %s", query, store_error_text(store));
	while ((got = store_result_next(result)) == 1)
		count++;
	ck_assert_msg(got == 0, "%s: %s", query, store_error_text(store));
	store_result_free(result);
	return count;
}

static const struct store_parameter every_parameter[] = {
	{"since_unix_ns", STORE_INTEGER, 0, NULL},   {"with_system", STORE_INTEGER, 1, NULL},
	{"limit", STORE_INTEGER, 100, NULL},	     {"first_id", STORE_INTEGER, 0, NULL},
	{"last_id", STORE_INTEGER, INT64_MAX, NULL}, {"name", STORE_TEXT, 0, "text"},
	{"run_id", STORE_INTEGER, 1, NULL},	     {"task_id", STORE_INTEGER, 1, NULL},
	{"process_id", STORE_INTEGER, 1, NULL},	     {"pid", STORE_INTEGER, 1, NULL},
	{"since_boot_ns", STORE_INTEGER, 0, NULL},   {"host_id", STORE_INTEGER, 1, NULL},
};

/* Runs a query with whichever of those parameters it has. */
static size_t run_query(struct store *store, const char *file)
{
	struct store_parameter parameters[16] = {{0}};
	size_t used = 0;
	char name[64], source[256], text[16384];
	FILE *sql;

	snprintf(source, sizeof(source), "%s/%s", QUERIES_DIRECTORY, file);
	sql = fopen(source, "r");
	ck_assert_msg(sql != NULL, "%s", source);
	text[fread(text, 1, sizeof(text) - 1, sql)] = '\0';
	fclose(sql);
	for (size_t i = 0; i < sizeof(every_parameter) / sizeof(every_parameter[0]); i++) {
		snprintf(name, sizeof(name), ":%s", every_parameter[i].name);
		if (strstr(text, name))
			parameters[used++] = every_parameter[i];
	}
	snprintf(name, sizeof(name), "%.*s", (int)(strlen(file) - 4), file);
	return count_rows(store, name, parameters);
}

/* The whole of one statement's first column, for what no query file asks. */
static int64_t read_integer(const char *sql)
{
	sqlite3 *db = NULL;
	sqlite3_stmt *statement = NULL;
	int64_t value;

	ck_assert_int_eq(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	ck_assert_msg(sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK, "%s: %s", sql,
		      sqlite3_errmsg(db));
	ck_assert_int_eq(sqlite3_step(statement), SQLITE_ROW);
	value = sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	sqlite3_close(db);
	return value;
}

static void change(const char *sql)
{
	sqlite3 *db = NULL;

	ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
	ck_assert_msg(sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK, "%s", sqlite3_errmsg(db));
	sqlite3_close(db);
}

static void expect_writer_refused(int expected, const char *words)
{
	struct store *store = NULL;
	int error = store_open_writer(path, &store, &error_text);

	ck_assert_msg(error == expected, "%d instead of %d: %s", error, expected, error_text.text);
	ck_assert_msg(strstr(error_text.text, words) != NULL, "no `%s` in: %s", words,
		      error_text.text);
	ck_assert_ptr_null(store);
}

static void expect_reader_refused(int expected, const char *words)
{
	struct store *store = NULL;
	int error = store_open_reader(path, &store, &error_text);

	ck_assert_msg(error == expected, "%d instead of %d: %s", error, expected, error_text.text);
	ck_assert_msg(strstr(error_text.text, words) != NULL, "no `%s` in: %s", words,
		      error_text.text);
	ck_assert_ptr_null(store);
}

static bool root_or_skip(const char *test)
{
	if (geteuid() == 0)
		return true;
	fprintf(stderr, "SKIP %s: needs root to mount a small file system or change user\n", test);
	return false;
}

/* A file system of its own at `directory`, gone with this test's process. */
static bool mount_small(const char *test, const char *options)
{
	if (!root_or_skip(test))
		return false;
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("tmpfs", directory, "tmpfs", 0, options) < 0) {
		fprintf(stderr, "SKIP %s: cannot mount a tmpfs: %s\n", test, strerror(errno));
		return false;
	}
	return true;
}

static void remount_read_only(void)
{
	ck_assert_int_eq(mount(NULL, directory, NULL, MS_REMOUNT | MS_RDONLY, NULL), 0);
}

/* ---- the schema and the lists of rows.h ---------------------------------------- */

struct listed {
	const char *name;
	const char *type;
};

/* By name: later migrations add columns at the end, the lists keep them where they belong. */
static void check_columns(const char *table, const struct listed *listed)
{
	sqlite3 *db = NULL;
	sqlite3_stmt *statement = NULL;
	char sql[64];
	size_t count = 0, known = 0;

	for (known = 0; listed[known].name; known++)
		continue;
	ck_assert_int_eq(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	snprintf(sql, sizeof(sql), "PRAGMA table_info(%s)", table);
	ck_assert_int_eq(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
	while (sqlite3_step(statement) == SQLITE_ROW) {
		const char *name = (const char *)sqlite3_column_text(statement, 1);
		const char *type = (const char *)sqlite3_column_text(statement, 2);
		size_t i = 0;

		/* cloud_: written by nobody here, filled in on the way to the lake. */
		if (strcmp(name, "rev") == 0 || strncmp(name, "cloud_", strlen("cloud_")) == 0)
			continue;
		while (i < known && strcmp(listed[i].name, name) != 0)
			i++;
		ck_assert_msg(i < known, "%s.%s is not in rows.h", table, name);
		ck_assert_msg(strcmp(type, listed[i].type) == 0, "%s.%s: %s in the schema, %s in rows.h",
			      table, name, type, listed[i].type);
		count++;
	}
	ck_assert_msg(count == known, "%s has %zu columns, rows.h %zu", table, count, known);
	sqlite3_finalize(statement);
	sqlite3_close(db);
}

START_TEST(lists_are_the_schema)
{
	store_close(open_writer());
#define LIST_I(column) {#column, "INTEGER"},
#define LIST_T(column) {#column, "TEXT"},
#define LIST_B(column) {#column, "BLOB"},
#define R(NAME, name, table, key) { \
		const struct listed listed[] = { \
			ROW_##NAME##_COLUMNS(LIST_I, LIST_T, LIST_B){NULL, NULL}}; \
		check_columns(#table, listed); \
	}
	ROWS(R)
#undef R
}
END_TEST

/* ---- round trips --------------------------------------------------------------- */

/* The only row of `table`, as store_query would give it. */
static sqlite3_stmt *only_row(sqlite3 *db, const char *table)
{
	sqlite3_stmt *statement = NULL;
	char sql[64];

	snprintf(sql, sizeof(sql), "SELECT * FROM %s", table);
	ck_assert_int_eq(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
	ck_assert_int_eq(sqlite3_step(statement), SQLITE_ROW);
	return statement;
}

static int find_column(sqlite3_stmt *statement, const char *name)
{
	for (int i = 0; i < sqlite3_column_count(statement); i++)
		if (strcmp(sqlite3_column_name(statement, i), name) == 0)
			return i;
	ck_abort_msg("no column %s", name);
	return -1;
}

static void expect_integer(sqlite3_stmt *statement, const char *name, int64_t value)
{
	int column = find_column(statement, name);

	if (value == ROW_NULL)
		ck_assert_int_eq(sqlite3_column_type(statement, column), SQLITE_NULL);
	else
		ck_assert_msg(sqlite3_column_int64(statement, column) == value, "%s", name);
}

static void expect_bytes(sqlite3_stmt *statement, const char *name, int type, const void *data,
			 size_t size)
{
	int column = find_column(statement, name);

	if (!data) {
		ck_assert_int_eq(sqlite3_column_type(statement, column), SQLITE_NULL);
		return;
	}
	ck_assert_msg(sqlite3_column_type(statement, column) == type, "%s", name);
	ck_assert_uint_eq((size_t)sqlite3_column_bytes(statement, column), size);
	if (size > 0)
		ck_assert_mem_eq(sqlite3_column_blob(statement, column), data, size);
}

#define EXPECT_I(column) expect_integer(statement, #column, row.column);
#define EXPECT_T(column) \
	expect_bytes(statement, #column, SQLITE_TEXT, row.column, row.column ? strlen(row.column) : 0);
#define EXPECT_B(column) \
	expect_bytes(statement, #column, SQLITE_BLOB, row.column.data, row.column.size);
#define R(NAME, name, table, key) \
	static void expect_##name(sqlite3 *db, struct row_##name row) \
	{ \
		sqlite3_stmt *statement = only_row(db, #table); \
\
		ROW_##NAME##_COLUMNS(EXPECT_I, EXPECT_T, EXPECT_B) \
		ck_assert_int_eq(sqlite3_step(statement), SQLITE_DONE); \
		sqlite3_finalize(statement); \
	}
ROWS(R)
#undef R

/* Newline, escape sequence, invalid UTF-8. */
#define HOSTILE "a\n\x1b[31m\xff\xfe\xc3(\\'\""

START_TEST(rows_come_back_as_put)
{
	struct store *store = open_writer();
	sqlite3 *db = NULL;

#define R(NAME, name, table, key) \
	struct row_##name row_##name = fill_##name(7, HOSTILE); \
	ck_assert_int_eq(store_put_##name(store, &row_##name), 0);
	ROWS(R)
#undef R
	commit(store, 1);
	ck_assert_int_eq(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
#define R(NAME, name, table, key) expect_##name(db, row_##name);
	ROWS(R)
#undef R
	sqlite3_close(db);
	store_close(store);
}
END_TEST

START_TEST(unknown_stays_unknown)
{
	struct store *store = open_writer();
	struct row_process row = fill_process(7, "text");
	struct row_tool tool = fill_tool(7, "text");
	sqlite3 *db = NULL;

	row.container_id = row.parent_id = row.user_id = row.end_boot_ns = ROW_NULL;
	row.exit_code = row.signal = row.core_dumped = row.oom_killed = ROW_NULL;
	row.ended = row.rule = row.path = row.working_directory = NULL;
	row.arguments = (struct row_blob){NULL, 0};
	row.spawn_cpu_ns = row.peak_rss_bytes = ROW_NULL;
#define FORGET(column) row.column = ROW_NULL;
	ROW_TOTALS(FORGET)
	ck_assert_int_eq(store_put_tool(store, &tool), 0);
	ck_assert_int_eq(store_put_process(store, &row), 0);
	commit(store, 1);
	ck_assert_int_eq(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	expect_process(db, row);
	/* Known now: the same row, every column replaced. A NUL is part of a blob. */
	row = fill_process(7, "known");
	row.arguments = (struct row_blob){"a\0\0b\xff", 6};
	ck_assert_int_eq(store_put_process(store, &row), 0);
	commit(store, 2);
	expect_process(db, row);
	row.path = "";
	row.arguments = (struct row_blob){"", 0};
	ck_assert_int_eq(store_put_process(store, &row), 0);
	commit(store, 3);
	expect_process(db, row);
	sqlite3_close(db);
	store_close(store);
}
END_TEST

START_TEST(what_must_be_known_is_demanded)
{
	struct store *store = open_writer();
	struct row_process row = fill_process(1, "text");

	row.pid = ROW_NULL;
	ck_assert_int_eq(store_put_process(store, &row), -EINVAL);
	ck_assert_ptr_nonnull(strstr(store_error_text(store), "pid"));
	store_rollback(store);
	store_close(store);
}
END_TEST

/* ---- transactions, revisions ----------------------------------------------------- */

static int64_t rev_of(const char *table, int64_t id)
{
	char sql[96];

	snprintf(sql, sizeof(sql), "SELECT rev FROM %s WHERE id = %lld", table, (long long)id);
	return read_integer(sql);
}

START_TEST(rev_grows_with_every_write)
{
	struct store *store = open_writer();
	struct row_run run = fill_run(1, "text");
	struct row_task task = fill_task(1, "text");
	struct store_stream stream = {0};
	int64_t first;

	ck_assert_int_eq(store_read_stream(store, &stream), -ENODATA);
	ck_assert_int_eq(store_put_run(store, &run), 0);
	ck_assert_int_eq(store_put_task(store, &task), 0);
	commit(store, 1);
	first = rev_of("runs", 1);
	ck_assert_int_gt(first, 0);
	ck_assert_int_gt(rev_of("tasks", 1), first);
	ck_assert_int_eq(store_put_run(store, &run), 0);
	commit(store, 2);
	ck_assert_int_gt(rev_of("runs", 1), rev_of("tasks", 1));
	ck_assert_int_eq(store_read_stream(store, &stream), 0);
	ck_assert_int_eq((int64_t)stream.rev, rev_of("runs", 1));
	ck_assert_uint_eq(stream.ring_offset, 2);
	ck_assert_str_eq(stream.boot_id, "boot");
	store_close(store);
}
END_TEST

/* After another boot the revisions leave a gap, after the same one they go on. */
START_TEST(rev_goes_on_after_reopening)
{
	struct store *store = open_writer();
	struct row_run run = fill_run(1, "text");
	struct store_stream stream = stream_at(1);
	FILE *boot = fopen("/proc/sys/kernel/random/boot_id", "r");
	int64_t first, second;

	ck_assert_ptr_nonnull(boot);
	ck_assert_ptr_nonnull(fgets(stream.boot_id, 37, boot));
	fclose(boot);
	ck_assert_int_eq(store_put_run(store, &run), 0);
	ck_assert_int_eq(store_commit(store, &stream), 0);
	store_close(store);
	first = rev_of("runs", 1);

	store = open_writer();
	ck_assert_int_eq(store_put_run(store, &run), 0);
	commit(store, 2); /* of boot "boot" */
	store_close(store);
	second = rev_of("runs", 1);
	ck_assert_int_eq(second, first + 1);

	store = open_writer();
	ck_assert_int_eq(store_put_run(store, &run), 0);
	commit(store, 3);
	store_close(store);
	ck_assert_int_gt(rev_of("runs", 1), second + 1000000);
}
END_TEST

START_TEST(rollback_leaves_the_last_commit)
{
	struct store *store = open_writer();
	struct row_run run = fill_run(1, "text");
	int64_t rev;

	ck_assert_int_eq(store_put_run(store, &run), 0);
	commit(store, 1);
	rev = rev_of("runs", 1);
	run.id = 2;
	ck_assert_int_eq(store_put_run(store, &run), 0);
	store_rollback(store);
	ck_assert_int_eq(read_integer("SELECT count(*) FROM runs"), 1);
	ck_assert_int_eq(store_put_run(store, &run), 0);
	commit(store, 2);
	ck_assert_int_eq(rev_of("runs", 2), rev + 1);
	store_close(store);
}
END_TEST

/* What failed once fails until the rollback: no half of a batch is committed. */
START_TEST(failed_batch_is_not_committed)
{
	struct store *store = open_writer();
	struct row_run run = fill_run(1, "text");
	struct store_stream stream = stream_at(1);

	ck_assert_int_eq(store_put_run(store, &run), 0);
	run.id = 2;
	run.kind = NULL;
	ck_assert_int_eq(store_put_run(store, &run), -EINVAL);
	run.kind = "text";
	ck_assert_int_eq(store_put_run(store, &run), -EINVAL);
	ck_assert_int_eq(store_commit(store, &stream), -EINVAL);
	ck_assert_int_eq(read_integer("SELECT count(*) FROM runs"), 0);
	ck_assert_int_eq(store_put_run(store, &run), 0);
	commit(store, 1);
	ck_assert_int_eq(read_integer("SELECT count(*) FROM runs"), 1);
	store_close(store);
}
END_TEST

START_TEST(merged_task_gives_its_rows_away)
{
	struct store *store = open_writer();
	struct row_tool tool = fill_tool(10, "from");
	struct row_process process = fill_process(1, "text");
	struct row_incident incident = fill_incident(1, "text");
	struct row_container container = fill_container(1, "text");
	int64_t rev;

	process.tool_id = 10;
	incident.task_id = container.task_id = 10;
	ck_assert_int_eq(store_put_tool(store, &tool), 0);
	tool = fill_tool(20, "to");
	ck_assert_int_eq(store_put_tool(store, &tool), 0);
	ck_assert_int_eq(store_put_process(store, &process), 0);
	ck_assert_int_eq(store_put_incident(store, &incident), 0);
	ck_assert_int_eq(store_put_container(store, &container), 0);
	commit(store, 1);
	ck_assert_int_eq(read_integer("SELECT task_id FROM processes"), 10);
	rev = rev_of("processes", 1);

	ck_assert_int_eq(store_move_processes(store, 10, 20, 20), 0);
	ck_assert_int_eq(store_move_task(store, 10, 20), 0);
	commit(store, 2);
	ck_assert_int_eq(read_integer("SELECT task_id FROM processes WHERE tool_id = 20"), 20);
	ck_assert_int_eq(read_integer("SELECT task_id FROM incidents"), 20);
	ck_assert_int_eq(read_integer("SELECT task_id FROM containers"), 20);
	ck_assert_int_gt(rev_of("processes", 1), rev + 2);
	ck_assert_int_ne(rev_of("processes", 1), rev_of("incidents", 1));
	store_close(store);
}
END_TEST

START_TEST(checkpoints_replace_and_go)
{
	struct store *store = open_writer();

	ck_assert_int_eq(store_put_checkpoint(store, 1, "a\0b", 3), 0);
	ck_assert_int_eq(store_put_checkpoint(store, 1, "a\0bc", 4), 0);
	ck_assert_int_eq(store_put_checkpoint(store, 2, "x", 1), 0);
	commit(store, 1);
	ck_assert_int_eq(read_integer("SELECT length(state) FROM checkpoints WHERE process_id = 1"),
			 4);
	ck_assert_int_eq(store_delete_checkpoint(store, 1), 0);
	commit(store, 2);
	ck_assert_int_eq(read_integer("SELECT count(*) FROM checkpoints"), 1);
	store_close(store);
}
END_TEST

static void kill_and_wait(pid_t child)
{
	kill(child, SIGKILL);
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
}

/* In a child: one commit, then many rows more, so many that some are in the WAL. */
static void write_and_hang(int ready_fd)
{
	struct store *store = open_writer();
	struct row_run run = fill_run(1, "text");

	ck_assert_int_eq(store_put_run(store, &run), 0);
	commit(store, 1);
	for (run.id = 2; run.id < 100000; run.id++)
		ck_assert_int_eq(store_put_run(store, &run), 0);
	ck_assert_int_eq(write(ready_fd, "1", 1), 1);
	for (;;)
		pause();
}

static void kill_a_writer(void)
{
	int ready[2];
	char byte;
	pid_t child;

	ck_assert_int_eq(pipe(ready), 0);
	child = fork();
	if (child == 0)
		write_and_hang(ready[1]);
	close(ready[1]);
	ck_assert_int_eq(read(ready[0], &byte, 1), 1);
	kill_and_wait(child);
	close(ready[0]);
}

START_TEST(killed_writer_leaves_the_last_commit)
{
	struct store_stream stream = {0};
	struct store *store;

	kill_a_writer();
	store = open_writer();
	ck_assert_int_eq(store_read_stream(store, &stream), 0);
	ck_assert_uint_eq(stream.ring_offset, 1);
	ck_assert_int_eq(read_integer("SELECT count(*) FROM runs"), 1);
	ck_assert_int_eq(read_integer("SELECT count(*) FROM pragma_integrity_check "
				      "WHERE integrity_check <> 'ok'"), 0);
	store_close(store);
}
END_TEST

/* In a child: commits of one run and one loss, some hundreds a second, without end. */
static void write_without_end(void)
{
	struct store *store = open_writer();
	struct row_run run = fill_run(1, "text");
	struct row_loss loss = fill_loss(1, "text");

	for (uint64_t i = 1;; i++) {
		run.id = loss.id = (int64_t)i;
		ck_assert_int_eq(store_put_run(store, &run), 0);
		ck_assert_int_eq(store_put_loss(store, &loss), 0);
		commit(store, i);
		usleep(1000);
	}
}

START_TEST(reader_sees_whole_commits)
{
	const struct store_parameter runs[] = {{"since_unix_ns", STORE_INTEGER, 0, NULL},
					       {"with_system", STORE_INTEGER, 1, NULL},
					       {"limit", STORE_INTEGER, 1000000, NULL}, {0}};
	const struct store_parameter losses[] = {{"since_unix_ns", STORE_INTEGER, 0, NULL},
						 {"limit", STORE_INTEGER, 1000000, NULL}, {0}};
	struct store *reader;
	size_t first = 0, last = 0;
	pid_t child;

	store_close(open_writer());
	child = fork();
	if (child == 0)
		write_without_end();
	reader = open_reader();
	for (int i = 0; i < 100 || last == first; i++) {
		ck_assert_int_eq(store_begin_reading(reader), 0);
		last = count_rows(reader, "runs", runs);
		ck_assert_uint_eq(count_rows(reader, "losses", losses), last);
		store_end_reading(reader);
		first = i == 0 ? last : first;
	}
	kill_and_wait(child);
	store_close(reader);
}
END_TEST

/* ---- what can be wrong with the file --------------------------------------------- */

START_TEST(second_writer_is_refused)
{
	struct store *store = open_writer();
	char pid[24];

	snprintf(pid, sizeof(pid), "pid %ld", (long)getpid());
	expect_writer_refused(-EBUSY, pid);
	store_close(store);
	store_close(open_writer());
}
END_TEST

START_TEST(newer_schema_is_refused)
{
	store_close(open_writer());
	change("PRAGMA user_version = 99");
	expect_writer_refused(-EPROTO, "newer release");
	expect_reader_refused(-EPROTO, "newer release");
	ck_assert_int_eq(read_integer("PRAGMA user_version"), 99);
}
END_TEST

START_TEST(older_schema_is_refused_to_readers)
{
	store_close(open_writer());
	change("PRAGMA user_version = 0");
	expect_reader_refused(-EPROTO, "older");
}
END_TEST

/* A store that the release of schema 1 wrote, from its text. */
static void restore_schema_1(void)
{
	char *sql = NULL;
	size_t size = 0;
	FILE *file = fopen(SCHEMA_1_STORE, "r");

	ck_assert_ptr_nonnull(file);
	ck_assert_int_gt(getdelim(&sql, &size, '\0', file), 0);
	fclose(file);
	change(sql);
	free(sql);
}

/* What was in it is as it was, what came later is unknown of it, and it can be written. */
START_TEST(older_schema_is_migrated)
{
	struct store *store;
	struct row_process row = fill_process(7, "new");
	struct row_tool tool = fill_tool(7, "new");

	restore_schema_1();
	expect_reader_refused(-EPROTO, "older");
	store = open_writer();
	ck_assert_int_eq(read_integer("PRAGMA user_version"), 3);
	ck_assert_int_eq(read_integer("SELECT count(*) FROM processes"), 14);
	ck_assert_int_eq(read_integer("SELECT sum(cpu_ns) FROM processes"), 56519333);
	ck_assert_int_eq(read_integer("SELECT sum(cpu_ns) FROM standing_tasks"), 56519333);
	ck_assert_int_eq(read_integer("SELECT sum(length(arguments)) FROM processes"), 231);
	ck_assert_int_eq(read_integer("SELECT count(*) FROM processes WHERE sent_bytes IS NOT NULL "
				      "OR gpu IS NOT NULL"), 0);
	ck_assert_int_eq(store_put_tool(store, &tool), 0);
	ck_assert_int_eq(store_put_process(store, &row), 0);
	commit(store, 1);
	ck_assert_int_gt(read_integer("SELECT rev FROM processes WHERE id = 7"), 40);
	ck_assert_int_eq(read_integer("SELECT sent_bytes FROM processes WHERE id = 7"), 7);
	store_close(store);
	store = open_writer(); /* no second migration */
	ck_assert_int_eq(read_integer("SELECT count(*) FROM processes"), 15);
	store_close(store);
	store_close(open_reader());
}
END_TEST

START_TEST(failed_migration_leaves_the_old_store)
{
	restore_schema_1();
	change("ALTER TABLE samples ADD COLUMN sent_bytes INTEGER"); /* so that 0002 fails at it */
	expect_writer_refused(-EIO, "duplicate column");
	ck_assert_int_eq(read_integer("PRAGMA user_version"), 1);
	ck_assert_int_eq(read_integer("SELECT count(*) FROM processes"), 14);
	ck_assert_int_eq(read_integer("SELECT count(*) FROM pragma_table_info('hosts') "
				      "WHERE name = 'product'"), 0);
}
END_TEST

START_TEST(other_database_is_refused_and_untouched)
{
	change("CREATE TABLE theirs (a); INSERT INTO theirs VALUES (1)");
	expect_writer_refused(-EUCLEAN, "another program");
	expect_reader_refused(-EUCLEAN, "another program");
	ck_assert_int_eq(read_integer("SELECT count(*) FROM sqlite_schema"), 1);
}
END_TEST

START_TEST(garbage_is_refused_and_untouched)
{
	char garbage[8192], after[8192];
	FILE *file = fopen(path, "w");

	memset(garbage, 'g', sizeof(garbage));
	ck_assert_uint_eq(fwrite(garbage, 1, sizeof(garbage), file), sizeof(garbage));
	fclose(file);
	expect_writer_refused(-EUCLEAN, "not a tracer store");
	expect_reader_refused(-EUCLEAN, "not a tracer store");
	file = fopen(path, "r");
	ck_assert_uint_eq(fread(after, 1, sizeof(after), file), sizeof(after));
	fclose(file);
	ck_assert_mem_eq(after, garbage, sizeof(garbage));
}
END_TEST

START_TEST(damage_is_told_on_use)
{
	struct store *store = open_writer();
	const struct store_parameter all[] = {{"since_unix_ns", STORE_INTEGER, 0, NULL},
					      {"with_system", STORE_INTEGER, 1, NULL},
					      {"limit", STORE_INTEGER, 1000000, NULL}, {0}};
	struct row_run run = fill_run(1, "text");
	struct store_result *result = NULL;
	static const char garbage[4096] = {0x55};
	int fd, got;

	for (run.id = 1; run.id < 1000; run.id++)
		ck_assert_int_eq(store_put_run(store, &run), 0);
	commit(store, 1);
	store_close(store);
	change("PRAGMA wal_checkpoint(TRUNCATE)");
	fd = open(path, O_WRONLY);
	/* Behind the schema and the roots of its tables, among the rows of runs. */
	for (off_t at = 60 * 4096; at < 80 * 4096; at += 4096)
		ck_assert_int_eq(pwrite(fd, garbage, sizeof(garbage), at), sizeof(garbage));
	close(fd);
	store = open_reader();
	ck_assert_int_eq(store_query(store, "runs", all, &result), 0);
	while ((got = store_result_next(result)) == 1)
		;
	ck_assert_int_eq(got, -EUCLEAN);
	ck_assert_ptr_nonnull(strstr(store_error_text(store), "malformed"));
	store_result_free(result);
	store_close(store);
}
END_TEST

START_TEST(missing_file_is_told)
{
	expect_reader_refused(-ENOENT, "no such file");
	ck_assert_int_ne(access(path, F_OK), 0);
	snprintf(path, sizeof(path), "%s/no/such.db", directory);
	expect_writer_refused(-ENOENT, "no such");
}
END_TEST

START_TEST(read_only_file_system)
{
	struct store *store;

	if (!mount_small("read_only_file_system", "size=8m"))
		return;
	store = open_writer();
	put_everything(store, 1);
	commit(store, 1);
	store_close(store);
	/* With the files the writer left, as on a file system turned read-only. */
	remount_read_only();
	expect_writer_refused(-EROFS, "read-only");
	store = open_reader();
	ck_assert_uint_gt(run_query(store, "runs.sql"), 0);
	store_close(store);
}
END_TEST

/* The database file alone, as kept on other media. */
START_TEST(kept_file_on_read_only_media)
{
	char name[128];
	struct store *store;

	if (!mount_small("kept_file_on_read_only_media", "size=8m"))
		return;
	store = open_writer();
	put_everything(store, 1);
	commit(store, 1);
	store_close(store);
	snprintf(name, sizeof(name), "%s-wal", path);
	ck_assert_int_eq(unlink(name), 0);
	snprintf(name, sizeof(name), "%s-shm", path);
	ck_assert_int_eq(unlink(name), 0);
	remount_read_only();
	store = open_reader();
	ck_assert_uint_gt(run_query(store, "runs.sql"), 0);
	store_close(store);
}
END_TEST

#define NOBODY 65534

/* In a child that is nobody: what it may do with a store it can only read. */
static void read_as_nobody(void)
{
	struct store *store = NULL;

	if (setgid(NOBODY) < 0 || setuid(NOBODY) < 0)
		_exit(2);
	if (store_open_reader(path, &store, &error_text) < 0) {
		fprintf(stderr, "%s\n", error_text.text);
		_exit(3);
	}
	if (run_query(store, "runs.sql") == 0)
		_exit(4);
	store_close(store);
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

START_TEST(another_user_reads)
{
	struct store *store;
	struct stat status;

	if (!root_or_skip("another_user_reads"))
		return;
	store = open_writer();
	ck_assert_int_eq(stat(path, &status), 0);
	ck_assert_uint_eq(status.st_mode & 0777, 0640);
	ck_assert_int_eq(chmod(directory, 0750), 0);
	ck_assert_int_eq(chown(directory, 0, NOBODY), 0);
	store_close(store);
	/* As an installation has it: the file is the group's, its companions follow. */
	ck_assert_int_eq(chown(path, 0, NOBODY), 0);
	for (const char *const *suffix = (const char *const[]){"-wal", "-shm", NULL}; *suffix; suffix++) {
		char name[128];

		snprintf(name, sizeof(name), "%s%s", path, *suffix);
		ck_assert_int_eq(unlink(name), 0);
	}
	store = open_writer();
	put_everything(store, 1);
	commit(store, 1);
	expect_nobody_reads(); /* while the writer is there */
	store_close(store);
	expect_nobody_reads(); /* and after it, */
	kill_a_writer();
	expect_nobody_reads(); /* however it ended */
}
END_TEST

static int put_batch(struct store *store, int64_t first, int64_t count)
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

START_TEST(full_disk_is_waited_out)
{
	char filler[128];
	struct store *store;
	int64_t first = 1;
	int error, fd;

	if (!mount_small("full_disk_is_waited_out", "size=6m"))
		return;
	snprintf(filler, sizeof(filler), "%s/filler", directory);
	store = open_writer();
	fd = open(filler, O_CREAT | O_WRONLY, 0600);
	ck_assert_int_eq(posix_fallocate(fd, 0, 4 << 20), 0);
	close(fd);
	while ((error = put_batch(store, first, 500)) == 0)
		first += 500;
	ck_assert_msg(error == -ENOSPC, "%d: %s", error, store_error_text(store));
	ck_assert_int_eq(put_batch(store, first, 500), -ENOSPC);
	ck_assert_int_eq(read_integer("SELECT count(*) FROM runs"), first - 1);
	/* Space again: the same batch goes in whole. */
	ck_assert_int_eq(unlink(filler), 0);
	error = put_batch(store, first, 500);
	ck_assert_msg(error == 0, "%d: %s", error, store_error_text(store));
	ck_assert_int_eq(read_integer("SELECT count(*) FROM runs"), first + 499);
	store_close(store);
}
END_TEST

START_TEST(no_space_to_begin_with)
{
	char filler[128];
	int fd;

	if (!mount_small("no_space_to_begin_with", "size=64k"))
		return;
	snprintf(filler, sizeof(filler), "%s/filler", directory);
	fd = open(filler, O_CREAT | O_WRONLY, 0600);
	ck_assert_int_eq(posix_fallocate(fd, 0, 60 << 10), 0);
	close(fd);
	expect_writer_refused(-ENOSPC, "no space");
}
END_TEST

/* ---- expiry ---------------------------------------------------------------------- */

#define OLD_UNIX_NS 1000
#define NEW_UNIX_NS 1000000

/* A run with one of everything, all ids `id`, begun and ended at `unix_ns`. */
static void put_run_of(struct store *store, int64_t id, int64_t unix_ns, bool living)
{
	struct row_run run = fill_run(id, "text");
	struct row_task task = fill_task(id, "text");
	struct row_tool tool = fill_tool(id, "text");
	struct row_process process = fill_process(id, "text");
	struct row_sample sample = fill_sample(id, "text");
	struct row_incident incident = fill_incident(id, "text");
	struct row_container container = fill_container(id, "text");

	run.started_unix_ns = process.started_unix_ns = incident.unix_ns = unix_ns;
	container.started_unix_ns = unix_ns;
	if (living)
		run.end_boot_ns = task.end_boot_ns = tool.end_boot_ns = ROW_NULL;
	ck_assert_int_eq(store_put_run(store, &run), 0);
	ck_assert_int_eq(store_put_task(store, &task), 0);
	ck_assert_int_eq(store_put_tool(store, &tool), 0);
	ck_assert_int_eq(store_put_process(store, &process), 0);
	ck_assert_int_eq(store_put_sample(store, &sample), 0);
	ck_assert_int_eq(store_put_incident(store, &incident), 0);
	ck_assert_int_eq(store_put_container(store, &container), 0);
}

static int64_t expire(struct store *store, int64_t before_unix_ns, unsigned limit)
{
	const struct store_expiry expiry = {before_unix_ns, limit, .shipped_rev = INT64_MAX};
	int64_t unsent = -1, count = store_expire(store, &expiry, &unsent);

	ck_assert(count < 0 || unsent == 0);
	return count;
}

START_TEST(expiry_takes_whole_old_runs)
{
	static const char *const tables[] = {"runs", "tasks", "tools", "processes", "samples",
					     "incidents", "containers"};
	struct store *store = open_writer();
	char sql[64];

	put_run_of(store, 1, OLD_UNIX_NS, false);
	put_run_of(store, 2, NEW_UNIX_NS, false);
	commit(store, 1);
	ck_assert_int_eq(expire(store, NEW_UNIX_NS, 10), 1);
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		snprintf(sql, sizeof(sql), "SELECT count(*) FROM %s", tables[i]);
		ck_assert_msg(read_integer(sql) == 1, "%s", tables[i]);
	}
	ck_assert_int_eq(read_integer("SELECT id FROM processes"), 2);
	ck_assert_int_eq(expire(store, NEW_UNIX_NS, 10), 0);
	store_close(store);
}
END_TEST

START_TEST(expiry_takes_old_samples_of_the_host)
{
	struct store *store = open_writer();
	struct row_host_sample sample = fill_host_sample(1, "");

	for (int i = 0; i < 3; i++) {
		sample.unix_ns = OLD_UNIX_NS + i * (NEW_UNIX_NS - OLD_UNIX_NS) / 2;
		ck_assert_int_eq(store_put_host_sample(store, &sample), 0);
	}
	commit(store, 1);
	ck_assert_int_eq(expire(store, NEW_UNIX_NS, 10), 0);
	ck_assert_int_eq(read_integer("SELECT count(*) FROM host_samples"), 1);
	ck_assert_int_eq(read_integer("SELECT unix_ns FROM host_samples"), NEW_UNIX_NS);
	store_close(store);
}
END_TEST

START_TEST(expiry_keeps_runs_that_live)
{
	struct store *store = open_writer();

	put_run_of(store, 1, OLD_UNIX_NS, true);
	commit(store, 1);
	ck_assert_int_eq(expire(store, NEW_UNIX_NS, 10), 0);
	ck_assert_int_eq(read_integer("SELECT count(*) FROM runs"), 1);
	ck_assert_int_eq(read_integer("SELECT count(*) FROM tools"), 1);
	ck_assert_int_eq(read_integer("SELECT count(*) FROM processes"), 0);
	ck_assert_int_eq(read_integer("SELECT count(*) FROM samples"), 0);
	store_close(store);
}
END_TEST

START_TEST(expiry_is_bounded_and_gives_space_back)
{
	struct store *store = open_writer();
	int64_t pages;

	for (int64_t id = 1; id <= 3000; id++)
		put_run_of(store, id, OLD_UNIX_NS + id, false);
	ck_assert_int_eq(expire(store, NEW_UNIX_NS, 10), -EINVAL); /* not in a batch */
	commit(store, 1);
	pages = read_integer("PRAGMA page_count");
	ck_assert_int_eq(expire(store, NEW_UNIX_NS, 1000), 1000);
	ck_assert_int_eq(read_integer("SELECT min(id) FROM runs"), 1001);
	ck_assert_int_eq(expire(store, NEW_UNIX_NS, 5000), 2000);
	ck_assert_int_lt(read_integer("PRAGMA page_count"), pages / 2);
	store_close(store);
}
END_TEST

START_TEST(losses_add_up)
{
	struct store *store = open_writer();
	struct row_loss loss = fill_loss(1, "text");

	for (loss.lost_count = 1; loss.lost_count <= 100; loss.lost_count *= 10) {
		ck_assert_int_eq(store_put_loss(store, &loss), 0);
		commit(store, (uint64_t)loss.lost_count);
	}
	store_close(store);
	ck_assert_int_eq(read_integer("SELECT lost_count FROM losses"), 111);
}
END_TEST

/* ---- the dump -------------------------------------------------------------------- */

static char *dump(struct store *store, size_t *ret_size)
{
	FILE *file = tmpfile();
	char *text;
	long size;

	ck_assert_ptr_nonnull(file);
	ck_assert_int_eq(store_dump(store, fileno(file)), 0);
	size = lseek(fileno(file), 0, SEEK_END);
	text = calloc(1, (size_t)size + 1);
	ck_assert_int_eq(pread(fileno(file), text, (size_t)size, 0), size);
	fclose(file);
	*ret_size = (size_t)size;
	return text;
}

START_TEST(same_content_same_dump)
{
	struct store *store = open_writer();
	size_t sizes[3];
	char *dumps[3];

	put_everything(store, 1);
	put_everything(store, 2);
	commit(store, 9);
	dumps[0] = dump(store, &sizes[0]);
	store_close(store);
	teardown();
	setup();
	/* In another order, some of it twice, in more commits. */
	store = open_writer();
	put_everything(store, 2);
	commit(store, 3);
	put_everything(store, 1);
	struct row_run run = fill_run(2, "text");

	ck_assert_int_eq(store_put_run(store, &run), 0);
	commit(store, 9);
	dumps[1] = dump(store, &sizes[1]);
	ck_assert(strcmp(dumps[0], dumps[1]) == 0);
	put_everything(store, 3);
	commit(store, 9);
	dumps[2] = dump(store, &sizes[2]);
	ck_assert(strcmp(dumps[1], dumps[2]) != 0);
	ck_assert_ptr_nonnull(strstr(dumps[0], "table processes: id host_id"));
	ck_assert_ptr_null(strstr(dumps[0], " rev"));
	for (size_t i = 0; i < 3; i++)
		free(dumps[i]);
	store_close(store);
}
END_TEST

START_TEST(dump_is_plain_text)
{
	struct store *store = open_writer();
	struct row_cgroup row = fill_cgroup(1, HOSTILE);
	size_t size;
	char *text;

	ck_assert_int_eq(store_put_cgroup(store, &row), 0);
	commit(store, 1);
	text = dump(store, &size);
	ck_assert_ptr_nonnull(strstr(text, "1 1 \"a\\x0a\\x1b[31m\\xff\\xfe\\xc3(\\x5c'\\x22\"\n"));
	for (size_t i = 0; i < size; i++)
		ck_assert(text[i] == '\n' || (text[i] >= ' ' && text[i] < 0x7f));
	free(text);
	store_close(store);
}
END_TEST

/* ---- queries --------------------------------------------------------------------- */

START_TEST(queries_run_on_empty_and_filled)
{
	struct store *writer = open_writer();
	struct store *reader = open_reader();
	struct row_process process = fill_process(2, "text");
	struct row_task task = fill_task(1, "text");
	struct row_run part = fill_run(1, "text");
	const char *file;

	for (size_t i = 0; (file = store_query_file(i)); i++)
		run_query(reader, file);
	put_everything(writer, 1);
	/* Alive: for the queries of what goes on now. */
	process.end_boot_ns = ROW_NULL;
	process.run_id = process.task_id = process.tool_id = 1;
	ck_assert_int_eq(store_put_process(writer, &process), 0);
	task.merged_into_id = ROW_NULL;
	ck_assert_int_eq(store_put_task(writer, &task), 0);
	/* The same run on another host. */
	part.id = part.host_id = 77;
	ck_assert_int_eq(store_put_run(writer, &part), 0);
	commit(writer, 1);
	for (size_t i = 0; (file = store_query_file(i)); i++)
		ck_assert_msg(run_query(reader, file) > 0, "%s found nothing", file);
	store_close(reader);
	store_close(writer);
}
END_TEST

START_TEST(every_query_file_is_embedded)
{
	DIR *listing = opendir(QUERIES_DIRECTORY);
	struct dirent *entry;
	const char *file;

	ck_assert_ptr_nonnull(listing);
	while ((entry = readdir(listing))) {
		bool found = entry->d_name[0] == '.';

		for (size_t i = 0; !found && (file = store_query_file(i)); i++)
			found = strcmp(file, entry->d_name) == 0;
		ck_assert_msg(found, "%s is not in common/store/meson.build", entry->d_name);
	}
	closedir(listing);
}
END_TEST

/* Outside the subset that SQLite and ClickHouse share (docs/model.md). */
START_TEST(queries_stay_in_the_common_subset)
{
	static const char *const refused[] = {" LIKE ", "round(", "strftime", "datetime", "julianday",
					      "group_concat", "ifnull(", " GLOB ", "rowid", " / "};
	char source[256], text[16384];
	const char *file;

	for (size_t i = 0; (file = store_query_file(i)); i++) {
		FILE *sql;

		snprintf(source, sizeof(source), "%s/%s", QUERIES_DIRECTORY, file);
		sql = fopen(source, "r");
		ck_assert_ptr_nonnull(sql);
		text[fread(text, 1, sizeof(text) - 1, sql)] = '\0';
		fclose(sql);
		ck_assert_msg(strncmp(text, "-- ", 3) == 0, "%s says not what it answers", file);
		for (size_t k = 0; k < sizeof(refused) / sizeof(refused[0]); k++)
			ck_assert_msg(!strcasestr(text, refused[k]), "%s has `%s`", file, refused[k]);
	}
}
END_TEST

START_TEST(wrong_query_or_parameter_is_refused)
{
	struct store *store = open_writer();
	const struct store_parameter unknown[] = {{"nonsense", STORE_INTEGER, 1, NULL}, {0}};
	struct store_result *result = NULL;

	ck_assert_int_eq(store_query(store, "nonsense", NULL, &result), -EINVAL);
	ck_assert_int_eq(store_query(store, "runs", unknown, &result), -EINVAL);
	ck_assert_ptr_null(result);
	store_close(store);
}
END_TEST

START_TEST(values_have_their_types)
{
	struct store *store = open_writer();
	struct row_process row = fill_process(1, "text");
	const struct store_parameter id[] = {{"first_id", STORE_INTEGER, 1, NULL},
					     {"last_id", STORE_INTEGER, 1, NULL}, {0}};
	struct store_result *result = NULL;
	struct store_value value;

	row.rule = NULL;
	row.arguments = (struct row_blob){"a\0", 2};
	ck_assert_int_eq(store_put_process(store, &row), 0);
	commit(store, 1);
	ck_assert_int_eq(store_query(store, "process", id, &result), 0);
	ck_assert_int_eq(store_result_next(result), 1);
	ck_assert_str_eq(store_result_name(result, 0), "id");
	ck_assert_int_eq(store_result_get(result, "pid").integer, 1);
	ck_assert_int_eq(store_result_get(result, "rule").type, STORE_VALUE_NULL);
	value = store_result_get(result, "program");
	ck_assert_int_eq(value.type, STORE_VALUE_TEXT);
	ck_assert_str_eq(value.data, "text");
	value = store_result_get(result, "arguments");
	ck_assert_int_eq(value.type, STORE_VALUE_BLOB);
	ck_assert_uint_eq(value.size, 2);
	ck_assert_int_eq(store_result_next(result), 0);
	store_result_free(result);
	store_close(store);
}
END_TEST

static void add_case(Suite *suite, const char *name, const TTest *const *tests)
{
	TCase *group = tcase_create(name);

	tcase_add_checked_fixture(group, setup, teardown);
	tcase_set_timeout(group, 60);
	for (; *tests; tests++)
		tcase_add_test(group, *tests);
	suite_add_tcase(suite, group);
}

static Suite *store_suite(void)
{
	Suite *suite = suite_create("store");

	add_case(suite, "rows", (const TTest *const[]){
		lists_are_the_schema, rows_come_back_as_put, unknown_stays_unknown,
		what_must_be_known_is_demanded, NULL});
	add_case(suite, "transactions", (const TTest *const[]){
		rev_grows_with_every_write, rev_goes_on_after_reopening,
		rollback_leaves_the_last_commit, failed_batch_is_not_committed,
		merged_task_gives_its_rows_away, checkpoints_replace_and_go,
		killed_writer_leaves_the_last_commit, reader_sees_whole_commits, NULL});
	add_case(suite, "files", (const TTest *const[]){
		second_writer_is_refused, newer_schema_is_refused, older_schema_is_refused_to_readers,
		older_schema_is_migrated, failed_migration_leaves_the_old_store,
		other_database_is_refused_and_untouched, garbage_is_refused_and_untouched,
		damage_is_told_on_use, missing_file_is_told, read_only_file_system,
		kept_file_on_read_only_media, another_user_reads, full_disk_is_waited_out,
		no_space_to_begin_with, NULL});
	add_case(suite, "expiry", (const TTest *const[]){
		expiry_takes_whole_old_runs, expiry_takes_old_samples_of_the_host,
		expiry_keeps_runs_that_live,
		expiry_is_bounded_and_gives_space_back, NULL});
	add_case(suite, "dump", (const TTest *const[]){
		same_content_same_dump, losses_add_up, dump_is_plain_text, NULL});
	add_case(suite, "queries", (const TTest *const[]){
		queries_run_on_empty_and_filled, every_query_file_is_embedded,
		queries_stay_in_the_common_subset, wrong_query_or_parameter_is_refused,
		values_have_their_types, NULL});
	return suite;
}

int main(void)
{
	SRunner *runner = srunner_create(store_suite());
	int failed;

	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
