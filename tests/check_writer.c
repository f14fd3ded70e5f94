/* Writing: round trips, and commits as a whole. */
#include "tests/stores.h"

#include <errno.h>
#include <sqlite3.h>
#include <unistd.h>

/* Checks the next column: `name` and `type` as in rows.h; later migrations append columns. */
static void check_column(const char *table, const char *name, const char *type)
{
	char sql[160];

	snprintf(sql, sizeof(sql), "SELECT count(*) FROM pragma_table_info('%s') WHERE name = '%s' AND type = '%s'",
		 table, name, type);
	ck_assert_msg(read_integer(sql) == 1, "%s.%s is not in the schema as %s", table, name, type);
}

TEST(lists_are_the_schema)
{
#define LIST(column, type) check_column(table_name, #column, type), count++;
#define LIST_I(column) LIST(column, "INTEGER")
#define LIST_T(column) LIST(column, "TEXT")
#define LIST_B(column) LIST(column, "BLOB")
/* Columns named cloud_* are not written here, but filled in on the way to the lake. */
/* clang-format off */
#define R(NAME, name, table, key) { \
		const char *table_name = #table; \
		int64_t count = 0; \
\
		ROW_##NAME##_COLUMNS(LIST_I, LIST_T, LIST_B) \
		ck_assert_msg(read_integer("SELECT count(*) FROM pragma_table_info('" #table "') WHERE name <> 'rev' " \
					   "AND substr(name, 1, 6) <> 'cloud_'") == count, \
			      "%s has other columns than rows.h", table_name); \
	}
	/* clang-format on */
	ROWS(R)
#undef R
}

/* The only row of `table`, as store_query returns it. */
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

static void expect_bytes(sqlite3_stmt *statement, const char *name, int type, const void *data, size_t size)
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
#define EXPECT_T(column) expect_bytes(statement, #column, SQLITE_TEXT, row.column, row.column ? strlen(row.column) : 0);
#define EXPECT_B(column) expect_bytes(statement, #column, SQLITE_BLOB, row.column.data, row.column.size);
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

TEST(rows_come_back_as_put)
{
	sqlite3 *db = NULL;

#define R(NAME, name, table, key) \
	struct row_##name row_##name = fill_##name(7, HOSTILE); \
	ck_assert_int_eq(store_put_##name(store, &row_##name), 0);
	ROWS(R)
#undef R
	commit(1);
	ck_assert_int_eq(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
#define R(NAME, name, table, key) expect_##name(db, row_##name);
	ROWS(R)
#undef R
	sqlite3_close(db);
}

TEST(unknown_stays_unknown)
{
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
	put_tool(&tool);
	put_process(&row);
	commit(1);
	ck_assert_int_eq(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	expect_process(db, row);
	/* Now known: the same row, with every column replaced. A blob may contain NUL. */
	row = fill_process(7, "known");
	row.arguments = (struct row_blob){"a\0\0b\xff", 6};
	put_process(&row);
	commit(2);
	expect_process(db, row);
	row.path = "";
	row.arguments = (struct row_blob){"", 0};
	put_process(&row);
	commit(3);
	expect_process(db, row);
	sqlite3_close(db);
}

TEST(known_columns_are_required)
{
	struct row_process row = fill_process(1, "text");

	row.pid = ROW_NULL;
	ck_assert_int_eq(store_put_process(store, &row), -EINVAL);
	ck_assert_ptr_nonnull(strstr(store_error_text(store), "pid"));
	store_rollback(store);
}

/* Returns the next row, up to 3; `context` is its number. */
static bool next_of_three(void *context, struct row_process *ret_row)
{
	int64_t *id = context;

	*ret_row = fill_process(*id, "text");
	if (*id == 2)
		ret_row->program = "other";
	return (*id)++ <= 3;
}

static bool next_is_unknown(void *context, struct row_process *ret_row)
{
	bool more = next_of_three(context, ret_row);

	if (*(int64_t *)context == 3)
		ret_row->pid = ROW_NULL;
	return more;
}

TEST(processes_are_put_many_at_a_time)
{
	int64_t id = 2;

	ck_assert_int_eq(store_put_processes(store, next_of_three, &id), 0);
	commit(1);
	id = 1; /* one is new, the others exist */
	ck_assert_int_eq(store_put_processes(store, next_of_three, &id), 0);
	commit(2);
	ck_assert_int_eq(read_integer("SELECT count(*) FROM process_rows"), 3);
	ck_assert_int_eq(read_integer("SELECT count(DISTINCT image_id) FROM process_rows"), 2);
	ck_assert_int_eq(read_integer("SELECT count(DISTINCT rev) FROM process_rows WHERE rev > 2"), 3);
	ck_assert_int_eq(read_integer("SELECT rev FROM stream"), 5);
}

TEST(one_bad_process_of_many_fails_the_commit)
{
	struct store_stream stream = {.boot_id = "boot"};
	int64_t id = 1;

	ck_assert_int_eq(store_put_processes(store, next_is_unknown, &id), -EINVAL);
	ck_assert_ptr_nonnull(strstr(store_error_text(store), "pid"));
	ck_assert_int_eq(store_commit(store, &stream), -EINVAL);
	ck_assert_int_eq(read_integer("SELECT count(*) FROM process_rows"), 0);
}

static int64_t rev_of(const char *table, int64_t id)
{
	char sql[96];

	snprintf(sql, sizeof(sql), "SELECT rev FROM %s WHERE id = %lld", table, (long long)id);
	return read_integer(sql);
}

TEST(rev_grows_with_every_write)
{
	struct row_run run = fill_run(1, "text");
	struct row_task task = fill_task(1, "text");
	struct store_stream stream = {0};
	int64_t first;

	ck_assert_int_eq(store_read_stream(store, &stream), -ENODATA);
	put_run(&run);
	put_task(&task);
	commit(1);
	first = rev_of("runs", 1);
	ck_assert_int_gt(first, 0);
	ck_assert_int_gt(rev_of("tasks", 1), first);
	put_run(&run);
	commit(2);
	ck_assert_int_gt(rev_of("runs", 1), rev_of("tasks", 1));
	ck_assert_int_eq(store_read_stream(store, &stream), 0);
	ck_assert_int_eq((int64_t)stream.rev, rev_of("runs", 1));
	ck_assert_uint_eq(stream.ring_offset, 2);
	ck_assert_str_eq(stream.boot_id, "boot");
}

/* After another boot the revisions leave a gap, after the same boot they continue. */
TEST(rev_continues_after_reopening)
{
	struct row_run run = fill_run(1, "text");
	struct store_stream stream = stream_at(1);
	FILE *boot = fopen("/proc/sys/kernel/random/boot_id", "r");
	int64_t first, second;

	ck_assert_ptr_nonnull(boot);
	ck_assert_ptr_nonnull(fgets(stream.boot_id, 37, boot));
	fclose(boot);
	put_run(&run);
	ck_assert_int_eq(store_commit(store, &stream), 0);
	close_store();
	first = rev_of("runs", 1);

	open_store();
	put_run(&run);
	commit(2); /* of boot "boot" */
	close_store();
	second = rev_of("runs", 1);
	ck_assert_int_eq(second, first + 1);

	open_store();
	put_run(&run);
	commit(3);
	close_store();
	ck_assert_int_gt(rev_of("runs", 1), second + 1000000);
}

TEST(rollback_leaves_the_last_commit)
{
	struct row_run run = fill_run(1, "text");
	int64_t rev;

	put_run(&run);
	commit(1);
	rev = rev_of("runs", 1);
	run.id = 2;
	put_run(&run);
	store_rollback(store);
	ck_assert_int_eq(read_integer("SELECT count(*) FROM runs"), 1);
	put_run(&run);
	commit(2);
	ck_assert_int_eq(rev_of("runs", 2), rev + 1);
}

/* After a failure every operation fails until the rollback: no partial batch is committed. */
TEST(failed_batch_is_not_committed)
{
	struct row_run run = fill_run(1, "text");
	struct store_stream stream = stream_at(1);

	put_run(&run);
	run.id = 2;
	run.kind = NULL;
	ck_assert_int_eq(store_put_run(store, &run), -EINVAL);
	run.kind = "text";
	ck_assert_int_eq(store_put_run(store, &run), -EINVAL);
	ck_assert_int_eq(store_commit(store, &stream), -EINVAL);
	ck_assert_int_eq(read_integer("SELECT count(*) FROM runs"), 0);
	put_run(&run);
	commit(1);
	ck_assert_int_eq(read_integer("SELECT count(*) FROM runs"), 1);
}

TEST(merged_task_gives_its_rows_away)
{
	struct row_tool tool = fill_tool(10, "from");
	struct row_process process = fill_process(1, "text");
	struct row_incident incident = fill_incident(1, "text");
	struct row_container container = fill_container(1, "text");
	int64_t rev;

	process.tool_id = 10;
	incident.task_id = container.task_id = 10;
	put_tool(&tool);
	put_process(&process);
	put_incident(&incident);
	put_container(&container);
	commit(1);
	ck_assert_int_eq(read_integer("SELECT task_id FROM processes"), 10);
	rev = rev_of("processes", 1);

	tool.task_id = 20;
	put_tool(&tool);
	ck_assert_int_eq(store_renew_processes(store, 10), 0);
	ck_assert_int_eq(store_move_task(store, 10, 20), 0);
	commit(2);
	ck_assert_int_eq(read_integer("SELECT task_id FROM processes"), 20);
	ck_assert_int_eq(read_integer("SELECT task_id FROM incidents"), 20);
	ck_assert_int_eq(read_integer("SELECT task_id FROM containers"), 20);
	ck_assert_int_gt(rev_of("processes", 1), rev + 2);
	ck_assert_int_ne(rev_of("processes", 1), rev_of("incidents", 1));
}

TEST(states_replace_and_go)
{
	for (int64_t id = 1; id <= 2; id++)
		for (size_t size = 3; size <= 4; size++) {
			const struct store_state state = {id, "process", size == 3 ? ROW_NULL : 7, "a\0bc", size};

			ck_assert_int_eq(store_put_state(store, &state), 0);
		}
	commit(1);
	ck_assert_int_eq(read_integer("SELECT length(state) * 10 + image_id FROM states WHERE id = 1"), 47);
	ck_assert_int_eq(store_delete_state(store, 1), 0);
	commit(2);
	ck_assert_int_eq(read_integer("SELECT count(*) FROM states"), 1);
}

TEST(losses_add_up)
{
	struct row_loss loss = fill_loss(1, "text");

	for (loss.lost_count = 1; loss.lost_count <= 100; loss.lost_count *= 10) {
		loss.unix_ns = loss.lost_count; /* the clock is set meanwhile */
		put_loss(&loss);
		commit((uint64_t)loss.lost_count);
	}
	close_store();
	ck_assert_int_eq(read_integer("SELECT lost_count FROM losses"), 111);
	ck_assert_int_eq(read_integer("SELECT unix_ns FROM losses"), 1);
}

/* The start follows begin_boot_ns, but not into another day, since the lake partitions rows by it. An unknown one can
 * still be set, and a known one is not lost. */
TEST(a_start_keeps_its_day)
{
	static const int64_t day = 86400000000000;
	const struct {
		int64_t first, then, stored;
	} starts[] = {{9, 5, 5}, {5, 9, 9}, {day + 5, 9, day}, {5, day + 9, day - 1}, {0, 9, 9}, {9, 0, 9}};

	for (int commits = 1; commits <= 2; commits++) {
		for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
			struct row_task task = fill_task((int64_t)i + 1, "text");
			struct row_incident incident = fill_incident((int64_t)i + 1, "text");

			task.started_unix_ns = incident.unix_ns = commits == 1 ? starts[i].first : starts[i].then;
			ck_assert_int_eq(store_put_task(store, &task), 0);
			ck_assert_int_eq(store_put_incident(store, &incident), 0);
		}
		commit((uint64_t)commits);
	}
	close_store();
	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
		char sql[128];

		snprintf(sql, sizeof(sql), "SELECT started_unix_ns FROM tasks WHERE id = %zu", i + 1);
		ck_assert_int_eq(read_integer(sql), starts[i].stored);
		snprintf(sql, sizeof(sql), "SELECT unix_ns FROM incidents WHERE id = %zu", i + 1);
		ck_assert_int_eq(read_integer(sql), starts[i].first);
	}
}

TEST(killed_writer_leaves_the_last_commit)
{
	struct store_stream stream = {0};

	close_store();
	kill_a_writer();
	open_store();
	ck_assert_int_eq(store_read_stream(store, &stream), 0);
	ck_assert_uint_eq(stream.ring_offset, 1);
	ck_assert_int_eq(read_integer("SELECT count(*) FROM runs"), 1);
	ck_assert_int_eq(read_integer("SELECT count(*) FROM pragma_integrity_check "
				      "WHERE integrity_check <> 'ok'"),
			 0);
}

/* In a child process: endless commits of one run and one loss, some hundreds a second. */
static void write_without_end(void)
{
	struct row_run run = fill_run(1, "text");
	struct row_loss loss = fill_loss(1, "text");

	open_store();
	run.run_key = NULL; /* rows with the same key would be one run */
	for (uint64_t i = 1;; i++) {
		run.id = loss.id = (int64_t)i;
		put_run(&run);
		put_loss(&loss);
		commit(i);
		usleep(1000);
	}
}

static size_t loss_count(struct store *reader)
{
	const struct store_text text = {.name = "losses", .sql = "SELECT count(*) AS loss_count FROM losses"};
	struct store_result *result = NULL;
	size_t count;

	ck_assert_int_eq(store_query_text(reader, &text, NULL, &result), 0);
	ck_assert_int_eq(store_result_next(result), 1);
	count = (size_t)store_result_get(result, "loss_count").integer;
	store_result_free(result);
	return count;
}

TEST(reader_sees_whole_commits)
{
	const struct store_parameter runs[] = {{"since_unix_ns", STORE_INTEGER, 0, NULL},
					       {"with_system", STORE_INTEGER, 1, NULL},
					       {"limit", STORE_INTEGER, 1000000, NULL},
					       {"candidate_limit", STORE_INTEGER, 1000000, NULL},
					       {0}};
	struct store *reader;
	size_t first = 0, last = 0;
	pid_t child;

	close_store();
	child = fork();
	if (child == 0)
		write_without_end();
	reader = open_reader();
	for (int i = 0; i < 100 || last == first; i++) {
		ck_assert_int_eq(store_begin_reading(reader), 0);
		last = count_rows(reader, "runs", runs);
		ck_assert_uint_eq(loss_count(reader), last);
		store_end_reading(reader);
		first = i == 0 ? last : first;
	}
	kill_and_wait(child);
	store_close(reader);
}

int main(void)
{
	return stores_run("writer");
}
