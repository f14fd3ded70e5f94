/* The store: what goes in comes out, and what can be wrong with a file is said. */
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
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
	DIR *listing = opendir(directory);
	struct dirent *entry;

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
	{"since_boot_ns", STORE_INTEGER, 0, NULL},
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

/* ---- tests ------------------------------------------------------------------- */

START_TEST(queries_run_on_empty_and_filled)
{
	struct store *writer = open_writer();
	struct store *reader = open_reader();
	struct row_process process = fill_process(2, "text");
	struct row_task task = fill_task(1, "text");
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
	commit(writer, 1);
	for (size_t i = 0; (file = store_query_file(i)); i++)
		ck_assert_msg(run_query(reader, file) > 0, "%s found nothing", file);
	store_close(reader);
	store_close(writer);
}
END_TEST

static Suite *store_suite(void)
{
	Suite *suite = suite_create("store");
	TCase *queries = tcase_create("queries");

	tcase_add_checked_fixture(queries, setup, teardown);
	tcase_add_test(queries, queries_run_on_empty_and_filled);
	suite_add_tcase(suite, queries);
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
