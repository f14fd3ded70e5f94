/* Queries: all run, in the subset that SQLite and ClickHouse share. */
#include "tests/stores.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

START_TEST(queries_run_on_empty_and_filled)
{
	struct store *writer = open_writer();
	struct store *reader = open_reader();
	struct row_process process = fill_process(2, "text");
	struct row_task task = fill_task(1, "text");
	struct row_run part = fill_run(1, "text");
	struct row_host other_host = fill_host(77, "text");
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
	other_host.cluster = fill_host(1, "text").cluster;
	ck_assert_int_eq(store_put_host(writer, &other_host), 0);
	part.id = part.host_id = 77;
	part.status = "failed";
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

int main(void)
{
	const struct suite_test tests[] = {
		{.test = queries_run_on_empty_and_filled},
		{.test = every_query_file_is_embedded},
		{.test = queries_stay_in_the_common_subset},
		{.test = wrong_query_or_parameter_is_refused},
		{.test = values_have_their_types},
		{0},
	};

	return stores_run("query", tests);
}
