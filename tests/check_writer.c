/* Writing: round trips, and commits as a whole. */
#include "tests/stores.h"

#include <errno.h>
#include <sqlite3.h>
#include <unistd.h>

/* Columns named cloud_* are not written here, but filled in on the way to the lake. */
TEST(lists_are_the_schema)
{
#define LIST_I(column) ",('" #column "','INTEGER')"
#define LIST_T(column) ",('" #column "','TEXT')"
#define LIST_B(column) ",('" #column "','BLOB')"
/* clang-format off */
#define LISTED(NAME) "listed AS (VALUES ('rev', 'INTEGER')" ROW_##NAME##_COLUMNS(LIST_I, LIST_T, LIST_B) ")"
#define STORED(table) \
	"stored AS (SELECT name, type FROM pragma_table_info('" #table "') WHERE substr(name, 1, 6) <> 'cloud_')"
#define DIFFERENCE(a, b) "SELECT * FROM (SELECT * FROM " #a " EXCEPT SELECT * FROM " #b ")"
#define R(NAME, name, table, key) \
	ck_assert_rows("WITH " LISTED(NAME) ", " STORED(table) " " \
		       DIFFERENCE(listed, stored) " UNION ALL " DIFFERENCE(stored, listed), "");
	/* clang-format on */
	ROWS(R)
#undef R
}

/* A query of a row's columns, and what it is to return: SQL literals of the values and their types. */
static char query[4096], expected[8192];

static void expect_column(const char *column, char *literal)
{
	snprintf(query + strlen(query), sizeof(query) - strlen(query), "%s quote(%s)", *query ? "," : "SELECT", column);
	snprintf(expected + strlen(expected), sizeof(expected) - strlen(expected), "%s%s", *expected ? " " : "",
		 literal);
	sqlite3_free(literal);
}

static char *integer_literal(int64_t value)
{
	return value == ROW_NULL ? sqlite3_mprintf("NULL") : sqlite3_mprintf("%lld", (long long)value);
}

static char *blob_literal(struct row_blob blob)
{
	char *text = sqlite3_mprintf(blob.data ? "X'" : "NULL");

	for (size_t i = 0; i < blob.size; i++)
		text = sqlite3_mprintf("%z%02X", text, ((const unsigned char *)blob.data)[i]);
	return blob.data ? sqlite3_mprintf("%z'", text) : text;
}

#define EXPECT_I(column) expect_column(#column, integer_literal(row.column));
#define EXPECT_T(column) expect_column(#column, sqlite3_mprintf("%Q", row.column));
#define EXPECT_B(column) expect_column(#column, blob_literal(row.column));
#define R(NAME, name, table, key) \
	static void expect_##name(struct row_##name row) \
	{ \
		query[0] = expected[0] = '\0'; \
		ROW_##NAME##_COLUMNS(EXPECT_I, EXPECT_T, EXPECT_B) \
			snprintf(query + strlen(query), sizeof(query) - strlen(query), " FROM %s", #table); \
		strcat(expected, "\n"); \
		ck_assert_rows(query, expected); \
	}
ROWS(R)
#undef R

TEST(rows_come_back_as_put)
{
#define R(NAME, name, table, key) \
	struct row_##name row_##name = fill_##name(7, HOSTILE); \
	ck_assert_int_eq(store_put_##name(store, &row_##name), 0);
	ROWS(R)
#undef R
	commit(1);
#define R(NAME, name, table, key) expect_##name(row_##name);
	ROWS(R)
#undef R
}

TEST(unknown_stays_unknown)
{
	struct row_process row = fill_process(7, "text");
	struct row_tool tool = fill_tool(7, "text");

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
	expect_process(row);
	/* Now known: the same row, with every column replaced. A blob may contain NUL. */
	row = fill_process(7, "known");
	row.arguments = (struct row_blob){"a\0\0b\xff", 6};
	put_process(&row);
	commit(2);
	expect_process(row);
	row.path = "";
	row.arguments = (struct row_blob){"", 0};
	put_process(&row);
	commit(3);
	expect_process(row);
}

TEST(known_columns_are_required)
{
	struct row_process row = fill_process(1, "text");

	row.pid = ROW_NULL;
	ck_assert_int_eq(store_put_process(store, &row), -EINVAL);
	ck_assert_ptr_nonnull(strstr(store_error_text(store), "pid"));
	store_rollback(store);
}

/* Puts the processes from `id` to 3, the second of another program. Returns the first error. */
static int put_from(int64_t id, int64_t pid_of_last)
{
	int error = 0;

	for (; id <= 3; id++) {
		struct row_process row = fill_process(id, "text");

		if (id == 2)
			row.program = "other";
		if (id == 3)
			row.pid = pid_of_last;
		error = error < 0 ? error : store_put_process(store, &row);
	}
	return error;
}

/* SQLite can only be configured before its first use, by whatever call. */
TEST(a_writer_counts_no_memory)
{
	ck_assert_int_eq(sqlite3_memory_used(), 0);
}

TEST(each_process_has_a_revision_and_an_image)
{
	ck_assert_int_eq(put_from(2, 7), 0);
	commit(1);
	ck_assert_int_eq(put_from(1, 7), 0); /* one is new, the others exist */
	commit(2);
	ck_assert_rows("SELECT count(*), count(DISTINCT image_id), count(DISTINCT rev), min(rev), max(rev) "
		       "FROM process_rows",
		       "3 2 3 3 5\n");
	ck_assert_int_eq(read_integer("SELECT rev FROM stream"), 5);
}

TEST(one_bad_process_of_many_fails_the_commit)
{
	struct store_stream stream = {.boot_id = "boot"};

	ck_assert_int_eq(put_from(1, ROW_NULL), -EINVAL);
	ck_assert_ptr_nonnull(strstr(store_error_text(store), "pid"));
	ck_assert_int_eq(store_commit(store, &stream), -EINVAL);
	ck_assert_int_eq(count_of("process_rows"), 0);
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
	ck_assert_int_eq(count_of("runs"), 1);
	put_run(&run);
	commit(2);
	ck_assert_int_eq(rev_of("runs", 2), rev + 1);
}

TEST(all_that_ran_is_closed)
{
	struct row_run run = fill_run(1, "text");
	struct row_task task = fill_task(1, "text");
	struct row_tool tool = fill_tool(1, "text");
	struct row_process process = fill_process(1, "text");
	struct row_container container = fill_container(1, "text"), of_no_run = fill_container(2, "text");

	run.end_boot_ns = task.end_boot_ns = tool.end_boot_ns = process.end_boot_ns = ROW_NULL;
	container.end_boot_ns = of_no_run.end_boot_ns = of_no_run.run_id = ROW_NULL;
	put_run(&run);
	put_task(&task);
	put_tool(&tool);
	put_process(&process);
	put_container(&container);
	put_container(&of_no_run);
	ck_assert_int_eq(store_close_running(store, 1000), 0);
	commit(1);
	ck_assert_rows("SELECT (SELECT end_boot_ns FROM runs), (SELECT end_boot_ns FROM tasks), "
		       "(SELECT end_boot_ns FROM tools), (SELECT end_boot_ns FROM process_rows)",
		       "1000 1000 1000 1000\n");
	ck_assert_rows("SELECT id, end_boot_ns FROM containers ORDER BY id", "1 1000\n2 1000\n");
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
	ck_assert_int_eq(count_of("runs"), 0);
	put_run(&run);
	commit(1);
	ck_assert_int_eq(count_of("runs"), 1);
}

/* The same if a statement cannot even be prepared. */
TEST(failed_statement_fails_the_commit)
{
	struct store_stream stream = stream_at(2);
	struct row_run run = fill_run(1, "text");
	sqlite3 *database;

	ck_assert_int_eq(sqlite3_open(path, &database), SQLITE_OK);
	ck_assert_int_eq(sqlite3_exec(database, "ALTER TABLE states RENAME TO others", NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(database);
	put_run(&run);
	commit(1); /* reads the schema */
	run.id = 2;
	ck_assert_int_lt(store_put_state(store, "run", 1, ROW_NULL, (struct row_blob){"a", 1}), 0);
	ck_assert_int_lt(store_put_run(store, &run), 0);
	ck_assert_int_lt(store_commit(store, &stream), 0);
	ck_assert_int_eq(count_of("runs"), 1);
	put_run(&run);
	commit(2);
	ck_assert_int_eq(count_of("runs"), 2);
}

TEST(merged_task_gives_its_rows_away)
{
	int64_t rev;

	PUT(TOOL, tool, .id = 10, .task_id = 10);
	PUT(PROCESS, process, .id = 1, .tool_id = 10);
	PUT(INCIDENT, incident, .id = 1, .task_id = 10);
	PUT(CONTAINER, container, .id = 1, .task_id = 10);
	commit(1);
	ck_assert_int_eq(read_integer("SELECT task_id FROM processes"), 10);
	rev = rev_of("processes", 1);

	PUT(TOOL, tool, .id = 10, .task_id = 20);
	ck_assert_int_eq(store_renew_processes(store, 10), 0);
	ck_assert_int_eq(store_move_task(store, 10, 20), 0);
	commit(2);
	ck_assert_rows("SELECT p.task_id, i.task_id, c.task_id FROM processes p, incidents i, containers c",
		       "20 20 20\n");
	ck_assert_int_gt(rev_of("processes", 1), rev + 2);
	ck_assert_int_ne(rev_of("processes", 1), rev_of("incidents", 1));
}

TEST(states_replace_and_go)
{
	for (int64_t id = 1; id <= 2; id++)
		for (size_t size = 3; size <= 4; size++)
			ck_assert_int_eq(store_put_state(store, "process", id, size == 3 ? ROW_NULL : 7,
							 (struct row_blob){"a\0bc", size}),
					 0);
	commit(1);
	ck_assert_int_eq(read_integer("SELECT length(state) * 10 + image_id FROM states WHERE id = 1"), 47);
	ck_assert_int_eq(store_delete_state(store, 1), 0);
	commit(2);
	ck_assert_int_eq(count_of("states"), 1);
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
	ck_assert_rows("SELECT lost_count, unix_ns FROM losses", "111 1\n");
}

/* The start follows begin_boot_ns, but not into another day, since the lake partitions rows by it. An unknown one can
 * still be set, and a known one is not lost. */
TEST(a_start_keeps_its_day)
{
	static const int64_t day = 86400000000000;
	const struct {
		int64_t first, then;
	} starts[] = {{9, 5}, {5, 9}, {day + 5, 9}, {5, day + 9}, {0, 9}, {9, 0}};

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
	ck_assert_rows("SELECT started_unix_ns FROM tasks ORDER BY id", "5\n9\n86400000000000\n86399999999999\n9\n9\n");
	ck_assert_rows("SELECT unix_ns FROM incidents ORDER BY id", "9\n5\n86400000000005\n5\n0\n9\n");
}

TEST(killed_writer_leaves_the_last_commit)
{
	struct store_stream stream = {0};

	close_store();
	kill_a_writer();
	open_store();
	ck_assert_int_eq(store_read_stream(store, &stream), 0);
	ck_assert_uint_eq(stream.ring_offset, 1);
	ck_assert_int_eq(count_of("runs"), 1);
	ck_assert_int_eq(count_of("pragma_integrity_check WHERE integrity_check <> 'ok'"), 0);
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

static size_t count_in(struct store *reader, const char *count_sql)
{
	const struct store_text text = {.name = "count", .sql = count_sql};
	struct store_result *result = NULL;
	size_t count;

	ck_assert_int_eq(store_query_text(reader, &text, NULL, &result), 0);
	ck_assert_int_eq(store_result_next(result), 1);
	count = (size_t)store_result_get(result, "n").integer;
	store_result_free(result);
	return count;
}

TEST(reader_sees_whole_commits)
{
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
		last = count_in(reader, "SELECT count(*) AS n FROM runs");
		ck_assert_uint_eq(count_in(reader, "SELECT count(*) AS n FROM losses"), last);
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
