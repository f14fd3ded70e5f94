/* Earlier runs of a name, and their tasks. */
#include "analysis/tune/history.h"

#include <string.h>

#include "tests/stores.h"

#define HOUR INT64_C(3600000000000)

static struct history history;

/* A run of 100 ns with one task; `id` is also its hour. */
static void put_run_named(int64_t id, const char *name, const char *status)
{
	struct row_run run = fill_run(id, name);
	struct row_task task = fill_task(id, "step");
	struct row_host host = fill_host(1, "host");

	run.host_id = task.host_id = 1;
	run.kind = task.kind = "command";
	run.status = task.status = status;
	run.run_key = NULL;
	run.started_unix_ns = task.started_unix_ns = id * HOUR;
	run.begin_boot_ns = task.begin_boot_ns = 0;
	run.end_boot_ns = 100;
	task.end_boot_ns = 60;
	task.merged_into_id = ROW_NULL;
	task.lost_count = run.lost_count = 0;
	put_host(&host);
	put_run(&run);
	put_task(&task);
}

static void load(struct history_request request)
{
	struct store *reader;

	commit(1);
	reader = open_reader();
	ck_assert_int_eq(history_load(reader, &request, &history), 0);
	store_close(reader);
}

static const struct steps_task *find(const char *name, size_t run)
{
	for (size_t i = 0; i < history.step_count; i++)
		if (history.steps[i].run == run && strcmp(history.steps[i].name, name) == 0)
			return &history.steps[i];
	return NULL;
}

TEST(runs_of_a_name_in_time_order)
{
	put_run_named(3, "a", "succeeded");
	put_run_named(1, "a", "succeeded");
	put_run_named(2, "b", "succeeded");
	load((struct history_request){.name = "a"});
	ck_assert_uint_eq(history.run_count, 2);
	ck_assert_int_eq(history.runs[0].id, 1);
	ck_assert_int_eq(history.runs[1].id, 3);
	ck_assert_uint_eq(history.step_count, 4);
	ck_assert_int_eq(find("step", 1)->figures[STEPS_WALL], 60);
	ck_assert_int_eq(find("step", 1)->figures[STEPS_CPU], 3);
	ck_assert_int_eq(find(HISTORY_WHOLE, 0)->figures[STEPS_WALL], 100);
	history_free(&history);
}

TEST(last_runs_and_all_but_one)
{
	for (int64_t id = 1; id <= 5; id++)
		put_run_named(id, "a", "succeeded");
	load((struct history_request){.name = "a", .last = 2, .without_id = 5});
	ck_assert_uint_eq(history.run_count, 2);
	ck_assert_int_eq(history.runs[1].id, 4);
	ck_assert_uint_eq(history.omitted_run_count, 2);
	ck_assert_uint_eq(history.step_count, 4);
	history_free(&history);
	load((struct history_request){.run_id = 5});
	ck_assert_uint_eq(history.run_count, 1);
	ck_assert_int_eq(history.runs[0].id, 5);
	history_free(&history);
}

/* What failed is counted and not compared. */
TEST(only_what_succeeded)
{
	put_run_named(1, "a", "failed");
	load((struct history_request){.name = "a"});
	ck_assert_uint_eq(history.run_count, 1);
	ck_assert_uint_eq(history.step_count, 0);
	ck_assert_uint_eq(history.omitted_task_count, 1);
	history_free(&history);
}

/* A run on two hosts is one: from the first begin to the last end, with the sum of what it used. */
TEST(run_of_several_hosts)
{
	for (int64_t id = 1; id <= 2; id++) {
		struct row_run run = fill_run(id, "a");
		struct row_host host = fill_host(id, "host");
		struct row_task task = fill_task(id, "step");

		host.cluster = "cluster";
		host.host_key = id == 1 ? "one" : "two";
		run.status = task.status = "succeeded";
		run.run_key = "key";
		run.started_unix_ns = task.started_unix_ns = HOUR + id * 1000;
		run.begin_boot_ns = task.begin_boot_ns = 0;
		run.end_boot_ns = 5000;
		task.end_boot_ns = 60;
		task.merged_into_id = ROW_NULL;
		task.kind = "engine";
		task.lost_count = 0;
		put_host(&host);
		put_run(&run);
		put_task(&task);
	}
	load((struct history_request){.run_id = 2});
	ck_assert_uint_eq(history.run_count, 1);
	ck_assert_int_eq(history.runs[0].id, 1);
	ck_assert_int_eq(find(HISTORY_WHOLE, 0)->figures[STEPS_WALL], 6000);
	ck_assert_int_eq(find(HISTORY_WHOLE, 0)->figures[STEPS_CPU], 3);
	ck_assert_int_eq(find(HISTORY_WHOLE, 0)->figures[STEPS_PEAK_RSS], 2);
	ck_assert_uint_eq(history.step_count, 3);
	history_free(&history);
}

int main(void)
{
	return stores_run("history");
}
