/* Queries: all run, within the subset that SQLite and ClickHouse share. */
#include "tests/stores.h"

#include <errno.h>

#include "analysis/query/ask.h"

/* A process with a tool and a sample of its own, of that run on host 1. */
static void put_sampled(int64_t id, int64_t run_id)
{
	struct row_process process = fill_process(id, "text");
	struct row_tool tool = fill_tool(id, "text");
	struct row_sample sample = fill_sample(id, "text");

	tool.host_id = process.host_id = 1;
	tool.run_id = process.run_id = run_id;
	put_tool(&tool);
	put_process(&process);
	put_sample(&sample);
}

/* What scans saw of a file that it reads. */
static void put_reading(int64_t process_id)
{
	struct row_sample sample = fill_sample(process_id, "text");

	for (int64_t i = 1; i <= 8; i++) {
		sample.boot_ns = 100 + i;
		sample.file_position_bytes = i;
		sample.file_size_bytes = 100;
		put_sample(&sample);
	}
}

TEST(queries_run_on_empty_and_filled)
{
	struct store *reader = open_reader();
	struct row_process process = fill_process(2, "text");
	struct row_task task = fill_task(1, "text");
	struct row_task engine = fill_task(3, "text");
	struct row_run part = fill_run(1, "text"), earlier = part;
	struct row_host other_host = fill_host(77, "text");
	const char *name;

	for (size_t i = 0; (name = query_name(i)); i++)
		run_query(reader, name);
	put_everything(1);
	/* Still running, for queries about the present. */
	process.end_boot_ns = ROW_NULL;
	process.run_id = process.task_id = process.tool_id = 1;
	put_process(&process);
	put_reading(process.id);
	task.merged_into_id = ROW_NULL;
	task.status = "failed";
	task.label = NULL; /* made of its command line */
	put_task(&task);
	/* Its engine, and work beside it. */
	engine.merged_into_id = ROW_NULL;
	engine.kind = "main";
	engine.host_id = engine.run_id = 1;
	put_task(&engine);
	put_sampled(3, 1);
	put_sampled(4, 9);
	PUT(INCIDENT, incident, .id = 2, .host_id = 1, .unix_ns = 1, .kind = "clock");
	/* The same run on another host. */
	other_host.cluster = fill_host(1, "text").cluster;
	put_host(&other_host);
	part.id = part.host_id = 77;
	part.status = "failed";
	put_run(&part);
	/* The same work, earlier. */
	earlier.id = 78;
	earlier.started_unix_ns = 0;
	put_run(&earlier);
	earlier.id = 79;
	earlier.status = "succeeded";
	earlier.end_boot_ns = 100;
	put_run(&earlier);
	/* The same work, now. */
	earlier.id = 80;
	earlier.end_boot_ns = ROW_NULL;
	put_run(&earlier);
	commit(1);
	for (size_t i = 0; (name = query_name(i)); i++) /* findings have tests of their own */
		ck_assert_msg(run_query(reader, name) > 0 || strstr(query_text(name), "\n-- finding: "),
			      "%s found nothing", name);
	store_close(reader);
}

/* "1.0 * a / b": the two divide integers differently. */
static bool is_fraction(const char *sql, const char *at)
{
	while (at > sql && *at != '\n' && *at != ',' && strncmp(at, "1.0 * ", 6) != 0)
		at--;
	return strncmp(at, "1.0 * ", 6) == 0;
}

/* Outside the subset that SQLite and ClickHouse share (docs/model.md). */
TEST(queries_stay_in_the_common_subset)
{
	static const char *const refused[] = {" LIKE ",       "round(",  "strftime", "datetime", "julianday",
					      "group_concat", "ifnull(", " GLOB ",   "rowid"};
	const char *name;

	for (size_t i = 0; (name = query_name(i)); i++) {
		ck_assert_msg(strncmp(query_text(name), "-- ", 3) == 0, "%s does not say what it answers", name);
		for (size_t k = 0; k < sizeof(refused) / sizeof(refused[0]); k++)
			ck_assert_msg(!strcasestr(query_text(name), refused[k]), "%s has `%s`", name, refused[k]);
		for (const char *at = query_text(name); (at = strstr(at, " / ")); at++)
			ck_assert_msg(is_fraction(query_text(name), at), "%s divides whole numbers: %.40s", name, at);
	}
}

TEST(wrong_query_or_parameter_is_refused)
{
	const struct store_parameter unknown[] = {{"nonsense", STORE_INTEGER, 1, NULL}, {0}};
	struct store_result *result = NULL;

	ck_assert_int_eq(query_ask(store, "nonsense", NULL, &result), -EINVAL);
	ck_assert_int_eq(query_ask(store, "runs", unknown, &result), -EINVAL);
	ck_assert_ptr_null(result);
}

TEST(values_have_their_types)
{
	struct row_process row = fill_process(1, "text");
	const struct store_parameter id[] = {
		{"first_id", STORE_INTEGER, 1, NULL}, {"last_id", STORE_INTEGER, 1, NULL}, {0}};
	struct store_result *result = NULL;
	struct store_value value;

	row.rule = NULL;
	row.arguments = (struct row_blob){"a\0", 2};
	put_process(&row);
	commit(1);
	ck_assert_int_eq(query_ask(store, "process", id, &result), 0);
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
}

/* ---- summary ------------------------------------------------------------------------- */

#define HOUR (3600 * INT64_C(1000000000))
#define GIB (INT64_C(1) << 30)
#define NOW (1000 * HOUR)

/* A run of user 7 on host 1, of 4 processors and 16 GiB, that began `ago` hours ago and took `wall` hours. */
#define PUT_RUN(of_id, ago, wall, ...) \
	PUT(RUN, run, .id = (of_id), .host_id = 1, .kind = "job", .user_id = 7, .started_unix_ns = NOW - (ago)*HOUR, \
	    .end_boot_ns = (wall)*HOUR, .status = "succeeded", .process_count = 1, .engine = NULL, .run_key = NULL, \
	    .core_limit_milli = 4000, .memory_limit_bytes = ROW_NULL, .gpu_busy_ns = ROW_NULL, __VA_ARGS__)

static void put_summary_host(int64_t id)
{
	PUT(HOST, host, .id = id, .cpu_count = 4, .memory_bytes = 16 * GIB, .last_seen_unix_ns = NOW,
	    .cluster = "site");
}

/* The question's columns, separated by blanks, a line for each user; unknown is "-", a fraction has three digits. */
static const char *summary(int64_t user_id, int64_t window_ns, const char *const *columns)
{
	static char text[1024];
	const struct store_parameter parameters[] = {{"user_id", user_id ? STORE_INTEGER : STORE_NULL, user_id, NULL},
						     STORE_INT("window_ns", window_ns),
						     {0}};
	struct store *reader = open_reader();
	struct store_result *result = NULL;
	size_t used = 0;

	ck_assert_int_eq(query_ask(reader, "summary", parameters, &result), 0);
	*text = '\0';
	while (store_result_next(result) > 0) {
		for (size_t i = 0; columns[i]; i++) {
			struct store_value value = store_result_get(result, columns[i]);
			char *at = text + used;

			used += (size_t)(value.type == STORE_VALUE_REAL ? sprintf(at, " %.3f", value.real)
					 : value.type == STORE_VALUE_INTEGER
						 ? sprintf(at, " %lld", (long long)value.integer)
						 : sprintf(at, " -"));
		}
		used += (size_t)sprintf(text + used, "\n");
	}
	store_result_free(result);
	store_close(reader);
	return text;
}

static const char *const states[] = {"user_id",         "run_count",     "running_count",
				     "succeeded_count", "failed_count",  "oom_killed_count",
				     "killed_count",    "unknown_count", NULL};

TEST(summary_counts_runs_by_state)
{
	put_summary_host(1);
	PUT_RUN(1, 5, 1);
	PUT_RUN(2, 5, 1, .status = "failed");
	PUT_RUN(3, 5, 1, .status = "killed");
	PUT_RUN(4, 5, 1, .status = "failed");
	PUT(INCIDENT, incident, .id = 1, .host_id = 1, .run_id = 4, .kind = "oom-kill", .fatal = 1);
	PUT_RUN(5, 5, 1); /* went on without the process that was killed */
	PUT(INCIDENT, incident, .id = 2, .host_id = 1, .run_id = 5, .kind = "oom-kill", .fatal = 0);
	PUT_RUN(6, 5, 1, .status = "ended");
	PUT_RUN(7, 40, 0, .status = "running", .end_boot_ns = ROW_NULL); /* began before the window */
	PUT_RUN(8, 40, 17, .user_id = 8);                                /* ended in it */
	PUT_RUN(9, 40, 15);                                              /* before it */
	PUT_RUN(10, 5, 1, .kind = "session");
	PUT_RUN(11, 5, 1, .kind = "service");
	PUT_RUN(12, 5, 1, .kind = "service", .engine = "make");
	PUT_RUN(13, 5, 1, .user_id = ROW_NULL);
	commit(1);
	ck_assert_str_eq(summary(0, 24 * HOUR, states), " 7 8 1 3 1 1 1 1\n 8 1 0 1 0 0 0 0\n");
	ck_assert_str_eq(summary(8, 24 * HOUR, states), " 8 1 0 1 0 0 0 0\n");
	ck_assert_str_eq(summary(7, 30 * HOUR, states), " 7 9 1 4 1 1 1 1\n");
	ck_assert_str_eq(summary(9, 24 * HOUR, states), "");
}

TEST(summary_weighs_averages_by_time)
{
	static const char *const columns[] = {"wall_ns",           "mean_wall_ns",           "cpu_ns",
					      "used_cores",        "allocated_cores",        "cpu_efficiency_share",
					      "used_memory_bytes", "allocated_memory_bytes", "memory_efficiency_share",
					      "used_gib_hours",    "gpu_run_count",          "gpu_busy_ns",
					      "waiting_ns",        "until_unix_ns",          NULL};
	char expected[256];

	put_summary_host(1);
	/* Of two allocated processors and 4 GiB, one and 1 GiB for three hours. */
	PUT_RUN(1, 5, 3, .kind = "batch", .core_limit_milli = 2000, .memory_limit_bytes = 4 * GIB, .cpu_ns = 3 * HOUR,
		.concurrent_memory_bytes = GIB, .gpu_busy_ns = HOUR);
	/* Not allocated: it had the whole host, or is no job. */
	PUT_RUN(2, 5, 1, .kind = "batch", .cpu_ns = 3 * HOUR, .concurrent_memory_bytes = 5 * GIB);
	PUT_RUN(3, 5, 0, .core_limit_milli = 1000, .memory_limit_bytes = GIB);
	commit(1);
	snprintf(expected, sizeof(expected), " %lld %lld %lld 1.500 2.000 0.500 %lld %lld 0.250 8.000 1 %lld - %lld\n",
		 (long long)(4 * HOUR), (long long)(4 * HOUR / 3), (long long)(6 * HOUR), (long long)(2 * GIB),
		 (long long)(4 * GIB), (long long)HOUR, (long long)NOW);
	ck_assert_str_eq(summary(7, 24 * HOUR, columns), expected);
}

TEST(summary_counts_a_run_on_several_hosts_once)
{
	static const char *const columns[] = {"run_count",  "failed_count",    "wall_ns", "cpu_ns",
					      "used_cores", "allocated_cores", NULL};
	char expected[128];

	put_summary_host(1);
	put_summary_host(2);
	PUT_RUN(1, 5, 2, .run_key = "slurm:1", .kind = "batch", .core_limit_milli = 1000, .cpu_ns = HOUR);
	PUT_RUN(2, 5, 2, .run_key = "slurm:1", .kind = "batch", .core_limit_milli = 2000, .cpu_ns = 3 * HOUR,
		.host_id = 2, .status = "failed");
	commit(1);
	snprintf(expected, sizeof(expected), " 1 1 %lld %lld 2.000 3.000\n", (long long)(2 * HOUR),
		 (long long)(4 * HOUR));
	ck_assert_str_eq(summary(0, 24 * HOUR, columns), expected);
}

int main(void)
{
	return stores_run("query");
}
