/* Earlier runs of a name, and their tasks. */
#include "analysis/tune/history.h"

#include <string.h>

#include "tests/stores.h"

#define HOUR INT64_C(3600000000000)

static struct history history;

/* A run with one task of 60 ns and as much CPU time as its id. */
static void put_run_on(int64_t id, int64_t host_id, const char *name, const char *key, const char *status,
		       int64_t started_unix_ns, int64_t wall_ns)
{
	PUT(RUN, run, .id = id, .host_id = host_id, .kind = "command", .name = name, .run_key = key, .process_count = 1,
	    .status = status, .started_unix_ns = started_unix_ns, .end_boot_ns = wall_ns, .cpu_ns = id,
	    .peak_rss_bytes = id);
	PUT(TASK, task, .id = id, .host_id = host_id, .run_id = id, .kind = key ? "engine" : "command", .name = "step",
	    .status = status, .process_count = 1, .merged_into_id = ROW_NULL, .started_unix_ns = started_unix_ns,
	    .end_boot_ns = 60, .cpu_ns = id);
}

/* A run of 100 ns; `id` is also its hour. */
static void put_run_named(int64_t id, const char *name, const char *status)
{
	PUT(HOST, host, .id = 1);
	put_run_on(id, 1, name, NULL, status, id * HOUR, 100);
}

/* Loads, and returns the runs and their steps with wall time, CPU time and memory, and what is omitted. */
static const char *loaded(struct history_request request)
{
	static char text[1024];
	size_t size = 0;
	struct store *reader;

	commit(1);
	reader = open_reader();
	ck_assert_int_eq(history_load(reader, &request, &history), 0);
	store_close(reader);
	for (size_t run = 0; run < history.run_count; run++) {
		size += (size_t)snprintf(text + size, sizeof(text) - size, "%d:", (int)history.runs[run].id);
		for (size_t i = 0; i < history.step_count; i++)
			if (history.steps[i].run == run)
				size += (size_t)snprintf(text + size, sizeof(text) - size, " %s %d %d %d,",
							 history.steps[i].name,
							 (int)history.steps[i].figures[STEPS_WALL],
							 (int)history.steps[i].figures[STEPS_CPU],
							 (int)history.steps[i].figures[STEPS_PEAK_RSS]);
		size += (size_t)snprintf(text + size, sizeof(text) - size, "\n");
	}
	snprintf(text + size, sizeof(text) - size, "omitted: %d runs, %d tasks\n", (int)history.omitted_run_count,
		 (int)history.omitted_task_count);
	history_free(&history);
	return text;
}

TEST(runs_of_a_name_in_time_order)
{
	put_run_named(3, "a", "succeeded");
	put_run_named(1, "a", "succeeded");
	put_run_named(2, "b", "succeeded");
	ck_assert_str_eq(loaded((struct history_request){.name = "a"}), "1: (whole run) 100 1 1, step 60 1 0,\n"
									"3: (whole run) 100 3 3, step 60 3 0,\n"
									"omitted: 0 runs, 0 tasks\n");
}

TEST(last_runs_and_all_but_one)
{
	for (int64_t id = 1; id <= 5; id++)
		put_run_named(id, "a", "succeeded");
	ck_assert_str_eq(loaded((struct history_request){.name = "a", .last = 2, .without_id = 5}),
			 "3: (whole run) 100 3 3, step 60 3 0,\n"
			 "4: (whole run) 100 4 4, step 60 4 0,\n"
			 "omitted: 2 runs, 0 tasks\n");
	ck_assert_str_eq(loaded((struct history_request){.run_id = 5}), "5: (whole run) 100 5 5, step 60 5 0,\n"
									"omitted: 0 runs, 0 tasks\n");
}

/* What failed is counted and not compared. */
TEST(only_what_succeeded)
{
	put_run_named(1, "a", "failed");
	ck_assert_str_eq(loaded((struct history_request){.name = "a"}), "1:\n"
									"omitted: 0 runs, 1 tasks\n");
}

/* A run on two hosts is one: from the first begin to the last end, with the sum of what it used. */
TEST(run_of_several_hosts)
{
	PUT(HOST, host, .id = 1, .host_key = "one");
	PUT(HOST, host, .id = 2, .host_key = "two");
	for (int64_t id = 1; id <= 2; id++)
		put_run_on(id, id, "a", "key", "succeeded", HOUR + id * 1000, 5000);
	ck_assert_str_eq(loaded((struct history_request){.run_id = 2}),
			 "1: (whole run) 6000 3 2, step 60 1 0, step 60 2 0,\n"
			 "omitted: 0 runs, 0 tasks\n");
}

/* A task without a label, and its only process. */
static void put_line(int64_t id, const char *arguments, size_t size)
{
	PUT(TASK, task, .id = id, .host_id = id, .run_id = id, .kind = "engine", .name = "step", .status = "succeeded",
	    .process_count = 1, .merged_into_id = ROW_NULL, .started_unix_ns = HOUR, .end_boot_ns = 60, .label = NULL);
	PUT(TOOL, tool, .id = id, .host_id = id, .run_id = id, .task_id = id, .process_count = 1);
	PUT(PROCESS, process, .id = id, .host_id = id, .tool_id = id, .arguments = {arguments, size});
}

/* Tasks of both hosts decide what distinguishes them. */
TEST(labels_of_several_hosts)
{
	struct store *reader;

	PUT(HOST, host, .id = 1, .host_key = "one");
	PUT(HOST, host, .id = 2, .host_key = "two");
	for (int64_t id = 1; id <= 2; id++)
		put_run_on(id, id, "a", "key", "succeeded", HOUR, 5000);
	put_line(1, "work\0s1.fq\0conf.txt", 18);
	put_line(2, "work\0s2.fq\0conf.txt", 18);
	commit(1);
	reader = open_reader();
	ck_assert_int_eq(history_load(reader, &(struct history_request){.run_id = 1}, &history), 0);
	ck_assert_int_eq(history_load_labels(reader, &history), 0);
	for (size_t i = 0; i < history.step_count; i++)
		if (history.task_ids[i])
			ck_assert_str_eq(history.steps[i].label, history.task_ids[i] == 1 ? "s1.fq" : "s2.fq");
	ck_assert_uint_eq(history.step_count, 3);
	store_close(reader);
	history_free(&history);
}

int main(void)
{
	return stores_run("history");
}
