/* Retention by age. */
#include "tests/stores.h"

#include <errno.h>

#define OLD_UNIX_NS 1000
#define NEW_UNIX_NS 1000000

/* Puts a run with one row of everything, all ids `id`, begun and ended at `unix_ns`. */
static void put_run_of(int64_t id, int64_t unix_ns, bool running)
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
	if (running)
		run.end_boot_ns = task.end_boot_ns = tool.end_boot_ns = ROW_NULL;
	put_run(&run);
	put_task(&task);
	put_tool(&tool);
	put_process(&process);
	put_sample(&sample);
	put_incident(&incident);
	put_container(&container);
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

TEST(expiry_takes_whole_old_runs)
{
	static const char *const tables[] = {"runs",    "tasks",     "tools",     "processes",
					     "samples", "incidents", "containers"};
	char sql[64];

	put_run_of(1, OLD_UNIX_NS, false);
	put_run_of(2, NEW_UNIX_NS, false);
	commit(1);
	expire(NEW_UNIX_NS, INT64_MAX);
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		snprintf(sql, sizeof(sql), "SELECT count(*) FROM %s", tables[i]);
		ck_assert_msg(read_integer(sql) == 1, "%s", tables[i]);
	}
	ck_assert_int_eq(read_integer("SELECT id FROM processes"), 2);
	expire(NEW_UNIX_NS, INT64_MAX);
}

TEST(expiry_takes_old_samples_of_the_host)
{
	struct row_host_sample sample = fill_host_sample(1, "");

	for (int i = 0; i < 3; i++) {
		sample.unix_ns = OLD_UNIX_NS + i * (NEW_UNIX_NS - OLD_UNIX_NS) / 2;
		put_host_sample(&sample);
	}
	commit(1);
	expire(NEW_UNIX_NS, INT64_MAX);
	ck_assert_int_eq(read_integer("SELECT count(*) FROM host_samples"), 1);
	ck_assert_int_eq(read_integer("SELECT unix_ns FROM host_samples"), NEW_UNIX_NS);
}

TEST(expiry_keeps_what_is_beyond_its_revisions)
{
	struct row_host_sample sample = fill_host_sample(1, "");
	struct store_expiry expiry = {NEW_UNIX_NS, .shipped_rev = 0};
	struct store_expired expired;

	for (int i = 0; i < 3; i++) {
		sample.unix_ns = OLD_UNIX_NS + i;
		put_host_sample(&sample);
	}
	commit(1);
	expiry.last_rev = read_integer("SELECT min(rev) + 1 FROM host_samples");
	ck_assert_int_eq(store_expire(store, &expiry, &expired), 0);
	commit(1);
	ck_assert_int_eq(read_integer("SELECT min(unix_ns) FROM host_samples"), OLD_UNIX_NS + 2);
	ck_assert_int_eq(expire(NEW_UNIX_NS, 0), 1);
	ck_assert_int_eq(read_integer("SELECT count(*) FROM host_samples"), 0);
}

TEST(expiry_keeps_runs_that_live)
{
	put_run_of(1, OLD_UNIX_NS, true);
	commit(1);
	expire(NEW_UNIX_NS, INT64_MAX);
	ck_assert_int_eq(read_integer("SELECT count(*) FROM runs"), 1);
	ck_assert_int_eq(read_integer("SELECT count(*) FROM tools"), 1);
	ck_assert_int_eq(read_integer("SELECT count(*) FROM processes"), 0);
	ck_assert_int_eq(read_integer("SELECT count(*) FROM samples"), 0);
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
	struct row_cgroup row = fill_cgroup(0, "/job");

	for (row.id = 1; row.id <= 32000; row.id++)
		put_cgroup(&row);
	row.id = 7;
	put_cgroup(&row);
	commit(1);
	ck_assert_int_eq(store_delete_unused(store), 0);
	ck_assert_int_eq(read_integer("SELECT count(*) FROM cgroups"), 22000); /* bounded steps */
	ck_assert_int_eq(store_delete_unused(store), 0);
	ck_assert_int_eq(store_delete_unused(store), 0);
	ck_assert_int_eq(read_integer("SELECT count(*) FROM cgroups"), 20000);
	ck_assert_int_eq(read_integer("SELECT count(*) FROM cgroups WHERE id = 7"), 1);
	ck_assert_int_eq(read_integer("SELECT min(id) FROM cgroups WHERE id <> 7"), 12002);
}

/* Of many images, those that no process refers to are deleted, also if others are used again meanwhile. */
TEST(expiry_deletes_unused_images)
{
	char program[16];

	for (int64_t id = 1; id <= 10100; id++) {
		struct row_process process = fill_process(id, "text");

		snprintf(program, sizeof(program), "p%d", (int)id % 10050);
		process.program = program;
		process.tool_id = id / 10;
		process.started_unix_ns = id <= 200 ? OLD_UNIX_NS : NEW_UNIX_NS;
		put_process(&process);
	}
	commit(1);
	ck_assert_int_eq(store_delete_unused(store), 0);
	ck_assert_int_eq(read_integer("SELECT count(*) FROM images"), 10050);
	expire(NEW_UNIX_NS, INT64_MAX);
	ck_assert_int_eq(store_delete_unused(store), 0);
	ck_assert_int_eq(read_integer("SELECT count(*) FROM images"), 10050 - 150);
	ck_assert_int_eq(
		read_integer("SELECT count(*) FROM process_rows WHERE image_id NOT IN (SELECT id FROM images)"), 0);
}

int main(void)
{
	return stores_run("expire");
}
