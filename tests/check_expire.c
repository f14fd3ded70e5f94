/* Retention by age. */
#include "tests/stores.h"

#include <errno.h>

#define OLD_UNIX_NS 1000
#define NEW_UNIX_NS 1000000

/* Puts a run with one row of everything, all ids `id`, begun and ended at `unix_ns`. */
static void put_run_of(int64_t id, int64_t unix_ns, bool running)
{
	int64_t end_boot_ns = running ? ROW_NULL : 1;

	PUT(RUN, run, .id = id, .run_key = NULL, .started_unix_ns = unix_ns, .end_boot_ns = end_boot_ns);
	PUT(TASK, task, .id = id, .run_id = id, .end_boot_ns = end_boot_ns);
	PUT(TOOL, tool, .id = id, .run_id = id, .task_id = id, .end_boot_ns = end_boot_ns);
	PUT(PROCESS, process, .id = id, .tool_id = id, .started_unix_ns = unix_ns);
	PUT(SAMPLE, sample, .process_id = id);
	PUT(INCIDENT, incident, .id = id, .run_id = id, .unix_ns = unix_ns);
	PUT(CONTAINER, container, .id = id, .started_unix_ns = unix_ns);
}

/* Expires everything that ended before `before_unix_ns`. Returns the number of unsent rows (revisions
 * above `shipped_rev`) among it. */
static int64_t expire(int64_t before_unix_ns, int64_t shipped_rev)
{
	struct store_expiry expiry = {before_unix_ns, .last_rev = INT64_MAX, .shipped_rev = shipped_rev};
	struct store_expired expired;
	int64_t unsent_count = 0;

	do {
		ck_assert_int_eq(store_expire(store, &expiry, &expired), 0);
		commit(1);
		unsent_count += expired.unsent_count;
	} while (expired.has_more);
	store_vacuum_step(store);
	return unsent_count;
}

/* Numbers of rows of everything that a run has. */
#define ROWS_OF_RUNS \
	"SELECT (SELECT count(*) FROM runs), (SELECT count(*) FROM tasks), (SELECT count(*) FROM tools), " \
	"(SELECT count(*) FROM processes), (SELECT count(*) FROM samples), (SELECT count(*) FROM incidents), " \
	"(SELECT count(*) FROM containers)"

TEST(expiry_takes_whole_old_runs)
{
	put_run_of(1, OLD_UNIX_NS, false);
	put_run_of(2, NEW_UNIX_NS, false);
	commit(1);
	expire(NEW_UNIX_NS, INT64_MAX);
	ck_assert_rows(ROWS_OF_RUNS, "1 1 1 1 1 1 1\n");
	ck_assert_int_eq(read_integer("SELECT id FROM processes"), 2);
	expire(NEW_UNIX_NS, INT64_MAX);
	ck_assert_rows(ROWS_OF_RUNS, "1 1 1 1 1 1 1\n");
}

TEST(expiry_keeps_runs_that_live)
{
	put_run_of(1, OLD_UNIX_NS, true);
	commit(1);
	expire(NEW_UNIX_NS, INT64_MAX);
	ck_assert_rows(ROWS_OF_RUNS, "1 1 1 0 0 0 0\n");
}

TEST(expiry_takes_old_samples_of_the_host)
{
	for (int i = 0; i < 3; i++)
		PUT(HOST_SAMPLE, host_sample, .unix_ns = OLD_UNIX_NS + i * (NEW_UNIX_NS - OLD_UNIX_NS) / 2);
	commit(1);
	expire(NEW_UNIX_NS, INT64_MAX);
	ck_assert_rows("SELECT unix_ns FROM host_samples", "1000000\n");
}

TEST(expiry_keeps_what_is_beyond_its_revisions)
{
	struct store_expiry expiry = {NEW_UNIX_NS, .shipped_rev = 0};
	struct store_expired expired;

	for (int i = 0; i < 3; i++)
		PUT(HOST_SAMPLE, host_sample, .unix_ns = OLD_UNIX_NS + i);
	commit(1);
	expiry.last_rev = read_integer("SELECT min(rev) + 1 FROM host_samples");
	ck_assert_int_eq(store_expire(store, &expiry, &expired), 0);
	commit(1);
	ck_assert_rows("SELECT unix_ns FROM host_samples", "1002\n");
	ck_assert_int_eq(expire(NEW_UNIX_NS, 0), 1);
	ck_assert_int_eq(count_of("host_samples"), 0);
}

TEST(expiry_is_bounded_and_gives_space_back)
{
	struct store_expiry expiry = {NEW_UNIX_NS, .shipped_rev = INT64_MAX};
	struct store_expired expired;
	int64_t pages;

	for (int64_t id = 1; id <= 3000; id++)
		put_run_of(id, OLD_UNIX_NS + id, false);
	ck_assert_int_eq(store_expire(store, &expiry, &expired), -EINVAL); /* no transaction is open */
	commit(1);
	pages = read_integer("PRAGMA page_count");
	ck_assert_int_eq(store_find_window(store, 0, INT64_MAX, 1000, &expiry.last_rev), 0);
	ck_assert_int_eq(expiry.last_rev, read_integer("SELECT rev FROM runs WHERE id = 101"));
	ck_assert_int_eq(store_find_window(store, 0, INT64_MAX, 5000, &expiry.last_rev), 0);
	ck_assert_int_eq(store_expire(store, &expiry, &expired), 0);
	commit(1);
	ck_assert_int_eq(read_integer("SELECT min(id) FROM runs"), 502);
	ck_assert_int_eq(expire(NEW_UNIX_NS, INT64_MAX), 0);
	ck_assert_int_lt(read_integer("PRAGMA page_count"), pages / 2);
}

/* The latest 20,000 cgroups stay, since their paths may still be looked up; each lookup rewrites the row. */
TEST(expiry_deletes_unused_cgroups)
{
	for (int64_t id = 1; id <= 32000; id++)
		PUT(CGROUP, cgroup, .id = id);
	PUT(CGROUP, cgroup, .id = 7);
	commit(1);
	ck_assert_int_eq(store_delete_unused(store), 0);
	ck_assert_int_eq(count_of("cgroups"), 22000); /* bounded steps */
	ck_assert_int_eq(store_delete_unused(store), 0);
	ck_assert_int_eq(store_delete_unused(store), 0);
	ck_assert_rows("SELECT count(*), min(id), (SELECT min(id) FROM cgroups WHERE id <> 7) FROM cgroups",
		       "20000 7 12002\n");
}

/* Of many images, those that no process refers to are deleted, also if others are used again meanwhile. */
TEST(expiry_deletes_unused_images)
{
	char program[16];

	for (int64_t id = 1; id <= 10100; id++) {
		snprintf(program, sizeof(program), "p%d", (int)id % 10050);
		PUT(PROCESS, process, .id = id, .program = program, .tool_id = id / 10,
		    .started_unix_ns = id <= 200 ? OLD_UNIX_NS : NEW_UNIX_NS);
	}
	commit(1);
	ck_assert_int_eq(store_delete_unused(store), 0);
	ck_assert_int_eq(count_of("images"), 10050);
	expire(NEW_UNIX_NS, INT64_MAX);
	ck_assert_int_eq(store_delete_unused(store), 0);
	ck_assert_int_eq(count_of("images"), 10050 - 150);
	ck_assert_int_eq(count_of("process_rows WHERE image_id NOT IN (SELECT id FROM images)"), 0);
}

int main(void)
{
	return stores_run("expire");
}
