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

int main(void)
{
	return stores_run("query");
}
